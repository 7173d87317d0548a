"""What `vtgrad._loops` does, in Python: the same operands, the same results.

See Note [Loops in C] and Note [The same loop as NumPy's] (`storage/loops.py`).
"""

from __future__ import annotations

import math
from typing import Final, TypeGuard

import numpy as np
from numpy.lib.array_utils import byte_bounds

from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["UFUNCS", "binary", "piecewise", "unary"]

_NAMES: Final = """
    absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh ceil copysign cos cosh exp
    exp2 expm1 floor fmax fmin hypot log log10 log1p log2 maximum minimum multiply negative rint
    sign sin sinh sqrt square subtract tan tanh true_divide trunc
""".split()

UFUNCS: Final[tuple[np.ufunc, ...]] = tuple(getattr(np, name) for name in _NAMES)

# Bool, integers, float32 and float64, and the complex dtypes of these.
_TYPES: Final = frozenset("?bBhHiIlLqQfdFD")
_SERVED: Final = {
    ufunc: frozenset(c for c in _TYPES if f"{c * ufunc.nin}->{c}" in ufunc.types)
    for ufunc in UFUNCS
}
# Those of them that round each element of a real dtype exactly.
_EXACT: Final = frozenset({np.add, np.multiply, np.subtract, np.true_divide})
_MOST_DIMENSIONS: Final = 8
# Of integers up to this value float32 holds each.
_SMALL_INTEGER: Final = 2**24


def unary(ufunc: np.ufunc, a: object, out: Array | None = None, /) -> Array | None:
    """The result of a ufunc of an array; None if it is not one of the common cases.

    Parameters
    ----------
    ufunc : numpy.ufunc
        Only some have common cases.
    a : object
        The operand, if it is an exact ndarray.
    out : ndarray, optional
        Where the result is written, and what is returned then.
    """
    return _called(ufunc, (a,), out)


def binary(ufunc: np.ufunc, a: object, b: object, out: Array | None = None, /) -> Array | None:
    """The result of a ufunc of two arrays, or of an array and a number, as in `unary`."""
    return _called(ufunc, (a, b), out)


def piecewise(x: object, shift: object, start: object, table: object, /) -> Array | None:
    """The values of a tabulated function, see Note [Piecewise polynomials].

    None for arrays that have gaps, or are of another dtype than float64; of int64 for `start`.

    Parameters
    ----------
    x : object
        The arguments, of one dimension or more.
    shift, start : object
        One number each: what rounds to a multiple of the step, and the bits of the first multiple.
    table : object
        The coefficients, a row for each power.
    """
    if (
        not _is_dense(x, "d")
        or not _is_dense(shift, "d")
        or not _is_dense(start, "q")
        or not _is_dense(table, "d")
        or not shift.size == start.size == 1
        or table.ndim != 2
        or not table.size
        or not x.ndim
    ):
        return None
    shifted = x + shift.item()
    columns = np.clip(shifted.view(np.int64) - start.item(), 0, table.shape[1] - 1)
    distance = x - (shifted - shift.item())
    total: Array = table[-1].take(columns)
    for row in table[-2::-1]:
        total = total * distance + row.take(columns)
    return total


def _is_dense(x: object, char: str) -> TypeGuard[Array]:
    return (
        type(x) is np.ndarray
        and x.dtype == np.dtype(char)
        and x.dtype.isnative
        and x.dtype.metadata is None
        and x.flags.c_contiguous
        and x.flags.aligned
    )


def _called(ufunc: np.ufunc, operands: tuple[object, ...], out: Array | None) -> Array | None:
    like = next((x for x in operands if _is_plain(x) and x.ndim), None)
    if ufunc not in _SERVED or ufunc.nin != len(operands):
        return None
    if not _is_simple(ufunc, like, operands, out) and not _is_nested(ufunc, operands, out):
        return None
    with np.errstate(all="ignore"):
        result: Array = ufunc(*operands, out=out)
    return result


