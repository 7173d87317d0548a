"""Rounding. Integers are rounded already: the result is a copy."""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.ops.kernels.support.elementwise import finish, refuse, run, unary
from vtgrad.ops.kernels.support.result_strides import empty_like_elementwise
from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["ceil", "floor", "frac", "round", "trunc"]


# The largest power of ten that Python computes.
_MOST_DECIMALS: Final = 308


def floor(input: Array, *, out: Array | None = None) -> Array:
    """The largest integer that is not above the value."""
    return _rounded("floor", np.floor, input, out)


def ceil(input: Array, *, out: Array | None = None) -> Array:
    """The smallest integer that is not below the value."""
    return _rounded("ceil", np.ceil, input, out)


def trunc(input: Array, *, out: Array | None = None) -> Array:
    """The value without its fraction."""
    return _rounded("trunc", np.trunc, input, out)


def frac(input: Array, *, out: Array | None = None) -> Array:
    """The value's fraction, with the value's sign."""
    refuse("frac", input.dtype, "buic")
    whole = unary(np.trunc, input, None)
    return _difference(input, whole, out)


def _difference(a: Array, whole: Array, out: Array | None) -> Array:
    """``a - whole`` in the memory order of `whole`, a new array of the kernel."""
    target = whole if out is None else out
    np.subtract(a, whole, out=target, casting="unsafe")
    return target


def round(input: Array, *, decimals: int = 0, out: Array | None = None) -> Array:
    """The nearest integer, the even one of two that are equally near.

    Parameters
    ----------
    input : ndarray
    decimals : int
        The number of digits after the decimal point; before the point if negative. Values other
        than 0 need floating elements.
    out : ndarray, optional
    """
    if decimals == 0:
        return _rounded("round", np.rint, input, out)
    refuse("round with decimals", input.dtype, "buic")
    dtype = input.dtype
    # A power that overflows is infinite, also one that Python refuses to compute.
    power = 10.0 ** abs(decimals) if abs(decimals) <= _MOST_DECIMALS else np.inf
    scale = making.asarray(power, dtype)
    there, back = (np.multiply, np.true_divide) if decimals > 0 else (np.true_divide, np.multiply)
    result = run(np.positive, dtype, None, input)
    there(result, scale, out=result)
    np.rint(result, out=result)
    back(result, scale, out=result)
    return finish(result, dtype, out)


def _rounded(name: str, ufunc: np.ufunc, a: Array, out: Array | None) -> Array:
    refuse(name, a.dtype, "bc")
    if a.dtype.kind == "f":
        return unary(ufunc, a, out)
    if out is None:
        out = empty_like_elementwise(a.dtype, a.shape, a)
    np.copyto(out, a, casting="unsafe")
    return out
