"""Draws steps that fit the present state of a program, from what the model knows of it.

Each function draws one kind of step. Nothing is avoided because it would raise: an error is an
outcome that the model predicts. Choices are ordered from simple to complex, so that programs
shrink towards few, plain steps on the oldest tensors.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from . import steps
from .drawn_writes import beside, count, fill, rearrange, resize, set_item, write
from .draws import (
    MOST_ELEMENTS,
    MOST_LEAVES,
    MOST_TENSORS,
    Draw,
    any_tensor,
    choose,
    extra_of,
    fitting,
    grad_mode,
    index_of,
    literal,
    rooted,
    some,
    written,
)
from .geometry import reshaped
from .model import ModelTensor, SkippedError
from .rules import OPERATORS
from .steps import Literal, Step
from .views import ViewCall
from .world import World

__all__ = ["MIXTURES", "STEPS", "beginning", "last_gradients", "mixture_of"]

SHAPES: tuple[tuple[int, ...], ...] = (
    (2,), (3,), (), (1,), (2, 2), (2, 3), (3, 2), (1, 3), (2, 1), (4,), (2, 2, 2), (2, 1, 3),
)  # fmt: skip


def beginning(draw: Draw) -> list[Step]:
    """Draw a leaf that requires grad, and a copy of it, which may be written."""
    shape = choose(draw, ((3,), (2, 2), (2, 3), (4,), (2, 2, 2)))
    return [steps.Leaf(0, literal(draw, shape), requires_grad=True), steps.Apply(1, "clone", (0,))]


def leaf(draw: Draw, world: World) -> Step | None:
    """Draw a new tensor."""
    if len(world.tensors) >= MOST_TENSORS:
        return delete(draw, world)
    shape = choose(draw, SHAPES)
    room = len(world.variables.leaf_columns) + math.prod(shape) <= MOST_LEAVES
    requires = room and choose(draw, (True, False))
    return steps.Leaf(world.made, literal(draw, shape), requires)


def _other_shapes(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    numel = math.prod(shape)
    shapes = [(numel,), (1, numel), (numel, 1)]
    shapes += [(k, numel // k) for k in (2, 3) if numel and numel % k == 0]
    return shapes


def view_call(draw: Draw, tensor: ModelTensor) -> ViewCall:
    """Draw a view of a tensor."""
    shape = tensor.geometry.shape
    ndim = len(shape)
    options = ["[]", "unsqueeze", "squeeze", "expand", "view"]
    if ndim:
        options += ["select", "narrow", "transpose", "permute", "squeeze_dim"]
        options += ["split", "chunk"] if math.prod(shape) else []
        options += ["unbind"] if 0 < shape[0] <= 3 else []
    if ndim == 2:
        options += ["t", "diagonal", "T", "mT"]
    root = tensor.root
    if (
        tensor.base is None
        and root.geometry.is_dense
        and root.cells.size == root.buffer.values.size
    ):
        options.append("as_strided")
    method = choose(draw, options)
    dim = draw.integer(0, max(ndim - 1, 0))
    return _arguments(draw, method, shape, dim, tensor)


def _arguments(
    draw: Draw, method: str, shape: tuple[int, ...], dim: int, tensor: ModelTensor
) -> ViewCall:
    ndim = len(shape)
    match method:
        case "[]":
            return ViewCall("[]", index_of(draw, shape))
        case "select":
            return ViewCall("select", (dim, draw.integer(-shape[dim], shape[dim])))
        case "narrow":
            start = draw.integer(0, shape[dim])
            return ViewCall("narrow", (dim, start, draw.integer(0, shape[dim] - start)))
        case "transpose":
            return ViewCall("transpose", (dim, draw.integer(-ndim, ndim - 1)))
        case "permute":
            return ViewCall("permute", (tuple(draw.permutation(ndim)),))
        case "unsqueeze":
            return ViewCall("unsqueeze", (draw.integer(-ndim - 1, ndim),))
        case "squeeze_dim":
            return ViewCall("squeeze", (dim,))
        case "expand":
            sizes = tuple(2 if n == 1 and draw.boolean() else n for n in shape)
            return ViewCall("expand", (2, *sizes) if not sizes or draw.boolean() else sizes)
        case "view":
            asked = choose(draw, _other_shapes(shape))
            name = "reshape" if reshaped(tensor.geometry, asked) is not None else "view"
            return ViewCall(choose(draw, ("view", name)), asked)
        case "diagonal":
            return ViewCall("diagonal", (draw.integer(-1, 1), *choose(draw, ((0, 1), (1, 0)))))
        case "as_strided":
            return _strided(draw, tensor)
        case "split":
            return ViewCall("split", (draw.integer(1, 2), dim))
        case "chunk":
            return ViewCall("chunk", (draw.integer(1, 2), dim))
        case "unbind":
            return ViewCall("unbind", (0,))
        case _:
            return ViewCall(method)


def _strided(draw: Draw, tensor: ModelTensor) -> ViewCall:
    """Draw a strided region that does not touch a cell twice."""
    offset = draw.integer(0, 1)
    size, stride = draw.integer(1, 2), draw.integer(1, 2)
    outer = draw.integer(1, 2)
    if draw.boolean():
        return ViewCall("as_strided", ((size,), (stride,), offset))
    return ViewCall("as_strided", ((outer, size), (size * stride, stride), offset))


def _count(call: ViewCall, shape: tuple[int, ...]) -> int:
    """Number of outputs of a view."""
    if call.method == "unbind":
        return shape[0]
    if call.method in ("split", "chunk"):
        number, dim = (arg for arg in call.args if isinstance(arg, int))
        size = number if call.method == "split" else max(1, -(-shape[dim] // number))
        return max(1, -(-shape[dim] // size))
    return 1


def view(draw: Draw, world: World) -> Step | None:
    """Draw a view."""
    of = any_tensor(draw, world)
    return _view(draw, world, of, view_call(draw, world.tensors[of]))


def region(draw: Draw, world: World) -> Step | None:
    """Draw a view of something that may be written, which may be written itself."""
    of = written(draw, world)
    tensor = world.tensors[of]
    shape = tensor.geometry.shape
    call = ViewCall("[]", index_of(draw, shape))
    if len(shape) > 1 and draw.boolean():
        call = ViewCall("transpose", (0, len(shape) - 1))
    return _view(draw, world, of, call, grad=True)


def pieces(draw: Draw, world: World) -> Step | None:
    """Draw several views that one call makes."""
    of = any_tensor(draw, world)
    shape = world.tensors[of].geometry.shape
    if not math.prod(shape) or not shape:
        return None
    method = choose(draw, ("split", "chunk", "unbind") if shape[0] <= 3 else ("split", "chunk"))
    call = _arguments(draw, method, shape, 0, world.tensors[of])
    return _view(draw, world, of, call)


def _view(
    draw: Draw, world: World, of: int, call: ViewCall, *, grad: bool | None = None
) -> Step | None:
    tensor = world.tensors[of]
    count = _count(call, tensor.geometry.shape)
    if len(world.tensors) + count > MOST_TENSORS:
        return delete(draw, world)
    outs = tuple(range(world.made, world.made + count))
    return steps.View(outs, of, call, grad_mode(draw) if grad is None else grad)


def apply(draw: Draw, world: World) -> Step | None:
    """Draw an out-of-place operator."""
    if len(world.tensors) >= MOST_TENSORS:
        return delete(draw, world)
    return _apply(draw, world, choose(draw, tuple(OPERATORS)))


def saving(draw: Draw, world: World) -> Step | None:
    """Draw an operator whose backward needs a value that a user can overwrite."""
    if len(world.tensors) >= MOST_TENSORS:
        return delete(draw, world)
    return _apply(draw, world, choose(draw, ("mul", "square", "relu", "prod", "maximum", "abs")))


def saving_part(draw: Draw, world: World) -> Step | None:
    """Draw an operator that keeps a part of what may be written; if there is none, make one."""
    if len(world.tensors) >= MOST_TENSORS:
        return delete(draw, world)
    parts = [
        index
        for index, t in sorted(world.tensors.items())
        if t.base is not None and t.base.node is not None and t.requires_grad
        if 0 < t.cells.size < t.base.cells.size
    ]
    if not parts:
        return region(draw, world)
    name = choose(draw, ("square", "mul", "relu", "prod", "abs"))
    return _apply(draw, world, name, choose(draw, parts))


def _apply(draw: Draw, world: World, name: str, first: int | None = None) -> Step | None:
    operator = OPERATORS[name]
    first = any_tensor(draw, world) if first is None else first
    shape = world.tensors[first].geometry.shape
    if name in ("cat", "stack"):
        alike = [i for i, t in sorted(world.tensors.items()) if t.geometry.shape == shape]
        operands: tuple[int, ...] = (first, choose(draw, alike))
    elif name == "mm":
        flat = [i for i, t in sorted(world.tensors.items()) if len(t.geometry.shape) == 2]
        if not flat:
            return None
        operands = (choose(draw, flat), choose(draw, flat))
    elif operator.arity == 2:
        operands = (first, fitting(draw, world, shape))
    else:
        operands = (first,)
    extra = extra_of(draw, name, shape)
    if extra is None:
        return None
    sizes = [world.tensors[i].geometry for i in operands]
    if sum(g.numel for g in sizes) > 2 * MOST_ELEMENTS or any(len(g.shape) > 3 for g in sizes):
        return None
    return steps.Apply(world.made, name, operands, extra, shape, grad_mode(draw))


def custom(draw: Draw, world: World) -> Step | None:
    """Draw a call of an operator of the user's, if there is one that fits."""
    if not world.rules:
        return None
    rule = world.rules[choose(draw, sorted(world.rules))]
    if rule.result != "written" and len(world.tensors) >= MOST_TENSORS:
        return delete(draw, world)
    first = written(draw, world) if rule.result == "written" else any_tensor(draw, world)
    shape = world.tensors[first].geometry.shape
    alike = [i for i, t in sorted(world.tensors.items()) if t.geometry.shape == shape]
    others = (
        choose(draw, alike) if draw.boolean() else fitting(draw, world, shape)
        for _ in range(rule.operands - 1)
    )
    operands = (first, *others)
    tensors = [world.tensors[i] for i in operands]
    try:
        made = rule.values([t.values.reshape(t.geometry.shape) for t in tensors])
    except SkippedError:
        return None
    if made.size > 2 * MOST_ELEMENTS or made.ndim > 3:
        return None
    out = -1 if rule.result == "written" else world.made
    return steps.Call(out, rule.name, operands, grad_mode(draw))


