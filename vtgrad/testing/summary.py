"""The first line of a report: which operator is wrong, and what kind of fault it has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from vtgrad.testing.custom import Rule
from vtgrad.testing.judging import Divergence
from vtgrad.testing.steps import AugmentItem, Call, Fill, SetItem, Step, Write

__all__ = ["summary"]

#: What differs, and what that is called.
_KINDS: Final = (
    (r"expected no error, got .*", "it raises where it must not"),
    (r"expected .*, got no error", "it does not raise where it must"),
    (r".* raised .*", "it raises where it must not"),
    (r"expected .*, got .*", "it raises another error than it must"),
    (r"[gu]\[\d+\].*", "wrong gradient"),
    (r"h\[\d+\].*", "wrong second derivative"),
    (r"tangent of .*", "wrong tangent"),
    (r"what hooks have seen.*", "wrong gradient, seen by a hook"),
    (r"t\d+\.grad: .*", "wrong gradient"),
    (r"t\d+\._version.*", "a write that is not counted"),
    (r"w\.requires_grad.*", "it returns the operand that it wrote detached"),
    (r"the state of the default generator.*", "it draws random numbers"),
    (r"(vt\.|np\.|the |forward mode|whether ).*", "it leaves a mode switched"),
    (r".*share memory.*", "its result shares memory with another tensor"),
    (r".*(_is_view\(\)|_base|another view).*", "its result is, or is not, a view as stated"),
    (r"dtypes of .*|.* made .* of float64", "a result of another dtype"),
    (r".*(returned shape|\.shape).*", "a result of another shape"),
    (r".*(requires_grad|grad_fn|is_leaf).*", "its result is not recorded as it must be"),
    (r"alive after .*", "it keeps the graph alive in a cycle"),
    (r"t\d+(: |\.tolist).*|r\[\d+\].*", "wrong values"),
)
_WRONG_GRADIENTS: Final = ("wrong gradient", "wrong second derivative")


def summary(
    steps: Sequence[Step], divergences: Sequence[Divergence], rules: Mapping[str, Rule]
) -> str:
    """One line that names the operator and the kind of fault.

    Returns
    -------
    str
        Empty if the program calls no operator of the user's.
    """
    places = [nr for nr, step in enumerate(steps) if isinstance(step, Call) and step.name in rules]
    if not places or not divergences:
        return ""
    called = steps[places[-1]]
    assert isinstance(called, Call)
    what = str(divergences[0])
    kind = next((name for form, name in _KINDS if re.match(form, what, re.DOTALL)), "it differs")
    text = f"{called.name}: {kind}"
    overwritten = any(_writes(step) for step in steps[places[-1] + 1 :])
    if overwritten and kind.startswith(_WRONG_GRADIENTS):
        return f"{text} after its operand was overwritten; is it saved by save_for_backward?"
    if kind == "wrong second derivative":
        return f"{text}; does backward use a value that was detached, or kept on ctx?"
    if overwritten:
        return f"{text}, after a write"
    return text


def _writes(step: Step) -> bool:
    """Whether a step may write to what an earlier one has made or read."""
    return isinstance(step, Fill | SetItem | AugmentItem | Write) or (
        isinstance(step, Call) and not step.outs
    )
