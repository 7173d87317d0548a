"""A function of vectors that is replayed where it can be.

Note [Recorded where it can be]

A search calls the same function hundreds of times. So it is recorded at the first call, and later
calls replay it. What cannot be recorded runs as it is: a function that asks for what recordings
refuse, one that is not the same when it is replayed, and one whose branches go by values so often
that `_MOST` recordings do not fit. The reason stands in `Evaluation.reason`, and there is no
warning, because nothing was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, Literal, ParamSpec, TypeAlias, TypeVar, cast

from vtgrad.errors import ArgumentValueError, RecordingError
from vtgrad.jit.api import Replayed
from vtgrad.jit.entry import Mismatch, obstacle
from vtgrad.jit.structure import Structure

__all__ = ["Evaluation", "Record", "check_record"]

P = ParamSpec("P")
R = TypeVar("R")

Record: TypeAlias = Literal["auto"] | bool
_MOST: Final = 4


def check_record(record: object) -> None:
    """Raise unless an option is ``"auto"``, True or False.

    Raises
    ------
    ArgumentValueError
        If it is something else.
    """
    if record not in ("auto", True, False):
        raise ArgumentValueError(
            f'record must be "auto", True or False, not {record!r}', argument="record"
        )


class _Quiet(Replayed[P, R]):
    """A replayed function that says why it gave up, in place of a warning.

    Attributes
    ----------
    reason : str or None
        The reason.
    """

    reason: str | None = None

    def _record(
        self,
        structure: Structure,
        reason: Mismatch,
        leaves: Sequence[object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> R:
        if self._recordings < _MOST:
            return super()._record(structure, reason, leaves, args, kwargs)
        self._give_up(f"it was recorded {_MOST} times, which do not fit a later call: {reason}")
        return cast("Callable[..., R]", self._function)(*args, **kwargs)

    def _give_up(self, text: str) -> None:
        self.reason = text
        self._gave_up = True
        self._traces = ()
        self._compared.clear()


class Evaluation(Generic[R]):
    """Calls a function of vectors, by replays where that can be.

    Parameters
    ----------
    function : callable
        Returns tensors that are in no graph.
    record : "auto" or bool
        False for calls as they are; True if an error says what cannot be recorded.
    reason : str
        Why calls are as they are, for False.

    Attributes
    ----------
    calls : int
        How often it was called.
    """

    calls: int

    def __init__(
        self, function: Callable[..., R], record: Record, reason: str = "record=False"
    ) -> None:
        self._function = function
        self._must = record is True
        self._replayed: _Quiet[..., R] | None = None if record is False else _Quiet(function)
        self._reason = reason if record is False else None
        self.calls = 0

    @property
    def reason(self) -> str | None:
        """Why calls are not replayed; None if they are."""
        if self._replayed is None:
            return self._reason
        if self._replayed.reason is not None or self._replayed.recordings:
            return self._replayed.reason
        return obstacle() or "it was not called, or another thread was recording"

    def __call__(self, *arguments: object) -> R:
        """The results for tensors in containers, which the function does not keep."""
        self.calls += 1
        if self._replayed is None:
            return self._function(*arguments)
        try:
            found = self._replayed(*arguments)
        except RecordingError as error:
            if self._must:
                raise
            self._reason = str(error)
            self._replayed = None
            return self._function(*arguments)
        if self._must and self._replayed.reason is not None:
            raise RecordingError(
                f"record=True, and the function is not replayed: {self._replayed.reason}",
                reason="replay",
                library=None,
                line=None,
            )
        return found
