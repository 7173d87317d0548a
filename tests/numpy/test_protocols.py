"""NumPy's functions called with arrays of the namespace, and the methods of ufuncs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.lib import recfunctions

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array, assert_same, compare, values
from vtgrad.numpy import scalar, ufuncs

TABLE = np.array([[0.5, 1.25, 3.0], [2.0, 0.875, 1.5]])


@pytest.mark.parametrize("grad", [False, True], ids=["constant", "recorded"])
def test_numpys_ufuncs_give_arrays(grad: bool) -> None:
    x = array(TABLE, grad)
    for found, right in (
        (np.sin(x), np.sin(TABLE)),
        (np.add(TABLE, x), TABLE + TABLE),
        (TABLE * x, TABLE * TABLE),
        (TABLE @ x.T, TABLE @ TABLE.T),
        (x > TABLE, TABLE < TABLE),
        (np.multiply(2, x), 2 * TABLE),
        (np.float64(2) - x, 2 - TABLE),
        (np.add.reduce(x), np.add.reduce(TABLE)),
        (np.spacing(x.detach()), np.spacing(TABLE)),
    ):
        assert_same(found, right)
    assert type(np.exp(x[0, 0])) is (scalar if grad else np.float64)


def test_numpys_functions_are_those_of_the_namespace() -> None:
    x = array(TABLE, grad=True)
    for name in ("sum", "mean", "std", "sort", "ravel", "transpose", "cumsum", "diagonal"):
        theirs: Any = getattr(np, name)
        found = theirs(x)
        assert_same(found, theirs(TABLE))
        assert found.requires_grad
    np.sum(x * x).backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.tolist(), 2 * TABLE)


def test_functions_that_the_namespace_does_not_have_run_on_values() -> None:
    x: Any = array([[3.0, 1.0]])
    function: Any = recfunctions.unstructured_to_structured
    found = function(x)
    assert type(found) is np.ndarray
    assert found.tolist() == [(3, 1)]
    back: Any = recfunctions.structured_to_unstructured(found)
    assert back.tolist() == [[3, 1]]
    with pytest.raises(TypeError, match="detach"):
        function(x.requires_grad_())
    with vt.no_grad():
        assert function(x).tolist() == [(3, 1)]
    assert function(x.detach()).tolist() == [(3, 1)]


def test_an_array_of_numpy_cannot_be_written_by_a_value_with_a_derivative() -> None:
    table = np.zeros(3)
    with pytest.raises(TypeError, match=r"vtgrad\.numpy"):
        table += array([1.0, 2.0, 3.0], grad=True)
    assert table.tolist() == [0, 0, 0]
    table += array([1.0, 2.0, 3.0])
    assert table.tolist() == [1, 2, 3]


BINARY = "add multiply subtract divide maximum minimum logaddexp hypot power arctan2".split()


class _Folding:
    """A ufunc of NumPy whose `reduce` and `reduceat` call it for one element after another.

    NumPy's own of `power` and `arctan2` read results that they have not written yet, on processors
    with AVX-512.
    """

    def __init__(self, ufunc: Any) -> None:
        self._ufunc = ufunc
        self._folding: Any = np.frompyfunc(ufunc, 2, 1)
        self.accumulate, self.outer = ufunc.accumulate, ufunc.outer

    def reduce(self, x: Any, axis: Any = 0, **options: Any) -> Any:
        if not isinstance(axis, int):
            return self._ufunc.reduce(x, axis, **options)
        found = self._folding.reduce(x.astype(object), axis, **options)
        return found.astype(self._ufunc.reduce(x, axis).dtype)

    def reduceat(self, x: Any, indices: Any, axis: int) -> Any:
        found = self._folding.reduceat(x.astype(object), indices, axis)
        return found.astype(self._ufunc.reduceat(x, indices, axis).dtype)


@pytest.mark.parametrize("grad", [False, True], ids=["constant", "recorded"])
@pytest.mark.parametrize("name", [*BINARY, "logical_and", "less", "bitwise_xor"])
def test_methods_of_ufuncs(name: str, grad: bool) -> None:
    mine: Any = getattr(ufuncs, name)
    theirs: Any = getattr(np, name)
    dtypes = "dfl?"
    if grad and name in ("power", "arctan2"):
        # Of integers, which have no gradient, NumPy itself computes them.
        theirs, dtypes = _Folding(theirs), "df"
    for dtype in dtypes:
        plain = values(dtype, (3, 4))
        x = array(plain, grad)
        for axis in (0, -1, (0, 1), None):
            compare(partial(mine.reduce, x, axis), partial(theirs.reduce, plain, axis), f"{axis}")
        compare(
            partial(mine.reduce, x, keepdims=True), partial(theirs.reduce, plain, keepdims=True), ""
        )
        for axis in (0, 1):
            compare(
                partial(mine.accumulate, x, axis), partial(theirs.accumulate, plain, axis), "acc"
            )
            compare(
                partial(mine.reduceat, x, [0, 2, 1], axis),
                partial(theirs.reduceat, plain, [0, 2, 1], axis),
                "reduceat",
            )
        compare(partial(mine.outer, x, plain[0]), partial(theirs.outer, plain, plain[0]), "outer")


@pytest.mark.parametrize("grad", [False, True], ids=["constant", "recorded"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum"])
def test_repeated_writes(name: str, grad: bool) -> None:
    mine: Any = getattr(ufuncs, name)
    theirs: Any = getattr(np, name)
    for index in ([0, 0, 2], (slice(None), [1, 1, 0]), np.array([True, False, True]), 1, ...):
        plain = values("d", (3, 4))
        amounts = 0.5 + np.arange(float(plain[index].size)).reshape(plain[index].shape)
        start = array(plain, grad)
        written = start * 1 if grad else start
        mine.at(written, index, array(amounts, grad))
        theirs.at(plain, index, amounts)
        np.testing.assert_allclose(written.tolist(), plain)


@pytest.mark.parametrize("name", BINARY)
def test_derivatives_of_methods(name: str) -> None:
    mine: Any = getattr(ufuncs, name)
    x = array(TABLE, grad=True)

    def f(x: Any) -> Any:
        written = x * 2.1
        mine.at(written, ([0, 0, 1], [1, 1, 2]), x[0])
        return (
            mine.reduce(x, 1) * mine.accumulate(x, 0)[:, 0]
            + mine.reduceat(x, [0, 2], 1).sum()
            + mine.outer(x[0], x[1]).sum()
            + written.sum()
        )

    assert vt.autograd.gradcheck(f, (x,))
    assert vt.autograd.gradgradcheck(f, (x,), fast_mode=True)


def test_arrays_name_their_namespace_and_device() -> None:
    x = array(TABLE)
    assert x.__array_namespace__() is vnp
    assert x.device == "cpu"
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match="device"):
        x.to_device("gpu")


def test_other_names_of_numpys_functions() -> None:
    x = array([1.0, 3.0], grad=True)
    for found in (np.amax(x), np.amin(x)):
        assert type(found) is scalar
