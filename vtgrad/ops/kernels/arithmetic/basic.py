# Compiled by mypyc.
"""Sums, products, quotients and combinations of them.

Parameters named ``out`` take the array to write into instead of a new one; it has the result's
shape, and a dtype to which the result's can be cast.
"""

from __future__ import annotations

from functools import partial
from typing import cast

import numpy as np

from vtgrad.errors import DTypeError, NotSupportedError
from vtgrad.ops.kernels.support.elementwise import (
    BOOL,
    Operand,
    binary,
    checked_number,
    finish_like,
    float_unary,
    refuse,
    run,
    unary,
    working,
)
from vtgrad.ops.kernels.support.result_strides import (
    broadcast_shapes,
    empty_like_elementwise,
    empty_like_preserving,
)
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number, NumpyDType
from vtgrad.storage.lazy_array import physical
from vtgrad.storage.prepared_store import Store, copied
from vtgrad.storage.promotion import category, number_dtype, result_dtype

__all__ = [
    "abs",
    "abs_",
    "add",
    "addcdiv",
    "addcmul",
    "lerp",
    "mul",
    "neg",
    "reciprocal",
    "rsub",
    "sgn",
    "sign",
    "square",
    "sub",
]


def add(input: Operand, other: Operand, *, alpha: Number = 1, out: Array | None = None) -> Array:
    """``input + alpha * other``; of bools, whether either is true.

    Raises
    ------
    DTypeError
        If `alpha`'s category is above the result's, or it is bool and the result is not.
    """
    if type(alpha) is int and alpha == 1:
        return binary(np.add, input, other, out)
    return _add_scaled(np.add, input, other, alpha, out)


def sub(input: Operand, other: Operand, *, alpha: Number = 1, out: Array | None = None) -> Array:
    """``input - alpha * other``.

    Raises
    ------
    DTypeError
        If an operand is bool, and as in `add`.
    """
    if (
        isinstance(input, bool)
        or isinstance(other, bool)
        or (isinstance(input, np.ndarray) and input.dtype is BOOL)
        or (isinstance(other, np.ndarray) and other.dtype is BOOL)
    ):
        raise DTypeError(
            "bool values cannot be subtracted: use logical_xor (`^`) for their difference, or"
            " logical_not (`~`) to invert a mask",
            in_any_case=True,
        )
    if type(alpha) is int and alpha == 1:
        return binary(np.subtract, input, other, out)
    return _add_scaled(np.subtract, input, other, alpha, out)


def rsub(input: Operand, other: Operand, *, alpha: Number = 1, out: Array | None = None) -> Array:
    """``other - alpha * input``; see `sub`."""
    return sub(other, input, alpha=alpha, out=out)


def _add_scaled(ufunc: np.ufunc, a: Operand, b: Operand, alpha: Number, out: Array | None) -> Array:
    dtype = result_dtype(a, b)
    check_alpha(alpha, dtype)
    work = working(dtype)
    if out is None:
        shapes = [x.shape for x in (a, b) if isinstance(x, np.ndarray)]
        out = empty_like_elementwise(dtype, broadcast_shapes(*shapes), a, b)
    if (
        dtype.char in "fd"
        and isinstance(b, np.ndarray)
        and b.dtype == dtype
        and type(alpha) in (int, float)
        and -1e38 < cast(float, alpha) < 1e38
    ):
        return binary(ufunc, a, binary(np.multiply, b, alpha, None), out)
    scaled = run(np.multiply, work, None, b, checked_number(alpha, work))
    return run(ufunc, dtype, out, a, scaled)


def check_alpha(alpha: Number, dtype: NumpyDType) -> None:
    """Raise `DTypeError` if a result in `dtype` cannot take the factor `alpha`."""
    if isinstance(alpha, bool):
        if dtype != BOOL:
            raise DTypeError(f"a bool alpha goes with bool results only, not {dtype.name}")
    elif isinstance(alpha, float | complex) and category(number_dtype(alpha)) > category(dtype):
        raise DTypeError(
            f"alpha is {type(alpha).__name__}, which a result of {dtype.name} cannot hold"
        )


