"""Every setting of the calling thread is there wherever a pass calls user code.

Each setting gets a value that nothing else has. Hooks, a custom backward, the function of a
checkpoint, finalizers and a signal handler then note all settings, on the CPU, on a lane, on the
thread of a deep pass and in the child of a fork. What breaks it: a setting that is not carried, or
is not taken back. A setting that is added later is tested without a change here.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, Final, TypeAlias

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy  # which has state of threads too
from tests.support import needs_global_lock
from vtgrad.engine import signals
from vtgrad.graph.batch import BatchLevel
from vtgrad.graph.packing import HookPair
from vtgrad.graph.sequence_nr import Numbering
from vtgrad.graph.thread_local_state import Changes
from vtgrad.graph.tracer import Tracer
from vtgrad.graph.transform_record import TransformRecord
from vtgrad.lanes.owner_state import OwnerState
from vtgrad.storage import thread_state
from vtgrad.storage.extra_meta import ExtraMeta
from vtgrad.storage.key_set import NAMED, keys
from vtgrad.storage.mode import Mode, mode_of, switched
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_mode import thread
from vtgrad.storage.thread_state import FREE_THREADED, Settings, carried, changed, run_with
from vtgrad.utils.checkpoint import checkpoint

# Which thread noted, and what it saw.
Note: TypeAlias = tuple[int, Mapping[str, object]]
Notes: TypeAlias = dict[str, Note]

# The fields that a thread keeps to itself.
OWN: Final = {
    "adopting",
    "ident",
    "thread",
    "run",
    "cursors",
    "order",
    "device",
    "passes",
    "quietly",
    # What `vtgrad.numpy.explain` lists is of its thread.
    "explaining",
    "reading",
}
# More levels than one thread runs, see Note [Backward inside backward].
DEEP: Final = 25


class Follower(Tracer):
    """A tracer that follows nothing."""

    def detached(self, tensor: TensorBase, source: TensorBase | None) -> None:
        pass

    def copied(self, copy: object, source: object) -> None:
        pass


class Noting(vt.autograd.Function):
    """Notes what its backward sees."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, note: Callable[[str], None]) -> vt.Tensor:
        ctx.note = note
        return x * 3

    @staticmethod
    def backward(ctx: Any, grad: vt.Tensor) -> tuple[vt.Tensor, None]:
        ctx.note("backward of a Function")
        return grad * 3, None


def values() -> Settings:
    """A value of its own for each setting; any object for one that the engine does not read."""
    known: dict[str, object] = {
        "mode": mode_of(grad=True, inference=True),
        "excluded_keys": 1 << 9,
        "forward_limit": 5,
        "reverse_level": 7,
        "transform": TransformRecord(),
        "batch_levels": (BatchLevel(3, 2, "different"),),
        "tracer": Follower(4),
        "extra_of_new": ExtraMeta(),
        "keeps": True,
        "numbering": Numbering(),
        "writes": {},
        "unpacked": {},
        "changes": Changes(),
        "running_node": (vt.ones(1, requires_grad=True) * 2).grad_fn,
        "pair": HookPair(lambda tensor: tensor, lambda kept: kept),
        "disabled": "not here",
        # The pass itself; and with False there are no lanes.
        "task": None,
        "multithreading": True,
    }
    return Settings({name: known.get(name, object()) for name in carried().values})


class Program:
    """A graph whose user code notes what it sees, each place under its name."""

    def __init__(self, device: str) -> None:
        self.notes: Notes = {}
        self._device = device
        self._handles = False
        leaf = vt.ones(3, device=device).requires_grad_()
        leaf.register_post_accumulate_grad_hook(self._noting("hook of a leaf"))
        x = leaf * 2
        x.register_hook(self._noting("hook of a tensor"))
        assert x.grad_fn is not None
        x.grad_fn.register_prehook(self._noting("hook before a node"))
        x.grad_fn.register_hook(self._noting("hook after a node"))
        y = checkpoint(self._region, Noting.apply(x, self._note), use_reentrant=False)
        z = y.exp()
        # The node lets the array go when it has run. A free-threaded interpreter frees it on
        # the thread that made it, when its turn comes.
        if not FREE_THREADED:
            weakref.finalize(z._impl.array, self._note, "finalizer between nodes")
        self._loss = z.sum()

    def _note(self, where: str) -> None:
        self.notes[where] = threading.get_ident(), carried().values

    def _region(self, x: vt.Tensor) -> vt.Tensor:
        self._note("function of a checkpoint")
        return x.sin()

    def _noting(self, where: str) -> Callable[..., None]:
        def hook(*_: object) -> None:
            self._note(where)
            dropped = np.ones(1)
            weakref.finalize(dropped, self._note, f"finalizer in a {where}")
            del dropped
            if self._handles and where == "hook of a tensor":
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

        return hook

    def _handler(self, number: int, frame: FrameType | None) -> None:
        self._note("signal handler")

    def run(self) -> None:
        """Run backward; the notes of forward are dropped."""
        self.notes.clear()
        # Handlers run on the main thread, and only there one is set.
        is_main = threading.current_thread() is threading.main_thread()
        self._handles = is_main and hasattr(signal, "SIGUSR1")
        before = signal.signal(signal.SIGUSR1, self._handler) if self._handles else None
        try:
            self._loss.backward(vt.ones((), device=self._device))
        finally:
            if self._handles:
                signal.signal(signal.SIGUSR1, before)


