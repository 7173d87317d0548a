"""Special functions and powers of tensors or numbers: choosing the entry of the table."""

from __future__ import annotations

from typing import TypeVar, overload

import numpy as np

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, DTypeError
from vtgrad.ops import kernels as k
from vtgrad.ops.arguments import array_of, refuse_array
from vtgrad.ops.explain import explained
from vtgrad.ops.from_python import number_of
from vtgrad.ops.generated import functional as F
from vtgrad.ops.undifferentiable import NotImplemented as NotImplementedNode
from vtgrad.ops.undifferentiable import without_derivative
from vtgrad.storage.arrays import Number, NumpyDType
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.store_result import store_result
from vtgrad.views.write import write

__all__ = [
    "copysign",
    "copysign_",
    "float_power",
    "float_power_",
    "heaviside",
    "heaviside_",
    "polygamma",
    "polygamma_",
    "xlogy",
    "xlogy_",
]

T = TypeVar("T", bound=TensorBase)


def copysign(input: T, other: TensorBase | Number, *, out: T | None = None) -> T:
    """The magnitude of a tensor with the sign of another, or of a number.

    The sign of a zero counts. The gradient is turned where the sign was, and 0 at 0.
    """
    if isinstance(other, TensorBase):
        return F.copysign_tensor(input, other, out=out)
    refuse_array("other", other)
    return F.copysign_number(input, other, out=out)


def copysign_(input: T, other: TensorBase | Number) -> T:
    """Give the tensor itself the signs of another; see `copysign`."""
    if isinstance(other, TensorBase):
        return F.copysign_tensor_(input, other)
    refuse_array("other", other)
    return F.copysign_number_(input, other)


@overload
def xlogy(input: T, other: TensorBase | Number, *, out: T | None = None) -> T: ...
@overload
def xlogy(input: Number, other: T, *, out: T | None = None) -> T: ...
def xlogy(
    input: TensorBase | Number, other: TensorBase | Number, *, out: TensorBase | None = None
) -> TensorBase:
    """``input * log(other)``, which is 0 where `input` is 0 and `other` is not nan.

    One of the two may be a number.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.xlogy(vt.tensor([0.0, 2.0]), vt.tensor([0.0, 1.0])).tolist()
    [0.0, 0.0]
    """
    if isinstance(other, TensorBase):
        if isinstance(input, TensorBase):
            return F.xlogy_tensors(input, other, out=out)
        return F.xlogy_of_number(input, other, out=out)
    if not isinstance(input, TensorBase):
        raise ArgumentTypeError("at least one operand of xlogy must be a tensor")
    refuse_array("other", other)
    return F.xlogy_number(input, other, out=out)


def xlogy_(input: T, other: TensorBase | Number) -> T:
    """Multiply the tensor itself by a logarithm; see `xlogy`."""
    if isinstance(other, TensorBase):
        return F.xlogy_tensors_(input, other)
    refuse_array("other", other)
    return F.xlogy_number_(input, other)


@explained
def polygamma(n: int, input: T, *, out: T | None = None) -> T:
    """The derivative of order `n` of the digamma function.

    As a method of tensors it takes `n` alone.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.polygamma(1, vt.tensor([1.0, 2.0]))  # pi ** 2 / 6, and 1 less
    tensor([1.6449, 0.6449])
    """
    return F.polygamma_of(input, n, out=out)


@explained
def polygamma_(input: T, n: int) -> T:
    """Overwrite the tensor with a derivative of the digamma function; see `polygamma`."""
    return F.polygamma_of_(input, n)


@explained
def heaviside(input: T, values: TensorBase, *, out: T | None = None) -> T:
    """0 for negative values, 1 for positive ones, and `values` at zero.

    As in PyTorch its backward raises.
    """
    return without_derivative(F.heaviside_values(input, values, out=out), input, values)


_heaviside_writer = store_result(k.heaviside, direct=True)


@explained
def heaviside_(input: T, values: TensorBase) -> T:
    """Overwrite the tensor with 0, 1 or `values`; see `heaviside`."""
    array_of(values, "values")
    record = NotImplementedNode.record
    return write(input, record, _heaviside_writer, values, operator="heaviside_")


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
            return F.pow_tensor(base, _in_double(exponent, dtype), out=out)
        refuse_array("exponent", exponent)
        return F.pow_number(base, _number_in_double(exponent, dtype, "exponent"), out=out)
    if not isinstance(exponent, TensorBase):
        raise ArgumentTypeError("at least one operand of float_power must be a tensor")
    number = _number_in_double(input, dtype, "input")
    return F.pow_of_number(number, _in_double(exponent, dtype), out=out)


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
        return F.pow_tensor_(input, _in_double(exponent, dtype))
    refuse_array("exponent", exponent)
    return F.pow_number_(input, _number_in_double(exponent, dtype, "exponent"))
