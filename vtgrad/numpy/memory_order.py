"""Copies with a memory order."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.numpy.operands import as_array
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Shape
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "copied",
    "in_order",
    "in_order_of",
    "in_rows",
    "order_by_steps",
    "order_of_memory",
]


def copied(x: TensorBase, order: str) -> ndarray:
    """A recorded copy.

    Parameters
    ----------
    x : TensorBase
        The array.
    order : {"C", "F", "A", "K"}
        Which index runs fastest in memory: the last, the first, the first if it does so in `x`, or
        as in `x`.
    """
    array = resolved(x._impl.array)
    if order == "K":
        return as_array(F.clone(x))
    if order == "F" or (order == "A" and array.flags.fnc):
        dims = tuple(range(array.ndim))[::-1]
        return as_array(F.permute(F.contiguous(F.clone(F.permute(x, dims))), dims))
    found = F.clone(x)
    return as_array(found if found._impl.array.flags.c_contiguous else F.contiguous(found))


def in_rows(x: TensorBase) -> TensorBase:
    """The tensor itself if its last index runs fastest in memory, else a recorded copy."""
    return x if resolved(x._impl.array).flags.c_contiguous else F.contiguous(x)


def order_of_memory(*tensors: TensorBase) -> Shape:
    """The axes from the largest step in memory to the smallest, as NumPy's order ``"K"`` has them.

    Axes along which nothing moves in memory, as those of size 1 and of a broadcast array, and those
    of which several arrays say different things, stay where they are.
    """
    return order_by_steps([_steps(x) for x in tensors])


def order_by_steps(steps: Sequence[Sequence[int]]) -> Shape:
    """The same order of axes by the steps of each array along each axis, 0 where there is none."""
    # From the last axis to the first, each goes behind those of smaller steps.
    order: list[int] = []
    for axis in reversed(range(len(steps[0]))):
        place = len(order)
        for nr in reversed(range(len(order))):
            pairs = [(step[order[nr]], step[axis]) for step in steps]
            pairs = [(inner, outer) for inner, outer in pairs if inner and outer]
            if any(inner <= outer for inner, outer in pairs):
                break
            if pairs:
                place = nr
        order.insert(place, axis)
    return tuple(order[::-1])


def _steps(x: TensorBase) -> list[int]:
    """The steps in memory, 0 where there is none."""
    array = resolved(x._impl.array)
    pairs = zip(array.strides, array.shape, strict=True)
    return [abs(step) if size > 1 else 0 for step, size in pairs]


def in_order_of(found: TensorBase, x: TensorBase) -> TensorBase:
    """A fresh result with its axes in memory as those of another tensor of as many axes."""
    if x._impl.array.ndim < 2 or resolved(x._impl.array).flags.c_contiguous:
        return found
    return in_order(found, order_of_memory(x))


def in_order(found: TensorBase, dims: Shape) -> TensorBase:
    """A fresh result with its axes in memory in an order, the one of the largest step first."""
    back = tuple(sorted(range(len(dims)), key=dims.__getitem__))
    turned = F.permute(found, dims)
    if resolved(turned._impl.array).flags.c_contiguous:
        return found
    return F.permute(F.contiguous(turned), back)
