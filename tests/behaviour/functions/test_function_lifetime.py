"""Graphs of custom Functions of any length are run and freed without recursion or the collector."""

from __future__ import annotations

import contextlib
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from tests.functions import Function, function, identity, once_differentiable, triple_
from tests.support import collector_off, differs_from_torch, grad_list, leaf, ramp, vt


class _Mark:
    """Lives as long as the context that it is stored on."""


def saving(what: str, marks: list[weakref.ref[_Mark]]) -> Callable[..., Any]:
    """Give a Function that saves a tensor of a certain kind, and notes when its context dies."""

    def forward(ctx: Any, x: vt.Tensor) -> Any:
        mark = ctx.mark = _Mark()
        marks.append(weakref.ref(mark))
        if what.startswith("dirty"):
            ctx.mark_dirty(x)
            y = x.mul_(2)
        elif what == "argument returned":
            y = x
        elif what.endswith("of the argument"):
            y = x.view(-1)
        else:
            y = x * 2
        between = y * 3
        saved = {
            "view of a result": y[0],
            "view of a value between": between[1:],
            "view of a view between": between[1:].view(-1)[0],
            "value between": between,
            "view of the argument": x.view(-1),
        }.get(what, x if "argument" in what else y)
        ctx.save_for_backward(saved)
        if what == "attribute":
            ctx.x = x
        return y

    def backward(ctx: Any, g: vt.Tensor) -> Any:
        (saved,) = ctx.saved_tensors
        return g * 2 + 0 * saved.sum()

    return function(forward, backward)


KINDS = [
    "argument",
    "result",
    "value between",
    "view of the argument",
    "argument returned",
    "dirty",
    "dirty view",
    "attribute",
]
# A reference cycle through C++ that PyTorch cannot see: it never frees these.
LEAKING = ["view of a result", "view of a value between", "view of a view between"]
PARAMETERS = [
    *KINDS,
    *[pytest.param(kind, marks=differs_from_torch("leaks there")) for kind in LEAKING],
]


def start(what: str) -> vt.Tensor:
    """Give what the Function is called with."""
    b = leaf(3) * 1
    return b[:] if what == "dirty view" else b


@pytest.mark.slow
@pytest.mark.parametrize("what", PARAMETERS)
def test_dropping_the_last_name_frees_context_and_saved_values(what: str) -> None:
    marks: list[weakref.ref[_Mark]] = []
    with collector_off():
        y = saving(what, marks)(start(what))
        assert marks[0]() is not None
        del y
        assert marks[0]() is None


@pytest.mark.slow
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("what", PARAMETERS)
def test_after_backward_too(what: str, create_graph: bool) -> None:
    marks: list[weakref.ref[_Mark]] = []
    with collector_off():
        b = start(what)
        y = saving(what, marks)(b)
        (found,) = vt.autograd.grad(y.sum(), y, create_graph=create_graph, retain_graph=True)
        y.sum().backward(retain_graph=True)
        del y, b, found
        assert marks[0]() is None


@pytest.mark.slow
@differs_from_torch("objects of this library are looked for")
@pytest.mark.parametrize("what", [*KINDS, *LEAKING])
def test_nothing_is_left_to_the_collector(what: str) -> None:
    marks: list[weakref.ref[_Mark]] = []
    apply = saving(what, marks)
    apply(start(what)).sum().backward()
    with collector_off():
        for _ in range(3):
            apply(start(what)).sum().backward()
        flags = gc.get_debug()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            gc.collect()
            left = [o for o in gc.garbage if type(o).__module__.startswith("vtgrad")]
        finally:
            gc.set_debug(flags)
            gc.garbage.clear()
    assert left == []


def test_a_failed_forward_keeps_nothing() -> None:
    marks: list[weakref.ref[_Mark]] = []

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        mark = ctx.mark = _Mark()
        marks.append(weakref.ref(mark))
        ctx.save_for_backward(x, x[0])
        raise KeyError

    with collector_off():
        with contextlib.suppress(KeyError):
            function(forward)(leaf(2))
        assert marks[0]() is None


def test_the_tensors_of_a_call_are_let_go_when_it_is_over() -> None:
    """Also what was marked: only what was saved stays, and of a saved tensor not the object."""

    def forward(ctx: Any, x: vt.Tensor, buffer: vt.Tensor) -> Any:
        ctx.mark_dirty(buffer)
        ctx.mark_non_differentiable(buffer)
        return x * 2, buffer.add_(1)

    with collector_off():
        buffer = ramp(2)
        watched = weakref.ref(buffer)
        y = function(forward, lambda ctx, g, h: (g * 2, None))(leaf(2), buffer)[0]
        del buffer
        assert watched() is None
        y.sum().backward()


class Shift(Function):
    """Add a number, and save and keep more than is needed."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        ctx.x = x
        return x + 1

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        return g * 1


class Keep(Function):
    """Save the result, whose backward is run without recording."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        y = x + 1
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        return g


@pytest.mark.slow
@pytest.mark.parametrize("apply", [Shift.apply, Keep.apply, identity], ids=str)
def test_a_chain_of_50_000_nodes_is_run_and_freed(apply: Callable[..., vt.Tensor]) -> None:
    with collector_off():
        x = leaf(1)
        first = y = x * 1
        for _ in range(50_000):
            y = apply(y)
        del first
        y.sum().backward()
        assert grad_list(x) == [1]
        del y


@pytest.mark.slow
@differs_from_torch("takes quadratic time there")
def test_a_chain_of_writes_through_views_is_run_and_freed() -> None:
    with collector_off():
        x = vt.zeros(4, dtype=vt.float64, requires_grad=True)
        b = x * 1
        for _ in range(20_000):
            triple_(b[1:3])
        b.sum().backward()
        del b
        assert x.grad is not None
        assert x.grad[0].item() == 1


@pytest.mark.slow
def test_a_chain_that_never_ran_is_freed() -> None:
    marks: list[weakref.ref[_Mark]] = []
    with collector_off():
        y = saving("attribute", marks)(leaf(3))
        for _ in range(50_000):
            y = Shift.apply(y)
        assert marks[0]() is not None
        del y
        assert marks[0]() is None


@pytest.mark.parametrize("kind", ["result", "view of a result", "dirty argument"])
def test_a_call_whose_values_cannot_be_packed_leaves_no_cycle(kind: str) -> None:
    def fail(tensor: vt.Tensor) -> vt.Tensor:
        raise OSError

    marks: list[weakref.ref[_Mark]] = []
    twice = saving(kind, marks)
    base = leaf(3) * 1
    view = base[1:]
    with collector_off():
        for written in (base.clone(), view):
            # `pytest.raises` would keep the frames.
            with (
                contextlib.suppress(OSError),
                vt.autograd.graph.saved_tensors_hooks(fail, lambda packed: packed),
            ):
                twice(written)
        del written, view, base
        assert [mark() for mark in marks] == [None, None]
