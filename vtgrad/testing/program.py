"""Programs: sequences of steps, and how they are printed.

A program is printed as a script for vtgrad, as its twin for PyTorch, and as data to replay. The
text of its steps is the very text that is run, on all sides. The scripts define what they call,
and assert what the judge expected.
"""

import ast
import re
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import vtgrad
from vtgrad.testing.assertions import Check
from vtgrad.testing.custom import Rule
from vtgrad.testing.definitions import UnprintableError, define, for_torch
from vtgrad.testing.steps import Call, Delete, Step

__all__ = ["Failing", "program_text", "script", "without_orphans"]


@dataclass(frozen=True)
class Failing:
    """How a program ran, for scripts that run as it did.

    Attributes
    ----------
    refused : collection of int
        The positions of the steps that were refused, as they had to be.
    reads : bool
        Whether ``grad_fn`` of every tensor was read after every step.
    check : Check or None
        What was expected.
    """

    refused: Collection[int] = ()
    reads: bool = False
    check: Check | None = None


_AS_IT_IS = Failing()

_READ = """\
def read(*tensors):
    for tensor in tensors:
        with suppress(Exception):
            tensor.grad_fn
"""

_KIND_OF = """\
def kind_of(read):
    try:
        read()
    except Exception as error:
        return error.kind
    return None
"""

#: What the text of steps and checks binds, beside tensors.
_TAKEN = "seen w g h k p u r expected found error read kind_of suppress name size stride".split()


def script(
    steps: Sequence[Step],
    module: str,
    rules: Mapping[str, Rule] | None = None,
    *,
    exact: bool = True,
    prelude: Sequence[str] = (),
    block: str = "",
    failing: Failing = _AS_IT_IS,
    defines: bool = True,
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
    failing : Failing
        How it ran, and what must be so at its end.
    defines : bool
        Whether operators of the user's are defined in it, or only named in a comment.

    Examples
    --------
    >>> from vtgrad.testing.steps import Leaf, Literal, Fill
    >>> print(script([Leaf(0, Literal((2,), (1, 2)), False), Fill(0, 0)], "torch"))
    import torch as vt
    <BLANKLINE>
    t0 = vt.tensor([1.0, 2.0], dtype=vt.float64)
    t0.zero_()
    """
    body = _body(steps, module, failing)
    text = "\n".join(body)
    needed = _needed(prelude, text)
    called = dict.fromkeys(step.name for step in steps if isinstance(step, Call))
    operators = {name: rules[name] for name in called if rules is not None and name in rules}
    taken = dict.fromkeys([*_TAKEN, *re.findall(r"\b[th]\d+\b", text)], text)
    taken.update(dict.fromkeys((name for part in needed for name in _defined(part)), text))
    definitions: list[str] = []
    if defines:
        definitions = _definitions(operators, {**taken, "vt": vtgrad, "np": np})
    elif operators:
        definitions = [f"# {', '.join(operators)}: as you have it; script() has its text."]
    if module == "torch":
        definitions = [for_torch(line) for line in definitions]
    head = ["from __future__ import annotations", ""] if definitions and defines else []
    imports = [line for line in definitions if line.startswith(("import ", "from "))]
    definitions = [line for line in definitions if line not in imports]
    helpers = [part for part in (_READ, _KIND_OF) if f"{part[4:].partition('(')[0]}(" in text]
    written = "\n".join([text, *definitions, *helpers])
    if "suppress(" in written:
        imports.append("from contextlib import suppress")
    if re.search(r"\bnp\.", written):
        imports.append("import numpy as np")
    imports = sorted({*imports, f"import {module} as vt"})
    setup = ["seen = []"] if re.search(r"\bseen\b", text) else []
    if module == "vtgrad" and not exact:
        setup.append('vt.autograd.graph.set_overwrite_check("storage")')
    if block and body:
        body = [block, textwrap.indent(text, "    ")]
    parts = [*head, *imports, "", *definitions, *([""] if definitions else [])]
    parts += [*helpers, *needed, *setup, *body]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(parts))


def _body(steps: Sequence[Step], module: str, failing: Failing) -> list[str]:
    """Write the steps, and what must be so after them."""
    live: dict[str, None] = {}
    body: list[str] = []
    refusal = None if failing.check is None else failing.check.refusal
    raises = failing.check == Check()
    for position, step in enumerate(steps):
        lines = step.source(careful=module == "torch")
        is_last = position == len(steps) - 1
        if is_last and refusal is not None:
            body += _outcome(lines, refusal, module)
        elif position in failing.refused and not (is_last and raises):
            body += [
                "with suppress(Exception):  # is refused",
                textwrap.indent("\n".join(lines), "    "),
            ]
        else:
            body += lines
            live.update(dict.fromkeys(step.line().defs))
        if isinstance(step, Delete):
            live.pop(f"t{step.target}", None)
        if failing.reads and live:
            body.append(f"read({', '.join(live)})")
    claims = () if failing.check is None else failing.check.lines
    # PyTorch's errors have no kinds that could be compared.
    if claims:
        body.append("")
    return [*body, *(() if module == "torch" and "kind_of(" in "".join(claims) else claims)]


def _outcome(lines: Sequence[str], kinds: Sequence[str], module: str) -> list[str]:
    """Write the last step, which must raise an error of some kinds, or none."""
    body = textwrap.indent("\n".join(lines), "    ")
    expected = " or ".join(kinds) or "no error"
    found = 'getattr(error, "kind", f"raises {type(error).__name__}")'
    if not kinds:
        wrong = '    raise AssertionError(f"expected no error, got {found}") from error'
        return ["try:", body, "except Exception as error:", f"    found = {found}", wrong]
    caught = ["    pass"]
    if module == "vtgrad":
        caught = [
            f"    found = {found}",
            f'    assert found in {list(kinds)}, f"expected {expected}, got {{found}}"',
        ]
    missing = f'    raise AssertionError("expected {expected}, got no error")'
    return ["try:", body, "except Exception as error:", *caught, "else:", missing]


def _definitions(rules: Mapping[str, Rule], reserved: Mapping[str, object]) -> list[str]:
    """Write what defines operators of the user's."""
    texts = [textwrap.dedent(r.source).strip() for r in rules.values() if r.source is not None]
    operators = {name: rule.call for name, rule in rules.items() if rule.source is None}
    try:
        return [*define(operators, reserved), *texts]
    except UnprintableError as error:
        return [f"# {', '.join(operators)} cannot be defined here: that needs {error}.", *texts]


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
    failing: Failing = _AS_IT_IS,
    remark: str = "",
    twin: bool = True,
    defines: bool = True,
) -> str:
    """Write a failing program three times: for the library, for its peer, and to be replayed.

    Parameters
    ----------
    remark : str
        What is said below the first script.
    twin : bool
        Whether to write it for the peer.
    defines : bool
        Whether the first script defines the operators of the user's.
    """
    peer = "vtgrad" if library == "torch" else "torch"
    data = "\n".join(f"    {step!r}," for step in steps)
    text = script(
        steps,
        library,
        rules,
        exact=exact,
        prelude=prelude,
        block=block,
        failing=failing,
        defines=defines,
    )
    other = ""
    if twin:
        other = script(
            steps, peer, rules, exact=exact, prelude=prelude, block=twin_block, failing=failing
        )
        other = f"-- its twin, on {peer} --\n{other}\n\n"
    return (
        f"-- the program, on {library} (its last step diverges) --\n{text}\n\n"
        f"{remark and f'-- {remark} --{chr(10)}{chr(10)}'}"
        f"{other}"
        f"-- to replay: {replay} --\nsteps = [\n{data}\n]\n"
    )
