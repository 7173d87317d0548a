"""After an interrupt names are in force again, and no tensor has names that do not fit it.

What breaks it: a key that is excluded before ``try``, or names that are stored before the geometry.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from vtgrad.storage.key_set import NAMED
from vtgrad.storage.thread_mode import thread

Call = Callable[[], object]
Case = Callable[[], tuple[Call, list[vt.Tensor]]]


class Twice(vt.autograd.Function):
    @staticmethod
    def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: vt.autograd.function.FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
        return grad * 2


def named() -> vt.Tensor:
    return vt.ones(2, 3, names=("N", "C"))


def an_operator() -> tuple[Call, list[vt.Tensor]]:
    x = named()
    return lambda: x + x, [x]


def a_reduction_by_name() -> tuple[Call, list[vt.Tensor]]:
    x = named()
    return lambda: x.sum("N"), [x]


def a_write_that_names_its_target() -> tuple[Call, list[vt.Tensor]]:
    x, y = vt.zeros(2, 3), named()
    return lambda: x.add_(y), [x, y]


def other_data() -> tuple[Call, list[vt.Tensor]]:
    x, y = named(), vt.ones(4, names=("Z",))

    def assign() -> None:
        x.data = y

    return assign, [x, y]


def an_alignment() -> tuple[Call, list[vt.Tensor]]:
    x = named()
    return lambda: x.align_to("C", "Z", "N"), [x]


def a_flattening() -> tuple[Call, list[vt.Tensor]]:
    x = named()
    return lambda: x.flatten(["N", "C"], "F"), [x]


def a_renaming() -> tuple[Call, list[vt.Tensor]]:
    x = named()
    return lambda: x.rename_("A", "B"), [x]


def a_backward_of_a_function() -> tuple[Call, list[vt.Tensor]]:
    x = named().requires_grad_()
    y = Twice.apply(x).sum()
    return y.backward, [x]


def a_recorded_backward() -> tuple[Call, list[vt.Tensor]]:
    x = named().requires_grad_()
    y = (x * x).sum()
    return lambda: vt.autograd.grad(y, x, create_graph=True), [x]


CASES: list[Case] = [
    an_operator,
    a_reduction_by_name,
    a_write_that_names_its_target,
    other_data,
    an_alignment,
    a_flattening,
    a_renaming,
    a_backward_of_a_function,
    a_recorded_backward,
]
# The calls with the most places where an interrupt can come.
LONG = (a_backward_of_a_function, a_recorded_backward)


@NEEDS_TRACE
@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=pytest.mark.slow) if c in LONG else c for c in CASES]
)
def test_names_are_in_force_after_an_interrupt(case: Case) -> None:
    tensors: list[vt.Tensor] = []

    def prepare() -> Call:
        call, tensors[:] = case()
        return call

    def look(over: bool) -> None:
        assert not thread.excluded_keys & NAMED
        for x in tensors:
            assert len(x._impl.names) == x.ndim

    places = interrupted_everywhere(prepare, look)
    assert places > 3
