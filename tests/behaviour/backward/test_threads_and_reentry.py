"""Backward inside backward, and backward from several threads at once."""

from __future__ import annotations

import sys
import threading
import time
import warnings
from collections.abc import Callable

import pytest

from tests.support import differs_from_torch, grad_list, leaf, needs_global_lock, ramp, recorded, vt


def _in_threads(count: int, rounds: int, work: Callable[[int, int], None]) -> None:
    """Run ``work(thread, round)`` in several threads that begin each round together.

    Every Python call is made an occasion to be overtaken by another thread, so that an update
    that can be lost is lost in practice.
    """
    errors: list[BaseException] = []
    together = threading.Barrier(count)

    def let_others_run(frame: object, event: str, argument: object) -> None:
        if event == "call":
            time.sleep(0)

    def run(number: int) -> None:
        try:
            for turn in range(rounds):
                together.wait(30)
                sys.setprofile(let_others_run)
                try:
                    work(number, turn)
                finally:
                    sys.setprofile(None)
        except BaseException as error:
            errors.append(error)
            together.abort()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@needs_global_lock
def test_gradients_of_several_threads_into_one_leaf_are_all_counted() -> None:
    x = leaf(2)
    _in_threads(4, 40, lambda thread, turn: (x * 3).sum().backward())
    assert grad_list(x) == [480, 480]


@pytest.mark.slow
def test_the_first_gradient_is_not_lost_when_threads_race_for_it() -> None:
    leaves = [leaf(2) for _ in range(40)]
    _in_threads(4, 40, lambda thread, turn: (leaves[turn] * 2).sum().backward())
    assert [grad_list(x) for x in leaves] == [[8, 8]] * 40


