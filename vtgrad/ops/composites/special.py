"""Special functions of tensors or numbers: choosing the entry of the table."""

from __future__ import annotations

from typing import TypeVar, overload

from vtgrad.errors import ArgumentTypeError
from vtgrad.ops.calling.arguments import refuse_array
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["polygamma", "polygamma_", "xlogy", "xlogy_"]


T = TypeVar("T", bound=TensorBase)


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