def mul(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """``input * other``; of bools, whether both are true."""
    return binary(np.multiply, input, other, out)


def neg(input: Array, *, out: Array | None = None) -> Array:
    """``-input``.

    Raises
    ------
    DTypeError
        If `input` is bool.
    """
    if input.dtype is BOOL:
        raise DTypeError("bool values have no negative: use logical_not (`~`) to invert a mask")
    if out is not None and not out.flags.c_contiguous:
        # NumPy 2.4.6 computes wrong numbers if both operand and `out` skip elements and the
        # operand's stride is 16 bytes of 4-byte elements or 64 of 8-byte ones.
        return finish_like(unary(np.negative, input, None), input.dtype, out, input)
    return unary(np.negative, input, out)


def abs(input: Array, *, out: Array | None = None) -> Array:
    """The absolute value; of complex values, real."""
    refuse("abs", input.dtype, "b")
    if input.dtype.kind == "c":
        if out is None:
            out = empty_like_preserving(input.real.dtype, physical(input))
        np.absolute(input, out=out, casting="unsafe")
        return out
    return unary(np.absolute, input, out)


def abs_(self: Array) -> Store:
    """Overwrite real values with their absolute values.

    Raises
    ------
    DTypeError
        If the values are complex: the result would be real.
    """
    if self.dtype.kind == "c":
        raise DTypeError("the absolute value of complex values is real and cannot replace them")
    if self.dtype.kind not in "fi":
        return copied(self, abs(self))
    return partial(abs, self, out=self), (), None


def sign(input: Array, *, out: Array | None = None) -> Array:
    """-1, 0 or 1; a nan has sign 0, and a bool is its own sign."""
    kind = input.dtype.kind
    if kind == "b":
        return finish_like(input.copy(), BOOL, out, input)
    refuse("sign", input.dtype, "c")
    if kind != "f":
        return unary(np.sign, input, out)
    # `out` may be the input itself, and is written once, at the end.
    result = unary(np.sign, input, None)
    np.copyto(result, 0, where=np.isnan(result))
    return result if out is None else finish_like(result, input.dtype, out, input)


def sgn(input: Array, *, out: Array | None = None) -> Array:
    """`sign` for real values; complex ones scaled to length 1, and 0 where they are 0."""
    if input.dtype.kind != "c":
        return sign(input, out=out)
    length = np.absolute(input)
    zero = length == 0
    result: Array = making.asarray(np.true_divide(input, np.where(zero, 1, length)))
    return finish_like(result, input.dtype, out, input)


def square(input: Array, *, out: Array | None = None) -> Array:
    """``input * input``; of bools, int64."""
    if input.dtype is BOOL:
        return finish_like(input.copy(), np.dtype(np.int64), out, input)
    return unary(np.square, input, out)


def reciprocal(input: Array, *, out: Array | None = None) -> Array:
    """``1 / input``; of integers, in the default floating dtype."""
    return float_unary(np.reciprocal, input, out)


def lerp(input: Array, end: Array, weight: Operand, *, out: Array | None = None) -> Array:
    """The point at `weight` between `input` (0) and `end` (1).

    Raises
    ------
    DTypeError
        If the arrays' dtypes differ; a 0-d `weight` may have any.
    NotSupportedError
        If they are neither floating nor complex.
    """
    dtype = input.dtype
    if end.dtype != dtype:
        raise DTypeError(f"lerp from {dtype.name} to {end.dtype.name}: the dtypes must agree")
    operands: tuple[Array, ...] = (input, end)
    if isinstance(weight, np.ndarray):
        if weight.ndim and weight.dtype != dtype:
            raise DTypeError(f"lerp of {dtype.name} with weights of {weight.dtype.name}")
        dtype = result_dtype(input, end, weight)
        operands = (input, end, weight)
    if dtype.kind in "bui":
        raise NotSupportedError(
            f"lerp is not defined for {dtype.name} values", dtype=dtype, in_any_case=True
        )
    broadcast_shapes(*[x.shape for x in operands])
    work = working(dtype)
    a: Array = input.astype(work, copy=False)
    b: Array = end.astype(work, copy=False)
    w = weight.astype(work) if isinstance(weight, np.ndarray) else checked_number(weight, work)
    step = np.subtract(b, a)
    # Counted from the nearer end, so that weight 1 gives `end` exactly.
    near = np.abs(w) < 0.5
    if w.ndim:
        value = np.where(near, a + w * step, b - step * (1 - w))
    else:
        value = making.asarray(a + w * step if near else b - step * (1 - w))
    return finish_like(value, dtype, out, *operands)


def addcmul(
    input: Array, tensor1: Array, tensor2: Array, *, value: Number = 1, out: Array | None = None
) -> Array:
    """``input + value * tensor1 * tensor2``."""
    dtype = result_dtype(input, tensor1, tensor2)
    refuse("addcmul", dtype, "b", input, tensor1, tensor2)
    return _add_scaled_pair(np.multiply, dtype, input, tensor1, tensor2, value, out)


def addcdiv(
    input: Array, tensor1: Array, tensor2: Array, *, value: Number = 1, out: Array | None = None
) -> Array:
    """``input + value * tensor1 / tensor2``.

    Raises
    ------
    DTypeError
        If `tensor1` and `tensor2` are both integers or bools.
    """
    if tensor1.dtype.kind in "bui" and tensor2.dtype.kind in "bui":
        raise DTypeError(
            f"addcdiv divides {tensor1.dtype.name} by {tensor2.dtype.name}: one of them must be"
            " floating or complex"
        )
    dtype = result_dtype(input, tensor1, tensor2)
    return _add_scaled_pair(np.true_divide, dtype, input, tensor1, tensor2, value, out)


def _add_scaled_pair(
    ufunc: np.ufunc,
    dtype: NumpyDType,
    a: Array,
    b: Array,
    c: Array,
    value: Number,
    out: Array | None,
) -> Array:
    broadcast_shapes(a.shape, b.shape, c.shape)
    work = working(dtype)
    factor = checked_number(value, work)
    if dtype.char in "fd" and a.dtype is b.dtype is c.dtype:
        # Nothing is converted, and a product with one is the number itself.
        scaled = b if factor == 1 else np.multiply(b, factor)
        total = making.asarray(np.add(a, ufunc(scaled, c)))
        return finish_like(total, dtype, out, a, b, c)
    pair = run(ufunc, work, None, run(np.multiply, work, None, b, factor), c)
    return finish_like(run(np.add, work, None, a, pair), dtype, out, a, b, c)