@pytest.mark.slow
def test_gradients_with_a_graph_of_several_threads_are_all_counted() -> None:
    x = leaf(2)

    def work(thread: int, turn: int) -> None:
        (x * x).sum().backward(create_graph=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # create_graph warns of the cycle it makes
        _in_threads(3, 20, work)
    assert grad_list(x) == [120, 240]
    x.grad = None  # breaks that cycle


@pytest.mark.slow
def test_threads_with_leaves_of_their_own_do_not_disturb_each_other() -> None:
    leaves = [leaf(3) for _ in range(4)]

    def work(thread: int, turn: int) -> None:
        b = leaves[thread].clone()
        b[0:2].mul_(thread + 1)
        b.sum().backward()

    _in_threads(4, 20, work)
    for thread, x in enumerate(leaves):
        assert grad_list(x) == [20 * (thread + 1), 20 * (thread + 1), 20]


@needs_global_lock
@differs_from_torch("there a retained gradient may lose what two threads add at once")
def test_threads_may_run_one_graph_that_is_retained() -> None:
    x = leaf(2)
    middle = x * x
    middle.retain_grad()
    y = middle.sum()
    _in_threads(3, 20, lambda thread, turn: y.backward(retain_graph=True))
    assert grad_list(x) == [120, 240]
    assert grad_list(middle) == [60, 60]


@needs_global_lock
def test_threads_may_rebuild_one_stale_view() -> None:
    a = leaf(3)
    b = a.clone()
    v = b[1:]
    w = ramp(2)

    def work(thread: int, turn: int) -> None:
        if thread == 0:
            with vt.no_grad():
                b.mul_(1)  # moves the version, and with it the view's producer
        (found,) = vt.autograd.grad((v * w).sum(), a)
        assert found.tolist() == [0, 1, 2]

    _in_threads(3, 20, work)


@pytest.mark.slow
def test_hooks_of_a_shared_leaf_see_every_gradient_of_every_thread() -> None:
    log: list[object] = []
    x = leaf(1)
    x.register_hook(recorded(log, "x"))
    _in_threads(3, 20, lambda thread, turn: (x * (thread + 1)).sum().backward())
    assert sorted(str(entry) for entry in log) == sorted(
        str(("x", [float(thread + 1)])) for thread in range(3) for _ in range(20)
    )
    assert grad_list(x) == [120]


@needs_global_lock
def test_an_error_in_one_thread_leaves_the_others_alone() -> None:
    good, bad = leaf(2), leaf(2)

    def fail(_: vt.Tensor) -> None:
        raise KeyError("this thread only")

    bad.register_hook(fail)

    def work(thread: int, turn: int) -> None:
        if thread == 0:
            with pytest.raises(KeyError):
                (bad * 2).sum().backward()
        else:
            (good * 2).sum().backward()

    _in_threads(3, 20, work)
    assert grad_list(good) == [80, 80]
    assert bad.grad is None


def test_a_hook_may_run_backward_on_another_graph() -> None:
    x, z = leaf(2), leaf(2)
    y = x * 2

    def inner(_: vt.Tensor) -> None:
        with vt.enable_grad():
            (z * z).sum().backward()

    y.register_hook(inner)
    y.sum().backward()
    assert grad_list(x) == [2, 2]
    assert grad_list(z) == [2, 4]


def test_a_hook_may_run_backward_into_the_leaf_that_the_outer_one_reaches() -> None:
    x = leaf(2)
    y = x * 2

    def inner(_: vt.Tensor) -> None:
        with vt.enable_grad():
            (x * 10).sum().backward()

    y.register_hook(inner)
    y.sum().backward()
    assert grad_list(x) == [12, 12]


def test_the_inner_backward_is_over_before_the_outer_goes_on() -> None:
    log: list[object] = []
    x, z = leaf(2), leaf(2)
    z.register_hook(recorded(log, "inner"))
    x.register_hook(recorded(log, "outer"))
    y = x * 2

    def inner(_: vt.Tensor) -> None:
        with vt.enable_grad():
            (z * 5).sum().backward()

    y.register_hook(inner)
    y.backward(ramp(2))
    assert log == [("inner", [5, 5]), ("outer", [2, 4])]


def test_backward_inside_backward_goes_hundreds_deep() -> None:
    depth = 300
    leaves = [leaf(1) for _ in range(depth)]

    def chain(level: int) -> None:
        y = leaves[level] * 2
        if level + 1 < depth:

            def deeper(_: vt.Tensor) -> None:
                with vt.enable_grad():
                    chain(level + 1)

            y.register_hook(deeper)
        y.backward()

    chain(0)
    assert [grad_list(x) for x in leaves] == [[2]] * depth


def test_the_error_of_an_inner_backward_reaches_the_outer_caller() -> None:
    x, z = leaf(2), leaf(2)
    m = z.clone()
    bad = (m * m).sum()
    m.zero_()
    y = x * 2

    def inner(_: vt.Tensor) -> None:
        bad.backward()

    y.register_hook(inner)
    with pytest.raises(RuntimeError):
        y.sum().backward()
    assert z.grad is None
    (x * 3).sum().backward()
    assert grad_list(x) == [3, 3]


def test_grad_inside_a_hook_does_not_touch_what_the_outer_pass_collects() -> None:
    found: list[object] = []
    x = leaf(2)
    y = x * 2

    def inner(gradient: vt.Tensor) -> vt.Tensor:
        with vt.enable_grad():
            found.append(vt.autograd.grad((x * x).sum(), x)[0].tolist())
        return gradient * 3

    y.register_hook(inner)
    y.sum().backward()
    assert found == [[2, 4]]
    assert grad_list(x) == [6, 6]


def test_backward_inside_backward_goes_deeper_than_the_recursion_limit() -> None:
    depth = 2_000
    x = leaf(1)

    def chain(level: int) -> None:
        y = x * 2
        if level < depth:

            def deeper(_: vt.Tensor) -> None:
                with vt.enable_grad():
                    chain(level + 1)

            y.register_hook(deeper)
        y.backward()

    chain(1)
    assert grad_list(x) == [2 * depth]
