"""Clamping, choosing element by element, and comparisons in place."""

from __future__ import annotations

from typing import TypeVar, overload

import numpy as np

from vtgrad.errors import ArgumentTypeError
from vtgrad.graph.set_history import requires_grad
from vtgrad.ops.calling.arguments import refuse_array
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number
from vtgrad.storage.dtypes import result_dtype
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "clamp",
    "clamp_",
    "clip",
    "clip_",
    "where",
]


T = TypeVar("T", bound=TensorBase)


def clamp(
    input: T,
    min: TensorBase | Number | None = None,
    max: TensorBase | Number | None = None,
    *,
    out: T | None = None,
) -> T:
    """The values, those below `min` raised to it, those above `max` lowered to it.

    At a bound the gradient passes. Bounds that are tensors get the gradient of what they
    replaced; both must be tensors then, or both numbers.

    Raises
    ------
    DTypeError
        If both bounds are None.
    ArgumentTypeError
        If one is a tensor and the other a number.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.clamp(vt.tensor([-2.0, 0.5, 3.0]), 0, 1).tolist()
    [0.0, 0.5, 1.0]
    """
    low, high = _bounds(min, max)
    if isinstance(low, TensorBase) or isinstance(high, TensorBase):
        assert not isinstance(low, Number)
        assert not isinstance(high, Number)
        return F.clamp_Tensor(input, low, high, out=out)
    return F.clamp_default(input, low, high, out=out)


def clamp_(
    input: T, min: TensorBase | Number | None = None, max: TensorBase | Number | None = None
) -> T:
    """Limit the tensor itself; see `clamp`."""
    low, high = _bounds(min, max)
    if isinstance(low, TensorBase) or isinstance(high, TensorBase):
        assert not isinstance(low, Number)
        assert not isinstance(high, Number)
        return F.clamp_Tensor_(input, low, high)
    return F.clamp_default_(input, low, high)


Bound = TensorBase | Number | None


def _bounds(low: Bound, high: Bound) -> tuple[Bound, Bound]:
    """The bounds, a 0-d tensor beside a number replaced by its number."""
    refuse_array("min", low)
    refuse_array("max", high)
    if isinstance(low, TensorBase) and isinstance(high, (Number, np.generic)):
        return _as_number(low), high
    if isinstance(high, TensorBase) and isinstance(low, (Number, np.generic)):
        return low, _as_number(high)
    return low, high


def _as_number(bound: TensorBase) -> Number:
    if bound.ndim or requires_grad(bound):
        raise ArgumentTypeError("clamp takes two tensors or two numbers, not one of each")
    number: Number = bound._impl.array.item()
    return number


def clip(
    input: T,
    min: TensorBase | Number | None = None,
    max: TensorBase | Number | None = None,
    *,
    out: T | None = None,
) -> T:
    """Another name of `clamp`."""
    return clamp(input, min, max, out=out)


def clip_(
    input: T, min: TensorBase | Number | None = None, max: TensorBase | Number | None = None
) -> T:
    """Another name of `clamp_`."""
    return clamp_(input, min, max)


@overload
def where(condition: T) -> tuple[T, ...]: ...
@overload
def where(
    condition: T,
    input: TensorBase | Number,
    other: TensorBase | Number,
    *,
    out: T | None = None,
) -> T: ...
def where(
    condition: TensorBase,
    input: TensorBase | Number | None = None,
    other: TensorBase | Number | None = None,
    *,
    out: TensorBase | None = None,
) -> TensorBase | tuple[TensorBase, ...]:
    """`input` where the condition holds and `other` elsewhere; or, alone, where it holds.

    Parameters
    ----------
    condition : Tensor
        Of dtype bool.
    input, other : Tensor or number
        Broadcast with the condition, and promoted to a common dtype. With neither, the result
        is ``nonzero(condition, as_tuple=True)``.
    out : Tensor, optional
        Where to write the result.

    Examples
    --------
    >>> import vtgrad as vt
    >>> x = vt.tensor([1.0, -2.0, 3.0])
    >>> vt.where(x > 0, x, 0.0).tolist()
    [1.0, 0.0, 3.0]
    """
    if input is None and other is None:
        if out is not None:
            raise ArgumentTypeError("where with the condition alone takes no out=")
        return F.nonzero(condition, as_tuple=True)
    if input is None or other is None:
        raise ArgumentTypeError("where takes the condition alone, or two values beside it")
    # Beside a number, a tensor of another dtype is cast by an operator of its own.
    if not isinstance(other, TensorBase):
        if isinstance(input, TensorBase):
            input = _in_common_dtype(input, other)
    elif not isinstance(input, TensorBase):
        other = _in_common_dtype(other, input)
    return F.where_self(condition, input, other, out=out)


def _in_common_dtype(tensor: TensorBase, number: Number) -> TensorBase:
    array = tensor._impl.array
    dtype = result_dtype(array, number)
    return tensor if array.dtype == dtype else F.to_dtype(tensor, dtype)


# -- comparisons in place -------------------------------------------------------------------
