"""A backward that is interrupted anywhere has filled every ``.grad`` or none.

What breaks it: a ``.grad`` that is stored, or added to, while another one is still to be prepared.
"""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Callable
from types import FrameType

import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere

pytestmark = pytest.mark.slow

interrupting = NEEDS_TRACE

Graph = tuple[list[vt.Tensor], vt.Tensor]


def fresh() -> Graph:
    """Three leaves without a gradient."""
    a, b, c = (vt.ones(2, requires_grad=True) for _ in range(3))
    return [a, b, c], (a * 2 + b * 3 + c * 4).sum()


def filled() -> Graph:
    """Three leaves that have one, a row of a table among them."""
    leaves, y = fresh()
    table = vt.zeros(2, 2)
    for x, grad in zip(leaves, (vt.ones(2), table[0], table[:, 1]), strict=True):
        x.grad = grad
    return leaves, y


def mixed() -> Graph:
    leaves, y = fresh()
    leaves[1].grad = vt.ones(2)
    return leaves, y


def retained() -> Graph:
    """Results too."""
    a, b = (vt.ones(2, requires_grad=True) for _ in range(2))
    p = a * 2
    q = p * b
    p.retain_grad()
    q.retain_grad()
    return [a, b, p, q], q.sum()


def of_one_tensor() -> Graph:
    """Two leaves with one ``.grad``."""
    leaves, y = fresh()
    leaves[0].grad = leaves[1].grad = vt.zeros(2)
    return leaves, y


State = list[tuple[object, int, list[str]] | None]


def state_of(tensors: list[vt.Tensor]) -> State:
    """Values, versions and writes of each ``.grad``."""
    found: State = []
    for x in tensors:
        grad = x.grad
        if grad is None:
            found.append(None)
        else:
            writes = [write.operator for write in grad.writes()]
            found.append((grad.detach().tolist(), grad._version, writes))
    return found


@interrupting
@pytest.mark.parametrize(
    "create_graph", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["arrays", "recorded"]
)
@pytest.mark.parametrize("make", [fresh, filled, mixed, retained, of_one_tensor])
def test_all_or_none(make: Callable[[], Graph], create_graph: bool) -> None:
    tensors, y = make()
    states = [state_of(tensors)]
    graph: list[Graph] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # create_graph warns of the cycle it makes
        y.backward(create_graph=create_graph)
        states.append(state_of(tensors))

        def prepare() -> Callable[[], object]:
            graph[:] = [make()]
            y = graph[0][1]
            return lambda: y.backward(retain_graph=True, create_graph=create_graph)

        def check(over: bool) -> None:
            tensors, y = graph[0]
            state = state_of(tensors)
            assert state in states
            assert state == states[1] or not over
            if state == states[0]:
                y.backward(create_graph=create_graph)
                assert state_of(tensors) == states[1]

        assert interrupted_everywhere(prepare, check) > 50


class _Signal(Exception):
    pass


# An interrupt that arrives in a callback of the collector or of a weak reference is lost.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this platform")
def test_signals_at_random() -> None:
    def handler(number: int, frame: FrameType | None) -> None:
        # Another thread may receive it, late, after the timer was stopped.
        if armed[0]:
            raise _Signal

    armed = [False]
    leaves = [vt.ones(50, requires_grad=True) for _ in range(60)]
    before = signal.signal(signal.SIGALRM, handler)
    end = time.monotonic() + 1.5
    delay, interrupted = 5e-5, 0
    try:
        while time.monotonic() < end:
            y = vt.stack(leaves).sum() * 2
            counts = {x.grad[0].item() for x in leaves if x.grad is not None} or {0.0}
            assert len(counts) == 1
            try:
                armed[0] = True
                signal.setitimer(signal.ITIMER_REAL, delay)
                y.backward()
                signal.setitimer(signal.ITIMER_REAL, 0)
                armed[0] = False
                delay = 5e-5
            except _Signal:
                armed[0] = False
                interrupted += 1
                delay += 2e-6
            assert all(x.grad is None for x in leaves) or all(
                x.grad is not None and (x.grad == leaves[0].grad).all() for x in leaves
            )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted > 10


def unfit_overlapping(x: vt.Tensor) -> None:
    x.grad = vt.zeros(1).expand(2)


def unfit_resized(x: vt.Tensor) -> None:
    x.grad = vt.zeros(2)
    x.grad.resize_(3)


def unfit_dtype(x: vt.Tensor) -> None:
    x.grad = vt.zeros(2)
    x.grad.data = vt.zeros(2, dtype=vt.int64)


@pytest.mark.parametrize("spoil", [unfit_overlapping, unfit_resized, unfit_dtype])
def test_a_gradient_that_cannot_be_added_to_is_refused_before_anything_ran(
    spoil: Callable[[vt.Tensor], None],
) -> None:
    log: list[str] = []
    a, b = vt.ones(2, requires_grad=True), vt.ones(2, requires_grad=True)
    spoil(b)
    p = a * a
    p.register_hook(lambda grad: log.append("called"))
    y = (p + b * b).sum()
    with pytest.raises(vt.errors.VtgradError):
        y.backward()
    assert [a.grad, *log] == [None]
    # Nothing was freed.
    b.grad = None
    y.backward()
    assert a.grad is not None
    assert a.grad.tolist() == [2, 2]


def test_a_gradient_that_is_wider_is_added_to_as_in_torch() -> None:
    b = vt.ones(2, requires_grad=True)
    b.grad = vt.zeros(2)
    b.grad.resize_(3, 2)
    (b * 3).sum().backward()
    assert b.grad.tolist() == [[3, 3], [3, 3], [3, 3]]
    assert [write.operator for write in b.grad.writes()] == ["resize_", "backward"]


def test_a_gradient_that_is_a_lazy_conjugate_is_added_to() -> None:
    z = vt.ones(2, dtype=vt.complex128, requires_grad=True)
    memory = vt.zeros(2, dtype=vt.complex128)
    z.grad = memory.conj()
    (z * 1j).sum().abs().backward()
    expected = vt.ones(2, dtype=vt.complex128, requires_grad=True)
    (expected * 1j).sum().abs().backward()
    assert expected.grad is not None
    assert z.grad.tolist() == expected.grad.tolist()
    assert memory.conj().tolist() == expected.grad.tolist()


def test_the_gradient_of_a_leaf_may_be_what_enters() -> None:
    a, b = vt.ones(2, requires_grad=True), vt.ones(2, requires_grad=True)
    a.grad, b.grad = vt.ones(2), vt.zeros(2)
    (a + b).backward(a.grad)
    assert a.grad.tolist() == [2, 2]
    assert b.grad.tolist() == [1, 1]