def _is_simple(
    ufunc: np.ufunc, like: Array | None, operands: tuple[object, ...], out: Array | None
) -> bool:
    """Whether NumPy calls one loop for all elements of the shape of `like`."""
    if like is None or not like.size or like.dtype.char not in _SERVED[ufunc]:
        return False
    if not all(_fits(x, like) for x in operands):
        return False
    return out is None or _may_be_written(out, like, operands)


def _is_nested(ufunc: np.ufunc, operands: tuple[object, ...], out: object) -> bool:
    """Whether any order of loops gives the same bits, and `out` has a place for each element."""
    if ufunc not in _EXACT or not _is_aligned(out) or not out.flags.writeable or out.size < 2:
        return False
    char = out.dtype.char
    if char in "FD" or char not in _SERVED[ufunc] or out.ndim > _MOST_DIMENSIONS:
        return False
    if not _is_distinct(out):
        return False
    arrays = [x for x in operands if _is_aligned(x) and x.dtype.char == char]
    if not arrays or not all(_is_spread(x, out) for x in arrays):
        return False
    return all(_converts(x, char) for x in operands if not any(x is y for y in arrays))


def _is_distinct(out: Array) -> bool:
    reach = out.itemsize
    for step, size in sorted(zip(out.strides, out.shape, strict=True)):
        if size > 1:
            if step < reach:
                return False
            reach += step * (size - 1)
    return True


def _is_spread(x: Array, out: Array) -> bool:
    """Whether `x` broadcasts to `out`, and is either the same elements or other memory."""
    try:
        spread = making.broadcast_to(x, out.shape)
    except ValueError:
        return False
    large = [i for i in range(out.ndim) if out.shape[i] > 1]
    if x.ctypes.data == out.ctypes.data and all(spread.strides[i] == out.strides[i] for i in large):
        return True
    return _is_apart(x, out)


def _is_aligned(x: object) -> TypeGuard[Array]:
    return (
        type(x) is np.ndarray and x.flags.aligned and x.dtype.isnative and x.dtype.metadata is None
    )


def _is_plain(x: object) -> TypeGuard[Array]:
    """Whether a loop may get the memory of an object."""
    return _is_aligned(x) and (x.flags.c_contiguous or x.ndim == 1)


def _fits(x: object, like: Array) -> bool:
    """Whether `x` is an operand beside an array whose shape the result has."""
    if not _is_plain(x):
        return 1 not in like.shape and _converts(x, like.dtype.char)
    if x.dtype.char != like.dtype.char:
        return False
    return x.shape == like.shape if x.ndim else 1 not in like.shape


def _converts(x: object, char: str) -> bool:
    """Whether NumPy converts a number to a floating dtype without a warning."""
    if type(x) is int:
        return char in "fd" and -_SMALL_INTEGER <= x <= _SMALL_INTEGER
    if type(x) is not float or char not in "fd":
        return False
    with np.errstate(over="ignore"):
        return char == "d" or math.isinf(x) or not np.isinf(np.float32(x))


def _step(x: Array) -> int:
    """The stride of a loop over all elements."""
    if x.ndim < 2:
        return x.strides[0] if x.ndim else 0
    return x.itemsize


def _may_be_written(out: object, like: Array, operands: tuple[object, ...]) -> bool:
    """Whether `out` can hold the result; see Note [Memory of a loop]."""
    if not _is_plain(out) or not out.flags.writeable:
        return False
    if out.dtype.char != like.dtype.char or out.shape != like.shape:
        return False
    # NumPy turns an axis that runs backwards, and writes a lone element by other code. And elements
    # may share memory.
    if out.size == 1 or _step(out) < out.itemsize:
        return False
    return all(
        (x.ctypes.data == out.ctypes.data and _step(x) == _step(out)) or _is_apart(x, out)
        for x in operands
        if _is_plain(x)
    )


def _is_apart(x: Array, out: Array) -> bool:
    low, high = byte_bounds(x)
    out_low, out_high = byte_bounds(out)
    return high <= out_low or out_high <= low
