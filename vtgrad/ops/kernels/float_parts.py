"""Signs, exponents and neighbours of floating values, and replacements for nan and infinities.

Functions on the bits of the representation respect all of them: the sign of a zero or of a nan
counts.
"""

from __future__ import annotations

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError
from vtgrad.ops.kernels.arithmetic.power import pow
from vtgrad.ops.kernels.support.elementwise import (
    BOOL,
    Operand,
    finish,
    finish_like,
    floating,
    number,
    predicate,
    refuse,
    run,
)
from vtgrad.ops.kernels.support.result_strides import (
    broadcast_shapes,
    empty_in_order_of,
    empty_like_elementwise,
    empty_like_preserving,
)
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.promotion import result_dtype

__all__ = [
    "copysign",
    "finite_parts",
    "frexp",
    "heaviside",
    "ldexp",
    "nan_to_num",
    "nextafter",
    "signbit",
]


def copysign(input: Array, other: Operand, *, out: Array | None = None) -> Array:
    """The magnitude of `input` with the sign of `other`."""
    dtype = floating(result_dtype(input, other))
    refuse("copysign", dtype, "c", input, other)
    return run(np.copysign, dtype, out, input, other)


def nextafter(input: Array, other: Array, *, out: Array | None = None) -> Array:
    """The next floating value after `input` in the direction of `other`."""
    dtype = result_dtype(input, other)
    refuse("nextafter", dtype, "buic", input, other)
    broadcast_shapes(input.shape, other.shape)
    # Not `run`: the next value in single precision is not the next one in half precision.
    beside: Array = np.nextafter(input.astype(dtype, copy=False), other.astype(dtype, copy=False))
    return finish_like(making.asarray(beside), dtype, out, input, other)


def ldexp(input: Array, other: Array, *, out: Array | None = None) -> Array:
    """``input * 2 ** other``; with integer powers in the dtype of `input`, and exact.

    Raises
    ------
    NotSupportedError
        If floating values meet bools.
    """
    shape = broadcast_shapes(input.shape, other.shape)
    if other.dtype.kind in "biu" and input.dtype.kind in "fc":
        dtype = input.dtype
        if dtype.kind == "f":
            refuse("ldexp with powers of bool", other.dtype, "b")
            exponent = other.astype(np.int64, copy=False)
            return finish_like(making.asarray(np.ldexp(input, exponent)), dtype, out, input, other)
        power = np.exp2(other.astype(input.real.dtype))
    else:
        power = pow(2.0, other)
        dtype = result_dtype(input, power)
    if out is None:
        # In PyTorch the powers for float32 and integer tensors are row-major, those for others not.
        model = empty_in_order_of(dtype, other) if input.dtype.char in "edFD" else power
        out = empty_like_elementwise(dtype, shape, input, model)
    return run(np.multiply, dtype, out, input, power)


def frexp(input: Array) -> tuple[Array, Array]:
    """A fraction of magnitude from 1/2 to 1, and the exponent of the power of two as its factor.

    Raises
    ------
    DTypeError
        If the values are not floating.
    """
    if input.dtype.kind != "f":
        raise DTypeError(f"frexp takes floating values apart, not {input.dtype.name}")
    mantissa = empty_like_elementwise(input.dtype, input.shape, input)
    exponent = empty_like_elementwise(np.dtype(np.int32), input.shape, input)
    np.frexp(input, mantissa, exponent)
    # NumPy's exponents of infinities and nans depend on the platform.
    np.copyto(exponent, 0, where=~np.isfinite(input))
    return mantissa, exponent


def heaviside(input: Array, values: Array, *, out: Array | None = None) -> Array:
    """0 for negative values, 1 for positive ones, and `values` at zero; nan is taken as negative.

    Raises
    ------
    DTypeError
        If the dtypes differ, or are complex.
    """
    if input.dtype.kind == "c" or values.dtype.kind == "c":
        raise DTypeError("heaviside of complex values, which have no order")
    if input.dtype != values.dtype:
        raise DTypeError(
            f"heaviside of {input.dtype.name} with values of {values.dtype.name}: the dtypes must"
            " agree"
        )
    broadcast_shapes(input.shape, values.shape)
    chosen: Array = np.where(input == 0, values, (input > 0).astype(input.dtype))
    return finish_like(chosen, input.dtype, out, input, values)


def signbit(input: Array, *, out: Array | None = None) -> Array:
    """Whether the sign is minus, also that of a zero or a nan.

    Raises
    ------
    NotSupportedError
        If the values are complex.
    """
    kind = input.dtype.kind
    refuse("signbit", input.dtype, "c")
    if kind == "f":
        return predicate(np.signbit, input, out)
    if out is None:
        out = empty_like_elementwise(BOOL, input.shape, input)
    np.copyto(out, input < 0 if kind == "i" else False, casting="unsafe")
    return out


def nan_to_num(
    input: Array,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """The values, with other numbers for nan and the infinities.

    Parameters
    ----------
    input : ndarray
    nan : float, optional
        The replacement for nan; 0 by default.
    posinf, neginf : float, optional
        The replacements for the infinities; by default the largest and smallest finite values.
    out : ndarray, optional
    """
    for name, value in (("nan", nan), ("posinf", posinf), ("neginf", neginf)):
        # A complex number has the method of a real one; its imaginary part would be dropped.
        if isinstance(value, (complex, np.complexfloating)):
            raise ArgumentTypeError(
                f"argument {name!r} must be a real number or None, not {type(value).__name__}",
                argument=name,
            )
    dtype = input.dtype
    result = empty_like_preserving(dtype, input)
    np.copyto(result, input)
    if dtype.kind not in "fc":
        return finish(result, dtype, out)
    parts = [result] if dtype.kind == "f" else [result.real, result.imag]
    for part in parts:
        if np.count_nonzero(np.isfinite(part)) == part.size:
            continue
        limits = np.finfo(part.dtype)
        # Masks of the original values: a nan may be replaced by infinity.
        is_nan, high, low = np.isnan(part), np.isposinf(part), np.isneginf(part)
        np.copyto(part, number(0 if nan is None else nan, part.dtype), where=is_nan)
        top = number(float(limits.max) if posinf is None else posinf, part.dtype)
        bottom = number(float(limits.min) if neginf is None else neginf, part.dtype)
        np.copyto(part, top, where=high)
        np.copyto(part, bottom, where=low)
    return result if out is None else finish_like(result, dtype, out, input)


def finite_parts(input: Array) -> Array:
    """1 where a value is finite, otherwise 0; separately for both parts of complex values."""
    result: Array = making.zeros(input.shape, input.dtype)
    if input.dtype.kind == "c":
        np.copyto(result.real, np.isfinite(input.real))
        np.copyto(result.imag, np.isfinite(input.imag))
    else:
        np.copyto(result, np.isfinite(input), casting="unsafe")
    return finish_like(result, input.dtype, None, input)
