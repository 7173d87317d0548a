"""Arithmetic that is made of other operators, and `div`, whose overloads no type tells apart."""

from __future__ import annotations

from typing import TypeVar, overload

import numpy as np

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, DTypeError
from vtgrad.ops.calling.arguments import NOT_GIVEN, array_of, refuse_array
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number, NumpyDType
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "div",
    "div_",
    "divide",
    "divide_",
    "float_power",
    "float_power_",
    "positive",
    "square",
    "square_",
]


T = TypeVar("T", bound=TensorBase)

# -- sums and powers ------------------------------------------------------------------------


@explained
def positive(input: T) -> T:
    """The tensor itself.

    Raises
    ------
    DTypeError
        If it is bool.
    """
    if input._impl.array.dtype.kind == "b":
        raise DTypeError("bool tensors have no sign, so `+` is not defined for them")
    return input


def square(input: T, *, out: T | None = None) -> T:
    """The tensor to the power of 2."""
    return F.pow_Tensor_Scalar(input, 2, out=out)


def square_(input: T) -> T:
    """Raise the tensor itself to the power of 2."""
    return F.pow_Tensor_Scalar_(input, 2)


# -- powers in double precision -------------------------------------------------------------


def _double_dtype(*operands: TensorBase | Number) -> NumpyDType:
    """What `float_power` computes in: double precision, complex if an operand is."""
    for x in operands:
        if x.is_complex() if isinstance(x, TensorBase) else isinstance(x, complex):
            return np.dtype(np.complex128)
    return np.dtype(np.float64)


def _in_double(x: T, dtype: NumpyDType) -> T:
    return x if x._impl.array.dtype == dtype else F.to_dtype(x, dtype)


def _number_in_double(x: Number, dtype: NumpyDType, name: str) -> Number:
    number = number_of(x, name)
    try:
        return (
            complex(number) if isinstance(number, complex) or dtype.kind == "c" else float(number)
        )
    except OverflowError:
        raise ArgumentValueError(
            f"argument {name!r} holds a number that is too large", argument=name
        ) from None


@overload
def float_power(input: T, exponent: TensorBase | Number, *, out: T | None = None) -> T: ...
@overload
def float_power(input: Number, exponent: T, *, out: T | None = None) -> T: ...
def float_power(
    input: TensorBase | Number, exponent: TensorBase | Number, *, out: TensorBase | None = None
) -> TensorBase:
    """`pow` in double precision, whatever the operands' dtypes are.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.float_power(vt.tensor([2, 4]), -1).tolist()
    [0.5, 0.25]
    """
    dtype = _double_dtype(input, exponent)
    if out is not None and array_of(out, "out").dtype != dtype:
        raise DTypeError(f"float_power gives {dtype_of(dtype).name}, and so must out= be")
    if isinstance(input, TensorBase):
        base = _in_double(input, dtype)
        if isinstance(exponent, TensorBase):
            return F.pow_Tensor_Tensor(base, _in_double(exponent, dtype), out=out)
        refuse_array("exponent", exponent)
        return F.pow_Tensor_Scalar(base, _number_in_double(exponent, dtype, "exponent"), out=out)
    if not isinstance(exponent, TensorBase):
        raise ArgumentTypeError("at least one operand of float_power must be a tensor")
    number = _number_in_double(input, dtype, "input")
    return F.pow_Scalar(number, _in_double(exponent, dtype), out=out)


def float_power_(input: T, exponent: TensorBase | Number) -> T:
    """Raise the tensor itself to a power; see `float_power`.

    Raises
    ------
    DTypeError
        If the tensor does not have the result's dtype.
    """
    dtype = _double_dtype(input, exponent)
    own = array_of(input, "input").dtype
    if own != dtype:
        raise DTypeError(
            f"float_power_ gives {dtype_of(dtype).name}, which a tensor of"
            f" {dtype_of(own).name} cannot become"
        )
    if isinstance(exponent, TensorBase):
        return F.pow_Tensor_Tensor_(input, _in_double(exponent, dtype))
    refuse_array("exponent", exponent)
    return F.pow_Tensor_Scalar_(input, _number_in_double(exponent, dtype, "exponent"))


# -- division ---------------------------------------------------------------------------------
#
# PyTorch records another node for an explicit None, which rounds no more than its absence does.


@overload
def div(
    input: T,
    other: TensorBase | Number,
    *,
    rounding_mode: str | None = NOT_GIVEN,
    out: T | None = None,
) -> T: ...
@overload
def div(
    input: Number, other: T, *, rounding_mode: str | None = NOT_GIVEN, out: T | None = None
) -> T: ...
def div(  # type: ignore[misc]  # pyright: ignore[reportInconsistentOverload]  # a number is passed on
    input: T,
    other: TensorBase | Number,
    *,
    rounding_mode: str | None = NOT_GIVEN,
    out: T | None = None,
) -> T:
    """Quotient of two tensors, element by element.

    Parameters
    ----------
    input : Tensor
        Dividend.
    other : Tensor or number
        Divisor; the shapes broadcast.
    rounding_mode : {"trunc", "floor"}, optional
        Round the quotient towards zero, or down; the gradient is then zero. Without it integers
        are divided in the default floating dtype.
    out : Tensor, optional
        Where to write the result.

    Raises
    ------
    DTypeError
        If integers are divided by zero with rounding, or `rounding_mode` is unknown.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.div(vt.tensor([7, -7]), 2, rounding_mode="floor").tolist()
    [3, -4]
    """
    if rounding_mode is NOT_GIVEN:
        return F.true_divide(input, other, out=out)
    return F.div_Tensor_mode(input, other, rounding_mode=rounding_mode, out=out)


def div_(input: T, other: TensorBase | Number, *, rounding_mode: str | None = NOT_GIVEN) -> T:
    """Divide the tensor itself; see `div`."""
    if rounding_mode is NOT_GIVEN:
        return F.true_divide_(input, other)
    return F.div_Tensor_mode_(input, other, rounding_mode=rounding_mode)


divide = div
divide_ = div_
