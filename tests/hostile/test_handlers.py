"""A signal handler may use the library at any time, in the midst of an operator or of a backward.

What breaks it: a context that is entered twice, a mode of the engine that the handler sees, a lock
that its own thread holds.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import numpy as np
import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere

pytestmark = pytest.mark.slow

interrupting = NEEDS_TRACE

Call = Callable[[], object]


class Used:
    """What a handler does, and what came of it."""

    def __init__(self) -> None:
        self.gradients: list[object] = []

    def __call__(self) -> None:
        x = vt.ones(2, requires_grad=True)
        y = (x * 3).clone()
        y[0] = 0
        y.add_(x)
        y.sum().backward()
        assert x.grad is not None
        self.gradients.append(x.grad.tolist())
        with vt.no_grad():
            z = vt.exp(x)
            z.mul_(2)
            z[0] = 1
            vt.equal(z, z)
            vt.rand(1)
        # Nothing is said of a division by zero, in the handler either.
        assert vt.ones(1).div(0.0).tolist() == [np.inf]


def leaf() -> vt.Tensor:
    return vt.ones(3, requires_grad=True)


def an_operator() -> Call:
    x = leaf()
    return lambda: x.pow(2.5)


def a_reduction() -> Call:
    x = leaf()
    return lambda: vt.logsumexp(x, 0)


def a_backward() -> Call:
    x = leaf()
    y = (x * x).pow(1.5).sum()
    return y.backward


def a_backward_that_adds() -> Call:
    x = leaf()
    x.grad = vt.ones(3)
    y = (x * x).sum()
    return y.backward


@interrupting
@pytest.mark.parametrize("prepare", [an_operator, a_reduction, a_backward, a_backward_that_adds])
def test_operators_and_backward_in_a_handler(prepare: Callable[[], Call]) -> None:
    used = Used()

    runs = 0

    def check(over: bool) -> None:
        nonlocal runs
        assert over
        assert vt.is_grad_enabled()
        runs += 1

    count = interrupted_everywhere(prepare, check, used)
    assert all(gradient == used.gradients[0] for gradient in used.gradients)
    # At each place, and once more where a call had other places than the one before.
    assert 10 < count <= len(used.gradients) < runs


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this platform")
def test_signals_at_random() -> None:
    used = Used()

    busy = False

    def handler(number: int, frame: FrameType | None) -> None:
        nonlocal busy
        # Within its own no_grad, nothing would be recorded.
        if not busy:
            busy = True
            used()
            busy = False

    x = vt.ones(20, requires_grad=True)
    before = signal.signal(signal.SIGALRM, handler)
    end = time.monotonic() + 1.5
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0011)
    try:
        while time.monotonic() < end:
            x.grad = None
            (x.pow(2.5).exp() * x).sum().backward()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(used.gradients) > 100
    assert all(gradient == used.gradients[0] for gradient in used.gradients)


def _target(*, grad: bool) -> vt.Tensor:
    x = vt.arange(1.0, 7.0).reshape(2, 3)
    return x * vt.ones(3, requires_grad=True) if grad else x


def a_ufunc_in_place(x: vt.Tensor) -> Call:
    return lambda: x.add_(10.0)


def an_operator_of_several_steps(x: vt.Tensor) -> Call:
    return lambda: x.sigmoid_()


def a_write_to_a_column(x: vt.Tensor) -> Call:
    column = x[:, 1]
    return lambda: column.cumsum_(0)


def an_assignment(x: vt.Tensor) -> Call:
    return lambda: x.__setitem__(0, vt.zeros(3))


def an_assignment_by_index(x: vt.Tensor) -> Call:
    index = vt.tensor([0, 2])
    return lambda: x.__setitem__((slice(None), index), -1.0)


def an_out(x: vt.Tensor) -> Call:
    row = x.detach()[1]
    return lambda: vt.add(vt.ones(3), 5.0, out=row)


def several_outs(x: vt.Tensor) -> Call:
    values, indices = x.detach()[1], vt.zeros(3, dtype=vt.int64)
    return lambda: vt.max(vt.ones(2, 3) * 7, 0, out=(values, indices))


def a_sum_into_grad(x: vt.Tensor) -> Call:
    leaf = vt.ones(2, 3, requires_grad=True)
    leaf.grad = x.detach()
    y = (leaf * 3).sum()
    return y.backward


@interrupting
@pytest.mark.slow
@pytest.mark.parametrize("saved_before", [False, True], ids=["first save", "saved before"])
@pytest.mark.parametrize("way", ["elements", "recorded", "storage", "rewind"])
@pytest.mark.parametrize("writes", [False, True], ids=["saves", "writes and saves"])
@pytest.mark.parametrize(
    "prepare",
    [
        a_ufunc_in_place,
        an_operator_of_several_steps,
        a_write_to_a_column,
        an_assignment,
        an_assignment_by_index,
        an_out,
        several_outs,
        a_sum_into_grad,
    ],
)
def test_what_a_handler_saves_in_a_write(
    prepare: Callable[[vt.Tensor], Call], writes: bool, way: str, saved_before: bool
) -> None:
    # It has the gradient of the elements that the handler saw, or is refused.
    seen: list[tuple[vt.Tensor, vt.Tensor, object]] = []
    ends = {"right": 0, "refused": 0}
    made: list[vt.Tensor] = []

    def save(x: vt.Tensor) -> None:
        weight = vt.ones(2, 3, requires_grad=True)
        now = x.detach()
        seen.append(((now * weight).sum(), weight, now.tolist()))

    def setup() -> Call:
        x = _target(grad=way == "recorded")
        made[:] = [x]
        call = prepare(x)
        seen.clear()
        if saved_before:
            save(x)
        return call

    def handler() -> None:
        x = made[0].detach()
        if writes:
            x[0, 1] = 20.0
            x[1].mul_(2.0)
        save(x)

    def check(over: bool) -> None:
        assert over
        save(made[0])
        for nr, (result, weight, values) in enumerate(seen):
            try:
                (gradient,) = vt.autograd.grad(result, weight)
            except vt.errors.StaleSavedError:
                # What is saved afterwards is never refused.
                assert nr < len(seen) - 1
                ends["refused"] += 1
            else:
                assert gradient.tolist() == values
                ends["right"] += 1

    # Every place with each kind of handler, and with each of what was saved before.
    with switched_to(way):
        interrupted_everywhere(setup, check, handler, step=2, start=int(writes != saved_before))
    assert ends["right"] > 5
    if way == "storage":
        assert ends["refused"] > 5


@contextmanager
def switched_to(way: str) -> Iterator[None]:
    if way == "rewind":
        with vt.autograd.graph.allow_mutation_on_saved_tensors():
            yield
    elif way == "storage":
        with vt.autograd.graph.set_overwrite_check("storage"):
            yield
    else:
        yield


@interrupting
@pytest.mark.slow
@pytest.mark.parametrize("is_view", [False, True], ids=["whole", "view"])
def test_what_a_handler_computes_in_a_recorded_write(is_view: bool) -> None:
    # Its gradient goes through the write only if the handler saw what was written.
    made: list[tuple[vt.Tensor, vt.Tensor]] = []
    seen: list[tuple[vt.Tensor, list[float]]] = []
    ends = {"before": 0, "after": 0, "refused": 0}

    def setup() -> Call:
        x = leaf()
        y = x * 2
        made[:] = [(x, y)]
        seen.clear()
        target = y[1:] if is_view else y
        return lambda: target.mul_(3)

    def handler() -> None:
        _, y = made[0]
        values = y.detach().numpy().tolist()
        seen.append((y.sum(), values))

    def check(over: bool) -> None:
        assert over
        for total, values in seen:
            try:
                (gradient,) = vt.autograd.grad(total, made[0][0])
            except vt.errors.InterruptedWriteError:
                ends["refused"] += 1
            else:
                # Of a leaf of ones the elements are their own derivatives.
                assert gradient.tolist() == values
                ends["before" if values == [2, 2, 2] else "after"] += 1

    interrupted_everywhere(setup, check, handler)
    assert min(ends.values()) > 0


@interrupting
@pytest.mark.slow
def test_a_handler_that_writes_before_the_result_of_a_write_is_packed() -> None:
    # What is packed is then another value than the one whose derivative is wanted.
    made: list[tuple[vt.Tensor, vt.Tensor]] = []
    seen: list[tuple[vt.Tensor, list[list[float]]]] = []
    ends = {"right": 0, "refused": 0}

    def setup() -> Call:
        x = vt.tensor([[0.5, 1.0], [2.0, 3.0]], requires_grad=True)
        y = x * 1
        made[:] = [(x, y)]
        seen.clear()

        def call() -> None:
            # A handler in the midst of the function that packs is taken for the function.
            with suppress(vt.errors.SavedHookError):
                y.exp_()

        return call

    def handler() -> None:
        _, y = made[0]
        # The derivative of what is saved here is 2 * y * y if the handler sees the exponentials.
        saved = (y * y).sum(), y.detach().tolist()
        with vt.no_grad():
            y[1].mul_(-10)
        if saved[0].requires_grad:  # the function that packs runs with recording off
            seen.append(saved)

    def check(over: bool) -> None:
        assert over
        for total, values in seen:
            try:
                (gradient,) = vt.autograd.grad(total, made[0][0])
            except (vt.errors.InterruptedWriteError, vt.errors.StaleSavedError):
                ends["refused"] += 1
            else:
                numbers = np.array(values)
                expected = 2 * numbers if values == made[0][0].tolist() else 2 * numbers**2
                np.testing.assert_allclose(gradient.numpy(), expected, 1e-6)
                ends["right"] += 1

    with vt.autograd.graph.saved_tensors_hooks(lambda x: x.detach().clone(), lambda x: x):
        interrupted_everywhere(setup, check, handler)
    assert min(ends.values()) > 0
