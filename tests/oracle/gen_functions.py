"""Steps that call custom Functions."""

from tests.oracle.functions import APPLIED, ONE, RESULTS, TWO, WRITE_ONE, WRITE_TWO
from tests.oracle.generator import Context, rule
from vtgrad.testing.steps import Line

# Refused, if at all, when they have written: that is the user's doing, and stays.
LATE = ("F_late_", "F_both_")


def _call(c: Context, name: str, *operands: str) -> list[Line]:
    return c.make(name, f"{name}({', '.join(operands)})", RESULTS.get(name, 1))


@rule(6)
def function(c: Context) -> list[Line] | None:
    """A Function that writes nothing."""
    name = c.pick_float()
    if name is None:
        return None
    if c.chance(0.3):
        other = c.pick_like(name)
        if other is None or not c.get(other).is_floating_point():
            return None
        return _call(c, c.rng.choice(TWO), name, other)
    pure = [f for f in RESULTS if not f.endswith("_")]
    chosen = c.rng.choice(ONE * 2 + pure)
    if chosen in ("F_row", "F_rows") and (c.get(name).dim() == 0 or c.get(name).shape[0] == 0):
        return None
    return _call(c, chosen, name)


@rule(5)
def writing_function(c: Context) -> list[Line] | None:
    """A Function that writes its first argument in place, and declares it."""
    name = c.pick_target()
    if name is None or not c.get(name).is_floating_point():
        return None
    if c.chance(0.35):
        other = c.pick_like(name, into=True)
        if other is None or c.get(other).dtype != c.get(name).dtype:
            return None
        return _call(c, c.rng.choice(WRITE_TWO), name, other)
    chosen = c.rng.choice([*WRITE_ONE, "F_both_"])
    t = c.get(name)
    if chosen in LATE and (t._base is not None or (t.requires_grad and t.is_leaf)):
        return None
    return _call(c, chosen, name)


@rule(2)
def node_apply(c: Context) -> list[Line] | None:
    """Backward of a Function alone, through its node; or a leaf by the old name.

    Of views the node is not read: that would bring it up to date, on one side only.
    """
    name = c.pick(lambda t: t.requires_grad and t._base is None)
    if name is None:
        return None
    t = c.get(name)
    node = type(t.grad_fn).__name__ if t._base is None else ""
    if node.removesuffix("Backward") in APPLIED:
        return c.make("node.apply", f"{name}.grad_fn.apply({name}.detach() * 2)")
    return c.make("Variable", f"vt.autograd.Variable({name}, requires_grad={c.chance(0.5)})")
