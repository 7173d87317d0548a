"""Steps of forward mode that only text can say."""

from collections.abc import Sequence
from dataclasses import replace

from vtgrad.testing.menu.chooser import Chooser
from vtgrad.testing.menu.duals import pick_dual
from vtgrad.testing.menu.kinds import KINDS, kind
from vtgrad.testing.steps import Step


@kind(0, "make_dual")
def forward_off(c: Chooser) -> Sequence[Step] | None:
    """An expression that is evaluated with forward mode off."""
    names = ("view", "unary", "binary", "reduction", "unary_inplace", "binary_inplace", "function")
    for step in KINDS[c.one(names)].maker(c) or ():
        line = step.line()
        return (replace(line, text=f"without_forward(lambda: {line.text})"),)
    return None


@kind(0, "make_dual")
def read_tangent(c: Chooser) -> Sequence[Step] | None:
    """A tangent that is computed with, in the graph that it has."""
    t = pick_dual(c)
    if t is None or not t.has_tangent:
        return None
    tangent = f"vt.autograd.forward_ad.unpack_dual({t}).tangent"
    recorded = (f"dense({tangent} * 2)", f"dense({tangent})")
    return c.make("unpack_dual", c.one((*recorded, f"{tangent}.detach()")))
