"""Steps of forward mode: levels, dual tensors, tangents that are written and unpacked."""

from collections.abc import Sequence

from vtgrad.testing import steps
from vtgrad.testing.menu.chooser import Chooser, is_whole
from vtgrad.testing.menu.kinds import KINDS, kind
from vtgrad.testing.menu.state import TensorState
from vtgrad.testing.steps import EnterLevel, Step

__all__ = ["pick_dual"]


def _has_tangent(t: TensorState) -> bool:
    return t.has_tangent


def pick_dual(c: Chooser) -> TensorState | None:
    """A tensor with a tangent."""
    return c.pick(_has_tangent)


def _opened(c: Chooser, *then: Step) -> Sequence[Step]:
    """Steps, after one that opens a level if none is open."""
    return then if c.state.has_level or c.blunder() else (EnterLevel(), *then)


@kind(0, "make_dual")
def level(c: Chooser) -> Sequence[Step] | None:
    """The end of a level, or the beginning of one."""
    return (EnterLevel() if c.state.has_level == c.blunder() else steps.LeaveLevel(),)


@kind(0, "make_dual")
def dual(c: Chooser) -> Sequence[Step] | None:
    """A dual of any tensor, with a constant for a tangent or with another tensor's memory."""
    t = c.pick(lambda t: not t.has_tangent and not is_whole(t))
    if t is None or (t.has_tangent and not c.chance(0.1)):
        return None
    seed: steps.Literal | str = c.literal(c.shape() if c.blunder() else t.shape, t.dtype)
    if c.chance(0.3):
        other = c.pick(lambda o: o.shape == t.shape and o.dtype == t.dtype)
        # Where no judge passes over it, seldom one that may be on the tensor's own memory.
        is_near = other is not None and c.free and (other.is_view or t.is_view or other == t)
        if other is not None and (other.shape == t.shape or c.blunder()) and not is_near:
            seed = str(other)
    step = steps.MakeDual(c.fresh(), t.index, seed)
    # Not in inference mode, where PyTorch makes no dual of it.
    return _opened(c, *((step,) if c.free and c.chance(0.9) else c.under(step)))


@kind(0, "make_dual")
def unpacked(c: Chooser) -> Sequence[Step] | None:
    """The value of a tensor without its tangent, or the tangent."""
    t = pick_dual(c) if c.chance(0.9) else c.pick()
    if t is None:
        return None
    if t.has_tangent and c.chance(0.5):
        return c.under(steps.TakeTangent(c.fresh(), t.index))
    return c.under(steps.TakePrimal(c.fresh(), t.index))


@kind(0, "make_dual")
def carry(c: Chooser) -> Sequence[Step] | None:
    """A tensor with a tangent, written into another one."""
    target, other = c.pick_target(), pick_dual(c)
    if target is None or other is None:
        return None
    name = c.one(c.known(("copy_", "add_", "mul_", "sub_"))).removesuffix("_")
    fits = c.abilities.fits_together([target.shape, other.shape])
    if not fits:
        return None
    step = steps.Write(target.index, name, (str(other),), (), target.shape)
    return c.under(step)


@kind(0, "make_dual")
def grown(c: Chooser) -> Sequence[Step] | None:
    """A result or view of tensors that have tangents, or a write to them."""
    c.prefers = _has_tangent
    try:
        return KINDS[c.one(("view", "region", "apply", "saving", "write", "set_item"))].maker(c)
    finally:
        c.prefers = None


@kind(0, "make_dual")
def without_forward(c: Chooser) -> Sequence[Step] | None:
    """A step with forward mode off."""
    names = ("view", "write", "apply", "region", "set_item", "fill", "dual", "rearrange")
    (step, *_) = KINDS[c.one(names)].maker(c) or (None,)
    return None if step is None else (steps.WithoutForward(step),)
