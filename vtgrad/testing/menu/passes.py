"""Steps about gradients: flags, hooks, backward passes; and about the life of names."""

import math
from collections.abc import Sequence

from vtgrad.testing import steps
from vtgrad.testing.menu.chooser import Chooser
from vtgrad.testing.menu.kinds import kind
from vtgrad.testing.menu.state import TensorState
from vtgrad.testing.steps import Step

__all__ = ["root"]


@kind(1)
def flag(c: Chooser) -> Sequence[Step] | None:
    """``requires_grad_`` or ``detach_``."""
    t = c.pick()
    if t is None:
        return None
    if c.chance(0.4):
        return (steps.Detach_(t.index),)
    return (steps.Require(t.index, c.state.has_room(math.prod(t.shape)) and c.chance(0.7)),)


@kind(4, "register_hook")
def hook(c: Chooser) -> Sequence[Step] | None:
    """A tensor hook, ``retain_grad``, or the removal of a hook."""
    t = c.pick(lambda t: t.requires_grad or c.chance(0.05))
    if t is None:
        return None
    if c.chance(0.3):
        return None if t.refuses_retaining else (steps.Retain(t.index),)
    if c.hooks and c.free and c.chance(0.2):
        earlier = f"h{c.rng.randrange(c.hooks)}"
        return (steps.Line(f"{earlier}.remove() if {earlier} else None", (), "", "hook.remove"),)
    c.hooks += 1
    return (steps.Hook(t.index, f"h{c.hooks - 1}", c.one((1, 1, 2, -1))),)


@kind(1)
def delete(c: Chooser) -> Sequence[Step] | None:
    """A deletion."""
    return (steps.Delete(c.one(c.all[:8]).index),) if len(c.all) > 4 else None


@kind(1)
def inspect(c: Chooser) -> Sequence[Step] | None:
    """A look at ``grad_fn``."""
    t = c.pick()
    return None if t is None else (steps.Inspect(t.index),)


@kind(1)
def beside(c: Chooser) -> Sequence[Step] | None:
    """An assignment to what lies beside a value that a node has saved."""
    options = c.state.beside_saves()
    if not options:
        return None
    target, part = c.one(options)
    if isinstance(part, int) and c.chance(0.3):
        return c.under(steps.SetItem(target, c.number(), picks=(part,)))
    shape = next(t.shape for t in c.all if t.index == target)
    rest = shape[1:] if isinstance(part, int) else (shape[0] - part.start, *shape[1:])
    other = c.pick_fitting(rest) if c.chance(0.5) else None
    value = c.number() if other is None else str(other)
    return c.under(steps.SetItem(target, value, (part,)))


def root(c: Chooser) -> TensorState | None:
    """A tensor to differentiate."""
    return c.pick(lambda t: t.requires_grad and not t.dtype.startswith("complex"))


@kind(3, "backward")
def backward(c: Chooser) -> Sequence[Step] | None:
    """A backward pass along a cotangent."""
    t = root(c)
    if t is None:
        return None
    inputs = None
    if c.chance(0.22):
        found = [c.pick(lambda t: t.requires_grad and not t.refuses_retaining) for _ in range(2)]
        inputs = tuple(dict.fromkeys(t.index for t in found if t is not None)) or None
    cotangent = c.literal(t.shape, t.dtype)
    return c.under(steps.Backward(t.index, cotangent, c.chance(0.6), inputs))


@kind(0, "grad")
def gradient(c: Chooser) -> Sequence[Step] | None:
    """A call of ``grad``."""
    t = root(c)
    found = [root(c) for _ in range(c.one((1, 1, 2)))]
    if t is None or None in found:
        return None
    inputs = tuple(dict.fromkeys(o.index for o in found if o is not None))
    allow, cotangent = c.chance(0.75), c.literal(t.shape, t.dtype)
    return (steps.Gradient(t.index, cotangent, inputs, c.chance(0.6), allow),)


@kind(0, "second order")
def second_order(c: Chooser) -> Sequence[Step] | None:
    """A gradient that is differentiated once more."""
    t, leaves = root(c), [t for t in c.tensors() if t.is_leaf]
    if not leaves or t is None:
        return None
    chosen = c.some(leaves, 2)
    weights = tuple(c.literal(leaf.shape) for leaf in chosen)
    numbers = tuple(leaf.index for leaf in chosen)
    return (steps.SecondOrder(t.index, c.literal(t.shape), numbers, weights),)
