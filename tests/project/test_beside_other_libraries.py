"""The page that says which names other libraries have is complete, and names what exists."""

import pytest

from tests.project.beside import LIBRARIES, is_there, rows
from vtgrad import fft, interpolate, linalg, signal, special

# Older names, and names of two modules, stand in the rows of what they are.
WITHOUT = {"linalg.LinAlgError", "linalg.matmul"}


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_names_exist(library: str) -> None:
    pytest.importorskip(library)
    names = [row[library] for row in rows() if library in row]
    assert len(names) > 25
    assert [name for name in names if not is_there(library, name)] == []


def test_a_name_that_does_not_exist_is_seen() -> None:
    assert is_there("vtgrad", "linalg.solve")
    assert not is_there("vtgrad", "linalg.solved")
    assert not is_there("vtgrad", "algebra.solve")


def test_every_function_has_a_row() -> None:
    modules = {"linalg": linalg, "fft": fft, "signal": signal, "interpolate": interpolate}
    modules |= {"special": special}
    public = {f"{home}.{name}" for home, module in modules.items() for name in module.__all__}
    listed = [row["vtgrad"] for row in rows()]
    assert public - WITHOUT - set(listed) == set()
    assert len(listed) == len(set(listed))
