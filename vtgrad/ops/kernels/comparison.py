"""Comparisons, tests of values, and the operators that choose between values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeGuard, cast

import numpy as np

from vtgrad.errors import DTypeError, NotSupportedError, OptionValueError, ShapeError
from vtgrad.ops.kernels.support.elementwise import (
    BOOL,
    Operand,
    binary,
    checked_number,
    compare,
    finish_like,
    predicate,
    refuse,
    run,
    zero_of,
)
from vtgrad.ops.kernels.support.result_strides import (
    broadcast_shapes,
    empty_in_order_of,
    empty_like_elementwise,
    empty_like_preserving,
    is_plain,
)
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, Number, NumpyDType, Shape
from vtgrad.storage.promotion import result_dtype

__all__ = [
    "clamp",
    "clamp_max",
    "clamp_min",
    "eq",
    "fmax",
    "fmin",
    "ge",
    "gt",
    "halved_where",
    "has_power_of_zero",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "le",
    "lt",
    "maximum",
    "minimum",
    "ne",
    "relu",
    "threshold_backward",
    "where",
]


def eq(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """Whether the values are equal, after promotion to a common dtype."""
    return compare(np.equal, input, other, out)


def ne(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """Whether the values differ; a nan differs from everything."""
    return compare(np.not_equal, input, other, out)


def lt(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """Whether `input` is less."""
    return _ordered("lt", np.less, input, other, out)


def le(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """Whether `input` is less or equal."""
    return _ordered("le", np.less_equal, input, other, out)


def gt(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """Whether `input` is greater."""
    return _ordered("gt", np.greater, input, other, out)


def ge(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """Whether `input` is greater or equal."""
    return _ordered("ge", np.greater_equal, input, other, out)


def _ordered(name: str, ufunc: np.ufunc, a: Operand, b: Operand, out: Array | None) -> Array:
    if _is_complex(a) or _is_complex(b):
        dtype = result_dtype(a, b)
        broadcast_shapes(*[x.shape for x in (a, b) if isinstance(x, np.ndarray)])
        raise NotSupportedError(
            f"{name} of complex values, which have no order", dtype=dtype, in_any_case=True
        )
    return compare(ufunc, a, b, out)


def _is_complex(x: Operand) -> bool:
    return x.dtype.kind == "c" if isinstance(x, np.ndarray) else type(x) is complex


def _refuse_complex(name: str, input: Operand, other: Operand) -> None:
    if _is_complex(input) or _is_complex(other):
        raise DTypeError(f"{name} of complex values, which have no order")


def isnan(input: Array, *, out: Array | None = None) -> Array:
    """Whether the value, or a part of it, is nan."""
    return predicate(np.isnan, input, out)


def isinf(input: Array, *, out: Array | None = None) -> Array:
    """Whether the value, or a part of it, is infinite."""
    return _of_parts(np.isinf, input, out)


def isfinite(input: Array, *, out: Array | None = None) -> Array:
    """Whether the value, in all its parts, is neither infinite nor nan."""
    return _of_parts(np.isfinite, input, out)


def _of_parts(ufunc: np.ufunc, a: Array, out: Array | None) -> Array:
    """A predicate of each part of the value, with the strides of PyTorch's composite."""
    if out is None and a.dtype.kind in "biu":
        out = empty_like_preserving(BOOL, a)
    if out is None and 1 in a.shape:
        shape = a.shape
        if a.dtype.kind == "c":
            own = empty_in_order_of(BOOL, a)
        else:
            own = empty_like_elementwise(BOOL, shape, a)
        out = empty_in_order_of(BOOL, own)
        if ufunc is np.isfinite:
            out = empty_like_elementwise(BOOL, shape, own, out)
    return predicate(ufunc, a, out)


