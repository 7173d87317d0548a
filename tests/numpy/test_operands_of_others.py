"""Operands of other libraries, whose operators mean something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array
from vtgrad.errors import ArgumentTypeError


class Metres(np.ndarray):
    """An array that computes ufuncs itself."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return ufunc.__name__, method


class Column:
    """No array, which computes ufuncs itself, as those of data frames do."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return Column(ufunc(*[x.values if isinstance(x, Column) else x for x in inputs], **options))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.values)


ODD: Final[dict[str, Any]] = {
    "masked": np.ma.array([1.0, 2.0], mask=[True, False]),
    "matrix": np.array([[1.0, 2.0]]).view(np.matrix),
    "units": np.ones(2).view(Metres),
}
CALLS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "operator": lambda x, odd: x * odd,
    "in place": lambda x, odd: x.__imul__(odd),
    "ufunc": lambda x, odd: vnp.multiply(x, odd),
    "ufunc of it alone": lambda x, odd: vnp.sin(odd),
    "function": lambda x, odd: vnp.sum(odd),
    "method of a ufunc": lambda x, odd: vnp.add.reduce(odd),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("name", CALLS)
def test_arrays_with_other_meanings_are_refused(name: str, kind: str) -> None:
    for grad in (False, True):
        x = array([1.0, 2.0], grad=grad) * 1
        with pytest.raises(ArgumentTypeError, match="is no operand"):
            CALLS[name](x, ODD[kind])
        assert x.tolist() == [1, 2]
    # What asks for their numbers gets them.
    assert vnp.array(ODD[kind]).size == vnp.asarray(ODD[kind]).size == 2


def test_operands_that_are_no_arrays_compute_ufuncs_themselves() -> None:
    x = array([1.0, 2.0], grad=True)
    column: Any = Column(np.array([3.0, 4.0]))
    calls: list[Any] = [vnp.multiply, np.multiply]
    for found in [call(*pair) for call in calls for pair in ((x, column), (column, x))]:
        assert type(found) is Column
        assert type(found.values) is vnp.ndarray
        assert vt.autograd.grad(found.values.sum(), x)[0].tolist() == [3, 4]
    other: Any = Column(x * 2)
    nested: Any = vnp.sin(other, where=np.array([True, False]), out=vnp.zeros(2))
    assert type(nested) is Column
    assert vt.autograd.grad(nested.values.sum(), x)[0].tolist() == [2 * np.cos(2.0), 0]
    # A function that is no ufunc takes their numbers, as in NumPy.
    assert vnp.sum(column) == 7