def seen_as(settings: Settings, where: str, handler_is_in_hook: bool) -> dict[str, object]:
    """What user code sees of settings, the pass itself apart."""
    expected = {**settings.values}
    mode = expected["mode"]
    assert isinstance(mode, Mode)
    silent = "hook" in where or "backward" in where or (where == "signal handler")
    if where == "signal handler" and not handler_is_in_hook:
        silent = False
    if silent:
        expected["mode"] = mode.by_grad[False]
    if where == "backward of a Function" and keys.active:
        # Gradients have no names.
        assert isinstance(expected["excluded_keys"], int)
        expected["excluded_keys"] |= NAMED
    if where == "function of a checkpoint":
        # As it was in forward, and with the hooks by which it finds what was saved.
        expected["mode"] = mode_of(grad=True, inference=False)
        del expected["pair"]
    del expected["task"]
    return expected


def assert_seen(notes: Notes, settings: Settings, *, handler_is_in_hook: bool = True) -> None:
    assert len(notes) >= 10
    for where, (_, found) in notes.items():
        expected = seen_as(settings, where, handler_is_in_hook)
        differ = {
            name: (value, found[name])
            for name, value in expected.items()
            if found[name] is not value and found[name] != value
        }
        assert not differ, where
        for name in ("numbering", "writes", "unpacked"):
            assert found[name] is settings.values[name], (where, name)
        assert found["task"] is not None


def run_watched(program: Program, settings: Settings) -> None:
    """Run a program in settings; the thread is as before."""
    before = carried()
    run_with(settings, program.run)
    assert_same(carried(), before)
    assert not switched.silent
    assert not switched.inference


def assert_same(found: Settings, expected: Settings) -> None:
    # Numbers pass through native integers in the compiled build, and are other objects then.
    differ = [
        name
        for name, value in expected.values.items()
        if found.values[name] is not value and found.values[name] != value
    ]
    assert not differ


def threads_of(notes: Notes) -> set[int]:
    return {ident for where, (ident, _) in notes.items() if where != "signal handler"}


def on_fresh_thread(function: Callable[[], None]) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            function()
        except BaseException as error:  # raised below
            failures.append(error)

    other = threading.Thread(target=work)
    other.start()
    other.join()
    if failures:
        raise failures[0]


def test_on_the_calling_thread() -> None:
    program, settings = Program("cpu"), values()
    run_watched(program, settings)
    assert_seen(program.notes, settings)
    assert threads_of(program.notes) == {threading.get_ident()}


def test_on_the_thread_of_a_lane() -> None:
    program, settings = Program("lane:0"), values()
    run_watched(program, settings)
    # The handler runs on the main thread, which waits.
    assert_seen(program.notes, settings, handler_is_in_hook=False)
    assert threading.get_ident() not in threads_of(program.notes)


@needs_global_lock
def test_the_thread_of_a_lane_is_left_as_it_was() -> None:
    settings = values()
    state = run_with(settings, OwnerState)
    found: list[Settings] = []

    def work() -> None:
        before = carried()
        state.run_on_lane(lambda: found.append(carried()))
        assert_same(carried(), before)
        assert signals.this_thread.order is None

    on_fresh_thread(work)
    assert_same(found[0], settings)


def nested(levels: int, innermost: Callable[[], None]) -> Callable[[], None]:
    """A function that calls backward in a hook, that many levels deep."""
    run = innermost
    for _ in range(levels):

        def hook(_: vt.Tensor, inner: Callable[[], None] = run) -> None:
            inner()

        x = vt.ones(1, requires_grad=True) * 1
        x.register_hook(hook)
        run = lambda x=x: x.backward(vt.ones(1))  # type: ignore[misc]  # noqa: E731
    return run


@pytest.mark.parametrize("multithreading", [False, True])
def test_on_the_thread_of_a_deep_pass(multithreading: bool) -> None:
    program, settings = Program("cpu"), values().but(multithreading=multithreading)
    before = carried()
    run_with(settings, nested(DEEP, program.run))
    assert_same(carried(), before)
    mode = settings.values["mode"]
    assert isinstance(mode, Mode)
    # What the outer hook has, in which the pass is called.
    assert_seen(program.notes, settings.but(mode=mode.by_grad[False]))
    assert threading.get_ident() not in threads_of(program.notes)


