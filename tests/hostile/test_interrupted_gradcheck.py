"""An interrupted `gradcheck` leaves its inputs as they were.

What breaks it: an input that is changed before ``try``, or brought back by a call.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from vtgrad.autograd.gradcheck.numerical import along_direction, numerical_jacobians
from vtgrad.autograd.gradcheck.subject import Subject

pytestmark = pytest.mark.slow


def one_by_one(subject: Subject) -> object:
    """Move one element after another."""
    return numerical_jacobians(subject, 0, [(1,)], 1e-6)


def together(subject: Subject) -> object:
    """Move all elements."""
    return along_direction(subject, 0, np.ones(1, complex), [(1,)], 1e-6)


@NEEDS_TRACE
@pytest.mark.parametrize("differences", [one_by_one, together])
def test_inputs_move_back(differences: Callable[[Subject], object]) -> None:
    x = vt.tensor([1.0], dtype=vt.complex128)
    moved = []

    def function(y: vt.Tensor) -> vt.Tensor:
        moved.append(y.tolist() != [1])
        return y

    subject = Subject(function, (x,), (x,), ("input 0",))

    def check(over: bool) -> None:
        assert x.tolist() == [1]
        assert x._version == 0

    assert interrupted_everywhere(lambda: lambda: differences(subject), check) > 50
    assert all(moved)
