"""Logical operators, whose operands are true or false, and operators on the bits of integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vtgrad.ops.kernels.support.elementwise import BOOL, Operand, binary, predicate, refuse, unary
from vtgrad.ops.kernels.support.result_strides import (
    as_converted,
    broadcast_shapes,
    called,
    empty_like_elementwise,
)
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.promotion import number_dtype, result_dtype

__all__ = [
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
]


def logical_and(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """Whether both values are true; every value but zero is."""
    return _logical(np.logical_and, input, other, out)


def logical_or(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """Whether at least one value is true."""
    return _logical(np.logical_or, input, other, out)


def logical_xor(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """Whether exactly one value is true."""
    return _logical(np.logical_xor, input, other, out)


def logical_not(input: Array, *, out: Array | None = None) -> Array:
    """Whether the value is zero."""
    return predicate(np.logical_not, input, out)


def _logical(ufunc: np.ufunc, a: Operand, b: Operand, out: Array | None) -> Array:
    if type(a) in PLAIN and type(b) in PLAIN:
        if TYPE_CHECKING:
            assert isinstance(a, np.ndarray)
            assert isinstance(b, np.ndarray)
        if a.dtype is b.dtype:
            try:
                if out is None:
                    return called(ufunc, a, b)
                ufunc(a, b, out=out)
                return out
            except ValueError:
                pass  # The general way says what is wrong.
    first, second = _truth(a), _truth(b)
    shape = broadcast_shapes(first.shape, second.shape)
    if out is None:
        common = as_converted(result_dtype(a, b), a, b)
        out = empty_like_elementwise(BOOL, shape, *common)
    ufunc(first, second, out=out, casting="unsafe")
    return out


def _truth(x: Operand) -> Array:
    """The value as bool, so that no promotion can round a small value to zero."""
    result: Array = making.asarray(x).astype(BOOL, copy=False)
    return result


def bitwise_and(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """The bits set in both integers."""
    return _bitwise("bitwise_and", np.bitwise_and, input, other, out)


def bitwise_or(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """The bits set in at least one of the integers."""
    return _bitwise("bitwise_or", np.bitwise_or, input, other, out)


def bitwise_xor(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """The bits set in exactly one of the integers."""
    return _bitwise("bitwise_xor", np.bitwise_xor, input, other, out)


def bitwise_not(input: Array, *, out: Array | None = None) -> Array:
    """The bits not set."""
    refuse("bitwise_not", input.dtype, "fc")
    return unary(np.invert, input, out)


def bitwise_left_shift(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """The bits moved `other` positions up; 0 for negative `other` or more positions than bits."""
    return _bitwise("bitwise_left_shift", np.left_shift, input, other, out, refused="bfc")


def bitwise_right_shift(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """The bits moved `other` positions down, copies of the sign bit coming in from above."""
    return _bitwise("bitwise_right_shift", np.right_shift, input, other, out, refused="bfc")


def _bitwise(
    name: str,
    ufunc: np.ufunc,
    a: Operand,
    b: Operand,
    out: Array | None,
    *,
    refused: str = "fc",
) -> Array:
    for x in (a, b):
        refuse(name, x.dtype if isinstance(x, np.ndarray) else number_dtype(x), "fc", a, b)
    if refused != "fc":
        refuse(name, result_dtype(a, b), refused, a, b)
    return binary(ufunc, a, b, out)
