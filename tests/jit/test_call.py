"""A call of a recording: guards, what changes, and what does not if a guard fails."""

from __future__ import annotations

import gc
import os
import re
import threading
import weakref
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from tests.jit.hand_made import double_tensor, recorded_update
from tests.support import needs_global_lock
from vtgrad.graph.hooks import graph_lock
from vtgrad.jit.call import Replay
from vtgrad.jit.entry import Mismatch


def tensors() -> tuple[vt.Tensor, vt.Tensor, vt.Tensor]:
    w = double_tensor(10, 20, 30).requires_grad_()
    return double_tensor(1, 2, 3), double_tensor(4, 5, 6), w


def replay(call: Replay, *leaves: object) -> object:
    """Run and commit, as the functions of the API do."""
    turn = call.begin()
    assert turn is not None
    try:
        computed = call.run(leaves)
        if isinstance(computed, Mismatch):
            return computed
        if not call.commit(computed, leaves):
            return Mismatch("changed by others")
        return call.result(computed, leaves)
    finally:
        call.end()


def gradient_of(w: vt.Tensor) -> list[float]:
    assert w.grad is not None
    values: list[float] = w.grad.numpy().tolist()
    return values


def state(*given: vt.Tensor) -> list[object]:
    """Bytes, versions, writers and gradients."""
    return [
        (x.detach().numpy().tobytes(), x._version, x.writes(), id(x.grad), x.requires_grad)
        for x in given
    ]


def test_a_replay_changes_memory_versions_writers_and_gradients_once() -> None:
    x, y, w = tensors()
    call, _ = recorded_update(x, y, w)
    total = replay(call, x, y)
    assert isinstance(total, vt.Tensor)
    assert total.item() == 21.0
    np.testing.assert_array_equal(y.numpy(), [5.0, 7.0, 9.0])
    assert (x._version, y._version, w._version) == (0, 3, 0)
    (write,) = y.writes()
    assert write.version == 3
    assert write.operator == "replay of update, line 12"
    assert write.filename == __file__
    assert w.grad is not None
    np.testing.assert_array_equal(w.grad.numpy(), [50.0, 140.0, 270.0])


def test_results_are_new_in_each_call() -> None:
    x, y, w = tensors()
    call, _ = recorded_update(x, y, w)
    first = replay(call, x, y)
    before = w.grad
    w.grad = None
    second = replay(call, x, y)
    assert isinstance(first, vt.Tensor)
    assert isinstance(second, vt.Tensor)
    assert (first.item(), second.item()) == (21.0, 27.0)
    assert before is not None
    np.testing.assert_array_equal(before.numpy(), [50.0, 140.0, 270.0])


def test_values_of_outside_tensors_are_those_of_the_call() -> None:
    x, y, w = tensors()
    call, _ = recorded_update(x, y, w)
    with vt.no_grad():
        w.mul_(2)
    replay(call, x, y)
    assert w.grad is not None
    np.testing.assert_array_equal(w.grad.numpy(), [100.0, 280.0, 540.0])


def give_grad(x: vt.Tensor, y: vt.Tensor, w: vt.Tensor) -> tuple[object, ...]:
    w.grad = vt.ones(3, dtype=vt.float64)
    return x, y


def give_memory(x: vt.Tensor, y: vt.Tensor, w: vt.Tensor) -> tuple[object, ...]:
    w.data = w.detach().clone()
    return x, y


def give_shape(x: vt.Tensor, y: vt.Tensor, w: vt.Tensor) -> tuple[object, ...]:
    with vt.no_grad():
        w.data = vt.ones(4, dtype=vt.float64)
    return x, y


def hook(x: vt.Tensor, y: vt.Tensor, w: vt.Tensor) -> tuple[object, ...]:
    w.register_hook(lambda grad: grad)
    return x, y


GUARDS: list[tuple[Callable[[vt.Tensor, vt.Tensor, vt.Tensor], tuple[object, ...]], str]] = [
    (lambda x, y, w: (double_tensor(1, 2), y), r"argument 1 has shape \[2\], and had \[3\]"),
    (lambda x, y, w: (x.float(), y), "argument 1 is float32, and was float64"),
    (lambda x, y, w: (vt.ones(6).double()[::2], y), r"strides of \[16\] bytes, and had \[8\]"),
    (lambda x, y, w: (x.clone().requires_grad_(), y), "does require grad, and did not"),
    (lambda x, y, w: (x, y.numpy()), "argument 2 is of type ndarray, and was Tensor"),
    (lambda x, y, w: (x, 2), "argument 2 is of type int"),
    (lambda x, y, w: (x,), "there are 1 arguments, and were 2"),
    (lambda x, y, w: (y, y), "argument 2 is the same object as argument 1"),
    (lambda x, y, w: (x, w.detach()), "argument 2 shares memory with a tensor from outside"),
    (lambda x, y, w: (vt.from_numpy(y.numpy()), y), "argument 2 shares memory with argument 1"),
    (lambda x, y, w: (x.double() * -1e6, y), r"left the recording was True.*fit.py:14"),
    (lambda x, y, w: ((w * 2), y), "argument 1 is the result of recorded operators"),
    (lambda x, y, w: (x.rename("n"), y), "argument 1 has names"),
    (give_grad, r"a tensor from outside has a \.grad, and had none"),
    (give_memory, "was given other memory"),
    (give_shape, r"a tensor from outside has shape \[4\], and had \[3\]"),
    (hook, "a tensor from outside has hooks"),
]


