"""Arrays that modules and caches keep: Note [Lasting arrays]."""

import os
import subprocess
import sys

import numpy as np
import pytest

import vtgrad as vt
from tests.project.tree import ROOT
from vtgrad.numpy.index import positions_of
from vtgrad.ops.kernels.support.elementwise import one_of, zero_of
from vtgrad.storage import making
from vtgrad.storage.lasting_arrays import constant, lasting_arrays
from vtgrad.storage.number_arrays import numbers_of

DOUBLE = np.dtype(np.float64)


class Recorded(np.ndarray[tuple[int, ...], np.dtype[np.float64]]):
    """What a recording has in place of arrays."""


def _recorded(name: str) -> making.Maker:
    numpys = making.NUMPYS[name]
    return lambda *args, **kwargs: np.asarray(numpys(*args, **kwargs)).view(Recorded)


@pytest.fixture
def makers() -> dict[str, making.Maker]:
    return {name: _recorded(name) for name in ("arange", "array", "asarray", "ones", "zeros")}


def _are_known(*arrays: object) -> bool:
    return {id(array) for array in arrays} <= {id(array) for array in lasting_arrays()}


def test_a_number_is_converted_once_for_all(makers: dict[str, making.Maker]) -> None:
    numbers = numbers_of(DOUBLE)
    assert numbers is not None
    numbers.known.clear()
    found = making.run_with(makers, numbers.operand, 2.125)
    assert type(found) is np.ndarray
    assert found is numbers.operand(2.125)
    assert _are_known(found)


def test_zeros_and_ones_are_ordinary_arrays(makers: dict[str, making.Maker]) -> None:
    dtype = np.dtype(np.int16)
    found = making.run_with(makers, lambda: (zero_of(dtype), one_of(dtype)))
    assert [type(array) for array in found] == [np.ndarray] * 2
    assert [array.tolist() for array in found] == [0, 1]
    assert _are_known(*found)


def test_positions_are_kept_as_an_ordinary_array(makers: dict[str, making.Maker]) -> None:
    shape = (2, 1, 3, 1)
    shown = making.run_with(makers, positions_of, shape)
    kept = positions_of(shape)
    # The recording indexes an array of its own, on the memory of the one that is kept.
    assert type(shown) is Recorded
    assert type(kept) is np.ndarray
    assert np.shares_memory(shown, kept)
    assert kept.tolist() == [[[[0], [1], [2]]], [[[3], [4], [5]]]]
    assert _are_known(kept)


def test_a_constant_is_an_ordinary_array_with_numpys_dtype(
    makers: dict[str, making.Maker],
) -> None:
    found = making.run_with(makers, constant, [1, 2])
    assert type(found) is np.ndarray
    assert found.dtype == np.intp
    assert _are_known(found)


def test_a_whole_program_leaves_no_array_of_a_recording(makers: dict[str, making.Maker]) -> None:
    def program() -> None:
        x = vt.tensor([1.5, 2.5], dtype=vt.float64, requires_grad=True)
        (vt.lgamma(x * 0.71875) - 7.0625 * x).sum().backward()

    making.run_with(makers, program)
    assert {type(array) for array in lasting_arrays()} == {np.ndarray}


def test_modules_keep_no_other_arrays() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.storage.kept_arrays"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), *sys.path]))},
        check=True,
        capture_output=True,
        text=True,
    )
    count, *unknown = done.stdout.split("\n")[:-1]
    assert unknown == []
    # Coefficients of gamma functions alone are more.
    assert int(count) > 80