def inference(draw: Draw, world: World) -> Step | None:
    """Draw a step in inference mode."""
    step = choose(draw, (view, write, apply, region, leaf, set_item, fill, detach, rearrange))
    inner = step(draw, world)
    if isinstance(inner, steps.Leaf):
        inner = replace(inner, requires_grad=False)
    return inner if inner is None or isinstance(inner, steps.Delete) else steps.Inference(inner)


def detach(draw: Draw, world: World) -> Step | None:
    """Draw an alias outside the graph."""
    if len(world.tensors) >= MOST_TENSORS:
        return delete(draw, world)
    of = any_tensor(draw, world)
    if choose(draw, (True, True, False)):
        return steps.Detach(world.made, of, grad_mode(draw))
    return steps.Data(world.made, of)


# -- flags, hooks, lifetime ---------------------------------------------------------------------


def flag(draw: Draw, world: World) -> Step | None:
    """Draw ``requires_grad_`` or ``detach_``."""
    target = any_tensor(draw, world)
    if draw.boolean():
        return steps.Detach_(target)
    tensor = world.tensors[target]
    room = len(world.variables.leaf_columns) + tensor.geometry.numel <= MOST_LEAVES
    return steps.Require(target, room and draw.boolean())


def hook(draw: Draw, world: World) -> Step | None:
    """Draw a tensor hook or ``retain_grad``."""
    target = any_tensor(draw, world)
    if draw.boolean():
        return steps.Retain(target)
    return steps.Hook(target, f"h{len(world.variables.all)}", choose(draw, (1, 2, -1)))


