# Compiled by mypyc.
"""Gradients of leaves whose geometry has changed since the graph was recorded.

Note [Leaves that change their shape]

Under no_grad a leaf may be transposed, or get other data. From then on it has a new node, while a
graph recorded before leads to the former one, with gradients of the former shape. If both shapes
differ only by dimensions of size 1, and the elements have the same order, such a gradient is
reshaped to the leaf's present shape. Otherwise no ``.grad`` is correct, and the pass is refused
before it begins. ``grad`` with respect to such a leaf, and ``inputs`` of ``backward``, cover both
nodes: the gradient of the former one is added to that of the present one.
"""

from __future__ import annotations

from vtgrad.errors import ShapeError
from vtgrad.graph.operators import operators
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.geometry import contiguous_strides, is_non_overlapping_and_dense
from vtgrad.storage.recent_writes import quoted, recent_writes
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["byte_strides_of_grad", "check_changed_leaf", "in_shape_of", "reshaped_grad"]


def byte_strides_of_grad(impl: TensorImpl, item: int = 0) -> Shape:
    """Strides in bytes of a new ``.grad``: the leaf's if those are dense.

    Parameters
    ----------
    impl : TensorImpl
        The impl of the leaf.
    item : int
        Item size of the ``.grad``, if it differs from the leaf's.
    """
    sizes, strides = impl.sizes, impl.strides
    if not is_non_overlapping_and_dense(sizes, strides):
        strides = contiguous_strides(sizes)
    item = item or impl.array.itemsize
    return tuple([s * item for s in strides])


def check_changed_leaf(
    shape: Shape, byte_strides: Shape | None, leaf: TensorImpl, grad: TensorBase | None
) -> None:
    """Raise if a gradient cannot become, or be added to, the ``.grad`` of a changed leaf.

    Parameters
    ----------
    shape : tuple of int
        The shape of the gradient.
    byte_strides : tuple of int or None
        `byte_strides_of_grad` when the node was made; None if the order does not matter.
    grad : TensorBase or None
        The leaf's ``.grad``.

    Raises
    ------
    ShapeError If it cannot.
    """
    sizes = leaf.sizes
    fits = _without_ones(shape, shape) == _without_ones(sizes, sizes)
    if fits and byte_strides is not None:
        now = _without_ones(sizes, byte_strides_of_grad(leaf))
        fits = _without_ones(shape, byte_strides) == now
    if not fits:
        writes = recent_writes(leaf.version_counter)
        text = (
            f"a leaf had shape {list(shape)} when the graph was recorded, and has shape "
            f"{list(sizes)}{', in another order of its elements,' if shape == sizes else ''} now: "
            "a gradient of what it was does not fit its .grad. Run backward before the change, or "
            "record the graph again"
        )
        if writes:
            text += quoted(f"last changed by {writes[-1].described}", writes[-1].place)
        raise ShapeError(text, expected=sizes, found=shape)
    if grad is not None:
        found = grad._impl.sizes
        if _without_ones(found, found) != _without_ones(sizes, sizes):
            raise ShapeError(
                f"the .grad of a leaf of shape {list(sizes)} still has the shape {list(found)} "
                "that the leaf had before: nothing can be added to it. Set .grad to None",
                expected=sizes,
                found=found,
            )


def in_shape_of(grad: TensorBase, leaf: TensorImpl) -> TensorBase:
    """A gradient that `check_changed_leaf` has accepted, in the leaf's shape, recorded."""
    shape, sizes = grad._impl.sizes, leaf.sizes
    if shape == sizes:
        return grad
    ops = operators()
    dense = ops.clone_strided(grad, shape, contiguous_strides(shape))
    return ops.as_strided(dense, sizes, contiguous_strides(sizes), dense._impl.storage_offset)


def reshaped_grad(grad: TensorBase, leaf: TensorImpl) -> TensorBase:
    """The ``.grad`` of a leaf, in the leaf's shape and on the same memory."""
    impl = grad._impl
    if impl.sizes == leaf.sizes:
        return grad
    # Only dimensions of size 1 are added or removed, so this makes no copy.
    array: Array = impl.array.reshape(leaf.sizes)
    return operators().wrap(impl.alias(array, impl.byte_offset))


def _without_ones(sizes: Shape, numbers: Shape) -> Shape:
    """The entries of `numbers` for the dimensions whose size is not 1."""
    return tuple([number for size, number in zip(sizes, numbers, strict=True) if size != 1])
