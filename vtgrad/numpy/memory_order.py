"""Copies with a memory order."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.numpy.operands import as_array, noted
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "concatenated",
    "copied",
    "in_order",
    "in_order_of",
    "in_order_of_all",
    "in_rows",
    "in_rows_or_columns",
    "reduced",
    "order_by_steps",
    "order_of_memory",
]


def copied(x: TensorBase, order: str) -> ndarray:
    """A recorded copy, which is noted: see Note [Tensors that get samples].

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
        return noted(as_array(F.clone(x)))
    if order == "F" or (order == "A" and array.flags.fnc):
        dims = tuple(range(array.ndim))[::-1]
        return as_array(F.permute(F.contiguous(F.clone(F.permute(x, dims))), dims))
    found = F.clone(x)
    rows = found if found._impl.array.flags.c_contiguous else F.contiguous(found)
    return noted(as_array(rows))


def in_rows(x: TensorBase) -> TensorBase:
    """The tensor itself if its last index runs fastest in memory, else a recorded copy."""
    return x if resolved(x._impl.array).flags.c_contiguous else F.contiguous(x)


def concatenated(tensors: Sequence[TensorBase], dim: int) -> TensorBase:
    """Tensors one behind the other along an axis, with the axes in memory as those have them."""
    dims = order_of_memory(*tensors)
    if dims == tuple(range(len(dims))):
        return F.cat(tensors, dim)
    back = tuple(sorted(range(len(dims)), key=dims.__getitem__))
    return F.permute(F.cat([F.permute(x, dims) for x in tensors], dims.index(dim)), back)


def order_of_memory(*tensors: TensorBase) -> Shape:
    """The axes from the largest step in memory to the smallest, as NumPy's order ``"K"`` has them.

    Axes along which nothing moves in memory, as those of size 1 and of a broadcast array, and those
    of which several arrays say different things, stay where they are.
    """
    return order_by_steps([_steps(resolved(x._impl.array)) for x in tensors])


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


def _steps(array: Array) -> list[int]:
    """The steps in memory, 0 where there is none."""
    pairs = zip(array.strides, array.shape, strict=True)
    return [abs(step) if size > 1 else 0 for step, size in pairs]


def in_order_of(found: TensorBase, x: TensorBase) -> TensorBase:
    """A fresh result with its axes in memory as those of another tensor of as many axes."""
    if x._impl.array.ndim < 2 or resolved(x._impl.array).flags.c_contiguous:
        return found
    return in_order(found, order_of_memory(x))


def in_order_of_all(found: TensorBase, *operands: TensorBase) -> TensorBase:
    """A fresh result of operands that broadcast, with its axes in memory as those have them."""
    arrays = [resolved(x._impl.array) for x in operands]
    shape = found._impl.array.shape
    if len(shape) < 2 or all(x.flags.c_contiguous and x.shape == shape for x in arrays):
        return found
    return in_order(
        found, order_by_steps([[0] * (len(shape) - x.ndim) + _steps(x) for x in arrays])
    )


def in_rows_or_columns(found: TensorBase, x: TensorBase) -> TensorBase:
    """A result by columns in memory if another array of as many axes is, and else by rows."""
    if resolved(x._impl.array).flags.fnc:
        return in_order(found, tuple(range(found._impl.array.ndim))[::-1])
    return in_rows(found)


def reduced(found: TensorBase, x: TensorBase, dims: Shape) -> TensorBase:
    """A fresh reduction of a tensor along some axes, with the others in memory as there.

    Parameters
    ----------
    found : TensorBase
        The reduction, in which the axes are left out or have size 1.
    x : TensorBase
        What was reduced.
    dims : tuple of int
        The axes, counted from the first.
    """
    ndim = found._impl.array.ndim
    if ndim < 2 or resolved(x._impl.array).flags.c_contiguous:
        return found
    order = order_of_memory(x)
    if ndim < len(order):
        kept = [dim for dim in range(len(order)) if dim not in dims]
        order = tuple([kept.index(dim) for dim in order if dim not in dims])
    return in_order(found, order)


def in_order(found: TensorBase, dims: Shape) -> TensorBase:
    """A fresh result with its axes in memory in an order, the one of the largest step first."""
    back = tuple(sorted(range(len(dims)), key=dims.__getitem__))
    turned = F.permute(found, dims)
    if resolved(turned._impl.array).flags.c_contiguous:
        return found
    return F.permute(F.contiguous(turned), back)
