"""Steps that compute again in backward."""

from collections.abc import Sequence

from vtgrad.testing.menu.chooser import Chooser, is_floating
from vtgrad.testing.menu.kinds import kind
from vtgrad.testing.steps import Step

# Functions of a float tensor; what they use from outside never changes.
_BODIES = (
    "(t * t).sin()",
    "t.exp() * t",
    "(t * 0.5).tanh().sum(-1, keepdim=True) * t",
    "t.clone().mul_(t)",
    "t.clone().sin_().exp()",
    "t + 1",
    "t",
    "vt.utils.checkpoint.checkpoint(lambda u: u.cos() * u, t * 2, use_reentrant=False)",
)


@kind(2, "checkpoint")
def checkpointed(c: Chooser) -> Sequence[Step] | None:
    """A checkpoint without reentry, alone or in a chain."""
    t = c.pick(is_floating)
    if t is None or not t.shape:
        return None
    body = c.one(_BODIES)
    early_stop = "" if c.chance(0.7) else ", early_stop=False"
    if c.chance(0.2):
        functions = f"[lambda t: {body}, lambda t: t.tanh(), lambda t: t * 2]"
        return c.make(
            "checkpoint_sequential",
            f"vt.utils.checkpoint.checkpoint_sequential({functions}, 2, {t}, use_reentrant=False)",
        )
    return c.make(
        "checkpoint",
        f"vt.utils.checkpoint.checkpoint(lambda t: {body}, {t}, use_reentrant=False{early_stop})",
    )
