"""Tangents of forward mode in the model: where they are, what shows them, what they become.

Note [Tangents of the model]

A tangent is the derivative of the elements of a tensor along the seeds that the open level was
given: the Jacobian of these elements with respect to the seeded ones, times the seeds. The model
carries that product forward: a result, or what is written, has the tangent that the Jacobian of
its operator makes of the tangents of the operands, of which None counts as zero. So it needs no
formula for tangents, which the library has.

The memory of a tangent has a cell for each cell of its tensor's buffer, at the same place. So the
tangent of any view has the view's own cells, and a write to a region writes the same region of the
tangent.

Which tensors show one tangent does not follow from their bases. Each tensor has a tangent root:
itself, or the tensor that leads it. A view is led by the root of what it is a view of. A dual made
of x, and the value that is unpacked, are views of x with a tangent of their own, so nothing that is
written to x, or to older views of x, changes it; `detach` leads to a tensor that is no view.

    d = make_dual(x, t)    base x, root d: views of d follow d, and x stays without tangent
    b[1:] = d              root b: the tangent of b, zero at first, is written in that region
    w = b[:2]              root b, whenever w was made
"""

import numpy as np

from vtgrad.testing.made_views import place
from vtgrad.testing.model import Level, ModelTensor, RefusedError, SkippedError
from vtgrad.testing.world import World

__all__ = ["enter", "leave", "make_dual", "primal_of"]


def enter(world: World) -> None:
    """Open a level of forward mode, of which there is one at a time."""
    if world.level is not None:
        raise RefusedError("forward-mode")
    world.levels += 1
    world.level = Level(world.levels)
    world.variables.level = world.levels


def leave(world: World) -> None:
    """Close the level: there are no tangents any more."""
    if world.level is None:
        raise RefusedError("forward-mode")
    world.level = None
    world.variables.level = 0


def make_dual(world: World, tensor: ModelTensor, seed: ModelTensor, grad: bool) -> ModelTensor:
    """Make a view of a tensor that has the tangent `seed`.

    The seed's memory is that of the tangent if it is laid out as the tensor's, and not the same.
    """
    if tensor.is_inference or seed.is_inference:
        raise SkippedError
    unreadable = tensor.unreadable() if grad and not world.inference else None
    also = () if unreadable is None else (unreadable,)
    kind = None
    if world.level is None or world.tangent_of(tensor) is not None:
        kind = "forward-mode"
    elif seed.geometry.shape != tensor.geometry.shape:
        kind = "shape"
    if kind is not None:
        if tensor.base is not None and not world.manners.exact_tangents:
            raise SkippedError  # the view may have been read
        raise RefusedError(kind, *also)
    is_kept = tensor.geometry.places_as(seed.geometry)
    is_kept = is_kept and tensor.buffer.values.size == seed.buffer.values.size
    if is_kept and seed.buffer is tensor.buffer:
        if not world.manners.exact_tangents:
            raise SkippedError  # one memory cannot be both
        is_kept = False
    if not tensor.geometry.numel and seed.index >= 0:
        raise SkippedError  # whose memory it has cannot be seen
    if is_kept and seed.index >= 0 and world.rules:
        raise SkippedError  # how often operators of the user's move its version is not known
    if tensor.geometry.repeats_cells and not is_kept:
        raise RefusedError("self-overlap", *also)
    dual = primal_of(world, tensor, grad)
    if is_kept:
        dual.tangent = world.fresh_tangent(seed.buffer, seed.counter)
        dual.tangent.is_settled = seed.index >= 0
    else:
        world.give_tangent(dual, seed.values)
    return dual


def primal_of(world: World, tensor: ModelTensor, grad: bool) -> ModelTensor:
    """Make a view of a tensor that has no tangent, and may get one of its own."""
    if tensor.is_inference or world.level is None:
        raise SkippedError
    numbers = np.arange(tensor.geometry.numel, dtype=np.intp).reshape(tensor.geometry.shape)
    grad = grad and not world.inference
    (view,) = place(world, tensor, [(tensor.geometry, tensor.cells)], [numbers], grad, None)
    view.leader = None
    return view
