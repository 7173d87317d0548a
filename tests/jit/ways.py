"""The ways in which programs run: by the table, and by the executor in C, if there is one."""

from __future__ import annotations

from typing import Final

import pytest

from tests.loops_in_c import IN_C
from vtgrad.jit.normal_form import in_normal_form
from vtgrad.jit.passes import improve
from vtgrad.jit.runner import Runner
from vtgrad.jit.steps import Program

__all__ = ["WAYS", "both_ways", "prepared"]

WAYS: Final = ["table"] if IN_C is None else ["table", "C"]
both_ways: Final = pytest.mark.parametrize("way", WAYS)


def prepared(program: Program, way: str) -> Runner:
    """What `prepare` returns, with the executor that is tested."""
    executor = None if way == "table" or IN_C is None else IN_C.Executor
    return Runner(improve(in_normal_form(program)), executor)
