"""What is left behind is cleaned up whatever a signal handler raises meanwhile.

What breaks it: a loop in a finalizer; a callback of a weak reference that is a Python function; an
``__exit__`` that is interrupted before it has done anything.
"""

from __future__ import annotations

import copy
import gc
import signal
import sys
import weakref
from _thread import interrupt_main
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, Interrupted, interrupted_everywhere
from tests.support import collector_off
from vtgrad.graph import audit as audits
from vtgrad.graph.audit import audit
from vtgrad.storage import tensor_name
from vtgrad.storage.rewind import saves_observed
from vtgrad.tensor import pickling

graph = vt.autograd.graph
Call = Callable[[], object]
Array = npt.NDArray[np.float32]


@pytest.fixture(autouse=True)
def _errors_in_finalizers_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python only prints them; pytest would keep them, with all that their frames refer to."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)


class Released:
    """NumPy arrays on a value that a graph has saved, which is released at the call."""

    def __init__(self) -> None:
        source = np.ones(4, np.float32)
        with graph.set_audit("lock"):
            x, w = vt.from_numpy(source), vt.ones(4, requires_grad=True)
            self.arrays: list[Array] = [source, x.numpy(), x[1:].numpy(), x.view(2, 2).numpy()]
            self.graph = [(w * x).sum()]
        assert not any(array.flags.writeable for array in self.arrays)

    def __call__(self) -> None:
        self.graph.clear()

    def assert_unlocked(self) -> None:
        assert [array.flags.writeable for array in self.arrays] == [True] * 4


@NEEDS_TRACE
def test_arrays_are_unlocked_wherever_their_release_is_interrupted() -> None:
    made: list[Released] = []

    def prepare() -> Call:
        made[:] = [Released()]
        return made[0]

    def check(over: bool) -> None:
        made[0]()
        made[0].assert_unlocked()

    interrupted_everywhere(prepare, check)
    assert not audits._ends


def freed(released: Released) -> Call:
    """The graph dies when the last reference goes."""
    return released


def in_a_cycle(released: Released) -> Call:
    """The graph dies when the collector runs."""
    cycle: list[object] = [*released.graph]
    cycle.append(cycle)
    released.graph.clear()
    return gc.collect


def at_its_death(thing: object) -> weakref.ref[object]:
    """A reference that sends a signal when an object dies, from C: no handler runs before."""
    sends = partial(dict.fromkeys, map(interrupt_main, [signal.SIGINT]))
    return weakref.ref(thing, sends)


@pytest.mark.parametrize("die", [freed, in_a_cycle])
def test_what_a_handler_raises_while_arrays_are_unlocked_is_seen(
    die: Callable[[Released], Call],
) -> None:
    def handler(number: int, frame: object) -> None:
        raise Interrupted

    # A collection that Python begins itself would send the signal before the call.
    with collector_off():
        released = Released()
        # The result dies before its graph does.
        first = at_its_death(released.graph[0])
        release = die(released)
        before = signal.signal(signal.SIGINT, handler)
        try:
            with pytest.raises(Interrupted):
                release()
        finally:
            signal.signal(signal.SIGINT, before)
    assert first() is None
    released.assert_unlocked()


def test_an_array_that_cannot_be_unlocked_does_not_stop_the_others() -> None:
    owner = np.ones(4, np.float32)
    parts = [owner[:2], owner[2:]]
    others = [np.ones(2, np.float32)[1:], np.ones(2, np.float32)[1:]]
    lock = audits._Lock()
    for array in (parts[0], others[0], parts[1], others[1]):
        lock.lock(array)
    owner.flags.writeable = False
    del lock
    # NumPy refuses it for views of what the user has made read-only.
    assert [array.flags.writeable for array in parts] == [False, False]
    assert [array.flags.writeable for array in others] == [True, True]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_an_array_and_its_view_are_unlocked_whichever_value_is_released_first(
    order: tuple[int, int],
) -> None:
    source = np.ones(4, np.float32)
    view = source[1:]
    with graph.set_audit("lock"):
        w = vt.ones(4, requires_grad=True)
        x, y = vt.from_numpy(view), vt.from_numpy(source)
        saved = {0: (w[1:] * x).sum(), 1: (w * y).sum()}
    assert not view.flags.writeable
    for number in order:
        assert not source.flags.writeable
        del saved[number]
    assert source.flags.writeable
    assert view.flags.writeable


