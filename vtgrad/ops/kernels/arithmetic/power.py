"""`pow`, and the roots to which it reduces."""

from __future__ import annotations

import numpy as np

from vtgrad.errors import DTypeError
from vtgrad.ops.kernels.copying.casts import to_dtype
from vtgrad.ops.kernels.support.elementwise import (
    Operand,
    checked_number,
    finish,
    finish_like,
    float_unary,
    floating,
    number,
    refuse,
    run,
    unary,
)
from vtgrad.ops.kernels.support.result_strides import broadcast_shapes, empty_like_elementwise
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number, NumpyDType
from vtgrad.storage.promotion import result_dtype

__all__ = ["hypot", "pow", "rsqrt", "sqrt"]


def sqrt(input: Array, *, out: Array | None = None) -> Array:
    """The square root; nan for negative real values."""
    return float_unary(np.sqrt, input, out)


def rsqrt(input: Array, *, out: Array | None = None) -> Array:
    """One divided by the square root."""
    dtype = floating(input.dtype)
    root = run(np.sqrt, dtype, None, input)
    np.reciprocal(root, out=root)
    return finish(root, dtype, out)


def pow(input: Operand, exponent: Operand, *, out: Array | None = None) -> Array:
    """`input` to the power of `exponent`.

    The exponents 2, 3, -2, -1, 1/2 and -1/2, given as numbers, are computed by products,
    reciprocals and roots. An integer to a negative integer power from an array is rounded towards
    zero: 0, except for the bases 1 and -1.

    Raises
    ------
    DTypeError
        If an integer array is raised to a negative integer number, or to a number out of the
        range of its dtype.
    NotSupportedError
        If all operands are bool.
    """
    if type(exponent) is int and isinstance(input, np.ndarray) and input.dtype.kind in "fc":
        if exponent == 2:
            return unary(np.square, input, out)
        if exponent == 3:
            cube = unary(np.square, input, None)
            np.multiply(cube, input, cube)
            return finish(cube, input.dtype, out)
    dtype = result_dtype(input, exponent)
    if not isinstance(exponent, np.ndarray):
        if not isinstance(input, np.ndarray):
            return run(np.power, dtype, out, input, exponent)
        return _to_number(input, exponent, dtype, out)
    refuse("pow", dtype, "b", input, exponent)
    if not isinstance(input, np.ndarray) and out is None:
        # The only operator whose result is row-major for any operand.
        out = making.empty(exponent.shape, dtype)
    if dtype.kind in "ui":
        return _of_integers(input, exponent, dtype, out)
    shape = broadcast_shapes(np.shape(input), exponent.shape)
    if (exponent.shape != shape or 0 in exponent.strides) and np.count_nonzero(exponent == 0.5):
        # Of an exponent that is repeated in memory NumPy takes the root.
        exponent = making.broadcast_to(exponent, shape).copy()
    return run(np.power, dtype, out, input, exponent)


def _to_number(a: Array, exponent: Number, dtype: NumpyDType, out: Array | None) -> Array:
    kind = dtype.kind
    if kind in "ui" and not isinstance(exponent, complex) and exponent < 0:
        raise DTypeError(
            f"{a.dtype.name} values have no power of {exponent}: it is not an integer",
            exponent=exponent,
        )
    if exponent == 0:
        return finish_like(making.ones(a.shape, dtype), dtype, out, a)
    if exponent == 1:
        return finish_like(a.astype(dtype), dtype, out, a)
    base = a if a.dtype == dtype else to_dtype(a, dtype)
    if exponent == 2:
        return unary(np.square, base, out)
    if exponent == 3:
        cube = unary(np.square, base, None)
        np.multiply(cube, base, cube)
        return finish(cube, dtype, out)
    # Half precision would be rounded twice here.
    if kind in "fc" and dtype != np.float16:
        if exponent == 0.5:
            return sqrt(base, out=out)
        if exponent == -0.5:
            return rsqrt(base, out=out)
        if exponent == -1:
            return run(np.reciprocal, dtype, out, base)
        if exponent == -2:
            inverse = run(np.square, dtype, None, base)
            np.reciprocal(inverse, out=inverse)
            return finish(inverse, dtype, out)
    power = checked_number(exponent, dtype) if kind in "ui" else number(exponent, dtype)
    if out is None:
        # The number does not affect the memory order: this is a function of one operand.
        out = empty_like_elementwise(dtype, a.shape, a)
    if exponent == 0.5:
        # Of one exponent NumPy takes the root, which is -0.0 and nan for -0.0 and -inf.
        power = making.full(a.shape, power)
    return run(np.power, dtype, out, base, power)


def _of_integers(base: Operand, exponent: Array, dtype: NumpyDType, out: Array | None) -> Array:
    exponent = exponent.astype(dtype, copy=False)
    if dtype.kind == "u" or not (exponent < 0).any():
        return run(np.power, dtype, out, base, exponent)
    values = base.astype(dtype) if isinstance(base, np.ndarray) else number(base, dtype)
    result = run(np.power, dtype, None, base, np.maximum(exponent, 0))
    inverse = np.where(values == -1, np.where((exponent & 1) != 0, -1, 1), values == 1)
    np.copyto(result, inverse, where=exponent < 0, casting="unsafe")
    return finish(result, dtype, out)


def hypot(input: Array, other: Array, *, out: Array | None = None) -> Array:
    """The length of the hypotenuse of a right triangle with these legs."""
    dtype = result_dtype(input, other)
    refuse("hypot", dtype, "buic", input, other)
    if input.dtype == other.dtype == np.float32 and input.shape == other.shape:
        # In double precision the squares neither over- nor underflow, which is faster.
        total: Array = making.asarray(np.square(input, dtype=np.float64))
        np.add(total, np.square(other, dtype=np.float64), total)
        np.sqrt(total, total)
        if np.isfinite(total).all():
            return finish_like(total, dtype, out, input, other)
    return run(np.hypot, dtype, out, input, other)
