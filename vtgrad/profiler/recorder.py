"""The observer that records events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sys import _getframe
from time import perf_counter_ns
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Final

import numpy as np

from vtgrad.graph.observer import FUNCTION
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.storage.arrays import Array
from vtgrad.storage.record_write import is_inside
from vtgrad.storage.tensor_base import TensorBase

if TYPE_CHECKING:
    from vtgrad.graph.node import Node

__all__ = ["Recorded", "Recorder", "memory_of"]

# Operators that copy elements, if their result is not a view.
_COPIES: Final = frozenset(
    "aten::" + name
    for name in """
    _to_copy clone contiguous expand_copy flatten narrow_copy ravel reshape reshape_as resolve_conj
    resolve_neg select_copy slice_copy view_copy
    """.split()
)
_SETITEM: Final = "vtgrad::setitem"


class Recorded:
    """One event, as it is recorded.

    Attributes
    ----------
    name : str
        The name.
    scope, sequence_nr : int
        As in `Observer.begin`.
    next_nr : int
        The number of the thread's next node when the function returned.
    thread, forward_thread : int
        The `Node.thread_id` of the thread that runs the function, and that of the node; 0 for no
        node.
    start, end : int
        In nanoseconds of `time.perf_counter_ns`; `end` is 0 while the function runs.
    parent : Recorded or None
        The innermost event that had begun and not ended.
    shapes : list of list of int
        The shape of each argument, empty for one that is no tensor.
    allocated : int or None
        The bytes of the results that share memory with no argument; None if that is not known.
    copied : int
        The bytes that were copied, or overwritten in place.
    stack : list of (CodeType, int)
        The user's frames, innermost first: the code, and the line.
    """

    __slots__ = (
        "_memories",
        "allocated",
        "copied",
        "end",
        "forward_thread",
        "name",
        "next_nr",
        "parent",
        "scope",
        "sequence_nr",
        "shapes",
        "stack",
        "start",
        "thread",
    )

    name: str
    scope: int
    sequence_nr: int
    next_nr: int
    thread: int
    forward_thread: int
    start: int
    end: int
    parent: Recorded | None
    shapes: list[list[int]]
    allocated: int | None
    copied: int
    stack: list[tuple[CodeType, int]]
    # The memory of the arguments, until the event ends.
    _memories: list[Array]

    def __init__(
        self, name: str, scope: int, sequence_nr: int, forward_thread: int, parent: Recorded | None
    ) -> None:
        self.name = name
        self.scope = scope
        self.sequence_nr = self.next_nr = sequence_nr
        self.thread = this_thread.numbering.thread_id
        self.forward_thread = forward_thread
        self.parent = parent
        self.shapes = []
        self.allocated = None
        self.copied = 0
        self.stack = []
        self._memories = []
        self.start = 0
        self.end = 0

    def hold(self, inputs: Sequence[object]) -> None:
        """Remember the memory of the arguments, to tell results that are views of it."""
        self._memories = [memory_of(array) for array in _arrays(inputs)]
        if self.name == _SETITEM:
            self.copied = _part_size(inputs)

    def count(self, outputs: Sequence[object]) -> None:
        """Count the bytes of the results."""
        known = {id(memory) for memory in self._memories}
        self.allocated = 0
        for array in _arrays(outputs):
            memory = memory_of(array)
            if id(memory) not in known:
                known.add(id(memory))
                self.allocated += memory.nbytes
            elif self.name.endswith("_"):
                self.copied += array.nbytes
        if self.name in _COPIES:
            self.copied = self.allocated

    def close(self, now: int) -> None:
        """End the event, and let go of the memory of the arguments, also after an error."""
        self.end = now
        if self.thread == this_thread.numbering.thread_id:
            self.next_nr = this_thread.numbering.next_nr
        self._memories = []


class Recorder:
    """Implements `vtgrad.graph.observer.Observer`.

    The events of a thread are nested, and a helper thread of the engine runs while the thread that
    waits for it does nothing: so one stack of open events serves all.

    Attributes
    ----------
    events : list of Recorded
        All events, in the order in which they began.
    needs_inputs : bool
        Whether it looks at arguments.
    """

    __slots__ = ("_memory", "_open", "_shapes", "_stack", "events", "needs_inputs")

    events: list[Recorded]
    needs_inputs: bool
    _open: list[Recorded]
    _shapes: bool
    _memory: bool
    _stack: bool

    def __init__(self, *, shapes: bool, memory: bool, stack: bool) -> None:
        self.events = []
        self.needs_inputs = shapes or memory
        self._open = []
        self._shapes = shapes
        self._memory = memory
        self._stack = stack

    def runs(self, operator: str) -> bool:
        """Whether the innermost open event is of an operator of this name."""
        if not self._open:
            return False
        event = self._open[-1]
        return event.name == operator and event.scope == FUNCTION

    def begin(
        self,
        name: str,
        scope: int,
        sequence_nr: int,
        forward_thread: int,
        inputs: Sequence[object],
        node: Node | type[Node] | None = None,
    ) -> Recorded:
        """Open an event; see `Observer.begin`."""
        parent = self._open[-1] if self._open else None
        event = Recorded(name, scope, sequence_nr, forward_thread, parent)
        if self._shapes:
            event.shapes = [_shape(argument) for argument in inputs]
        if self._memory:
            event.hold(inputs)
        if self._stack:
            event.stack = _users_frames()
        self.events.append(event)
        self._open.append(event)
        event.start = perf_counter_ns()
        return event

    def end(self, event: object, outputs: Sequence[object] = ()) -> None:
        """Close an event, and all open ones within it; see `Observer.end`."""
        now = perf_counter_ns()
        if not isinstance(event, Recorded) or event.end:
            return
        if self._memory and outputs:
            event.count(outputs)
        while self._open and not event.end:
            self._open.pop().close(now)

    def forget(self, event: object) -> None:
        """Take back the last event: its function had nothing to do."""
        self.end(event)
        if self.events[-1] is event:
            self.events.pop()

    def close(self) -> None:
        """Close all events."""
        now = perf_counter_ns()
        while self._open:
            self._open.pop().close(now)


def _shape(argument: object) -> list[int]:
    """The shape of a tensor, or of what states that of a gradient."""
    shape = getattr(argument, "shape", ())
    return list(shape) if isinstance(shape, tuple) else []


def _arrays(values: Sequence[object]) -> Iterator[Array]:
    """The arrays of tensors, gradients, and lists of them."""
    for value in values:
        if isinstance(value, TensorBase):
            yield value._impl.array
        elif isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _arrays(value)


def memory_of(array: Array) -> Array:
    """The array that owns the memory of a view."""
    base = array.base
    while isinstance(base, np.ndarray):
        array, base = base, base.base
    return array


def _part_size(inputs: Sequence[object]) -> int:
    """The bytes of the part that ``x[index] = value`` overwrites, for integers and slices."""
    target, index = inputs[0], inputs[1]
    parts = index if isinstance(index, tuple) else (index,)
    if not isinstance(target, TensorBase) or not all(
        part is ... or isinstance(part, (int, slice)) for part in parts
    ):
        return 0
    try:
        part: Array = target._impl.array[(*parts, ...) if ... not in parts else parts]  # pyright: ignore[reportCallIssue, reportArgumentType]  # integers, slices and ...
        return part.nbytes
    except (IndexError, TypeError, ValueError):  # the operator says what is wrong with the index
        return 0


def _users_frames() -> list[tuple[CodeType, int]]:
    """The frames outside this package, innermost first."""
    found: list[tuple[CodeType, int]] = []
    frame: FrameType | None = _getframe(1)
    while frame is not None:
        code = frame.f_code
        if not is_inside(code):
            found.append((code, frame.f_lineno or code.co_firstlineno))
        frame = frame.f_back
    return found
