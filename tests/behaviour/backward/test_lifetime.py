"""Graphs of any length are built, run and freed without recursion, cycles or the collector."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support import collector_off, differs_from_torch, grad_list, leaf, ramp, vt


class _Mark:
    """A hook that does nothing; it lives as long as the node that it is registered on."""

    def __call__(self, gradient: vt.Tensor) -> None:
        """Leave the gradient as it is."""


def _watch(x: vt.Tensor) -> weakref.ref[_Mark]:
    """Give a reference that dies with the node behind `x`."""
    mark = _Mark()
    x.register_hook(mark)
    return weakref.ref(mark)


@pytest.mark.parametrize("depth", [10_000])
def test_a_chain_longer_than_the_recursion_limit_is_differentiated(depth: int) -> None:
    assert depth > sys.getrecursionlimit()
    x = leaf(1)
    y = x
    for _ in range(depth):
        y = y + 1
    y.backward()
    assert grad_list(x) == [1]
    assert y.tolist() == [1 + depth]


@pytest.mark.slow
def test_a_chain_of_100_000_nodes_is_built_differentiated_and_freed() -> None:
    with collector_off():
        x = leaf(1)
        y = x + 1
        first = _watch(y)
        for _ in range(99_999):
            y = y + 1
        last = _watch(y)
        y.backward()
        assert grad_list(x) == [1]
        assert y.tolist() == [100_001]
        assert first() is not None
        del y
        assert last() is None
        assert first() is None


@pytest.mark.slow
def test_a_chain_of_100_000_nodes_that_never_ran_is_freed() -> None:
    with collector_off():
        y = leaf(1) * 1.0
        first = _watch(y)
        for _ in range(99_999):
            y = y * 1.0
        del y
        assert first() is None


@pytest.mark.slow
def test_a_chain_of_writes_in_place_is_differentiated_and_freed() -> None:
    with collector_off():
        x = leaf(4)
        b = x.clone()
        first = _watch(b)
        for _ in range(30_000):
            b[0:2].add_(1)
        b.sum().backward()
        assert grad_list(x) == [1, 1, 1, 1]
        assert b.tolist() == [30_001, 30_002, 3, 4]
        del b
        assert first() is None


GRAPHS: dict[str, Callable[[vt.Tensor], vt.Tensor]] = {
    "arithmetic": lambda x: (x * x + x / 2).sum(),
    "saved output": lambda x: x.exp(),
    "saved output, in place": lambda x: x.clone().exp_(),
    "saved copy of the input": lambda x: x.clone().sin_(),
    "view": lambda x: x.clone()[1:],
    "written view": lambda x: x.clone()[1:].mul_(2),
    "written base": lambda x: x.clone().mul_(x),
    "pieces": lambda x: x.clone().split(1)[0] * 2,
    "several outputs": lambda x: x.max(0)[0],
    "retained": lambda x: _retained(x),
    "hooked": lambda x: _hooked(x),
    "stale view that was read": lambda x: _stale(x),
    "gradient with a graph": lambda x: vt.autograd.grad((x * x).sum(), x, create_graph=True)[0],
    "prod": lambda x: x.prod(),
    "logsumexp": lambda x: x.logsumexp(0),
    "assignment": lambda x: _assigned(x),
    "read by a list": lambda x: x[[0, 2]],
    "read by lists and slices": lambda x: x[None][..., [0, 2]],
    "read by a mask": lambda x: x[x > 1],
    "written by a mask": lambda x: _masked(x),
}


def _retained(x: vt.Tensor) -> vt.Tensor:
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    return y


def _hooked(x: vt.Tensor) -> vt.Tensor:
    y = x.exp()
    y.register_hook(lambda gradient: gradient * 2)
    return y


def _stale(x: vt.Tensor) -> vt.Tensor:
    b = x.clone()
    v = b[1:]
    b.mul_(2)
    assert v.grad_fn is not None
    return v


def _assigned(x: vt.Tensor) -> vt.Tensor:
    b = vt.zeros(3, dtype=vt.float64)
    for i in range(3):
        b[i] = x[i] * 2
    b[[0, 1]] = x[:2]
    return b


def _masked(x: vt.Tensor) -> vt.Tensor:
    b = x.clone()
    b[b.detach() > 1] = x[0]
    return b


@pytest.mark.slow
@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_dropping_the_last_name_frees_the_graph_at_once(
    make: Callable[[vt.Tensor], vt.Tensor],
) -> None:
    with collector_off():
        x = leaf(3)
        y = make(x)
        node = _watch(y)
        assert node() is not None
        del y
        assert node() is None


@pytest.mark.slow
@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_nothing_is_left_to_the_collector_after_backward(
    make: Callable[[vt.Tensor], vt.Tensor],
) -> None:
    x = leaf(3)
    make(x).sum().backward()  # whatever is made once per process is made here
    with collector_off():
        for _ in range(3):
            make(x).sum().backward()
            x.grad = None
        left = _collected()
    assert left == []


def _collected() -> list[object]:
    """Give what of the library only the collector could free; others' threads may litter too."""
    flags = gc.get_debug()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return [o for o in gc.garbage if _is_of_the_library(o)]
    finally:
        gc.set_debug(flags)
        gc.garbage.clear()


