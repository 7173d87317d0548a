"""Steps that call custom Functions."""

from collections.abc import Sequence

from tests.oracle.functions import APPLIED, ONE, RESULTS, TWO, WRITE_ONE, WRITE_TWO
from vtgrad.testing.menu.chooser import Chooser, is_floating
from vtgrad.testing.menu.kinds import kind
from vtgrad.testing.menu.state import TensorState
from vtgrad.testing.steps import Step

# Refused, if at all, when they have written: that is the user's doing, and stays.
LATE = ("F_late_", "F_both_")


def _call(c: Chooser, name: str, *operands: TensorState) -> Sequence[Step] | None:
    return c.make(name, f"{name}({', '.join(map(str, operands))})", RESULTS.get(name, 1))


@kind(6)
def function(c: Chooser) -> Sequence[Step] | None:
    """A Function that writes nothing."""
    t = c.pick(is_floating)
    if t is None:
        return None
    if c.chance(0.3):
        other = c.pick_like(t)
        if other is None or not is_floating(other):
            return None
        return _call(c, c.one(TWO), t, other)
    pure = [f for f in RESULTS if not f.endswith("_")]
    chosen = c.one(ONE * 2 + pure)
    if chosen in ("F_row", "F_rows") and (t.shape[:1] in ((), (0,))):
        return None
    return _call(c, chosen, t)


@kind(5)
def writing_function(c: Chooser) -> Sequence[Step] | None:
    """A Function that writes its first argument in place, and declares it."""
    t = c.pick_target()
    if t is None or not is_floating(t):
        return None
    if c.chance(0.35):
        other = c.pick_like(t, into=True)
        if other is None or other.dtype != t.dtype:
            return None
        return _call(c, c.one(WRITE_TWO), t, other)
    chosen = c.one([*WRITE_ONE, "F_both_"])
    if chosen in LATE and (t.is_view or t.is_leaf):
        return None
    return _call(c, chosen, t)


@kind(2)
def node_apply(c: Chooser) -> Sequence[Step] | None:
    """Backward of a Function alone, through its node; or a leaf by the old name."""
    t = c.pick(lambda t: t.requires_grad and not t.is_view)
    if t is None:
        return None
    if t.producer.removesuffix("Backward") in APPLIED:
        return c.make("node.apply", f"{t}.grad_fn.apply({t}.detach() * 2)")
    return c.make("Variable", f"vt.autograd.Variable({t}, requires_grad={c.chance(0.5)})")
