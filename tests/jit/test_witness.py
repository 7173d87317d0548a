"""A recording while other threads run: what each has changed stays, or goes, by who did it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.support import needs_global_lock
from vtgrad.errors import RecordingError
from vtgrad.jit import witness, world
from vtgrad.jit.record import record

pytestmark = pytest.mark.skipif(vt.__compiled__, reason="native code is not seen by a recording")


def doubles(*values: float) -> vt.Tensor:
    return vt.tensor(values, dtype=vt.float64)


@contextmanager
def repeated(call: Callable[[], object]) -> Iterator[list[int]]:
    """Call a function on another thread, again and again; yields the number of calls at the end."""
    stop, begun, count = threading.Event(), threading.Event(), [0]

    def run() -> None:
        while not stop.is_set():
            call()
            count[0] += 1
            begun.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert begun.wait(30)
        yield count
    finally:
        stop.set()
        thread.join()


@contextmanager
def idle_thread() -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def elsewhere(call: Callable[[], object]) -> None:
    """Call a function once, on another thread."""
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


@needs_global_lock
def test_no_write_of_another_thread_is_missed() -> None:
    others, w, x = vt.zeros(3), doubles(1.0, 2.0), doubles(3.0, 4.0)

    def program(x: vt.Tensor) -> vt.Tensor:
        for _ in range(20):
            w.add_(x)
        x[0] = 0
        return w * x

    with repeated(lambda: others.add_(1)) as count:
        for _ in range(10):
            made = record(program, (x,))
            assert sorted(change.by for change in made.versions) == [1, 20]
    assert others._version == count[0] == others[0].item()
    assert (w._version, w.tolist(), x._version, x.tolist()) == (0, [1.0, 2.0], 0, [3.0, 4.0])
    assert all(write.operator == "add_" for write in others.writes())
    assert type(others._impl.version_counter.writes) is list  # type: ignore[union-attr]  # it has one


@needs_global_lock
def test_a_saved_value_that_another_thread_overwrites_is_stale() -> None:
    w = vt.ones(3, requires_grad=True)
    saved = w * 1
    square = saved * saved

    def program(x: vt.Tensor) -> vt.Tensor:
        elsewhere(saved.detach().zero_)
        return x * 2

    record(program, (doubles(1.0),))
    with pytest.raises(vt.errors.StaleSavedError):
        square.sum().backward()


class Training:
    """A loop that trains by momentum, with gradients that are added to and made anew in turn."""

    def __init__(self) -> None:
        self.w = vt.ones(4, 3, dtype=vt.float64).requires_grad_()
        self.momentum = vt.zeros(4, 3, dtype=vt.float64)
        self.x = vt.tensor(np.random.default_rng(0).normal(size=(5, 4)))
        self.steps = 0

    def step(self) -> None:
        w, momentum = self.w, self.momentum
        if self.steps % 3 == 0:
            w.grad = None
        ((self.x @ w) ** 2).sum().backward()
        assert w.grad is not None
        with vt.no_grad():
            w.sub_(momentum.mul_(0.9).add_(w.grad, alpha=1e-4))
        self.steps += 1


@needs_global_lock
def test_another_thread_trains_meanwhile() -> None:
    training, own = Training(), Training()

    def program(x: vt.Tensor) -> vt.Tensor:
        own.steps = 3
        own.step()
        return x * own.w.detach().sum()

    own.step()
    before, grad = own.w.detach().clone(), own.w.grad
    with repeated(training.step):
        for _ in range(5):
            record(program, (doubles(1.0),))
    expected = Training()
    for _ in range(training.steps):
        expected.step()
    assert training.w.equal(expected.w)
    assert training.w._version == expected.w._version
    assert training.w.grad is not None
    assert expected.w.grad is not None
    assert training.w.grad.equal(expected.w.grad)
    assert own.w.equal(before)
    assert own.w.grad is grad


@needs_global_lock
@pytest.mark.parametrize("writes", [True, False])
def test_a_tensor_of_the_program_that_another_thread_writes_is_refused(writes: bool) -> None:
    w = doubles(1.0, 2.0)

    def program(x: vt.Tensor) -> vt.Tensor:
        if writes:
            w.mul_(x)
        elsewhere(lambda: w.add_(1))
        return w * x

    with idle_thread():
        with pytest.raises(RecordingError, match=r"another thread changed .* add_ at") as caught:
            record(program, (doubles(3.0, 4.0),))
    assert caught.value.reason == "another thread"
    assert w._version > 0


@needs_global_lock
def test_a_grad_of_the_program_that_another_thread_replaces_is_refused() -> None:
    w = doubles(1.0, 2.0).requires_grad_()
    others = doubles(5.0, 5.0)

    def replace() -> None:
        w.grad = others

    def program(x: vt.Tensor) -> vt.Tensor:
        (w * x).sum().backward()
        elsewhere(replace)
        return x * 2

    with idle_thread():
        with pytest.raises(RecordingError, match=r"another thread changed .*grad") as caught:
            record(program, (doubles(3.0, 4.0),))
    assert caught.value.reason == "another thread"
    assert w.grad is others


@needs_global_lock
def test_gradients_are_told_apart_where_no_memory_is_used() -> None:
    dropped, given = doubles(1.0).requires_grad_(), doubles(1.0).requires_grad_()
    first, new = doubles(2.0), doubles(3.0)
    dropped.grad = first

    def give() -> None:
        given.grad = new

    def program(x: vt.Tensor) -> vt.Tensor:
        dropped.grad = None
        elsewhere(give)
        return x * 2

    with idle_thread():
        made = record(program, (doubles(1.0),))
    assert [(change.holder, change.number) for change in made.grads] == [(dropped._impl, None)]
    assert dropped.grad is first
    assert given.grad is new


@needs_global_lock
def test_requires_grad_is_told_apart() -> None:
    own, others = doubles(1.0), doubles(1.0)

    def program(x: vt.Tensor, writes: bool) -> vt.Tensor:
        if writes:
            own.requires_grad_()
        elsewhere(others.requires_grad_)
        return x * 2

    with idle_thread():
        record(program, (doubles(1.0), False))
        assert others.requires_grad
        with pytest.raises(RecordingError) as caught:
            record(program, (doubles(1.0), True))
    assert caught.value.reason == "requires grad"
    assert not own.requires_grad


@needs_global_lock
def test_no_number_is_drawn_twice_on_another_thread() -> None:
    drawn: list[float] = []
    vt.manual_seed(3)
    expected = [vt.rand(1).item() for _ in range(40)]
    vt.manual_seed(3)

    def program(x: vt.Tensor) -> vt.Tensor:
        elsewhere(lambda: drawn.append(vt.rand(1).item()))
        return x * vt.rand(1)

    with idle_thread():
        record(program, (doubles(1.0),))
    drawn.append(vt.rand(1).item())
    assert len(drawn) > 2
    assert drawn == expected[: len(drawn)]


@pytest.mark.parametrize("of_program", [True, pytest.param(False, marks=needs_global_lock)])
def test_seeds_are_told_apart(of_program: bool) -> None:
    vt.manual_seed(3)
    vt.rand(1)
    before = vt.get_rng_state()

    def program(x: vt.Tensor) -> vt.Tensor:
        if of_program:
            vt.manual_seed(5)
        else:
            elsewhere(lambda: vt.manual_seed(5))
        return x * 2

    record(program, (doubles(1.0),))
    assert vt.get_rng_state().equal(before) == of_program
    assert vt.initial_seed() == (3 if of_program else 5)


def test_a_refused_change_of_geometry_is_put_back() -> None:
    x, w = doubles(1.0, 2.0), doubles(3.0, 4.0)
    array, counter = w._impl.array, w._impl.counter

    def program(x: vt.Tensor) -> vt.Tensor:
        w.set_(x)
        return x * 2

    with pytest.raises(RecordingError) as caught:
        record(program, (x,))
    assert caught.value.reason == "geometry"
    assert w._impl.array is array
    assert w._impl.counter is counter
    assert w.untyped_storage().data_ptr() == w.data_ptr() != x.data_ptr()


def test_graphs_from_before_are_as_they_were() -> None:
    w = doubles(1.0, 2.0).requires_grad_()
    y = (w * w).sum()

    def program(x: vt.Tensor) -> vt.Tensor:
        with vt.no_grad():
            w.add_(x)
        return x * 2

    with idle_thread():
        record(program, (doubles(3.0, 4.0),))
    y.backward()
    assert w.grad is not None
    assert w.grad.tolist() == [2.0, 4.0]


class Interrupt(BaseException):
    pass


def test_an_interrupt_at_any_line_leaves_everything_as_it_was() -> None:
    w = doubles(1.0, 2.0).requires_grad_()
    w.sum().backward()
    grad, x = w.grad, doubles(3.0, 4.0)
    vt.rand(1)
    state = vt.get_rng_state()
    left = [0]

    def program(x: vt.Tensor) -> vt.Tensor:
        x.mul_(vt.rand(1).double())
        (w * x).sum().backward()
        with vt.no_grad():
            w.add_(1)
        return x * 2

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename not in (witness.__file__, world.__file__):
            return trace if event == "call" else None
        if event == "line":
            left[0] -= 1
            if left[0] == 0:
                raise Interrupt
        return trace

    interrupted, at = True, 1
    with idle_thread():
        while interrupted:
            left[0] = at
            interrupted = False
            try:
                sys.settrace(trace)
                record(program, (x,))
            except Interrupt:
                interrupted = True
            finally:
                sys.settrace(None)
            assert w.grad is grad, at
            assert (w.tolist(), x.tolist()) == ([1.0, 2.0], [3.0, 4.0]), at
            assert vt.get_rng_state().equal(state), at
            assert type(w._impl.array) is np.ndarray, at
            at += 1 + at // 30
    assert at > 100