def isclose(
    input: Array, other: Array, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Array:
    """Whether the values differ by no more than ``atol + rtol * abs(other)``.

    Raises
    ------
    DTypeError
        If the dtypes differ.
    OptionValueError
        If a tolerance is negative.
    ShapeError
        If the shapes do not broadcast.
    """
    if input.dtype != other.dtype:
        raise DTypeError(
            f"isclose compares values of one dtype, not {input.dtype.name} and {other.dtype.name}"
        )
    if not (rtol >= 0 and atol >= 0):
        raise OptionValueError(f"tolerances must not be negative: rtol={rtol}, atol={atol}")
    broadcast_shapes(input.shape, other.shape)
    close = making.asarray(np.equal(input, other))
    if equal_nan and input.dtype.kind in "fc":
        close |= np.isnan(input) & np.isnan(other)
    if rtol or atol:
        if input.dtype.kind in "biu":
            input, other = input.astype(np.float64), other.astype(np.float64)
        difference = np.abs(input - other)
        close |= (difference <= atol + np.abs(rtol * other)) & np.isfinite(difference)
    return finish_like(close, BOOL, None, input, other)


def has_power_of_zero(input: Array) -> Array:
    """Whether 0 to the power of the value is a number: of 0, or a positive value or real part."""
    if input.dtype.kind != "c":
        return ge(input, 0)
    power: Array = making.asarray(np.logical_or(input.real > 0, input == 0))
    return power


def maximum(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """The larger of two values; nan if either is.

    Raises
    ------
    DTypeError
        If a value is complex.
    """
    _refuse_complex("maximum", input, other)
    return binary(np.maximum, input, other, out)


def minimum(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """The smaller of two values; nan if either is.

    Raises
    ------
    DTypeError
        If a value is complex.
    """
    _refuse_complex("minimum", input, other)
    return binary(np.minimum, input, other, out)


def fmax(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """The larger of two values; the other one if one is nan.

    Raises
    ------
    DTypeError
        If a value is complex.
    """
    _refuse_complex("fmax", input, other)
    return binary(np.fmax, input, other, out)


def fmin(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """The smaller of two values; the other one if one is nan.

    Raises
    ------
    DTypeError
        If a value is complex.
    """
    _refuse_complex("fmin", input, other)
    return binary(np.fmin, input, other, out)


def relu(input: Array, *, out: Array | None = None) -> Array:
    """The value, or 0 if it is negative.

    Raises
    ------
    DTypeError
        If `input` is bool.
    """
    dtype = input.dtype
    if dtype.kind == "b":
        raise DTypeError("relu is not defined for bool values")
    refuse("relu", dtype, "c")
    if out is None:
        if input.flags.c_contiguous and input.ndim:
            if input.size >= _LARGE and dtype.char in "fd":
                return _extreme_of_large(np.maximum, input, 0, None)
            result: Array = np.maximum(input, zero_of(dtype))
            return result
        out = empty_like_elementwise(dtype, input.shape, input)
    np.maximum(input, zero_of(dtype), out=out, casting="unsafe")
    return out


def threshold_backward(
    grad_output: Array, self: Array, threshold: Number, *, out: Array | None = None
) -> Array:
    """`grad_output`, but 0 where `self` is at or below the threshold; a nan is not below."""
    return where(compare(np.less_equal, self, threshold, None), 0, grad_output, out=out)


def clamp(
    input: Array,
    min: Operand | None = None,
    max: Operand | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """The values, those below `min` raised to it, those above `max` lowered to it.

    The bounds' dtypes take part in the result's. Where `min` is above `max`, the result is
    `max`; a nan among value and bounds gives nan.

    Raises
    ------
    DTypeError
        If both bounds are None, or a number is out of the range of the result's dtype.
    NotSupportedError
        If values are complex, or bool with other bounds than one array.
    """
    if min is None and max is None:
        raise DTypeError("clamp needs min, max or both")
    if out is None and input.dtype.char in "fd" and input.flags.c_contiguous and input.ndim:
        quick = _clamped_by_floats(input, min, max)
        if quick is not None:
            return quick
    only = max if min is None else min if max is None else None
    if type(only) in PLAIN:
        if TYPE_CHECKING:
            assert isinstance(only, np.ndarray)
        if only.dtype is input.dtype and input.dtype.kind in "fiu":
            return run(np.minimum if min is None else np.maximum, input.dtype, out, input, only)
    bounds = [x for x in (min, max) if x is not None]
    refuse("clamp", input.dtype, "c")
    dtype = result_dtype(input, *bounds)
    # PyTorch accepts bool values with one tensor bound, because that is `maximum` or `minimum`.
    one_array = len(bounds) == 1 and isinstance(bounds[0], np.ndarray)
    refuse("clamp", dtype, "c" if one_array else "bc")
    low = None if min is None else _bound(min, dtype)
    high = None if max is None else _bound(max, dtype)
    arrays = [x for x in (input, min, max) if isinstance(x, np.ndarray)]
    if low is None:
        assert high is not None
        value = run(np.minimum, dtype, None, input, high)
    else:
        value = run(np.maximum, dtype, None, input, low)
        if high is not None:
            value = run(np.minimum, dtype, None, value, high)
    return finish_like(value, dtype, out, *arrays)


def halved_where(self: Array, condition: Array, *, out: Array | None = None) -> Array:
    """The floating values, half of them where `condition`, of the same shape, holds.

    Raises
    ------
    DTypeError
        If the condition is not bool.
    ShapeError
        If the shapes differ.
    NotSupportedError
        If the values are not floating.
    """
    if condition.dtype != BOOL:
        raise DTypeError(f"the condition must be bool, not {condition.dtype.name}")
    if condition.shape != self.shape:
        raise ShapeError(
            f"values of shape {list(self.shape)} and a condition of shape {list(condition.shape)}",
            expected=self.shape,
            found=condition.shape,
        )
    refuse("halved_where", self.dtype, "buic")
    if out is None:
        out = empty_like_elementwise(self.dtype, self.shape, self)
    if out is not self:
        np.copyto(out, self)
    if condition.any():
        np.multiply(self, 0.5, out=out, where=condition)
    return out


# From this size on, a pass over memory costs more than the calls that prepare it.
_LARGE: Final = 8192
_BLOCK: Final = 2048


def _kept(a: Operand, keep: Array, out: Array | None) -> Array:
    """`a` where `keep` holds, otherwise 0.0: its bits, as integers, times one or zero.

    A pass without branches, several times as fast as a choice with an irregular condition; unlike a
    product of floats it makes no nan from infinities, and no negative zero.
    """
    assert isinstance(a, np.ndarray)
    integers = np.int64 if a.itemsize == 8 else np.int32
    result: Array = making.empty(a.shape, a.dtype) if out is None else out
    np.multiply(a.view(integers), keep, out=result.view(integers))
    return result


def _chosen_quickly(a: Operand, b: Operand, shape: Shape) -> bool:
    """Whether NumPy's choice between `a`, an array, and `b` has the right dtype and order."""
    if not isinstance(a, np.ndarray) or a.shape != shape:
        return False
    if isinstance(b, np.ndarray):
        if a.dtype is not b.dtype or b.shape != shape:
            return False
        if a.flags.c_contiguous and b.flags.c_contiguous:
            return True
        return 1 not in shape and is_plain(a) and is_plain(b)
    return a.dtype.char in "fd" and 1 not in shape and is_plain(a) and _modest(b)


def clamp_min(input: Array, min: Operand, *, out: Array | None = None) -> Array:
    """The values, those below `min` raised to it; see `clamp`."""
    return clamp(input, min, None, out=out)


def clamp_max(input: Array, max: Operand, *, out: Array | None = None) -> Array:
    """The values, those above `max` lowered to it; see `clamp`."""
    return clamp(input, None, max, out=out)


def _modest(x: Operand | None) -> TypeGuard[float | None]:
    """Whether a bound is absent, or a number in the range of single precision."""
    if x is None:
        return True
    kind = type(x)
    return (kind is float or kind is int) and -1e38 < cast(float, x) < 1e38


def _clamped_by_floats(a: Array, low: Operand | None, high: Operand | None) -> Array | None:
    """Clamp single or double precision values by modest numbers; None for other bounds."""
    if not (_modest(low) and _modest(high)):
        return None
    result: Array = a
    large = a.size >= _LARGE
    if large and low and high:
        # With a bound of 0 NumPy would keep a zero of the other sign.
        return np.clip(a, low, high)
    if low is not None:
        result = _extreme_of_large(np.maximum, a, low, None) if large else np.maximum(a, low)
    if high is not None:
        out = None if result is a else result
        if large:
            return _extreme_of_large(np.minimum, result, high, out)
        result = np.minimum(result, high, out=out)
    return result


def _extreme_of_large(ufunc: np.ufunc, a: Array, bound: float, out: Array | None) -> Array:
    """A C-contiguous array's maximum or minimum with a number.

    NumPy is twice as fast with two arrays as with an array and a number, so the number is repeated
    in a block that stays in the cache.
    """
    result: Array = making.empty(a.shape, a.dtype) if out is None else out
    flat, target = a.reshape(-1), result.reshape(-1)
    block: Array = making.full(_BLOCK, bound, a.dtype)
    whole = a.size // _BLOCK * _BLOCK
    ufunc(flat[:whole].reshape(-1, _BLOCK), block, out=target[:whole].reshape(-1, _BLOCK))
    ufunc(flat[whole:], block[: a.size - whole], out=target[whole:])
    return result


def _bound(x: Operand, dtype: NumpyDType) -> Array:
    return x if isinstance(x, np.ndarray) else checked_number(x, dtype)


def where(condition: Array, input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """`input` where `condition` holds, else `other`.

    Raises
    ------
    DTypeError
        If `condition` is not bool (or uint8), or a number is out of the result dtype's range.
    """
    if condition.dtype != BOOL and condition.dtype != np.uint8:
        raise DTypeError(
            f"the condition must be bool, not {condition.dtype.name}", dtype=condition.dtype
        )
    over = out is not None and (out is input or out is other)
    if (out is None or over) and condition.ndim and condition.flags.c_contiguous:
        shape = condition.shape
        if _chosen_quickly(input, other, shape) or _chosen_quickly(other, input, shape):
            if condition.size >= _LARGE and condition.dtype == BOOL:
                if type(other) is int and other == 0:
                    return _kept(input, condition, out)
                if type(input) is int and input == 0:
                    return _kept(other, np.logical_not(condition), out)
            if out is None:
                picked: Array = np.where(condition, input, other)
                return picked
            if out is input:
                np.copyto(out, other, where=np.logical_not(condition))
            else:
                np.copyto(out, input, where=condition.astype(BOOL, copy=False))
            return out
    dtype = result_dtype(input, other)
    a, b = _bound(input, dtype), _bound(other, dtype)
    broadcast_shapes(condition.shape, a.shape, b.shape)
    chosen: Array = np.where(condition, a.astype(dtype, copy=False), b.astype(dtype, copy=False))
    return finish_like(chosen, dtype, out, condition, input, other)


def isposinf(input: Array, *, out: Array | None = None) -> Array:
    """Whether the value is plus infinity."""
    return _is_infinity("isposinf", float("inf"), input, out)


def isneginf(input: Array, *, out: Array | None = None) -> Array:
    """Whether the value is minus infinity."""
    return _is_infinity("isneginf", float("-inf"), input, out)


def _is_infinity(name: str, infinity: float, a: Array, out: Array | None) -> Array:
    if a.dtype.kind == "c":
        raise DTypeError(f"{name} of complex values, which have no order")
    if out is None:
        out = empty_like_elementwise(BOOL, a.shape, a)
    np.copyto(out, a == infinity if a.dtype.kind == "f" else False, casting="unsafe")
    return out
