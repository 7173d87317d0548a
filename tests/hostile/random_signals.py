"""Sends one call a signal at a random place: from a timer, from a profile or from a trace.

A timer finds places that no instrument shows, inside of compiled code too. A profile and a trace
find the short ones as often as the long ones.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Final

import vtgrad as vt
from tests.hostile.interrupting import Interrupter

__all__ = ["INTERRUPTS", "Handler", "Lengths", "Place", "RAISING", "Raised", "Shot", "measured"]

#: What a handler does, with the frame that was interrupted.
Handler = Callable[[FrameType | None], None]

#: Where a signal found the program: innermost first.
Place = tuple[tuple[CodeType, int], ...]

#: Whether every instruction can be seen; see `NEEDS_TRACE`.
_TRACES: Final = not vt.__compiled__ and sys.version_info < (3, 12)

_FAR: Final = sys.maxsize
_PACKAGE: Final = str(Path(vt.__file__).parent)


class Raised(BaseException):
    """What no part of the library can expect."""


#: Names of handlers that raise, and what. Several are of classes that the library itself catches.
RAISING: Final[dict[str, type[BaseException]]] = {
    "Ctrl-C": KeyboardInterrupt,
    "alarm": TimeoutError,
    "BaseException": Raised,
    "RuntimeError": RuntimeError,
    "IndexError": IndexError,
    "TypeError": TypeError,
    "AttributeError": AttributeError,
}

#: All that may interrupt: the other handlers use the library and return.
INTERRUPTS: Final = (*RAISING, "writes", "saves", "saves, then writes", "writes, then saves")


class _Profile:
    """Acts where a profile sees that a function begins or that one of C is over.

    Python looks for signals at both. It does not look before it calls a function of C, which a
    profile sees too.
    """

    def __init__(self, at: int, act: Callable[[], object]) -> None:
        self.at = at
        self.act = act
        self.passed = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event in ("call", "c_return"):
            self.passed += 1
            if self.passed == self.at + 1:
                self.act()


class Lengths:
    """How long a call is.

    Attributes
    ----------
    seconds : float
        The time that it takes.
    profiled, traced : int
        How many places a profile and a trace see in it.
    """

    def __init__(self, seconds: float, profiled: int, traced: int) -> None:
        self.seconds = seconds
        self.profiled = profiled
        self.traced = traced


def measured(prepare: Callable[[], Callable[[], object]]) -> Lengths:
    """The lengths of what `prepare` makes, each time anew."""
    times = []
    for _ in range(3):
        call = prepare()
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    profile = _Profile(_FAR, tuple)
    call = prepare()
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    traced = 0
    if _TRACES:
        call = prepare()
        with Interrupter(_FAR, tuple) as trace:
            call()
        traced = trace.passed
    return Lengths(min(times), profile.passed, traced)


class Shot:
    """One call that is interrupted once, or, by a handler that returns, a few times.

    Attributes
    ----------
    over : bool
        Whether the call came to its end.
    places : list of Place
        Where each signal found it; empty if none came in time.
    error : BaseException or None
        What came out of the call.
    """

    def __init__(self, random: Random, lengths: Lengths, interrupt: str, handler: Handler) -> None:
        self.over = False
        self.places: list[Place] = []
        self.error: BaseException | None = None
        self._interrupt = interrupt
        self._handler = handler
        self._number = signal.SIGALRM if interrupt != "Ctrl-C" else signal.SIGINT
        self.way = random.choice(("timer", "timer", "profile", "trace" if _TRACES else "timer"))
        self._delay = random.uniform(1e-6, 1.2 * lengths.seconds + 2e-5)
        self._pause = random.uniform(1e-6, lengths.seconds)
        # A handler that returns may come again.
        self._left = random.choice((0, 0, 2)) if self.way == "timer" else 0
        places = lengths.profiled if self.way == "profile" else lengths.traced
        self._at = random.randrange(max(places, 1))

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        """The handler of the alarm."""
        self.places.append(_place_of(frame))
        if self._interrupt == "Ctrl-C":
            # The handler is Python's own. It raises from here, as it would from there.
            signal.raise_signal(signal.SIGINT)
        elif self._interrupt in RAISING:
            raise RAISING[self._interrupt]("from the handler of a signal")
        else:
            self._handler(frame)
            if self._left:
                self._left -= 1
                signal.setitimer(signal.ITIMER_REAL, self._pause)

    def fire(self, call: Callable[[], object], at_once: Callable[[], None]) -> None:
        """Make the call.

        Parameters
        ----------
        call : callable
            What to interrupt.
        at_once : callable
            Called in the ``except`` clause that catches the interrupt.
        """
        alarms = signal.signal(signal.SIGALRM, self._arrived)
        interrupts = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            try:
                if self.way == "timer":
                    self._with_timer(call)
                elif self.way == "profile":
                    self._with_profile(call)
                else:
                    with Interrupter(self._at, self._raise_signal):
                        call()
                        self.over = True
            except BaseException as error:
                at_once()
                # The frames go with it, and what they hold.
                self.error = error.with_traceback(None)
        finally:
            # A handler may have set the timer once more when it was stopped.
            self._left = 0
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, alarms)
            signal.signal(signal.SIGINT, interrupts)

    def _raise_signal(self) -> None:
        signal.raise_signal(signal.SIGALRM)

    def _with_timer(self, call: Callable[[], object]) -> None:
        try:
            signal.setitimer(signal.ITIMER_REAL, self._delay)
            call()
            self.over = True
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _with_profile(self, call: Callable[[], object]) -> None:
        try:
            sys.setprofile(_Profile(self._at, self._raise_signal))
            call()
            self.over = True
        finally:
            sys.setprofile(None)


def _place_of(frame: FrameType | None) -> Place:
    """The innermost frames of the library, with their lines."""
    place: list[tuple[CodeType, int]] = []
    while frame is not None and len(place) < 6:
        if frame.f_code.co_filename.startswith(_PACKAGE):
            place.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(place)
