"""Arithmetic that is made of other operators."""

from __future__ import annotations

from typing import TypeVar, overload

import numpy as np

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, DTypeError
from vtgrad.ops.calling.arguments import array_of, is_array
from vtgrad.ops.calling.constants import constant
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number, NumpyDType
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
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
    """Return the tensor itself, unless it is bool.

    This is what `+x` calls.

    Parameters
    ----------
    input : Tensor
        Any dtype but bool.

    Returns
    -------
    Tensor
        The same object as `input`, no copy.

    Raises
    ------
    DTypeError
        If the values are bool.

    Examples
    --------
    >>> x = vt.tensor([-1.0, 2.0])
    >>> vt.positive(x) is x
    True
    """
    if input._impl.array.dtype.kind == "b":
        raise DTypeError("bool tensors have no sign, so `+` is not defined for them")
    return input


def square(input: T, *, out: T | None = None) -> T:
    """Return the square of each element.

    Bools give int64. The derivative is `2 * input`.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        A new tensor of the same shape and dtype.

    Raises
    ------
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> x = vt.tensor([-3.0, 0.5], requires_grad=True)
    >>> y = vt.square(x)
    >>> y.detach()
    tensor([9.0000, 0.2500])
    >>> y.sum().backward()
    >>> x.grad
    tensor([-6.,  1.])
    """
    if keys.active and is_overridden(input, out):
        return call_override(square, input, out=out)
    return F.pow_Tensor_Scalar(input, 2, out=out)


def square_(input: T) -> T:
    """Raise the tensor itself to the power of 2."""
    if keys.active and is_overridden(input):
        return call_override(square_, input)
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
    """Return one operand to the power of the other, in double precision.

    The operands are converted to float64, or to complex128 if one of them is complex, and
    raised as by `pow`. Integers therefore have negative powers, and large powers do not wrap
    around. A negative real base with a fractional exponent gives nan. Gradients come in the
    dtypes of the operands.

    Parameters
    ----------
    input : Tensor or number
        Base. It may be a number if `exponent` is a tensor.
    exponent : Tensor or number
        Exponent. Its shape broadcasts with that of `input`.
    out : Tensor, optional
        Where the result is stored; of the dtype of the result.

    Returns
    -------
    Tensor
        A new tensor of the broadcast shape, of dtype float64 or complex128.

    Raises
    ------
    DTypeError
        If `out` has another dtype than the result.
    ShapeError
        If the shapes do not broadcast.
    ArgumentTypeError
        If no operand is a tensor, or one is neither a tensor nor a number.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> vt.float_power(vt.tensor([2, 4]), -1)
    tensor([0.5000, 0.2500], dtype=vtgrad.float64)
    >>> vt.float_power(10, vt.tensor([2, 20]))
    tensor([1.0000e+02, 1.0000e+20], dtype=vtgrad.float64)
    >>> x = vt.tensor([3.0], requires_grad=True)
    >>> vt.float_power(x, 2).backward()
    >>> x.grad
    tensor([6.])
    """
    if keys.active and is_overridden(input, exponent, out):
        return call_override(float_power, input, exponent, out=out)
    if is_array(input):
        return float_power(constant(input, exponent), exponent, out=out)
    if is_array(exponent):
        return float_power(input, constant(exponent, input), out=out)
    dtype = _double_dtype(input, exponent)
    if out is not None and array_of(out, "out").dtype != dtype:
        raise DTypeError(f"float_power gives {dtype_of(dtype).name}, and so must out= be")
    if isinstance(input, TensorBase):
        base = _in_double(input, dtype)
        if isinstance(exponent, TensorBase):
            return F.pow_Tensor_Tensor(base, _in_double(exponent, dtype), out=out)
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
    if is_array(exponent):
        return float_power_(input, constant(exponent, input))
    dtype = _double_dtype(input, exponent)
    own = array_of(input, "input").dtype
    if own != dtype:
        raise DTypeError(
            f"float_power_ gives {dtype_of(dtype).name}, which a tensor of"
            f" {dtype_of(own).name} cannot become"
        )
    if isinstance(exponent, TensorBase):
        return F.pow_Tensor_Tensor_(input, _in_double(exponent, dtype))
    return F.pow_Tensor_Scalar_(input, _number_in_double(exponent, dtype, "exponent"))
