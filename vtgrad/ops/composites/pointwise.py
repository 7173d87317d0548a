"""Elementwise operators that choose between entries of the table, or are made of others.

PyTorch records different nodes for numbers and for tensors (``PowBackward0`` and
``PowBackward1``); the table has one entry for each, and the functions here find the right one.
"""

from __future__ import annotations

from typing import Final, TypeVar, cast, overload

from vtgrad.errors import ArgumentTypeError, DTypeError
from vtgrad.ops import kernels as k
from vtgrad.ops.arguments import refuse_array
from vtgrad.ops.explain import explain, explained
from vtgrad.ops.generated import functional as F
from vtgrad.ops.number_first import tensor_beside
from vtgrad.ops.undifferentiable import NotImplemented as NotImplementedNode
from vtgrad.ops.undifferentiable import without_derivative
from vtgrad.storage.arrays import Number
from vtgrad.storage.integers import integer
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.store_result import store_result
from vtgrad.views.write import write

__all__ = [
    "div",
    "div_",
    "divide",
    "divide_",
    "eq_",
    "floor_divide",
    "floor_divide_",
    "fmod",
    "fmod_",
    "ge_",
    "greater_equal_",
    "gt_",
    "greater_",
    "le_",
    "less_equal_",
    "lerp",
    "lerp_",
    "lt_",
    "less_",
    "ne_",
    "not_equal_",
    "positive",
    "pow",
    "pow_",
    "remainder",
    "remainder_",
    "round",
    "round_",
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


@explained
def round(input: T, *, decimals: int = 0, out: T | None = None) -> T:
    """The nearest integer, the even one of two equally near.

    Parameters
    ----------
    input : Tensor
    decimals : int
        Keep this many decimal places; with a negative number, round before the point.
    out : Tensor, optional
    """
    places = integer(decimals)
    if places == 0:
        return F.round_whole(input, out=out)
    return F.round_decimals(input, decimals=places, out=out)


@explained
def round_(input: T, *, decimals: int = 0) -> T:
    """Round the tensor itself; see `round`."""
    places = integer(decimals)
    if places == 0:
        return F.round_whole_(input)
    return F.round_decimals_(input, decimals=places)


# -- comparisons in place -------------------------------------------------------------------


def eq_(input: T, other: TensorBase | Number) -> T:
    """Overwrite the tensor with whether it is equal."""
    return (
        F.eq_tensor_(input, other) if isinstance(other, TensorBase) else F.eq_number_(input, other)
    )


def ne_(input: T, other: TensorBase | Number) -> T:
    """Overwrite the tensor with whether it differs."""
    return (
        F.ne_tensor_(input, other) if isinstance(other, TensorBase) else F.ne_number_(input, other)
    )


def lt_(input: T, other: TensorBase | Number) -> T:
    """Overwrite the tensor with whether it is less."""
    return (
        F.lt_tensor_(input, other) if isinstance(other, TensorBase) else F.lt_number_(input, other)
    )


def le_(input: T, other: TensorBase | Number) -> T:
    """Overwrite the tensor with whether it is less or equal."""
    return (
        F.le_tensor_(input, other) if isinstance(other, TensorBase) else F.le_number_(input, other)
    )


def gt_(input: T, other: TensorBase | Number) -> T:
    """Overwrite the tensor with whether it is greater."""
    return (
        F.gt_tensor_(input, other) if isinstance(other, TensorBase) else F.gt_number_(input, other)
    )


def ge_(input: T, other: TensorBase | Number) -> T:
    """Overwrite the tensor with whether it is greater or equal."""
    return (
        F.ge_tensor_(input, other) if isinstance(other, TensorBase) else F.ge_number_(input, other)
    )


not_equal_ = ne_
less_ = lt_
less_equal_ = le_
greater_ = gt_
greater_equal_ = ge_
