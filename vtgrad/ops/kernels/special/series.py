"""Evaluating polynomials and series on arrays, and running functions that NumPy does not have.

Note [Terms as rows]

The terms of a series are the rows of one array, so that a step of its formula is one NumPy call for
all of them, not one call for each. Where a term needs the one before, rows are combined one after
the other, each element in the same order whatever stands beside it: by NumPy's ``accumulate`` for
few columns, which takes one call but walks along columns, otherwise row by row. ``reduce`` would
add a single column in another order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from vtgrad.ops.kernels.support.elementwise import finish_like, floating, refuse
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, NumpyDType
from vtgrad.storage.loops import (
    NATIVE,
    are_within,
    cast_loop,
    polynomial_loop,
)

__all__ = [
    "AT_ONCE",
    "add_rows",
    "by_blocks",
    "fill_at",
    "in_double",
    "is_within",
    "largest",
    "multiply_rows",
    "polynomial",
    "smallest",
]


# So many elements and their intermediate steps stay in the processor's cache.
_BLOCK: Final = 4096
# Rows of so many elements in all stay there too. Larger arrays are new memory at each step.
AT_ONCE: Final = 12288
# Up to so many columns ``accumulate`` takes less time than a call for each row.
_FEW_COLUMNS: Final = 48
# Up to so many numbers Python finds the largest sooner.
_FEW: Final = 32
_DOUBLE: Final[NumpyDType] = np.dtype(np.float64)
_SINGLE: Final[NumpyDType] = np.dtype(np.float32)


def polynomial(coefficients: Sequence[float | Array], x: Array) -> Array:
    """The sum of ``coefficients[n] * x ** n``, by Horner's rule.

    Coefficients are taken fastest as a list of 0-d arrays.
    """
    made = polynomial_loop(coefficients, x) if NATIVE else None
    if made is not None:
        return made
    total: Array = np.multiply(x, coefficients[-1])
    for c in coefficients[-2:0:-1]:
        np.add(total, c, total)
        np.multiply(total, x, total)
    return np.add(total, coefficients[0], total)


def multiply_rows(rows: Array) -> None:
    """Make each row the product of itself and all before it; see Note [Terms as rows]."""
    if rows.shape[1] <= _FEW_COLUMNS:
        np.multiply.accumulate(rows, 0, None, rows)
    else:
        for before, row in pairwise(rows):
            np.multiply(before, row, row)


def add_rows(rows: Array) -> Array:
    """The sum of the rows, from the first on, in the last one; see Note [Terms as rows]."""
    if rows.shape[1] <= _FEW_COLUMNS:
        np.add.accumulate(rows, 0, None, rows)
    else:
        for before, row in pairwise(rows):
            np.add(before, row, row)
    last: Array = rows[-1]
    return last


def largest(x: Array) -> float:
    """The largest of some values; minus infinity if there are none.

    If a value is nan, that is nan or the largest of the others: Python, which finds it sooner among
    a few, passes over some nans. A recording sees NumPy do it: it must depend on the answer to a
    comparison, not on the numbers.
    """
    if x.size <= _FEW and type(x) is np.ndarray:
        return max(x.reshape(-1).tolist(), default=-math.inf)
    found: float = np.maximum.reduce(x, None, initial=-math.inf)
    return found


def smallest(x: Array) -> float:
    """As `largest`, the smallest; infinity if there are no values."""
    if x.size <= _FEW and type(x) is np.ndarray:
        return min(x.reshape(-1).tolist(), default=math.inf)
    found: float = np.minimum.reduce(x, None, initial=math.inf)
    return found


def is_within(x: Array, low: float, high: float) -> bool:
    """Whether all values are at least `low` and less than `high`; of nan none is."""
    found = are_within(x, low, high) if NATIVE else None
    return smallest(x) >= low and largest(x) < high if found is None else found


def in_double(
    name: str, function: Callable[[Array], Array], input: Array, out: Array | None
) -> Array:
    """A function of real values, computed in double precision for any dtype.

    Integers and bools become the default floating dtype; complex values are refused.

    Parameters
    ----------
    name : str
        The operator.
    function : callable
        Returns a new row-major array of its argument's shape, which has one dimension or more. An
        element's bits depend on that element alone.
    input : Array
        The values.
    out : Array or None
        Where the result is stored.
    """
    dtype = input.dtype
    if (
        out is None
        and type(input) in PLAIN
        and input.flags.c_contiguous
        and input.ndim
        and input.size <= _BLOCK
    ):
        # Dense arrays of the commonest dtypes, without what others need.
        if dtype is _DOUBLE:
            return function(input)
        if dtype is _SINGLE:
            made = cast_loop(input) if NATIVE else None
            value = function(input.astype(_DOUBLE) if made is None else made)
            made = cast_loop(value) if NATIVE else None
            return value.astype(_SINGLE) if made is None else made
    dtype = floating(dtype)
    refuse(name, dtype, "c")
    flat = input.astype(np.float64).reshape(-1)
    value = by_blocks(function, flat).reshape(input.shape)
    return finish_like(value, dtype, out, input)


def by_blocks(function: Callable[..., Array], *flat: Array) -> Array:
    """A function of vectors, block by block, so that what it makes stays in the cache."""
    size = flat[0].size
    if size <= _BLOCK:
        return function(*flat)
    first = function(*[x[:_BLOCK] for x in flat])
    result: Array = making.empty(size, first.dtype)
    result[:_BLOCK] = first
    for start in range(_BLOCK, size, _BLOCK):
        end = start + _BLOCK
        result[start:end] = function(*[x[start:end] for x in flat])
    return result


def fill_at(where: Array, result: Array, function: Callable[..., Array], *values: Array) -> None:
    """Store a function of the elements at a mask; without any, the function is not called."""
    count = np.count_nonzero(where)
    if not count:
        return
    if count == where.size:
        result[...] = function(*values)
    else:
        result[where] = function(*[x[where] for x in values])