@pytest.mark.parametrize(("change", "message"), GUARDS, ids=range(len(GUARDS)))
def test_a_guard_that_fails_has_changed_nothing(
    change: Callable[[vt.Tensor, vt.Tensor, vt.Tensor], tuple[object, ...]], message: str
) -> None:
    x, y, w = tensors()
    call, _ = recorded_update(x, y, w)
    replay(call, x, y)
    w.grad = None
    leaves = change(x, y, w)
    before = state(x, y, w)
    found = replay(call, *leaves)
    assert isinstance(found, Mismatch)
    assert re.search(message, str(found))
    assert state(x, y, w) == before


def test_a_read_only_target_is_refused() -> None:
    x, y, w = tensors()
    call, _ = recorded_update(x, y, w)
    array = np.ones(3)
    array.flags.writeable = False
    found = replay(call, x, vt.from_numpy(array))
    assert isinstance(found, Mismatch)
    assert "read-only" in found.reason


def test_modes_are_guarded() -> None:
    x, y, w = tensors()
    call, runner = recorded_update(x, y, w)
    with vt.no_grad():
        assert isinstance(replay(call, x, y), Mismatch)
    before = vt.get_default_dtype()
    try:
        vt.set_default_dtype(vt.float64)
        assert isinstance(replay(call, x, y), Mismatch)
    finally:
        vt.set_default_dtype(before)
    assert runner.runs == 0


def test_saved_values_that_a_replay_overwrites_are_stale_and_others_not() -> None:
    x, _, w = tensors()
    memory = vt.zeros(6, dtype=vt.float64)
    leaf = double_tensor(1, 1, 1).requires_grad_()
    call, _ = recorded_update(x, memory[:3], w)
    kept, lost = leaf * memory[3:], leaf * memory[:3]
    replay(call, x, memory[:3])
    kept.sum().backward()
    with pytest.raises(RuntimeError, match="replay of update, line 12"):
        lost.sum().backward()


def test_memory_that_others_change_meanwhile_is_not_overwritten() -> None:
    x, y, w = tensors()
    call, runner = recorded_update(x, y, w)
    runner.at_end = lambda: y.add_(100)
    found = replay(call, x, y)
    assert isinstance(found, Mismatch)
    np.testing.assert_array_equal(y.numpy(), [104.0, 105.0, 106.0])
    assert w.grad is None

    def fill() -> None:
        w.grad = vt.ones(3, dtype=vt.float64)

    runner.at_end = fill
    assert isinstance(replay(call, x, y), Mismatch)
    assert gradient_of(w) == [1.0, 1.0, 1.0]


def test_a_second_thread_and_a_call_within_find_it_taken() -> None:
    x, y, w = tensors()
    call, runner = recorded_update(x, y, w)
    seen: list[object] = []

    def other() -> None:
        seen.append(call.begin())

    def at_end() -> None:
        seen.append(call.begin())
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    runner.at_end = at_end
    replay(call, x, y)
    assert seen == [None, None]
    # And then it is free again.
    runner.at_end = None
    w.grad = None
    assert not isinstance(replay(call, x, y), Mismatch)


@needs_global_lock
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_frees_what_another_thread_had_taken() -> None:
    x, y, w = tensors()
    call, runner = recorded_update(x, y, w)
    taken, over = threading.Event(), threading.Event()

    def at_end() -> None:
        taken.set()
        over.wait(30)

    runner.at_end = at_end
    thread = threading.Thread(target=replay, args=(call, x, y))
    thread.start()
    assert taken.wait(30)
    assert call.begin() is None
    child = os.fork()
    if child == 0:
        runner.at_end = None
        free = call.begin() is not None
        os._exit(0 if free and not isinstance(replay(call, x, y), Mismatch) else 1)
    over.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@NEEDS_TRACE
def test_an_interrupt_leaves_all_or_nothing() -> None:
    outcomes: set[bool] = set()
    made: list[tuple[Replay, vt.Tensor, vt.Tensor]] = []

    def prepare() -> Callable[[], object]:
        x, y, w = tensors()
        call, _ = recorded_update(x, y, w)
        made[:] = [(call, y, w)]
        return partial(replay, call, x, y)

    def check(over: bool) -> None:
        ((call, y, w),) = made
        values = y.tolist()
        done = values == [5.0, 7.0, 9.0]
        assert done or values == [4.0, 5.0, 6.0]
        assert done or not over
        assert (w.grad is not None) is done
        if done:
            assert y._version == 3
            assert [write.operator for write in y.writes()] == ["replay of update, line 12"]
        outcomes.add(done)
        # It is free again in any case, and so are the locks.
        assert call.begin() is not None
        call.end()
        taken: list[bool] = []

        def take() -> None:
            taken.append(graph_lock.acquire(timeout=5))
            graph_lock.release()

        thread = threading.Thread(target=take)
        thread.start()
        thread.join()
        assert taken == [True]

    assert interrupted_everywhere(prepare, check) > 30
    assert outcomes == {True, False}


def test_a_thousand_calls_leave_no_objects() -> None:
    x, y, w = tensors()
    call, _ = recorded_update(x, y, w)

    def calls(count: int) -> None:
        for _ in range(count):
            w.grad = None
            replay(call, x, y)

    calls(10)
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        calls(1000)
        assert len(gc.get_objects()) - before < 20
    finally:
        gc.enable()


def test_a_call_does_not_keep_its_arguments() -> None:
    x, y, w = tensors()
    call, _ = recorded_update(x, y, w)
    replay(call, x, y)
    gone = weakref.ref(x)
    del x
    assert gone() is None
