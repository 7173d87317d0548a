"""The functions that the walks in the documentation name are called, and in their order."""

import re

import pytest

import vtgrad as vt
from tests.project.calls import calls_of_the_last_statement
from tests.project.tree import ROOT

pytestmark = pytest.mark.skipif(
    vt.__compiled__, reason="an interpreter does not tell which native functions it calls"
)

_PAGES = ("walks.md", "one-apply.md", "one-recorded-operator.md")
_WALK = re.compile(r"^## (One [^\n]*)\n.*?^```python\n(.*?)^```$(.*?)(?=^## |\Z)", re.M | re.S)
_STEP = re.compile(r"^\d+\. `([^`]+)`, in `([^`]+)`\.", re.MULTILINE)


def _walks() -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """Title, program and steps (function and place) of each walk."""
    pages = [ROOT / "docs" / name for name in _PAGES]
    text = "\n".join([page.read_text("utf-8") for page in pages])
    return {
        title: (program, _STEP.findall(rest.split("\n\n", 2)[1]))
        for title, program, rest in _WALK.findall(text)
    }


def _first_missing(
    steps: list[tuple[str, str]], calls: list[tuple[str, str]]
) -> tuple[str, str] | None:
    """The first step that is not among the calls after the step before it."""
    rest = iter(calls)
    for name, place in steps:
        if not any(n == name and f"{m}/".startswith(f"{place}/") for n, m in rest):
            return name, place
    return None


_TITLES = [
    "One recorded operator",
    "One in-place write",
    "One backward",
    "One backward with its threads",
    "One read of a stale view",
    "One apply",
    "One backward of a Function",
    "One product of two elements",
]


def test_there_is_a_walk_for_each_title() -> None:
    walks = _walks()
    assert list(walks) == _TITLES
    assert all(len(steps) >= 10 for _, steps in walks.values())


@pytest.mark.parametrize("title", _TITLES)
def test_a_walk_names_what_is_called_in_its_order(title: str) -> None:
    program, steps = _walks()[title]
    calls = calls_of_the_last_statement(program)
    missing = _first_missing(steps, calls)
    trace = "\n".join(f"{name}  {module}" for name, module in calls)
    assert missing is None, f"{missing} is not called after the step before it, in:\n{trace}"


def test_the_comparison_finds_steps_in_the_wrong_order() -> None:
    calls = [("f", "a"), ("g", "b/c"), ("h", "a")]
    assert _first_missing([("f", "a"), ("g", "b"), ("h", "a")], calls) is None
    assert _first_missing([("g", "b"), ("f", "a")], calls) == ("f", "a")
    assert _first_missing([("g", "a")], calls) == ("g", "a")
