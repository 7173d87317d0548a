"""Which mistakes of users' operators PyTorch's own checks of single calls find.

What breaks it: a column of the table in ``docs/testing.md`` that says something else.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import vtgrad
from tests.stateful.mistakes import MISTAKES, Mistake, Product, Square
from vtgrad.testing.checking import Rule
from vtgrad.testing.definitions import define, for_torch
from vtgrad.testing.libraries import torch_library
from vtgrad.testing.modes import modes_kept

# PyTorch compiles a formula of its own when it first makes a dual.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")

RIGHT = [
    Rule("square", Square.apply, np.square, is_function=True, has_jvp=True),
    Rule("product", Product.apply, np.multiply, operands=2, is_function=True),
]


def twin(rule: Rule) -> Callable[..., torch.Tensor]:
    """Define the same operator on PyTorch, with the same text."""
    lines = define({rule.name: rule.call}, {"vt": vtgrad, "np": np})
    text = "\n\n".join(["from __future__ import annotations", *map(for_torch, lines)])
    names: dict[str, Any] = {"vt": torch, "np": np}
    exec(compile(text, "<twin>", "exec"), names)
    found: Callable[..., torch.Tensor] = names[rule.name]
    return found


def found_by(rule: Rule) -> str:
    """Which of PyTorch's checks fails first, on random matrices."""
    call = twin(rule)
    torch.manual_seed(0)
    shapes = [(3, 4), (4,)] if rule.name == "mean_of_rows" else [(3, 4)] * rule.operands
    operands = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]

    def called(*operands: torch.Tensor) -> torch.Tensor:
        # In place on a copy: a leaf may not be written.
        return call(*([x.clone() for x in operands] if rule.result == "written" else operands))

    with modes_kept(torch_library(torch)):
        return found_by_a_check(called, operands, rule)


def found_by_a_check(
    called: Callable[..., torch.Tensor], operands: list[torch.Tensor], rule: Rule
) -> str:
    once, twice = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    try:
        if not once(called, operands, check_forward_ad=rule.has_jvp, raise_exception=False):
            return "gradcheck"
    except RuntimeError:
        return "gradcheck"
    try:
        found = twice(called, operands, raise_exception=False)
    except (RuntimeError, TypeError):
        found = False
    return "neither" if found else "gradgradcheck"


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.rule.name)
def test_which_check_of_pytorch_finds_the_mistake(mistake: Mistake) -> None:
    assert found_by(mistake.rule) == mistake.found_by_torch


@pytest.mark.parametrize("rule", RIGHT, ids=lambda rule: rule.name)
def test_no_check_of_pytorch_refuses_what_the_mistakes_are_made_of(rule: Rule) -> None:
    assert found_by(rule) == "neither"
