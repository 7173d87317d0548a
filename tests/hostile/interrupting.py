"""Does something wherever Python would run the handler of a signal, one such place after another.

CPython looks for signals, and lets other threads take over, after calls, at the beginning of
functions and when a loop goes round. A trace sees each instruction, so it finds all these places,
one run after another. It shows a place one instruction late: where that one lies in another ``try``
an error would take another way than a handler's, so these places are left out.
"""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable, Mapping
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

import vtgrad as vt

if TYPE_CHECKING:
    from _typeshed import TraceFunction

__all__ = [
    "NEEDS_TRACE",
    "Interrupted",
    "Interrupter",
    "interrupted_everywhere",
    "raise_interrupt",
]

#: Compiled code does not say which instruction it is at, and the traces of Python 3.12 leave some
#: instructions out.
NEEDS_TRACE: Final = pytest.mark.skipif(
    vt.__compiled__ or sys.version_info >= (3, 12), reason="needs a trace of every instruction"
)

_LOOKS: Final = ("CALL", "JUMP_BACKWARD", "POP_JUMP_BACKWARD", "INSTRUMENTED_CALL")
_RESUMED: Final = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR


@functools.cache
def _looking(code: CodeType) -> frozenset[int]:
    """The offsets of the instructions after which Python looks for signals."""
    return frozenset(
        instruction.offset
        for instruction in dis.get_instructions(code)
        if instruction.opname.startswith(_LOOKS)
    )


@functools.cache
def _handlers(code: CodeType) -> tuple[tuple[int, int, int], ...]:
    """Where errors go: from which instruction on, up to which, and to which."""
    # The table's reader is not public, and has no public twin.
    return tuple((e.start, e.end, e.target) for e in dis._parse_exception_table(code))  # type: ignore[attr-defined]  # typeshed has no private names


@functools.cache
def _targets(code: CodeType) -> Mapping[int, int]:
    """Where an error in each instruction goes; -1 if out of the function."""
    return {
        instruction.offset: next(
            (to for start, end, to in _handlers(code) if start <= instruction.offset < end), -1
        )
        for instruction in dis.get_instructions(code)
    }


class Place(NamedTuple):
    """An instruction of a call, found again without a trace of those before."""

    #: In which function that is called or resumed, of all.
    call: int
    #: At which of the instructions after that, in this function.
    instruction: int
    code: CodeType
    offset: int