def delete(draw: Draw, world: World) -> Step | None:
    """Draw a deletion."""
    return steps.Delete(any_tensor(draw, world)) if len(world.tensors) > 2 else None


def inspect(draw: Draw, world: World) -> Step | None:
    """Draw a look at ``grad_fn``."""
    return steps.Inspect(any_tensor(draw, world))


# -- passes -------------------------------------------------------------------------------------


def backward(draw: Draw, world: World) -> Step | None:
    """Draw a backward pass."""
    of = rooted(draw, world)
    cotangent = literal(draw, world.tensors[of].geometry.shape)
    inputs = None
    if choose(draw, (False, False, False, True)):
        inputs = some(draw, sorted(world.tensors), 2)
    return steps.Backward(of, cotangent, choose(draw, (True, False)), inputs, grad_mode(draw))


def gradient(draw: Draw, world: World) -> Step | None:
    """Draw a call of ``grad``."""
    of = rooted(draw, world)
    cotangent = literal(draw, world.tensors[of].geometry.shape)
    inputs = tuple(dict.fromkeys(rooted(draw, world) for _ in range(draw.integer(1, 2))))
    allow = choose(draw, (True, True, False))
    return steps.Gradient(of, cotangent, inputs, choose(draw, (True, False)), allow)


def second_order(draw: Draw, world: World) -> Step | None:
    """Draw a gradient that is differentiated once more."""
    of = rooted(draw, world)
    leaves = [i for i, t in sorted(world.tensors.items()) if t.leaf is not None]
    if not leaves:
        return None
    chosen = some(draw, leaves, 2)
    cotangent = literal(draw, world.tensors[of].geometry.shape)
    weights = tuple(literal(draw, world.tensors[i].geometry.shape) for i in chosen)
    return steps.SecondOrder(of, cotangent, chosen, weights)


