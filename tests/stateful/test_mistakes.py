"""Mistakes of users' operators are found by `check`, in few steps; gradcheck finds some of them.

What breaks it: a hole in the grid or in the random programs, and a table in the documentation that
says something else.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

import vtgrad as vt
from tests.stateful.mistakes import MISTAKES, Mistake
from vtgrad.autograd import gradcheck, gradgradcheck
from vtgrad.testing.checking import DivergenceError, Rule, check
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.modes import modes_kept

#: So small are the programs in which mistakes are shown, and so much processor time they take.
MOST_STEPS = 6
MOST_SECONDS = 10
#: So long is a report.
MOST_LINES = 40

by_mistake = pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.rule.name)


@pytest.mark.stateful
@by_mistake
def test_check_finds_the_mistake(mistake: Mistake) -> None:
    begin = time.process_time()
    with pytest.raises(DivergenceError) as found:
        check(mistake.rule, programs=200)
    assert time.process_time() - begin < MOST_SECONDS
    assert mistake.shows in found.value.what, str(found.value)
    assert len(found.value.steps) <= MOST_STEPS, str(found.value)
    lines = str(found.value).splitlines()
    assert lines[0].startswith(f"{mistake.rule.name}: ")
    assert "it differs" not in lines[0]
    assert len(lines) <= MOST_LINES
    assert "import torch" not in str(found.value)
    assert "import torch" in found.value.report()


def found_by(mistake: Mistake) -> str:
    """Which of the checks of single calls fails first."""
    rule = mistake.rule
    call = cast("Callable[..., vt.Tensor]", rule.call)
    vt.manual_seed(0)
    shapes = [(3, 4), (4,)] if rule.name == "mean_of_rows" else [(3, 4)] * rule.operands
    operands = [vt.randn(shape, dtype=vt.float64, requires_grad=True) for shape in shapes]

    def called(*operands: vt.Tensor) -> vt.Tensor:
        # In place on a copy: a leaf may not be written.
        return call(*([x.clone() for x in operands] if rule.result == "written" else operands))

    with modes_kept(vtgrad_library(vt)):
        return found_by_a_check(called, operands, rule)


def found_by_a_check(
    called: Callable[..., vt.Tensor], operands: list[vt.Tensor], rule: Rule
) -> str:
    try:
        if not gradcheck(called, operands, check_forward_ad=rule.has_jvp, raise_exception=False):
            return "gradcheck"
    except RuntimeError:
        return "gradcheck"
    if gradgradcheck(called, operands, raise_exception=False):
        return "neither"
    return "gradgradcheck"


@by_mistake
def test_which_check_of_single_calls_finds_the_mistake(mistake: Mistake) -> None:
    assert found_by(mistake) == mistake.found_by


def test_the_documentation_has_the_table() -> None:
    page = Path(__file__).parents[2] / "docs" / "testing.md"
    rows = [f"| {one.what} | {one.found_by} | {one.found_by_torch} |" for one in MISTAKES]
    assert len(rows) >= 20
    assert "\n".join(rows) in page.read_text("utf-8")