def _is_of_the_library(o: object) -> bool:
    """Tell whether an object's class, or a function itself, is defined in vtgrad."""
    modules = (type(o).__module__, str(getattr(o, "__module__", "")))
    return any(name.partition(".")[0] == "vtgrad" for name in modules)


def test_notes_on_nodes_and_hooks_of_leaves_die_with_them() -> None:
    with collector_off():
        marks = [_Mark() for _ in range(4)]
        alive = [weakref.ref(mark) for mark in marks]
        x = leaf(3)
        y = x * 2
        assert y.grad_fn is not None
        y.grad_fn.metadata["mark"] = marks[0]
        y.grad_fn.register_prehook(lambda grads, mark=marks[1]: None)  # type: ignore[misc]  # it is only kept
        x.register_hook(marks[2])
        x.register_post_accumulate_grad_hook(lambda t, mark=marks[3]: None)  # type: ignore[misc]  # the same
        y.sum().backward()
        del marks, y
        assert [mark() is None for mark in alive] == [True, True, False, False]
        del x
        assert [mark() is None for mark in alive] == [True] * 4


def test_a_failed_backward_leaves_nothing_to_the_collector() -> None:
    def fail() -> None:
        x = leaf(3)
        m = x.clone()
        y = (m * m).sum()
        m.zero_()
        try:
            y.backward()
        except RuntimeError:
            return
        pytest.fail("the stale value was not noticed")

    fail()
    with collector_off():
        fail()
        left = _collected()
    assert left == []


REFUSED: dict[str, Callable[[Any], object]] = {
    "reshape to another size": lambda x: x.reshape(5),
    "reshape to no integer": lambda x: x.reshape([[1], [2]]),
    "reshape of columns": lambda x: x.t().reshape(5),
    "view": lambda x: x.view(5),
    "flatten": lambda x: x.flatten(7),
    "expand": lambda x: x.expand(5, 5),
    "permute": lambda x: x.permute(0, 0),
    "transpose": lambda x: x.transpose(0, 7),
    "index": lambda x: x[9],
    "product": lambda x: x @ x,
    "sum of shapes": lambda x: x + vt.ones(7),
    "sum with a list": lambda x: x + [1],
    "reduction": lambda x: x.sum(7),
    "in place": lambda x: x.detach().add_(vt.ones(7)),
    "of a leaf": lambda x: x.add_(1),
    "joined": lambda x: vt.cat([x, vt.ones(7)]),
    "assigned": lambda x: x.detach().__setitem__(9, 1),
}


@differs_from_torch("there errors are not Python's")
@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_a_refused_call_leaves_nothing_to_the_collector(call: Callable[[Any], object]) -> None:
    def fail() -> weakref.ref[vt.Tensor]:
        x = leaf(2, 3)
        with pytest.raises((RuntimeError, IndexError, TypeError, ValueError)):
            call(x)
        return weakref.ref(x)

    fail()
    with collector_off():
        assert fail()() is None


def test_detaching_in_place_frees_the_graph_of_a_value_that_was_read() -> None:
    with collector_off():
        x = leaf(3)
        first = x * 2
        mark = _watch(first)
        state = first.exp()
        del first
        assert (state + 1).requires_grad
        assert mark() is not None
        state.detach_()
        assert mark() is None


def test_backward_frees_the_saved_values_though_the_root_lives_on() -> None:
    with collector_off():
        memory = np.ones(3)
        alive = weakref.ref(memory)
        x = leaf(3)
        y = (x * vt.from_numpy(memory)).sum()
        del memory
        assert alive() is not None
        y.backward()
        assert alive() is None


def test_an_accumulator_does_not_keep_its_leaf_alive() -> None:
    with collector_off():
        x = leaf(3)
        alive = weakref.ref(x)
        y = x.sum()  # nothing saved but the shape
        del y, x
        assert alive() is None


def test_a_view_keeps_its_base_alive_and_a_base_does_not_keep_its_views() -> None:
    with collector_off():
        b = ramp(3)
        v = b[1:]
        base, view = weakref.ref(b), weakref.ref(v)
        del b
        assert v._base is base()
        assert base() is not None
        del v
        assert view() is None
        assert base() is None


@differs_from_torch("there two views of one buffer cost a base-sized array each")
def test_the_gradient_of_many_rows_is_linear_work() -> None:
    # 4,000 rows of 8: base-sized work per row would be 4,000 * 4,000 * 8 additions and more
    # than a gigabyte of traffic; this passes in well under a second.
    x = leaf(4_000, 8)
    total = vt.zeros((), dtype=vt.float64)
    for i in range(4_000):
        total = total + x[i].sum()
    total.backward()
    assert x.grad is not None
    assert float(x.grad.sum()) == 32_000
