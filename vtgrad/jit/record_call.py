"""A function and arguments, recorded and made ready for calls.

Note [One recording at a time]

A recording watches all tensors of the process, and puts back what its program has changed. So one
thread records at a time. `trace` waits for its turn; a call of a replayed function, which can do
without, does not wait, because the thread that records may be waiting for this one.
"""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import starmap
from operator import setitem
from threading import get_ident
from types import CodeType, EllipsisType
from typing import Final, ParamSpec, TypeVar

import numpy as np

from vtgrad.errors import RecordingError, ReplayGuardError
from vtgrad.jit.call import Replay
from vtgrad.jit.containers import flatten
from vtgrad.jit.entry import Mismatch
from vtgrad.jit.operators import TracedOperator, list_operators
from vtgrad.jit.record import record
from vtgrad.jit.recording import Recording, Result, Same
from vtgrad.jit.runner import prepare
from vtgrad.jit.steps import Line
from vtgrad.jit.world import World
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_state import after_fork, changed, run_with

__all__ = ["another_thread_records", "list_operators_of", "record_call"]

P = ParamSpec("P")
R = TypeVar("R")

# See Note [One recording at a time].
recording_lock: Final = threading.RLock()
after_fork(recording_lock.release, before=recording_lock.acquire, in_parent=recording_lock.release)


class _Holder:
    """The thread that records, as `threading.get_ident` numbers it; 0 for none."""

    __slots__ = ("thread",)

    thread: int

    def __init__(self) -> None:
        self.thread = 0


_holder: Final = _Holder()


def another_thread_records() -> bool:
    """Whether a recording would have to wait; see Note [One recording at a time]."""
    return _holder.thread not in (0, get_ident())


def _run_alone(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function that uses all tensors of the process, while `is_tracing`."""
    settings = changed(records_calls=True)
    with recording_lock:
        try:
            _holder.thread = get_ident()
            return run_with(settings, function, *args, **kwargs)
        finally:
            _holder.thread = 0


def record_call(
    function: Callable[..., R],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    leaves: Sequence[object],
) -> Replay:
    """Record a function; memory, versions, ``.grad`` and generators are then as before.

    Parameters
    ----------
    function : callable
        What is recorded; it runs several times.
    args, kwargs : tuple and mapping
        Its arguments.
    leaves : sequence of object
        The same, as `containers.flatten` lists them.

    Raises
    ------
    RecordingError
        If it does what is not recorded.
    """
    handles: dict[TensorImpl, TensorBase] = {}

    @functools.wraps(function)
    def recorded(*args: object, **kwargs: object) -> R:
        result = function(*args, **kwargs)
        check_results(result)
        # A recording knows a tensor by its impl; a result from outside is the handle itself.
        handles.clear()
        handles.update(
            {leaf._impl: leaf for leaf in flatten(result) if isinstance(leaf, TensorBase)}
        )
        return result

    recording = _run_alone(record, recorded, args, dict(kwargs))
    check_gradients(recording)
    kept = {impl: handles[impl] for impl in _returned_from_outside(recording)}
    recording.line = recording.line or line_of(function)
    name = getattr(function, "__name__", type(function).__name__)
    return Replay(recording, prepare(recording.program), leaves, kept, name)


def list_operators_of(
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    leaves: Sequence[object],
    replay: Replay,
) -> tuple[TracedOperator, ...]:
    """Run a recorded function once more, and list its operators; all is then as before.

    Parameters
    ----------
    function, args, kwargs, leaves
        As for `record_call`.
    replay : Replay
        Its recording, which knows the memory that it writes.

    Raises
    ------
    ReplayGuardError
        If the arguments are not as they were while recording.
    """
    kept: list[tuple[Array, EllipsisType, Array]] = []
    for binding in replay.bindings:
        if binding.written:
            live = binding.live(leaves)
            if isinstance(live, Mismatch):
                raise ReplayGuardError(
                    f"the examples are not as they were: {live}", guard=live.reason, line=None
                )
            kept.append((live, ..., live.copy()))
    return _run_alone(_listed, functools.partial(function, *args, **kwargs), leaves, kept)


def _listed(
    call: Callable[[], object],
    leaves: Sequence[object],
    kept: Sequence[tuple[Array, EllipsisType, Array]],
) -> tuple[TracedOperator, ...]:
    """The operators of a call, after which all is as before."""
    world = World(leaves)
    try:
        try:
            world.enter(as_recording=False)
            return list_operators(call)[0]
        finally:
            _put_back(world, kept)
    finally:
        # Once more, in case an interrupt has ended the first.
        _put_back(world, kept)


def _put_back(world: World, kept: Sequence[tuple[Array, EllipsisType, Array]]) -> None:
    world.leave()
    deque(starmap(setitem, kept), 0)


def line_of(function: object) -> Line | None:
    """The line at which a function is defined, if it has one."""
    for name in ("__wrapped__", "__func__", "func"):
        function = getattr(function, name, function)
    code = getattr(function, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if isinstance(code, CodeType) else None


def check_results(result: object) -> None:
    """Refuse results that a replay could not make as the function does.

    Raises
    ------
    RecordingError
        If a graph is alive behind a result, or results share memory.
    """
    found: list[tuple[int, object, Array]] = []
    for number, leaf in enumerate(flatten(result), 1):
        if isinstance(leaf, TensorBase):
            meta = leaf._impl.autograd_meta
            if meta is not None and meta.needs_gradient() and meta.was_produced():
                raise _refused(
                    f"result {number} is connected to a graph, in which a replay takes no part: "
                    "put backward() or grad into the function and return the gradients, or return "
                    "detach()",
                    "graph",
                )
        array = leaf._impl.array if isinstance(leaf, TensorBase) else leaf
        if isinstance(array, np.ndarray) and array.size:
            for other, known, memory in found:
                if known is leaf or np.may_share_memory(memory, array):
                    raise _refused(
                        f"result {number} shares memory with result {other}: return a copy, by "
                        "clone()",
                        "shared results",
                    )
            found.append((number, leaf, array))


def check_gradients(recording: Recording) -> None:
    """Refuse results that are a part of a new ``.grad``; the whole is the ``.grad`` itself.

    Raises
    ------
    RecordingError
        If there is one.
    """
    places = recording.program.results
    grads = [places[change.number] for change in recording.grads if change.number is not None]
    for leaf in flatten(recording.result):
        if isinstance(leaf, Result):
            place = places[leaf.number]
            if any(place.buffer == grad.buffer and place != grad for grad in grads):
                raise _refused(
                    "a result shares memory with a .grad: return a copy, by clone()",
                    "shared results",
                )


def _refused(text: str, reason: str) -> RecordingError:
    return RecordingError(text, reason=reason, library=None, line=None)


def _returned_from_outside(recording: Recording) -> list[TensorImpl]:
    """The tensors from outside that are results themselves."""
    return [
        leaf.source.holder
        for leaf in flatten(recording.result)
        if isinstance(leaf, Same)
        and isinstance(leaf.source.holder, TensorImpl)
        and not leaf.source.is_grad
    ]
