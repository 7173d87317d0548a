"""Programs: sequences of steps, and how they are printed.

A program is printed as a script for vtgrad, as its twin for PyTorch, and as data to replay. The
text of its steps is the very text that is run, on all sides.
"""

import ast
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from .custom import Rule
from .steps import Call, Line, Step

__all__ = ["program_text", "script", "without_orphans"]


def script(
    steps: Sequence[Step],
    module: str,
    rules: Mapping[str, Rule] | None = None,
    *,
    exact: bool = True,
    prelude: Sequence[str] = (),
    block: str = "",
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
    prelude : sequence of str
        Definitions of what lines of text call, which are printed if they are called. Each may use
        those before it.
    block : str
        The ``with`` statement that the steps run in, if any.

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
    setup = [] if steps and all(isinstance(step, Line) for step in steps) else ["seen = []"]
    if module == "vtgrad" and not exact:
        setup.append('vt.autograd.graph.set_overwrite_check("storage")')
    body = [line for step in steps for line in step.source(careful=module == "torch")]
    needed = _needed(prelude, "\n".join(body))
    if block and body:
        body = [block, textwrap.indent("\n".join(body), "    ")]
    return "\n".join([f"import {module} as vt", *definitions, "", *needed, *setup, *body])


def _needed(prelude: Sequence[str], body: str) -> list[str]:
    """Return the definitions that a program uses, with those that they use themselves."""
    needed: list[str] = []
    for part in reversed(prelude):
        names = "|".join(_defined(part))
        if re.search(rf"\b({names})\b", body):
            needed.insert(0, part)
            body += part
    return needed


def _defined(text: str) -> Iterable[str]:
    """Return the names that a piece of a module defines."""
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.Assign):
            for part in ast.walk(statement.targets[0]):
                if isinstance(part, ast.Name):
                    yield part.id


def without_orphans(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Drop the steps that read a tensor which no kept step has named."""
    known: set[str] = set()
    kept = []
    for step in steps:
        line = step.line()
        if line.uses <= known:
            kept.append(step)
            known.update(line.defs)
    return tuple(kept)


def program_text(
    steps: Sequence[Step],
    library: str,
    rules: Mapping[str, Rule] | None = None,
    *,
    exact: bool = True,
    prelude: Sequence[str] = (),
    block: str = "",
    twin_block: str = "",
    replay: str = "vtgrad.testing.session.replay(steps, library)",
) -> str:
    """Write a failing program three times: for the library, for its peer, and to be replayed."""
    peer = "vtgrad" if library == "torch" else "torch"
    data = "\n".join(f"    {step!r}," for step in steps)
    text = script(steps, library, rules, exact=exact, prelude=prelude, block=block)
    twin = script(steps, peer, rules, exact=exact, prelude=prelude, block=twin_block)
    return (
        f"-- the program, on {library} (its last step diverges) --\n{text}\n\n"
        f"-- its twin, on {peer} --\n{twin}\n\n"
        f"-- to replay: {replay} --\nsteps = [\n{data}\n]\n"
    )
