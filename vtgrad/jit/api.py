"""`trace` and `replay`: functions that are recorded once, and then replayed.

Note [Recorded anew]

`replay` keeps up to `LIMIT` recordings, and takes the first whose guards hold. If those of none do,
the call runs the function itself, which is then recorded for such calls, too. A function that needs
more recordings than that does not repeat itself: there is one warning, with the line at which a
value left the last recording, and the function runs itself from then on.

Note [Compared with the function]

The first calls of a recording run both ways: the replay up to its commit, then the function, which
makes the changes. If they differ in one bit of a result, of memory, of a version or of a ``.grad``,
something went into the recording that no guard sees, as a number of a closure or of NumPy's random
generators. Then there is a warning, and the function runs itself from then on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, ParamSpec, TypeVar, cast

from vtgrad.errors import RecordingError, ReplayGuardError
from vtgrad.jit.call import Call, Outcome
from vtgrad.jit.compare import differs
from vtgrad.jit.entry import Mismatch, obstacle, refusal
from vtgrad.jit.record_call import record_call
from vtgrad.jit.state import thread as recording
from vtgrad.jit.structure import Structure, leaves_of
from vtgrad.storage.warn import warn

__all__ = ["LIMIT", "Replayed", "Traced", "replay", "trace"]

P = ParamSpec("P")
R = TypeVar("R")

# How many recordings of one function there are, and how many calls of each run both ways.
LIMIT: Final = 8
_COMPARED: Final = 2


class Traced(Generic[P, R]):
    """A function that `trace` has recorded; a call replays it."""

    def __init__(self, function: Callable[P, R], call: Call, structure: Structure) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._call = call
        self._structure = structure

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if recording.records_calls:
            return self._function(*args, **kwargs)
        found = obstacle()
        if found is not None:
            raise ReplayGuardError(
                f"{_name(self._function)} cannot be replayed while {found}", guard=found
            )
        leaves, structure = leaves_of(args, kwargs)
        if structure != self._structure:
            raise _guard_error(self._function, Mismatch("the arguments are nested otherwise"))
        call = self._call
        turn = call.begin()
        if turn is None:
            return self._function(*args, **kwargs)
        try:
            outcome = call.run(leaves)
            if isinstance(outcome, Mismatch):
                raise _guard_error(self._function, outcome)
            if not call.commit(outcome):
                raise _guard_error(self._function, Mismatch(_CHANGED))
            return cast("R", call.result(outcome, leaves))
        finally:
            call.end()


_CHANGED: Final = "another thread has changed what the program writes while it ran"


class Replayed(Generic[P, R]):
    """A function that `replay` records and replays."""

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        # The newest first, each with the structure of its arguments.
        self._calls: list[tuple[Structure, Call]] = []
        # How often each was compared with the function.
        self._compared: dict[Call, int] = {}
        self._recordings = 0
        self._gave_up = False

    @property
    def recordings(self) -> int:
        """How often the function was recorded.

        Returns
        -------
        int
            0 before the first call.
        """
        return self._recordings

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if self._gave_up or recording.records_calls or obstacle() is not None:
            return self._function(*args, **kwargs)
        leaves, structure = leaves_of(args, kwargs)
        reason = Mismatch("it was not recorded yet")
        for known, call in self._calls:
            if known != structure:
                reason = Mismatch("the arguments are nested otherwise")
                continue
            turn = call.begin()
            if turn is None:
                return self._function(*args, **kwargs)
            try:
                outcome = call.run(leaves)
                if not isinstance(outcome, Mismatch):
                    return self._finish(call, outcome, leaves, args, kwargs)
                reason = outcome
            finally:
                call.end()
        return self._record(structure, reason, leaves, args, kwargs)

    def _finish(
        self,
        call: Call,
        outcome: Outcome,
        leaves: Sequence[object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> R:
        """Commit a run, or compare it with the function."""
        function = cast("Callable[..., R]", self._function)
        compared = self._compared.get(call, _COMPARED)
        if compared < _COMPARED:
            self._compared[call] = compared + 1
            return self._compare(call, outcome, leaves, args, kwargs)
        if not call.commit(outcome):
            call.undo_draws(outcome)
            return function(*args, **kwargs)
        return cast("R", call.result(outcome, leaves))

    def _compare(
        self,
        call: Call,
        outcome: Outcome,
        leaves: Sequence[object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> R:
        """Run the function after a replay that is not committed; see the note above."""
        call.undo_draws(outcome)
        result = cast("Callable[..., R]", self._function)(*args, **kwargs)
        found = differs(call, outcome, leaves, result)
        if found is not None:
            self._give_up(
                f"{found} when {_name(self._function)} runs and when it is replayed: something "
                "goes into it that no guard sees, such as a number of a closure"
            )
        return result

    def _record(
        self,
        structure: Structure,
        reason: Mismatch,
        leaves: Sequence[object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> R:
        """Record the function for calls such as this one, and run it."""
        function = cast("Callable[..., R]", self._function)
        if self._recordings >= LIMIT:
            self._give_up(
                f"{_name(function)} was recorded {LIMIT} times, and the recordings do not fit this "
                f"call: {reason}"
            )
            return function(*args, **kwargs)
        check_arguments(function, leaves)
        call = record_call(function, args, kwargs, leaves)
        self._recordings += 1
        self._compared[call] = 0
        self._calls.insert(0, (structure, call))
        return function(*args, **kwargs)

    def _give_up(self, text: str) -> None:
        self._gave_up = True
        self._calls.clear()
        self._compared.clear()
        warn(f"{text}. It is not replayed any more")


def trace(function: Callable[P, R], *examples: P.args, **named: P.kwargs) -> Traced[P, R]:
    """Record a function once; calls of the result replay what NumPy was asked to do."""
    if recording.records_calls:
        raise RecordingError("trace was called while another function is being recorded")
    leaves, structure = leaves_of(examples, named)
    check_arguments(function, leaves)
    found = obstacle()
    if found is not None:
        raise RecordingError(f"{_name(function)} cannot be recorded while {found}")
    return Traced(function, record_call(function, examples, named, leaves), structure)


def replay(function: Callable[P, R]) -> Replayed[P, R]:
    """Record a function at its first call, and replay it in later calls."""
    return Replayed(function)


def check_arguments(function: Callable[..., object], leaves: Sequence[object]) -> None:
    """Refuse arguments that no recording can have.

    Raises
    ------
    RecordingError
        For the first one.
    """
    for number, leaf in enumerate(leaves, 1):
        found = refusal(leaf)
        if found is not None:
            raise RecordingError(f"argument {number} of {_name(function)} {found}")


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _guard_error(function: Callable[..., object], found: Mismatch) -> ReplayGuardError:
    return ReplayGuardError(
        f"this call of {_name(function)} is not as the recorded one: {found}",
        guard=found.reason,
        line=found.line,
    )
