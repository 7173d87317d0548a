"""The functions that make arrays can be replaced on one thread: Note [Where arrays are made]."""

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

import numpy as np
import pytest

import vtgrad as vt
from tests.support import needs_global_lock
from vtgrad.errors import ArgumentTypeError
from vtgrad.ops.calling.constants import check_meaning
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.thread_state import carried, run_with


class Counted:
    """A maker that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def zeros(self, *args: object, **kwargs: object) -> object:
        self.calls += 1
        return getattr(np, "zeros")(*args, **kwargs)  # noqa: B009


@pytest.fixture
def counted() -> Counted:
    return Counted()


def test_a_replacement_is_called_and_goes(counted: Counted) -> None:
    made = making.run_with({"zeros": counted.zeros}, lambda n: making.zeros(n), 3)
    assert made.tolist() == [0, 0, 0]
    assert counted.calls == 1
    assert making.zeros is np.zeros
    assert making.zeros(2).tolist() == [0, 0]
    assert counted.calls == 1


def test_the_library_calls_it(counted: Counted) -> None:
    assert making.run_with({"zeros": counted.zeros}, lambda: vt.zeros(2)).tolist() == [0, 0]
    assert counted.calls == 1


def test_names_that_are_not_replaced_are_numpys(counted: Counted) -> None:
    made = making.run_with({"zeros": counted.zeros}, lambda: making.ones(2))
    assert made.tolist() == [1, 1]
    assert counted.calls == 0


def test_the_class_is_called_as_a_function() -> None:
    shapes = []

    def ndarray(*args: object) -> object:
        shapes.append(args)
        return getattr(np, "ndarray")(*args)  # noqa: B009

    made = making.run_with({"ndarray": ndarray}, lambda: making.ndarray((2,), np.int8))
    assert isinstance(made, np.ndarray)
    assert shapes == [((2,), np.int8)]


def test_an_error_takes_the_replacement_back(counted: Counted) -> None:
    def fail() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        making.run_with({"zeros": counted.zeros}, fail)
    assert making.zeros is np.zeros


@needs_global_lock
def test_other_threads_make_arrays_as_before(counted: Counted) -> None:
    def beside() -> list[object]:
        found: list[object] = []
        thread = threading.Thread(target=lambda: found.append(making.zeros(1).tolist()))
        thread.start()
        thread.join()
        return found

    assert making.run_with({"zeros": counted.zeros}, beside) == [[0]]
    assert counted.calls == 0


@needs_global_lock
def test_threads_that_take_over_the_settings_take_over_the_makers(counted: Counted) -> None:
    def beside() -> list[object]:
        found: list[object] = []
        settings = carried()
        thread = threading.Thread(
            target=lambda: found.append(run_with(settings, lambda: making.zeros(1).tolist()))
        )
        thread.start()
        thread.join()
        return found

    assert making.run_with({"zeros": counted.zeros}, beside) == [[0]]
    assert counted.calls == 1


@needs_global_lock
def test_two_threads_replace_at_once() -> None:
    """The first to end takes nothing away from the other one."""
    both, ended = threading.Barrier(2, timeout=60), threading.Event()
    counts = [Counted(), Counted()]

    def first() -> None:
        both.wait()
        making.zeros(1)

    def second() -> None:
        both.wait()
        ended.wait(60)
        making.zeros(1)
        making.zeros(1)

    thread = threading.Thread(target=making.run_with, args=({"zeros": counts[1].zeros}, second))
    thread.start()
    making.run_with({"zeros": counts[0].zeros}, first)
    ended.set()
    thread.join()
    assert [x.calls for x in counts] == [1, 2]
    assert making.zeros is np.zeros


def test_one_replacement_within_another_is_refused(counted: Counted) -> None:
    def within() -> None:
        making.run_with({}, lambda: None)

    with pytest.raises(RuntimeError, match="already"):
        making.run_with({"zeros": counted.zeros}, within)
    assert making.zeros is np.zeros


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match="'zero'"):
        making.run_with({"zero": np.zeros}, lambda: None)


@needs_global_lock
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_child_forgets_the_replacements_of_threads_that_it_does_not_have() -> None:
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        inside.set()
        leave.wait(60)

    thread = threading.Thread(target=making.run_with, args=({}, stay))
    thread.start()
    inside.wait(60)
    assert making.zeros is not np.zeros
    child = os.fork()
    if child == 0:
        os._exit(0 if making.zeros is np.zeros else 1)
    assert os.waitpid(child, 0)[1] == 0
    leave.set()
    thread.join()
    assert making.zeros is np.zeros


@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="there are no signals")
def test_a_handler_may_replace_while_a_call_begins(counted: Counted) -> None:
    """The call that it interrupts still has its own makers."""

    def handle(number: int, frame: FrameType | None) -> None:
        making.run_with({}, lambda: None)

    class Makers(dict[str, making.Maker]):
        """The names are looked at when the call begins."""

        def __iter__(self):  # type: ignore[no-untyped-def]
            signal.raise_signal(signal.SIGINT)
            return super().__iter__()

    before = signal.signal(signal.SIGINT, handle)
    try:
        making.run_with(Makers(zeros=counted.zeros), lambda: making.zeros(1))
    finally:
        signal.signal(signal.SIGINT, before)
    assert counted.calls == 1


def test_a_plain_view_has_no_subclass() -> None:
    class Part(np.ndarray[tuple[int, ...], np.dtype[np.float64]]):
        pass

    memory: Array = np.zeros(2)
    part = memory.view(Part)
    made = making.plain_view(part)
    assert type(made) is np.ndarray
    assert np.shares_memory(made, memory)


def test_calls_of_other_libraries_are_seen() -> None:
    pytest.importorskip("scipy")
    seen = []

    def call(function: Callable[..., object], *args: object, **kwargs: object) -> object:
        seen.append(function)
        return function(*args, **kwargs)

    a = vt.tensor([[4.0, 1.0], [1.0, 3.0]])
    vt.linalg.lu_factor(a)
    packed, _ = making.run_with({"call": call}, vt.linalg.lu_factor, a)
    assert len(seen) == 1
    assert packed.tolist() == vt.linalg.lu_factor(a)[0].tolist()
    assert len(seen) == 1


def test_subclasses_of_plain_arrays_are_operands_if_they_compute_alike() -> None:
    class Kind(np.ndarray[tuple[int, ...], np.dtype[np.float64]]):
        def __array_ufunc__(self, *_: object, **__: object) -> None:
            raise AssertionError

    class Number(Kind):
        pass

    values = np.ones(2).view(Number)
    with pytest.raises(ArgumentTypeError, match="computes in a way of its own"):
        check_meaning(values)
    PLAIN.add(Kind)
    try:
        check_meaning(values)
    finally:
        PLAIN.remove(Kind)
