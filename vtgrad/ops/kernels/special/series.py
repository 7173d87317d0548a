"""Evaluating polynomials on arrays, and running functions that NumPy does not have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from vtgrad.ops.kernels.support.elementwise import finish_like, floating, refuse
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, NumpyDType

__all__ = ["by_blocks", "in_double", "polynomial"]


# So many elements and their intermediate steps stay in the processor's cache.
_BLOCK: Final = 4096
_DOUBLE: Final[NumpyDType] = np.dtype(np.float64)
_SINGLE: Final[NumpyDType] = np.dtype(np.float32)


def polynomial(coefficients: Sequence[float | Array], x: Array) -> Array:
    """The sum of ``coefficients[n] * x ** n``, by Horner's rule.

    Coefficients are taken fastest as 0-d arrays.
    """
    total: Array = np.multiply(x, coefficients[-1])
    for c in coefficients[-2:0:-1]:
        np.add(total, c, total)
        np.multiply(total, x, total)
    return np.add(total, coefficients[0], total)


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
            return function(input.astype(_DOUBLE)).astype(_SINGLE)
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
    result: Array = making.empty(size)
    for start in range(0, size, _BLOCK):
        end = start + _BLOCK
        result[start:end] = function(*[x[start:end] for x in flat])
    return result
