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
from typing import TYPE_CHECKING, Final

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


class Interrupter:
    """Calls `act` at the `at`-th place where Python looks for signals, in functions called inside.

    Attributes
    ----------
    passed : int
        How many places there were.
    """

    def __init__(self, at: int, act: Callable[[], object]) -> None:
        self.at = at
        self.act = act
        self.passed = 0
        self._suspended: dict[FrameType, TraceFunction] = {}

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

    def _begin(self, frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        code = frame.f_code
        # Not what the trace itself does on the way back to the test.
        if code is _OWN:
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        if not code.co_flags & _RESUMED:
            return self._steps_of(code)
        if frame not in self._suspended:
            self._suspended[frame] = self._steps_of(code)
        return self._suspended[frame]

    def _steps_of(self, code: CodeType) -> TraceFunction:
        """The trace of one frame: it is called for each instruction, so it looks nothing up."""
        looking, targets = _looking(code), _targets(code)
        before: int | None = None

        def step(frame: FrameType, event: str, argument: object) -> TraceFunction:
            nonlocal before
            if event == "opcode":
                now = frame.f_lasti
                if before is None or (before in looking and targets[before] == targets[now]):
                    self.passed += 1
                    if self.passed > self.at:
                        self.act()
                        sys.settrace(None)
                before = now
            return step

        return step


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
    while True:
        call = prepare()
        over = False
        interrupter = Interrupter(at, act)
        try:
            with interrupter:
                call()
            over = True
        except Interrupted:
            pass
        check(over)
        if interrupter.passed <= at:
            assert over
            return at
        at += step
