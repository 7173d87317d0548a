# Compiled by mypyc.
"""Exponentials, logarithms, trigonometry: functions of floating and complex values.

Integers and bools are computed in the default floating dtype.
"""

from __future__ import annotations

import numpy as np

from vtgrad.ops.kernels.support.elementwise import (
    Operand,
    finish,
    float_unary,
    floating,
    one_of,
    refuse,
    run,
    unary,
    working,
)
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.promotion import result_dtype

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "one_minus_square",
    "sigmoid",
    "sin",
    "sinh",
    "tan",
    "tanh",
]


def exp(input: Array, *, out: Array | None = None) -> Array:
    """``e ** input``."""
    return float_unary(np.exp, input, out)


def exp2(input: Array, *, out: Array | None = None) -> Array:
    """``2 ** input``."""
    return float_unary(np.exp2, input, out)


def expm1(input: Array, *, out: Array | None = None) -> Array:
    """``e ** input - 1``, exact for small values too."""
    return float_unary(np.expm1, input, out)


def log(input: Array, *, out: Array | None = None) -> Array:
    """The natural logarithm; minus infinity at 0, nan for negative real values."""
    return float_unary(np.log, input, out)


def log2(input: Array, *, out: Array | None = None) -> Array:
    """The logarithm to base 2."""
    return float_unary(np.log2, input, out)


def log10(input: Array, *, out: Array | None = None) -> Array:
    """The logarithm to base 10."""
    return float_unary(np.log10, input, out)


def log1p(input: Array, *, out: Array | None = None) -> Array:
    """``log(1 + input)``, exact for small values too."""
    if input.dtype.kind != "c":
        return float_unary(np.log1p, input, out)
    # For complex values NumPy adds 1 first. The real part is half of log(|1 + z|^2).
    small = np.abs(input) < 0.5
    z = input[small]
    half_log = np.log1p(z.real * (z.real + 2) + z.imag * z.imag) / 2
    answer = unary(np.log1p, input, out)
    answer.real[small] = half_log
    return answer


def sin(input: Array, *, out: Array | None = None) -> Array:
    """The sine of angles in radians."""
    return float_unary(np.sin, input, out)


def cos(input: Array, *, out: Array | None = None) -> Array:
    """The cosine of angles in radians."""
    return float_unary(np.cos, input, out)


def tan(input: Array, *, out: Array | None = None) -> Array:
    """The tangent of angles in radians."""
    return float_unary(np.tan, input, out)


def asin(input: Array, *, out: Array | None = None) -> Array:
    """The angle, from -pi/2 to pi/2, whose sine is `input`."""
    return float_unary(np.arcsin, input, out)


def acos(input: Array, *, out: Array | None = None) -> Array:
    """The angle, from 0 to pi, whose cosine is `input`."""
    return float_unary(np.arccos, input, out)


def atan(input: Array, *, out: Array | None = None) -> Array:
    """The angle, from -pi/2 to pi/2, whose tangent is `input`."""
    return float_unary(np.arctan, input, out)


def atan2(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """The angle, from -pi to pi, of the point with y = `input` and x = `other`."""
    dtype = floating(result_dtype(input, other))
    refuse("atan2", dtype, "c", input, other)
    return run(np.arctan2, dtype, out, input, other)


def sinh(input: Array, *, out: Array | None = None) -> Array:
    """The hyperbolic sine."""
    return float_unary(np.sinh, input, out)


def cosh(input: Array, *, out: Array | None = None) -> Array:
    """The hyperbolic cosine."""
    return float_unary(np.cosh, input, out)


def tanh(input: Array, *, out: Array | None = None) -> Array:
    """The hyperbolic tangent."""
    return float_unary(np.tanh, input, out)


def acosh(input: Array, *, out: Array | None = None) -> Array:
    """The value that is not negative and whose hyperbolic cosine is `input`; nan below 1."""
    return float_unary(np.arccosh, input, out)


def asinh(input: Array, *, out: Array | None = None) -> Array:
    """The value whose hyperbolic sine is `input`."""
    return float_unary(np.arcsinh, input, out)


def atanh(input: Array, *, out: Array | None = None) -> Array:
    """The value whose hyperbolic tangent is `input`; nan outside of -1 to 1."""
    return float_unary(np.arctanh, input, out)


def one_minus_square(self: Array) -> Array:
    """``1 - self ** 2``, with the digits that the square of an element near 1 or -1 would lose."""
    r: Array = making.asarray(np.subtract(1, self))
    np.multiply(r, np.add(self, 1), r)
    return r


def sigmoid(input: Array, *, out: Array | None = None) -> Array:
    """``1 / (1 + exp(-input))``."""
    dtype = floating(input.dtype)
    work = working(dtype)
    if work is input.dtype:
        result = unary(np.negative, input, None)
    else:
        result = run(np.negative, work, None, input)
    np.exp(result, result)
    np.add(result, one_of(work), result)
    np.reciprocal(result, result)
    return finish(result, dtype, out)
