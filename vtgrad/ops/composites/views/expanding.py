"""Views that repeat elements along dimensions of size 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from vtgrad.ops.calling.arguments import array_of, is_array
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.sequences import given_integers, given_tensors
from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.generated import functional as F
from vtgrad.storage.geometry import (
    broadcast_shapes,
)
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["broadcast_tensors", "broadcast_to", "expand_as"]


T = TypeVar("T", bound=TensorBase)


def expand_as(input: T, other: TensorBase) -> T:
    """Return a view with the shape of another tensor, in which dimensions of size 1 are repeated.

    ``expand_as(input, other)`` is ``expand(input, other.shape)``. Of `other` only the shape
    matters.

    Parameters
    ----------
    input : Tensor
        Tensor whose shape broadcasts to that of `other`.
    other : Tensor
        Tensor of the wanted shape.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    ShapeError
        If the shape of `input` does not broadcast to that of `other`.
    ArgumentTypeError
        If `other` is not a tensor.

    Examples
    --------
    >>> x = vt.tensor([1.0, 2.0])
    >>> y = vt.expand_as(x, vt.zeros(2, 2))
    >>> y
    tensor([[1., 2.],
            [1., 2.]])
    >>> y[0, 0] = 7.0
    >>> x
    tensor([7., 2.])
    """
    if keys.active and is_overridden(input, other):
        return call_override(expand_as, input, other)
    return F.expand_sizes(input, array_of(other, "other").shape)


@explained
def broadcast_to(input: T, *sizes: int | Sequence[int], size: Sequence[int] | None = None) -> T:
    """Return a tensor expanded to a shape.

    Dimensions of size 1 are repeated and new ones added in front, without a copy, as by the
    method `expand`. Repeated elements add their gradients up, and the view cannot be written in
    place as a whole then.

    Parameters
    ----------
    input : Tensor
        The tensor, of any dtype.
    *sizes : int or sequence of int
        The shape, as separate sizes or as one sequence; -1 keeps the size of a dimension.
    size : sequence of int, optional
        The same, by keyword.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    ShapeError
        If a size other than 1 would have to change, or a dimension is missing.
    ArgumentTypeError
        If the shape is missing, given twice, or holds no integers.

    Examples
    --------
    >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
    >>> y = vt.broadcast_to(x, (3, 2))
    >>> y.stride()
    (0, 1)
    >>> y.sum().backward()
    >>> x.grad
    tensor([3., 3.])
    """
    return F.expand_sizes(input, given_integers(sizes, size, "broadcast_to"))


@explained
def broadcast_tensors(*tensors: T | Sequence[T]) -> tuple[T, ...]:
    """Return tensors expanded to the shape that they have in common.

    Shapes are aligned at their last dimensions; a size of 1 is repeated and a missing dimension
    added, as elementwise operators do it. Nothing is copied. Repeated elements add their
    gradients up.

    Parameters
    ----------
    *tensors : Tensor or sequence of Tensor
        The tensors, one by one or as sequences.

    Returns
    -------
    tuple of Tensor
        Views that share memory with the tensors; a tensor that has the common shape is returned
        itself. Views with repeated elements cannot be written as a whole.

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.
    ArgumentTypeError
        If an argument is neither a tensor nor a sequence of tensors.

    Examples
    --------
    >>> a, b = vt.broadcast_tensors(vt.tensor([[1], [2]]), vt.tensor([3, 4, 5]))
    >>> a
    tensor([[1, 1, 1],
            [2, 2, 2]])
    >>> b.stride()
    (0, 1)
    """
    parts: list[T] = []
    for given in tensors:
        if isinstance(given, TensorBase) or is_array(given):
            parts.append(cast("T", given))
        else:
            parts.extend(given)
    each = given_tensors(tuple(parts))
    shape = broadcast_shapes(*[x.shape for x in each])
    return tuple([x if x.shape == shape else F.expand_sizes(x, shape) for x in each])
