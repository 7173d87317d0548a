"""The functions that the walks in the documentation name are called, and in their order."""

import ast
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType

import pytest

import vtgrad as vt
from tests.project.tree import ROOT
from vtgrad.lanes import device_threads

pytestmark = pytest.mark.skipif(
    vt.__compiled__, reason="an interpreter does not tell which native functions it calls"
)

_HOME = Path(vt.__file__).parent
_PAGES = ("walks.md", "one-apply.md", "one-recorded-operator.md")
_WALK = re.compile(r"^## (One [^\n]*)\n.*?^```python\n(.*?)^```$(.*?)(?=^## |\Z)", re.M | re.S)
_thread_init = device_threads.thread_init
_STEP = re.compile(r"^\d+\. `([^`]+)`, in `([^`]+)`\.", re.MULTILINE)


def _walks() -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """Title, program and steps (function and place) of each walk."""
    pages = [ROOT / "docs" / name for name in _PAGES]
    text = "\n".join([page.read_text("utf-8") for page in pages])
    return {
        title: (program, _STEP.findall(rest.split("\n\n", 2)[1]))
        for title, program, rest in _WALK.findall(text)
    }


def _noted_thread(note: Callable[..., None], queue: device_threads.SharedReadyQueue) -> None:
    """The work of a lane's thread, whose calls are noted too."""
    sys.setprofile(note)
    _thread_init(queue)


def _calls_of_the_last_statement(program: str) -> list[tuple[str, str]]:
    """Every function of vtgrad that the last statement calls: its name and its module."""
    *before, last = ast.parse(program).body
    calls: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        path = Path(code.co_filename)
        if event == "call" and path.is_relative_to(_HOME):
            calls.append((code.co_qualname, path.relative_to(_HOME).with_suffix("").as_posix()))

    for _ in range(2):  # What is made on first use would be called in the first round only.
        namespace: dict[str, object] = {}
        exec(compile(ast.Module(before, []), "walk", "exec"), namespace)
        calls.clear()
        walk = compile(ast.Module([last], []), "walk", "exec")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(device_threads, "thread_init", partial(_noted_thread, note))
            sys.setprofile(note)
            try:
                exec(walk, namespace)
            finally:
                sys.setprofile(None)
    return calls


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
    calls = _calls_of_the_last_statement(program)
    missing = _first_missing(steps, calls)
    trace = "\n".join(f"{name}  {module}" for name, module in calls)
    assert missing is None, f"{missing} is not called after the step before it, in:\n{trace}"


def test_the_comparison_finds_steps_in_the_wrong_order() -> None:
    calls = [("f", "a"), ("g", "b/c"), ("h", "a")]
    assert _first_missing([("f", "a"), ("g", "b"), ("h", "a")], calls) is None
    assert _first_missing([("g", "b"), ("f", "a")], calls) == ("f", "a")
    assert _first_missing([("g", "a")], calls) == ("g", "a")
