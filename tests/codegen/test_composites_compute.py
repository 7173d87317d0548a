"""A composite computes; which overload is meant is stated in the rows.

Decision 0012 lists the composites that have the name of overloads. A function that could be
generated would be one more place to read, and would miss what the rules of the table do for all.
"""

import ast
from functools import cache
from typing import Final

import pytest

from tests.project.tree import ROOT
from vtgrad.codegen.library import Library
from vtgrad.codegen.source_files import functions_in

DECISION: Final = ROOT / "docs" / "decisions" / "0012-choices-are-stated-in-rows.md"


@cache
def library() -> Library:
    """The tables and composites."""
    return Library.read()


@cache
def overloads() -> dict[str, dict[str, list[str]]]:
    """By the name for users, the functions of the overloads with their parameters."""
    found: dict[str, dict[str, list[str]]] = {}
    for op in library().operators:
        if op.overload is None:
            continue
        parameters = [a.for_users().name for a in op.arguments]
        found.setdefault(op.base, {})[op.name] = parameters
        if op.inplace is not None:
            found.setdefault(f"{op.base}_", {})[op.inplace] = parameters
    return found


def named_like_overloads() -> dict[str, ast.FunctionDef]:
    """The composites that have the name of overloads."""
    functions = functions_in(list(library().composites.values()))
    return {name: functions[name] for name in functions.keys() & overloads().keys()}


def only_hands_on(function: ast.FunctionDef, known: dict[str, list[str]]) -> bool:
    """Whether a function only calls overloads, with its parameters by their names, in order."""
    own = [a.arg for a in (*function.args.args, *function.args.kwonlyargs)]
    known = {name: names for name, names in known.items() if _in_order(own, names)}
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    body = function.body[ast.get_docstring(function) is not None :]
    plain = all(isinstance(statement, ast.If | ast.Return) for statement in body)
    return plain and all(_hands_on(value, known) for value in returned)


def _in_order(own: list[str], parameters: list[str]) -> bool:
    shared = [name for name in own if name in parameters]
    return shared == [name for name in parameters if name in shared]


def _hands_on(value: ast.expr | None, known: dict[str, list[str]]) -> bool:
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)):
        return False
    parameters = known.get(value.func.attr)
    if parameters is None:
        return False
    given = dict(zip(parameters, value.args, strict=False))
    given |= {k.arg: k.value for k in value.keywords if k.arg is not None}
    return all(isinstance(x, ast.Name) and x.id == name for name, x in given.items())


def test_the_decision_lists_every_composite_with_the_name_of_overloads() -> None:
    rows = [line for line in DECISION.read_text("utf-8").splitlines() if line.startswith("| `")]
    listed = [name.strip("` ") for row in rows for name in row.split("|")[1].split(",")]
    assert sorted(listed) == sorted(named_like_overloads())


def test_no_composite_only_hands_on_its_parameters() -> None:
    wrong = [n for n, f in named_like_overloads().items() if only_hands_on(f, overloads()[n])]
    assert wrong == []


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ("return F.f_dim(input, dim, keepdim=keepdim)", True),
        ("if dim is None:\n        return F.f_all(input)\n    return F.f_dim(input, dim)", True),
        ("return F.f_dim(input, dim + 1)", False),
        ("return F.f_dim(input, keepdim)", False),
        ("return F.f_on(dim, input)", False),
        ("return F.neg(input)", False),
        ("look_at(dim)\n    return F.f_dim(input, dim)", False),
        ("input = F.neg(input)\n    return F.f_all(input)", False),
    ],
)
def test_what_hands_on_is_told_from_what_computes(body: str, refused: bool) -> None:
    function = ast.parse(f'def f(input, dim, keepdim):\n    """Doc."""\n    {body}\n').body[0]
    assert isinstance(function, ast.FunctionDef)
    known = {"f_all": ["input"], "f_dim": ["input", "dim", "keepdim"], "f_on": ["dim", "input"]}
    assert only_hands_on(function, known) is refused