@NEEDS_TRACE
def test_auditing_is_off_after_its_block() -> None:
    def prepare() -> Call:
        def call() -> None:
            with graph.auditing("lock"):
                assert audit.locks

        return call

    before = saves_observed.reasons

    def check(over: bool) -> None:
        assert (audit.enabled, audit.locks, saves_observed.reasons) == (False, False, before)

    assert interrupted_everywhere(prepare, check) > 5


def is_on() -> bool:
    return audit.enabled


def test_auditing_is_on_in_its_block_alone() -> None:
    block = graph.auditing(True)
    assert not is_on()
    with block:
        assert is_on()
        with graph.auditing(False):
            assert not is_on()
        assert is_on()
    assert not is_on()
    with pytest.raises(ValueError, match="auditing takes"):
        graph.auditing("on")  # type: ignore[arg-type]  # on purpose


@NEEDS_TRACE
@pytest.mark.parametrize("several", [False, True])
def test_a_hook_is_removed_at_the_end_of_its_block(several: bool) -> None:
    seen: list[object] = []
    made: list[vt.Tensor] = []
    entered: list[bool] = []

    def prepare() -> Call:
        entered.clear()
        x, y = vt.ones(2, requires_grad=True), vt.ones(2, requires_grad=True)
        block: AbstractContextManager[object] = (
            graph.register_multi_grad_hook([x, y], seen.append)
            if several
            else x.register_hook(seen.append)
        )
        made[:] = [x, y]

        def call() -> None:
            with block:
                entered.append(True)

        return call

    def check(over: bool) -> None:
        # Before the block has begun, the hook stays.
        if entered:
            x, y = made
            (x * y).sum().backward()
            assert not seen

    assert interrupted_everywhere(prepare, check) > 3


def a_named_tensor() -> object:
    x = vt.ones(2)
    x.name = "x"
    return x


def a_normal_copy_of_an_inference_tensor() -> object:
    with vt.inference_mode():
        x = vt.ones(2)
    return copy.deepcopy(x)


@NEEDS_TRACE
@pytest.mark.parametrize(
    ("make", "entries"),
    [
        (a_named_tensor, tensor_name._names),
        (a_normal_copy_of_an_inference_tensor, pickling._counters),
    ],
)
def test_an_entry_goes_with_its_object(
    make: Callable[[], object], entries: Mapping[int, object]
) -> None:
    before = len(entries)
    made: list[object] = []

    def prepare() -> Call:
        made[:] = [make()]
        assert len(entries) == before + 1

        def call() -> None:
            made.clear()

        return call

    def check(over: bool) -> None:
        made.clear()
        assert len(entries) == before

    interrupted_everywhere(prepare, check)


@NEEDS_TRACE
def test_the_random_numbers_after_a_block_are_those_of_before() -> None:
    state = vt.get_rng_state()
    expected = vt.rand(3)

    def prepare() -> Call:
        vt.set_rng_state(state)

        def call() -> None:
            with vt.random.fork_rng():
                vt.rand(2)

        return call

    def check(over: bool) -> None:
        assert vt.rand(3).equal(expected)

    assert interrupted_everywhere(prepare, check) > 5


@NEEDS_TRACE
def test_a_state_is_set_whole_or_not_at_all() -> None:
    generator = vt.Generator().manual_seed(3)
    vt.rand(2, generator=generator)
    other = generator.get_state()
    generator.manual_seed(5)
    vt.rand(1, generator=generator)
    first = generator.get_state()

    def prepare() -> Call:
        generator.set_state(first)
        return lambda: generator.set_state(other)

    def check(over: bool) -> None:
        now = generator.get_state()
        assert now.equal(other) or (not over and now.equal(first))

    assert interrupted_everywhere(prepare, check) > 3
