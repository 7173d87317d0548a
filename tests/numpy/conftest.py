"""What tests of one folder share: packages that a test writes, and what of it other NumPys run."""

from __future__ import annotations

import importlib
import itertools
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest

# The namespace follows this version in what it records. An older one has other details in what it
# computes itself, so that only these files are compared with it.
FOLLOWED: Final = (2, 4)
OF_ANY_VERSION: Final = frozenset(
    "test_calls test_classes test_complex_results test_explain test_fft test_indexing test_joining "
    "test_methods test_namespace test_protocols test_random_writes test_rules test_solving "
    "test_ufuncs".split()
)
# What these compare is NumPy's at each statement, and NumPy 2.5 refuses, as an attribute to which a
# complex number is assigned, what it took before.
OF_THAT_VERSION: Final = frozenset(("test_found_by_programs", "test_random_programs"))
# What NumPy 2.5 does not have any more, cross products in the plane and a name, and conditions of
# matrices of nan, which it gives.
TAKEN_OUT: Final = frozenset(
    [
        "test_a_call_by_numpys_name[np.cross(x, base)]",
        "test_a_call_of_the_namespace[np.cross(x, base)]",
        "test_calls[cross]",
        "test_calls[linalg.cross]",
        "test_calls[row_stack]",
        "test_conditions_that_are_infinite_and_of_no_matrices",
        "test_cross_of_two_components",
        "test_derivatives[row_stack]",
    ]
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what another version of NumPy computes in another way."""
    version = tuple(map(int, np.__version__.split(".")[:2]))
    reason = pytest.mark.skip(reason="the namespace follows NumPy {}.{}".format(*FOLLOWED))
    for item in items:
        if item.path.parent != Path(__file__).parent:
            continue
        older = version < FOLLOWED and item.path.stem not in OF_ANY_VERSION
        newer = version > FOLLOWED and (item.name in TAKEN_OUT or item.path.stem in OF_THAT_VERSION)
        if older or newer:
            item.add_marker(reason)
        # NumPy 2.5 warns of a function that the namespace has.
        item.add_marker(pytest.mark.filterwarnings("ignore:numpy.fix is deprecated"))


_numbers = itertools.count()


@pytest.fixture
def write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[dict[str, str]], str]]:
    """Writes the files of a package of a new name, which is returned; PKG stands for it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def made(files: dict[str, str]) -> str:
        name = f"adopted_example_{next(_numbers)}"
        for path, text in files.items():
            file = tmp_path / path.replace("PKG", name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text).replace("PKG", name), encoding="utf-8")
        importlib.invalidate_caches()
        return name

    yield made
    for name in set(sys.modules) - before:
        if "adopted_" in name:
            del sys.modules[name]
