"""Steps that compute again in backward."""

from tests.oracle.generator import Context, rule
from vtgrad.testing.steps import Line

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


@rule(2, "checkpoint")
def checkpointed(c: Context) -> list[Line] | None:
    """A checkpoint without reentry, alone or in a chain."""
    name = c.pick_float()
    if name is None or not c.get(name).dim():
        return None
    body = c.rng.choice(_BODIES)
    early_stop = "" if c.chance(0.7) else ", early_stop=False"
    if c.chance(0.2):
        functions = f"[lambda t: {body}, lambda t: t.sin(), lambda t: t * 2]"
        return c.make(
            "checkpoint_sequential",
            f"vt.utils.checkpoint.checkpoint_sequential({functions}, 2, {name}, "
            "use_reentrant=False)",
        )
    return c.make(
        "checkpoint",
        f"vt.utils.checkpoint.checkpoint(lambda t: {body}, {name}, use_reentrant=False"
        f"{early_stop})",
    )
