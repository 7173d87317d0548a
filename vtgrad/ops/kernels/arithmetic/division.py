"""Division: true, floored and truncated, and remainders.

Integer division by zero has no result: it raises, if there is any element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vtgrad.errors import DTypeError
from vtgrad.ops.kernels.support.elementwise import (
    Operand,
    binary,
    finish,
    floating,
    number,
    refuse,
    run,
)
from vtgrad.ops.kernels.support.result_strides import broadcast_shapes
from vtgrad.storage.arrays import PLAIN, Array, NumpyDType
from vtgrad.storage.promotion import result_dtype

__all__ = ["div", "floor_divide", "fmod", "remainder"]


def div(
    input: Operand,
    other: Operand,
    *,
    rounding_mode: str | None = None,
    out: Array | None = None,
) -> Array:
    """``input / other``.

    Parameters
    ----------
    input, other : ndarray or number
    rounding_mode : {"trunc", "floor"}, optional
        Round the quotient towards zero, or down; the result then has the operands' dtype.
        Without it integers are divided in the default floating dtype.
    out : ndarray, optional

    Raises
    ------
    DTypeError
        If `rounding_mode` has another value, or integers are divided by zero with rounding.
    """
    if rounding_mode is None:
        if isinstance(input, np.ndarray) and input.dtype.kind in "fc":
            return binary(np.true_divide, input, other, out)
        return run(np.true_divide, floating(result_dtype(input, other)), out, input, other)
    if rounding_mode == "floor":
        return floor_divide(input, other, out=out)
    if rounding_mode == "trunc":
        return _truncated(input, other, out)
    raise DTypeError(
        f"rounding_mode must be None, 'trunc' or 'floor', not {rounding_mode!r}",
        value=rounding_mode,
    )


def floor_divide(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """The quotient rounded down, in the operands' dtype."""
    dtype = result_dtype(input, other)
    refuse("floor_divide", dtype, "bc", input, other)
    _check_divisor(dtype, input, other)
    return run(np.floor_divide, dtype, out, input, other)


def _truncated(a: Operand, b: Operand, out: Array | None) -> Array:
    dtype = result_dtype(a, b)
    refuse("div with rounding_mode='trunc'", dtype, "bc", a, b)
    if dtype.kind == "f":
        quotient = run(np.true_divide, dtype, None, a, b)
        np.trunc(quotient, out=quotient)
        return finish(quotient, dtype, out)
    _check_divisor(dtype, a, b)
    quotient = run(np.floor_divide, dtype, None, a, b)
    # Rounding down and rounding towards zero differ by one where the quotient is negative and the
    # remainder is not zero; the remainder has the divisor's sign.
    left = run(np.remainder, dtype, None, a, b)
    negative = np.less(_typed(a, dtype), 0) != np.less(_typed(b, dtype), 0)
    np.add(quotient, 1, out=quotient, where=(left != 0) & negative)
    return finish(quotient, dtype, out)


def remainder(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """The remainder of a division rounded down, with the divisor's sign."""
    dtype = result_dtype(input, other)
    refuse("remainder", dtype, "bc", input, other)
    if dtype.kind != "f":
        _check_divisor(dtype, input, other)
        return run(np.remainder, dtype, out, input, other)
    # NumPy gives a zero the divisor's sign, PyTorch the dividend's.
    if dtype.char in "fd" and type(input) in PLAIN and type(other) in PLAIN:
        if TYPE_CHECKING:
            assert isinstance(input, np.ndarray)
            assert isinstance(other, np.ndarray)
        if input.dtype is other.dtype is dtype:
            rest = run(np.remainder, dtype, None, input, other)
            zero = np.equal(rest, 0)
            if np.count_nonzero(zero):
                np.copysign(rest, input, out=rest, where=zero)
            return finish(rest, dtype, out)
    divisor = _typed(other, dtype)
    left = run(np.fmod, dtype, None, input, _array_or(other, divisor))
    np.add(left, divisor, out=left, where=(left != 0) & ((left < 0) != (divisor < 0)))
    return finish(left, dtype, out)


def fmod(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """The remainder of a division rounded towards zero, with the dividend's sign."""
    dtype = result_dtype(input, other)
    refuse("fmod", dtype, "bc", input, other)
    if dtype.kind != "f":
        _check_divisor(dtype, input, other)
    return run(np.fmod, dtype, out, input, _array_or(other, _typed(other, dtype)))


def _array_or(x: Operand, typed: Array) -> Array:
    """The operand itself if it is an array, whose strides decide the result's, or `typed`."""
    return x if isinstance(x, np.ndarray) else typed


def _typed(x: Operand, dtype: NumpyDType) -> Array:
    if isinstance(x, np.ndarray):
        result: Array = x.astype(dtype, copy=False)
        return result
    return number(x, dtype)


def _check_divisor(dtype: NumpyDType, a: Operand, b: Operand) -> None:
    """Raise if integers would be divided by zero."""
    if dtype.kind == "f":
        return
    divisor = _typed(b, dtype)
    if divisor.all():
        return
    shape = broadcast_shapes(a.shape if isinstance(a, np.ndarray) else (), divisor.shape)
    if 0 not in shape:
        raise DTypeError(f"{dtype.name} division by zero", dtype=dtype)
