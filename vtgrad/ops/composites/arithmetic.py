"""Arithmetic that chooses between entries of the table, or is made of others.

PyTorch records different nodes for numbers and for tensors (``PowBackward0`` and
``PowBackward1``); the table has one entry for each, and the functions here find the right one.
"""

from __future__ import annotations

from typing import Final, TypeVar, cast, overload

import numpy as np

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, DTypeError
from vtgrad.ops import kernels as k
from vtgrad.ops.calling.arguments import array_of, refuse_array
from vtgrad.ops.calling.explain import explain, explained
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.calling.numbers import tensor_beside
from vtgrad.ops.composites.support.undifferentiable import NotImplemented as NotImplementedNode
from vtgrad.ops.composites.support.undifferentiable import without_derivative
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number, NumpyDType
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.store_result import store_result
from vtgrad.views.write import write

__all__ = [
    "div",
    "div_",
    "divide",
    "divide_",
    "float_power",
    "float_power_",
    "floor_divide",
    "floor_divide_",
    "fmod",
    "fmod_",
    "lerp",
    "lerp_",
    "positive",
    "pow",
    "pow_",
    "remainder",
    "remainder_",
    "rsub",
    "square",
    "square_",
]


T = TypeVar("T", bound=TensorBase)

# PyTorch records another node for an explicit None, which rounds no more than its absence does.
_NOT_GIVEN: Final = cast(None, object())


# -- division -------------------------------------------------------------------------------