def last_gradients(world: World) -> list[Step]:
    """Differentiate every tensor of a finished program with respect to all its leaves."""
    leaves = tuple(i for i, t in sorted(world.tensors.items()) if t.leaf is not None)
    return [
        steps.Gradient(
            of,
            Literal(tensor.geometry.shape, tuple(range(1, tensor.geometry.numel + 1))),
            leaves,
            retain=True,
        )
        for of, tensor in sorted(world.tensors.items(), reverse=True)
        if leaves and tensor.node is not None
    ]


#: Everything that a program may do, by name.
STEPS: dict[str, Callable[[Draw, World], Step | None]] = {
    function.__name__: function
    for function in (
        leaf, view, region, pieces, apply, saving, saving_part, custom, detach, write, fill, count,
        set_item, beside, rearrange, resize, flag, hook, delete, inspect, backward, gradient,
        second_order, inference,
    )
}  # fmt: skip


def _mixture(**counts: int) -> tuple[str, ...]:
    return tuple(name for name, count in counts.items() for _ in range(count))


#: Programs of different flavours; each name as often as its share. One mixture of everything
#: would seldom do the same kind of thing often enough to meet its rarer consequences.
MIXTURES: dict[str, tuple[str, ...]] = {
    "everything": tuple(name for name in STEPS if name != "custom"),
    "writes": _mixture(
        leaf=2,
        region=4, view=2, write=4, fill=1, set_item=3, apply=2, saving=1, rearrange=1, detach=1,
        inspect=1, backward=1, gradient=1, second_order=1,
    ),
    "refusals": _mixture(
        pieces=3, view=3, region=2, write=3, fill=2, set_item=1, detach=2, saving=4, flag=1,
        backward=3, gradient=2, leaf=1, apply=1,
    ),
    "tables": _mixture(
        saving_part=6, beside=6, region=2, view=1, saving=1, set_item=1, write=1, count=1,
        rearrange=1, detach=1, backward=1, gradient=3, second_order=1, delete=1, inspect=1,
    ),
    "hooks": _mixture(
        hook=4, region=2, pieces=1, write=3, set_item=1, apply=2, backward=3, gradient=2,
        inspect=1, delete=1,
    ),
    "inference": _mixture(
        inference=6, view=2, region=2, write=3, set_item=1, fill=1, saving=3, apply=1, detach=1,
        flag=1, inspect=1, backward=1, gradient=1, rearrange=1, leaf=1,
    ),
}  # fmt: skip


def mixture_of(name: str, *, custom: bool) -> tuple[str, ...]:
    """Return what programs of a flavour are made of, with operators of the user's or without."""
    plain = MIXTURES[name]
    if not custom:
        return plain
    # The model knows neither second derivatives of such operators nor their inference mode.
    kept = tuple(step for step in plain if step not in ("second_order", "inference"))
    return (*kept, *("custom",) * (len(kept) // 3))
