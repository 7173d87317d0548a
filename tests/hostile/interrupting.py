"""Does something wherever Python would run the handler of a signal, one such place after another.

CPython looks for signals, and lets other threads take over, after calls, at the beginning of
functions and when a loop goes round. A trace sees each instruction, so it finds all these places,
one run after another. It shows a place one instruction late: where that one lies in another ``try``
an error would take another way than a handler's, so these places are left out.
"""

from __future__ import annotations

import dis
import functools
import linecache
import sys
from collections.abc import Callable, Mapping
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType, FrameType, FunctionType, TracebackType
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

    #: How many functions were called or resumed before it.
    calls: int
    #: How many instructions were run after the last of these began.
    instructions: int
    code: CodeType
    offset: int


class Interrupter:
    """Calls `act` at the `at`-th place where Python looks for signals, in functions called inside.

    Places after another are counted from there. Up to the function that was called last before
    that one it only counts functions: a trace of each instruction takes most of the time of a
    short call.

    Attributes
    ----------
    passed : int
        How many places there were.
    place : Place or None
        The last of them.
    found : bool
        Whether the place after which they are counted was there again. A call that finds more in
        caches has other places; it is interrupted at the next one, so that it does not fill all
        caches uninterrupted.
    """

    def __init__(self, at: int, act: Callable[[], object], after: Place | None = None) -> None:
        self.at = at
        self.act = act
        self.passed = 0
        self.place: Place | None = None
        self.found = after is None
        self._after = after
        self._searches = after is not None
        self._calls = self._instructions = 0
        # CPython 3.11 calls traces without a reference of its own.
        self._begins: TraceFunction = self._begin
        self._kept: list[_Steps] = []
        self._suspended: dict[FrameType, _Steps] = {}

    def __enter__(self) -> Interrupter:
        self._outside: TraceFunction | None = sys.gettrace()
        self._caller = sys._getframe(1)
        sys.settrace(self._begins)
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
        del self._caller

    def _begin(self, frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        code = frame.f_code
        # Not what the trace itself does on the way back to the test.
        if code is _OWN or _imports(code):
            return None
        self._calls += 1
        self._instructions = 0
        begun = self._suspended.get(frame)
        if code.co_flags & _RESUMED and begun is None:
            self._suspended[frame] = begun = self._steps(frame, None)
        elif begun is not None and begun.before is None:
            # It began while functions were only counted.
            begun.before = -1
        if self._after is not None and self._searches:
            if self._calls < self._after.calls:
                return None
            if self._calls == self._after.calls:
                self._look_into_callers(frame)
            else:
                self._searches = False
        _see_instructions(frame)
        return begun or self._steps(frame, None)

    def _steps(self, frame: FrameType, before: int | None) -> _Steps:
        steps = _Steps(self, frame.f_code, before)
        self._kept.append(steps)
        return steps

    def _look_into_callers(self, frame: FrameType) -> None:
        """Trace the functions from which one was called; they go on when it returns."""
        caller = frame.f_back
        while caller is not None and caller is not self._caller:
            if _imports(caller.f_code):
                caller = caller.f_back
                continue
            _see_instructions(caller)
            at, instructions = caller.f_lasti, _targets(caller.f_code)
            while at not in instructions:
                at -= 2  # It is an entry of the cache that is behind the call.
            caller.f_trace = self._steps(caller, at)
            caller = caller.f_back

    def pass_by(self, code: CodeType, offset: int, *, looks: bool) -> None:
        """Count an instruction, and act if it is the place."""
        self._instructions += 1
        after = self._after
        if after is not None and self._searches:
            if self._instructions == after.instructions:
                self._searches = False
                self.found = (code, offset) == (after.code, after.offset)
        elif looks:
            self.passed += 1
            self.place = Place(self._calls, self._instructions, code, offset)
            if self.passed > self.at or not self.found:
                self.act()
                sys.settrace(None)


def _imports(code: CodeType) -> bool:
    """Whether this is Python's own import system, which keeps its lock if it is interrupted."""
    return code.co_filename.startswith("<frozen importlib.")


def _see_instructions(frame: FrameType) -> None:
    frame.f_trace_opcodes = True
    frame.f_trace_lines = False


class _Steps:
    """The trace of one frame: it is called for each instruction, so it looks nothing up."""

    def __init__(self, interrupter: Interrupter, code: CodeType, before: int | None) -> None:
        self._interrupter = interrupter
        self._code = code
        self._looking, self._targets = _looking(code), _targets(code)
        self.before = before

    def __call__(self, frame: FrameType, event: str, argument: object) -> TraceFunction:
        if event == "opcode":
            now, before, targets = frame.f_lasti, self.before, self._targets
            self.before = now
            looks = before is None or (before in self._looking and targets[before] == targets[now])
            self._interrupter.pass_by(self._code, now, looks=looks)
        return self


_OWN: Final = Interrupter.__exit__.__code__


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
    start: int = 0,
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
    start : int
        How many places to leave out before the first.

    Returns
    -------
    int
        How many places there were.
    """
    # Python leaves a file open if it is interrupted as it reads the lines that a message names.
    if isinstance(prepare, FunctionType):
        linecache.getlines(prepare.__code__.co_filename)
    at = start
    interrupter = Interrupter(start, act)
    while True:
        over = _run(prepare, check, interrupter)
        if not interrupter.found:
            # The call before has left more in caches, or less: this one had other places.
            interrupter = Interrupter(at, act)
            over = _run(prepare, check, interrupter)
        if interrupter.place is None or interrupter.passed <= interrupter.at:
            assert over
            return at
        at += step
        interrupter = Interrupter(step - 1, act, interrupter.place)


def _run(
    prepare: Callable[[], Callable[[], object]],
    check: Callable[[bool], object],
    interrupter: Interrupter,
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