class Interrupter:
    """Calls `act` at the `at`-th place where Python looks for signals, in functions called inside.

    Attributes
    ----------
    places : list of Place
        Where it came by.
    """

    def __init__(self, at: int, act: Callable[[], object]) -> None:
        self.at = at
        self.act = act
        self.places: list[Place] = []
        self._calls = 0
        # CPython 3.11 calls traces without a reference of its own.
        self._kept: list[TraceFunction] = []
        self._suspended: dict[FrameType, _Steps] = {}

    @property
    def passed(self) -> int:
        """How many places there were."""
        return len(self.places)

    def __enter__(self) -> Interrupter:
        self._outside: TraceFunction | None = sys.gettrace()
        sys.settrace(self._begin)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        sys.settrace(self._outside)
        self._suspended.clear()
        self._kept.clear()

    def _begin(self, frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        code = frame.f_code
        # Not what the trace itself does on the way back to the test.
        if code in _OWN:
            return None
        self._calls += 1
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        steps = self._suspended.get(frame)
        if steps is None:
            steps = _Steps(self, code)
            self._kept.append(steps)
            if code.co_flags & _RESUMED:
                self._suspended[frame] = steps
        steps.call, steps.instruction = self._calls, 0
        return steps


class _Steps:
    """The trace of one frame: it is called for each instruction, so it looks nothing up."""

    def __init__(self, interrupter: Interrupter, code: CodeType) -> None:
        self.call = self.instruction = 0
        self._interrupter = interrupter
        self._code = code
        self._looking, self._targets = _looking(code), _targets(code)
        self._before: int | None = None

    def __call__(self, frame: FrameType, event: str, argument: object) -> TraceFunction:
        if event == "opcode":
            now, before, targets = frame.f_lasti, self._before, self._targets
            self.instruction += 1
            self._before = now
            if before is None or (before in self._looking and targets[before] == targets[now]):
                to = self._interrupter
                to.places.append(Place(self.call, self.instruction, self._code, now))
                if len(to.places) > to.at:
                    to.act()
                    sys.settrace(None)
        return self


class InterrupterAt:
    """Calls `act` at one place, which an `Interrupter` has found in such a call before.

    It only counts functions up to the one of the place: a trace of each instruction takes most of
    the time of a short call.

    Attributes
    ----------
    found : bool
        Whether the place was there again. A call that finds more in caches has other places.
    """

    def __init__(self, place: Place, act: Callable[[], object]) -> None:
        self.found = False
        self._place = place
        self._act = act
        self._left = place.call
        self._instructions = place.instruction
        # CPython 3.11 calls traces without a reference of its own.
        self._traces: tuple[TraceFunction, TraceFunction] = (self._begin, self._step)

    def __enter__(self) -> InterrupterAt:
        self._outside: TraceFunction | None = sys.gettrace()
        sys.settrace(self._traces[0])
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        sys.settrace(self._outside)

    def _begin(self, frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        self._left -= 1
        if self._left:
            return None
        if frame.f_code is not self._place.code:
            sys.settrace(None)
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._traces[1]

    def _step(self, frame: FrameType, event: str, argument: object) -> TraceFunction:
        if event == "opcode":
            self._instructions -= 1
            if not self._instructions:
                self.found = frame.f_lasti == self._place.offset
                if self.found:
                    self._act()
                sys.settrace(None)
        return self._traces[1]


_OWN: Final = (Interrupter.__exit__.__code__, InterrupterAt.__exit__.__code__)


class Interrupted(BaseException):
    """What a handler raises, as Python's own for Ctrl-C raises KeyboardInterrupt."""


def raise_interrupt() -> None:
    """What a handler does."""
    raise Interrupted


def interrupted_everywhere(
    prepare: Callable[[], Callable[[], object]],
    check: Callable[[bool], object],
    act: Callable[[], object] = raise_interrupt,
    step: int = 1,
) -> int:
    """Interrupt a call at one place after another until it comes to its end.

    Parameters
    ----------
    prepare : callable
        Makes the call, which must be new each time.
    check : callable
        Told after each call whether it came to its end.
    act : callable
        What to do at the place.
    step : int
        Only so many places further on again. The time grows with the square of the places.

    Returns
    -------
    int
        How many places there were.
    """
    at = 0
    places: list[Place] = []
    while True:
        if at >= len(places):
            # The first call, or the last, which tells whether there are more places by now.
            places = _traced(prepare, check, act, sys.maxsize).places
            if at >= len(places):
                return at
        interrupter = InterrupterAt(places[at], act)
        _run(prepare, check, interrupter)
        if not interrupter.found:
            # It finds more in caches, or less, than the call before. A trace of each instruction
            # comes to this place. What that leaves in caches is what the next calls find.
            _traced(prepare, check, act, at)
            places = _traced(prepare, check, act, sys.maxsize).places
        at += step


def _traced(
    prepare: Callable[[], Callable[[], object]],
    check: Callable[[bool], object],
    act: Callable[[], object],
    at: int,
) -> Interrupter:
    """Make the call once with a trace of each instruction."""
    interrupter = Interrupter(at, act)
    over = _run(prepare, check, interrupter)
    assert over or interrupter.passed > at
    return interrupter


def _run(
    prepare: Callable[[], Callable[[], object]],
    check: Callable[[bool], object],
    interrupter: Interrupter | InterrupterAt,
) -> bool:
    """Make the call once. Returns whether it came to its end."""
    call = prepare()
    over = False
    try:
        with interrupter:
            call()
        over = True
    except Interrupted:
        pass
    check(over)
    return over
