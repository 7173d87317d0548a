"""Prints programs: as a script for vtgrad, as its twin for PyTorch, and as data to replay."""

from collections.abc import Mapping, Sequence

from .custom import Rule
from .steps import Call, Step

__all__ = ["program_text", "script"]


def script(
    steps: Sequence[Step],
    module: str,
    rules: Mapping[str, Rule] | None = None,
    *,
    exact: bool = True,
) -> str:
    """Write a program as a script.

    Parameters
    ----------
    steps : sequence of Step
        The program.
    module : str
        Name of the library to import, ``"vtgrad"`` or ``"torch"``.
    rules : mapping, optional
        Operators of the user's; those that the program calls are defined at its top.
    exact : bool
        Whether vtgrad is left to its exact rule for saved values.

    Examples
    --------
    >>> from vtgrad.testing.steps import Leaf, Literal, Fill
    >>> print(script([Leaf(0, Literal((2,), (1, 2)), False), Fill(0, 0)], "torch"))
    import torch as vt
    <BLANKLINE>
    seen = []
    t0 = vt.tensor([1.0, 2.0], dtype=vt.float64)
    t0.zero_()
    """
    called = dict.fromkeys(step.name for step in steps if isinstance(step, Call))
    definitions = [line for name in called for line in ("", (rules or {})[name].definition(), "")]
    lines = [f"import {module} as vt", *definitions, "", "seen = []"]
    if module == "vtgrad" and not exact:
        lines.append('vt.autograd.graph.set_overwrite_check("storage")')
    for step in steps:
        lines += step.source(careful=module == "torch")
    return "\n".join(lines)


def program_text(
    steps: Sequence[Step],
    library: str,
    rules: Mapping[str, Rule] | None = None,
    *,
    exact: bool = True,
) -> str:
    """Write a failing program three times: for the library, for its peer, and to be replayed."""
    peer = "vtgrad" if library == "torch" else "torch"
    data = "\n".join(f"    {step!r}," for step in steps)
    where = "vtgrad.testing.checking.machine(*rules).library" if rules else "library"
    return (
        f"-- the program, on {library} (its last step diverges) --\n"
        f"{script(steps, library, rules, exact=exact)}\n\n"
        f"-- its twin, on {peer} --\n{script(steps, peer, rules, exact=exact)}\n\n"
        f"-- to replay: vtgrad.testing.session.replay(steps, {where}) --\nsteps = [\n{data}\n]\n"
    )