@overload
def div(
    input: T,
    other: TensorBase | Number,
    *,
    rounding_mode: str | None = _NOT_GIVEN,
    out: T | None = None,
) -> T: ...
@overload
def div(
    input: Number, other: T, *, rounding_mode: str | None = _NOT_GIVEN, out: T | None = None
) -> T: ...
def div(  # type: ignore[misc]  # pyright: ignore[reportInconsistentOverload]  # a number is passed on
    input: T,
    other: TensorBase | Number,
    *,
    rounding_mode: str | None = _NOT_GIVEN,
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
    if rounding_mode is _NOT_GIVEN:
        return F.true_divide(input, other, out=out)
    return F.div_rounded(input, other, rounding_mode=rounding_mode, out=out)


def div_(input: T, other: TensorBase | Number, *, rounding_mode: str | None = _NOT_GIVEN) -> T:
    """Divide the tensor itself; see `div`."""
    if rounding_mode is _NOT_GIVEN:
        return F.true_divide_(input, other)
    return F.div_rounded_(input, other, rounding_mode=rounding_mode)


divide = div
divide_ = div_


@overload
def floor_divide(input: T, other: TensorBase | Number, *, out: T | None = None) -> T: ...
@overload
def floor_divide(input: Number, other: T, *, out: T | None = None) -> T: ...
def floor_divide(
    input: TensorBase | Number, other: TensorBase | Number, *, out: TensorBase | None = None
) -> TensorBase:
    """Quotient rounded down.

    As in PyTorch its backward raises; ``div(..., rounding_mode="floor")`` has gradient zero.
    """
    if not isinstance(input, TensorBase):
        if not isinstance(other, TensorBase):
            raise ArgumentTypeError("at least one operand of floor_divide must be a tensor")
        input = tensor_beside(input, other)
    return without_derivative(F.floor_quotient(input, other, out=out), input, other)


_floor_divide_writer = store_result(k.floor_divide, direct=True)


def floor_divide_(input: T, other: TensorBase | Number) -> T:
    """Divide the tensor itself and round down; see `floor_divide`."""
    record = NotImplementedNode.record
    try:
        return write(input, record, _floor_divide_writer, other, operator="floor_divide_")
    except Exception as error:
        explain(error, "input: Tensor, other: Tensor | Number", input, other)
        raise


@overload
def remainder(input: T, other: TensorBase | Number, *, out: T | None = None) -> T: ...
@overload
def remainder(input: Number, other: T, *, out: T | None = None) -> T: ...
def remainder(
    input: TensorBase | Number, other: TensorBase | Number, *, out: TensorBase | None = None
) -> TensorBase:
    """What remains of a division rounded down; it has the divisor's sign.

    Of a number by a tensor it has no derivative in PyTorch, and none here.
    """
    if isinstance(other, TensorBase):
        if isinstance(input, TensorBase):
            return F.remainder_tensor(input, other, out=out)
        return without_derivative(F.remainder_of_number(input, other, out=out), other)
    if isinstance(input, TensorBase):
        refuse_array("other", other)
        return F.remainder_number(input, other, out=out)
    raise ArgumentTypeError("at least one operand of remainder must be a tensor")


def remainder_(input: T, other: TensorBase | Number) -> T:
    """Replace the tensor by what remains; see `remainder`."""
    if isinstance(other, TensorBase):
        return F.remainder_tensor_(input, other)
    return F.remainder_number_(input, other)


def fmod(input: T, other: TensorBase | Number, *, out: T | None = None) -> T:
    """What remains of a division rounded towards zero; it has the dividend's sign."""
    if isinstance(other, TensorBase):
        return F.fmod_tensor(input, other, out=out)
    refuse_array("other", other)
    return F.fmod_number(input, other, out=out)


def fmod_(input: T, other: TensorBase | Number) -> T:
    """Replace the tensor by what remains; see `fmod`."""
    if isinstance(other, TensorBase):
        return F.fmod_tensor_(input, other)
    return F.fmod_number_(input, other)


# -- sums and powers ------------------------------------------------------------------------


def rsub(input: T, other: TensorBase | Number, *, alpha: Number = 1) -> T:
    """``other - alpha * input``."""
    if isinstance(other, TensorBase):
        return F.rsub_tensor(input, other, alpha=alpha)
    return F.rsub_number(input, other, alpha=alpha)


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


@overload
def pow(input: T, exponent: TensorBase | Number, *, out: T | None = None) -> T: ...
@overload
def pow(input: Number, exponent: T, *, out: T | None = None) -> T: ...
def pow(
    input: TensorBase | Number, exponent: TensorBase | Number, *, out: TensorBase | None = None
) -> TensorBase:
    """The first operand to the power of the second, one of which may be a number.

    Raises
    ------
    DTypeError
        If an integer tensor is raised to a negative integer.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.pow(vt.tensor([1.0, 2.0, 3.0]), 2).tolist()
    [1.0, 4.0, 9.0]
    >>> vt.pow(2, vt.tensor([0.0, 3.0])).tolist()
    [1.0, 8.0]
    """
    if not isinstance(exponent, TensorBase):
        if not isinstance(input, TensorBase):
            raise ArgumentTypeError("at least one operand of pow must be a tensor")
        refuse_array("exponent", exponent)
        return F.pow_number(input, exponent, out=out)
    if isinstance(input, TensorBase):
        return F.pow_tensor(input, exponent, out=out)
    return F.pow_of_number(input, exponent, out=out)


def pow_(input: T, exponent: TensorBase | Number) -> T:
    """Raise the tensor itself to a power; see `pow`."""
    if isinstance(exponent, TensorBase):
        return F.pow_tensor_(input, exponent)
    return F.pow_number_(input, exponent)


def square(input: T, *, out: T | None = None) -> T:
    """The tensor to the power of 2."""
    return F.pow_number(input, 2, out=out)


def square_(input: T) -> T:
    """Raise the tensor itself to the power of 2."""
    return F.pow_number_(input, 2)


def lerp(input: T, end: TensorBase, weight: TensorBase | Number, *, out: T | None = None) -> T:
    """The points between two tensors: the first one at weight 0, `end` at weight 1.

    The dtypes must agree.
    """
    if isinstance(weight, TensorBase):
        return F.lerp_tensor(input, end, weight, out=out)
    return F.lerp_number(input, end, weight, out=out)


def lerp_(input: T, end: TensorBase, weight: TensorBase | Number) -> T:
    """Move the tensor itself towards `end`; see `lerp`."""
    if isinstance(weight, TensorBase):
        return F.lerp_tensor_(input, end, weight)
    return F.lerp_number_(input, end, weight)


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
