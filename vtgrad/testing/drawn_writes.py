"""Draws steps that write; see `strategies`."""

import math

from . import steps
from .draws import (
    Draw,
    any_tensor,
    booleans,
    choose,
    extra_of,
    fitting,
    grad_mode,
    index_of,
    literal,
    written,
)
from .model import Saved
from .rules import OPERATORS
from .steps import Step
from .views import Argument, ViewCall
from .world import World

__all__ = ["beside", "count", "fill", "rearrange", "resize", "set_item", "write"]

IN_PLACE = ("copy", *(name for name, op in OPERATORS.items() if op.has_inplace))


def write(draw: Draw, world: World) -> Step | None:
    """Draw an in-place operator."""
    target = written(draw, world)
    shape = world.tensors[target].geometry.shape
    name = choose(draw, IN_PLACE)
    binary = name == "copy" or OPERATORS[name].arity == 2
    others = (f"t{fitting(draw, world, shape)}",) if binary else ()
    extra = extra_of(draw, name, shape) or ()
    return steps.Write(target, name, others, extra, shape, grad_mode(draw))


def fill(draw: Draw, world: World) -> Step | None:
    """Draw ``zero_`` or ``fill_``."""
    return steps.Fill(written(draw, world), choose(draw, (0, 2, 7)), grad_mode(draw))


def count(draw: Draw, world: World) -> Step | None:
    """Draw what says that a tensor was written by other means."""
    return steps.Count(written(draw, world))


def set_item(draw: Draw, world: World) -> Step | None:
    """Draw an assignment to an index."""
    target = written(draw, world)
    shape = world.tensors[target].geometry.shape
    grad = grad_mode(draw)
    sort = choose(draw, ("basic", "basic", "mask", "picks"))
    if sort == "basic" or not shape or not shape[0]:
        index = index_of(draw, shape)
        return steps.SetItem(target, _value(draw, world), index, grad=grad)
    number = choose(draw, (0, 1, 4))
    if sort == "mask":
        mask = booleans(draw, math.prod(shape))
        return steps.SetItem(target, number, mask=mask, shape=shape, grad=grad)
    picks = draw.indices(shape[0], 2, unique=True)
    value: steps.Value = number
    if draw.boolean():
        value = f"t{fitting(draw, world, (len(picks), *shape[1:]))}"
    return steps.SetItem(target, value, picks=tuple(picks), grad=grad)


def beside(draw: Draw, world: World) -> Step | None:
    """Draw an assignment to what lies beside a value that a node has saved."""
    kept = [
        save.failure
        for save in world.saves
        if isinstance(save.failure, Saved) and not save.freed and save.failure.cells
    ]
    options: list[tuple[int, Argument]] = []
    for saved in kept[-4:]:
        for index, tensor in sorted(world.tensors.items()):
            shape = tensor.geometry.shape
            if tensor.counter is not saved.tensor.counter or not shape or tensor.root.leaf:
                continue
            parts = [*range(shape[0]), *(slice(k, None) for k in range(1, shape[0]))]
            options += [
                (index, part)
                for part in parts
                if not saved.cells & set(tensor.cells[part].ravel().tolist())
            ]
    if not options:
        return set_item(draw, world)
    target, part = choose(draw, options)
    grad = grad_mode(draw)
    if isinstance(part, int) and draw.boolean():
        return steps.SetItem(target, choose(draw, (0, 1, 4)), picks=(part,), grad=grad)
    value: steps.Value = choose(draw, (0, 1, 4))
    if draw.boolean():
        value = f"t{fitting(draw, world, world.tensors[target].cells[part].shape)}"
    return steps.SetItem(target, value, (part,), grad=grad)


def _value(draw: Draw, world: World) -> steps.Value:
    sort = choose(draw, ("number", "tensor", "literal"))
    if sort == "number":
        return choose(draw, (0, 1, 4))
    if sort == "literal":
        return literal(draw, (1,))
    return f"t{any_tensor(draw, world)}"


def rearrange(draw: Draw, world: World) -> Step | None:
    """Draw an in-place change of geometry."""
    target = written(draw, world)
    ndim = len(world.tensors[target].geometry.shape)
    options = [ViewCall("unsqueeze", (0,)), ViewCall("squeeze")]
    if ndim:
        options.append(ViewCall("transpose", (0, ndim - 1)))
    if ndim == 2:
        options.append(ViewCall("t"))
    if ndim > 3:
        return None
    return steps.Rearrange(target, choose(draw, options), grad_mode(draw))


def resize(draw: Draw, world: World) -> Step | None:
    """Draw a change of a tensor's shape; of a view that requires no grad, if there is one."""
    views = [
        name
        for name, tensor in sorted(world.tensors.items())
        if tensor.base is not None and not tensor.requires_grad
    ]
    target = choose(draw, views) if views else written(draw, world)
    shape = choose(draw, ((), (1,), (2,), (3,), (1, 2), (2, 2), (2, 3)))
    return steps.Resize(target, shape, grad_mode(draw))
