"""Evaluating polynomials and Chebyshev series on arrays, for functions that NumPy does not have."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from vtgrad.ops.kernels.support.elementwise import finish_like, floating, refuse
from vtgrad.storage.arrays import Array

__all__ = ["chebyshev", "in_double", "polynomial"]


def polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """The sum of ``coefficients[n] * x ** n``, by Horner's rule."""
    total: Array = np.full(x.shape, coefficients[-1])
    for c in coefficients[-2::-1]:
        np.multiply(total, x, out=total)
        np.add(total, c, out=total)
    return total


def chebyshev(coefficients: Sequence[float], x: Array) -> Array:
    """The sum of ``coefficients[n]`` times Chebyshev polynomials, by Clenshaw's recurrence."""
    twice = 2 * x
    later: Array = np.zeros(x.shape)
    total: Array = np.full(x.shape, coefficients[-1])
    for c in coefficients[-2:0:-1]:
        later, total = total, twice * total - later + c
    return x * total - later + coefficients[0]


def in_double(
    name: str, function: Callable[[Array], Array], input: Array, out: Array | None
) -> Array:
    """A function of real values, computed in double precision for any dtype.

    Integers and bools become the default floating dtype; complex values are refused.
    """
    dtype = floating(input.dtype)
    refuse(name, dtype, "c")
    flat = input.astype(np.float64).reshape(-1)
    value = function(flat).reshape(input.shape)
    return finish_like(value, dtype, out, input)
