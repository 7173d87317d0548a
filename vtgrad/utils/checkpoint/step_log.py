"""What the first run of a loop notes of each step, in a few bytes."""

from __future__ import annotations

from array import array
from bisect import bisect_right

__all__ = ["StepLog"]


class StepLog:
    """The sum of each step (`Digests`), and which tensors of each state need a gradient."""

    __slots__ = ("_changes", "_digests", "_needed")

    _digests: array[int]
    # The states from which on other tensors need a gradient, and which.
    _changes: list[int]
    _needed: list[tuple[bool, ...]]

    def __init__(self, needed: tuple[bool, ...]) -> None:
        """Start with the flags of the state before the first step."""
        self._digests = array("I")
        self._changes = [0]
        self._needed = [needed]

    def add(self, digest: int, needed: tuple[bool, ...]) -> None:
        """Add a step: its sum, and the flags of the state after it."""
        self._digests.append(digest)
        if needed != self._needed[-1]:
            self._changes.append(len(self._digests))
            self._needed.append(needed)

    def digest(self, step: int) -> int:
        """The sum of a step."""
        return self._digests[step]

    def needed(self, step: int) -> tuple[bool, ...]:
        """Which tensors of the state before a step need a gradient."""
        return self._needed[bisect_right(self._changes, step) - 1]
