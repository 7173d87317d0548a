"""Clamping, choosing element by element, and comparisons in place."""

from __future__ import annotations

from typing import TypeVar, cast, overload

import numpy as np

from vtgrad.errors import ArgumentTypeError
from vtgrad.graph.set_history import requires_grad
from vtgrad.ops.calling.arguments import is_array
from vtgrad.ops.calling.constants import constant, exact_beside
from vtgrad.ops.calling.lost_gradient import ARGUMENT, note_number
from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number
from vtgrad.storage.key_set import keys
from vtgrad.storage.promotion import python_number, result_dtype
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
    """Return the values limited to the range from `min` to `max`.

    Values below `min` are raised to it, those above `max` are lowered to it; where `min` is
    above `max`, the result is `max`. A nan stays nan, and a bound that is nan makes the result
    nan. The gradient passes inside of the range and at its ends, and is 0 outside; a bound that
    is a tensor gets the gradient of the values that it replaced.

    Parameters
    ----------
    input : Tensor
        The values, real.
    min : Tensor, number or None, default None
        Lower bound, of a shape that broadcasts; none if None.
    max : Tensor, number or None, default None
        Upper bound. Both bounds are tensors or both numbers; a 0-d tensor without gradient
        counts as a number beside one.
    out : Tensor, optional
        Where the result is stored; of the result's dtype if the bounds are numbers.

    Returns
    -------
    Tensor
        A new tensor of the broadcast shape, of the promoted dtype.

    Raises
    ------
    DTypeError
        If both bounds are None.
    ArgumentTypeError
        If one bound is a tensor and the other a number, or a bound is neither.
    NotSupportedError
        If a value or a bound is complex, or bools are limited by numbers.
    ShapeError
        If the shapes do not broadcast.
    ResultTypeError
        If `out` has a dtype that does not fit.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> x = vt.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    >>> y = vt.clamp(x, 0, 1)
    >>> y.sum().backward()
    >>> y.detach(), x.grad
    (tensor([0.0000, 0.5000, 1.0000]), tensor([0., 1., 0.]))
    """
    if keys.active and is_overridden(input, min, max, out):
        return call_override(clamp, input, min, max, out=out)
    low, high = _bounds(input, min, max)
    if isinstance(low, TensorBase) or isinstance(high, TensorBase):
        assert not isinstance(low, Number)
        assert not isinstance(high, Number)
        return F.clamp_Tensor(input, low, high, out=out)
    return F.clamp_default(input, low, high, out=out)


def clamp_(
    input: T, min: TensorBase | Number | None = None, max: TensorBase | Number | None = None
) -> T:
    """Limit the tensor itself; see `clamp`."""
    if keys.active and is_overridden(input, min, max):
        return call_override(clamp_, input, min, max)
    low, high = _bounds(input, min, max)
    if isinstance(low, TensorBase) or isinstance(high, TensorBase):
        assert not isinstance(low, Number)
        assert not isinstance(high, Number)
        return F.clamp_Tensor_(input, low, high)
    return F.clamp_default_(input, low, high)


Bound = TensorBase | Number | None


def _bounds(input: TensorBase, low: Bound, high: Bound) -> tuple[Bound, Bound]:
    """The bounds, a 0-d tensor beside a number replaced by its number."""
    if is_array(low) or is_array(high):
        # As NumPy's, an array may stand beside a number.
        return _as_bound(input, low), _as_bound(input, high)
    if isinstance(low, TensorBase) and isinstance(high, (Number, np.generic)):
        return _as_number(low), high
    if isinstance(high, TensorBase) and isinstance(low, (Number, np.generic)):
        return low, _as_number(high)
    return low, high


def _as_bound(input: TensorBase, bound: object) -> TensorBase | None:
    if is_array(bound):
        return constant(bound, input)
    if isinstance(bound, np.generic):
        bound = python_number(bound)
    if bound is None or isinstance(bound, TensorBase):
        return bound
    return exact_beside(cast("Number", bound), input)


def _as_number(bound: TensorBase) -> Number:
    if bound.ndim or requires_grad(bound):
        raise ArgumentTypeError("clamp takes two tensors or two numbers, not one of each")
    if keys.modes:
        note_number(bound, ARGUMENT)
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
    if keys.active and is_overridden(input, min, max, out):
        return call_override(clip, input, min, max, out=out)
    return clamp(input, min, max, out=out)


def clip_(
    input: T, min: TensorBase | Number | None = None, max: TensorBase | Number | None = None
) -> T:
    """Another name of `clamp_`."""
    if keys.active and is_overridden(input, min, max):
        return call_override(clip_, input, min, max)
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
    """Choose elements of two operands by a condition; or return where it holds.

    With the condition alone it is `nonzero(condition, as_tuple=True)`. Else shapes broadcast
    and dtypes are promoted; the gradient goes to the operand that was chosen, and the other has
    0 there.

    Parameters
    ----------
    condition : Tensor
        Of dtype bool; uint8 is taken too.
    input : Tensor or number, optional
        What is taken where the condition is true.
    other : Tensor or number, optional
        What is taken where it is false; given if and only if `input` is.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor or tuple of Tensor
        A new tensor of the broadcast shape and the promoted dtype. For the condition alone, an
        int64 vector of indices for each dimension.

    Raises
    ------
    DTypeError
        If the condition is neither bool nor uint8.
    ShapeError
        If the shapes do not broadcast.
    ArgumentTypeError
        If only one of `input` and `other` is given, or `out` with neither.
    ResultTypeError
        If `out` does not have the dtype of the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> x = vt.tensor([1.0, -2.0, 3.0], requires_grad=True)
    >>> y = vt.where(x > 0, x * 2.0, 0.0)
    >>> y.sum().backward()
    >>> x.grad
    tensor([2., 0., 2.])
    >>> vt.where(x > 0)
    (tensor([0, 2]),)
    """
    if keys.active and is_overridden(condition, input, other, out):
        return call_override(where, condition, input, other, out=out)
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
