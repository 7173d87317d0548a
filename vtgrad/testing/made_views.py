"""Views in the model: which elements they show, what they are restricted to, what leads them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vtgrad.testing.geometry import Geometry, IntArray, ViewRefusedError
from vtgrad.testing.jets import Save
from vtgrad.testing.model import Creation, ModelTensor, RefusedError
from vtgrad.testing.views import ViewCall, view_of
from vtgrad.testing.world import World, rows_at

__all__ = ["place", "view"]


def view(world: World, tensor: ModelTensor, call: ViewCall, grad: bool) -> list[ModelTensor]:
    """Make the views that a call makes; those of an inference tensor know of no base."""
    grad = grad and not world.inference
    try:
        made = view_of(tensor.geometry, tensor.cells, call, tensor.buffer.values.size)
        numbers = np.arange(tensor.geometry.numel, dtype=np.intp)
        if call.method == "as_strided":
            positions: list[IntArray] = []
        else:
            shaped = numbers.reshape(tensor.geometry.shape)
            positions = [p for _, p in view_of(tensor.geometry, shaped, call, 1 << 62)]
    except ViewRefusedError as refused:
        also = tensor.unreadable() if grad else None
        raise RefusedError(refused.kind, *([also] if also else [])) from None
    for geometry, cells in made:
        if not np.array_equal(geometry.cells(), cells):
            raise AssertionError(f"the model contradicts itself about the cells of {call}")
    own = Creation.MULTIPLE if call.is_multiple else None
    return place(world, tensor, made, positions, grad, own)


def place(
    world: World,
    tensor: ModelTensor,
    made: Sequence[tuple[Geometry, IntArray]],
    positions: Sequence[IntArray],
    grad: bool,
    own: Creation | None,
    saves: frozenset[Save] = frozenset(),
) -> list[ModelTensor]:
    """Make views of a tensor at given cells.

    Parameters
    ----------
    positions
        Which elements of the tensor they are; none for views that may leave it.
    own
        What the call says of writes to its views; None if it says nothing.
    saves
        What its node keeps.
    """
    if tensor.is_inference:
        return [world.on(tensor.buffer, tensor.counter, g, cells) for g, cells in made]
    world.check_tangent(tensor)
    source = world.read(tensor) if grad and tensor.requires_grad else None
    creation = tensor.creation
    if world.inference or creation is Creation.INFERENCE:
        creation = Creation.INFERENCE
    elif own is Creation.CUSTOM:
        creation = own
    elif not grad:
        creation = Creation.NO_GRAD
    elif own is not None:
        creation = own
    views: list[ModelTensor] = []
    for number, (geometry, cells) in enumerate(made):
        view = world.on(tensor.buffer, tensor.counter, geometry, cells)
        view.base, view.creation, view.leader = tensor.root, creation, tensor.tangent_root
        view.seen_version = tensor.counter.version
        if source is not None:
            # as_strided leaves the region of its receiver: see `menu.views`, only of a base.
            if not positions:
                below = world.rows_of(tensor.root, cells)
            else:
                below = rows_at(source, positions[number])
            if saves:
                paths = {variable: kept | saves for variable, kept in below.paths.items()}
                below = replace(below, paths=paths)
            world.name_view(view, below, "")
            if view.node is not None:
                view.node.saves = saves
                if tensor.base is not None and tensor.node is not None:
                    further = world.above.get(tensor.node.index, [])
                    world.above[view.node.index] = [(tensor, tensor.node), *further]
        views.append(view)
    nodes = [view.node for view in views if view.node is not None]
    for node in nodes:
        node.siblings = frozenset(other.index for other in nodes)
    return views