@needs_global_lock
@pytest.mark.parametrize("device", ["cpu", "lane:0"])
def test_a_fresh_thread_begins_with_the_usual_settings(device: str) -> None:
    """As docs/threads.md says: it takes nothing over from the thread that started it."""
    program, found = Program(device), list[Settings]()
    on_fresh_thread(lambda: found.append(carried()))
    objects = "numbering", "writes", "unpacked"

    def work() -> None:
        settings = carried()
        assert_same(settings, found[0].but(**{name: settings.values[name] for name in objects}))
        assert not any(settings.values[name] is found[0].values[name] for name in objects)
        assert vt.is_grad_enabled()
        assert not vt.is_inference_mode_enabled()
        program.run()
        assert_seen(program.notes, settings)
        assert_same(carried(), settings)

    run_with(values(), on_fresh_thread, work)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this platform")
@pytest.mark.parametrize("device", ["cpu", "lane:0"])
def test_in_the_child_of_a_fork(device: str) -> None:
    program, settings = Program(device), values()

    def fork() -> int:
        pid = os.fork()
        if pid:
            return pid
        signal.alarm(20)
        code = 1
        try:
            assert set(switched.silent) <= {thread.ident}
            program.run()
            assert_seen(program.notes, settings, handler_is_in_hook=device == "cpu")
            assert_same(carried(), settings)
            code = 0
        finally:
            os._exit(code)

    pid = run_with(settings, fork)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_what_a_thread_keeps_to_itself() -> None:
    """What is not carried is listed above, so that no mode becomes `own` by mistake."""
    fields = {name for name in vars(thread_state.Thread) if not name.startswith("__")}
    assert fields - set(carried().values) == OWN


def test_a_field_has_one_owner() -> None:
    class Second:
        keeps: bool = True

    with pytest.raises(ValueError, match="'keeps'"):
        thread_state.part_of_thread(Second)


BROKEN_OFF = """
import os, sys, traceback
import numpy

def break_off(module):
    def at_its_end(frame, event, _):
        if event == "return":
            sys.settrace(None)
            raise KeyboardInterrupt
        return at_its_end

    def watch(frame, event, _):
        code = frame.f_code.co_name, frame.f_globals.get("__name__")
        return at_its_end if code == ("<module>", module) else None

    sys.settrace(watch)
    try:
        __import__(module)
    except KeyboardInterrupt:
        __import__(module)
        import vtgrad as vt
        x = vt.tensor([1.0, 2.0], requires_grad=True)
        with vt.autograd.graph.allow_mutation_on_saved_tensors():
            (x * x).sum().backward()
        assert x.grad.tolist() == [2.0, 4.0]
    else:
        raise AssertionError("nothing was interrupted")

for module in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            break_off(module)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(module, os.waitstatus_to_exitcode(status))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this platform")
def test_an_import_that_was_broken_off_is_repeated() -> None:
    """Each in a child of one interpreter, which has imported nothing but NumPy."""
    modules = sorted({module for module, _ in thread_state._owners.values()})
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", BROKEN_OFF, *modules]
    run = subprocess.run(command, check=True, timeout=120, capture_output=True, text=True)
    assert run.stdout.splitlines() == [f"{module} 0" for module in modules], run.stderr


def test_a_field_that_threads_do_not_have_cannot_be_switched() -> None:
    with pytest.raises(AttributeError, match="excluded_key"):
        run_with(changed(excluded_key=1), lambda: None)


# -- what a program sees of it -----------------------------------------------------------------


def test_a_write_in_a_deep_hook_keeps_what_it_overwrites() -> None:
    found: list[object] = []

    def body() -> None:
        with vt.enable_grad():
            x = vt.ones(3, requires_grad=True)
            y = x * 3
            z = y * y
            y.mul_(2)
            z.sum().backward()
        found.append(None if x.grad is None else x.grad.tolist())

    with vt.autograd.graph.allow_mutation_on_saved_tensors():
        nested(DEEP, body)()
    assert found == [[18, 18, 18]]


def test_nodes_of_a_deep_hook_are_numbered_with_those_of_the_caller() -> None:
    found: list[vt.Tensor] = []

    def body() -> None:
        with vt.enable_grad():
            found.append(vt.ones(1, requires_grad=True) * 1)

    body()
    nested(DEEP, body)()
    body()
    nodes = [x.grad_fn for x in found]
    assert len({node.thread_id for node in nodes if node is not None}) == 1
    numbers = [node._sequence_nr() for node in nodes if node is not None]
    assert numbers == sorted(set(numbers))
