"""What the first run of a loop notes of each step, in a few bytes."""

from __future__ import annotations

from array import array

__all__ = ["StepLog"]


class StepLog:
    """The sum of each step (`Digests`), and which tensors of each state need a gradient."""

    __slots__ = ("_digests", "_kinds", "_needed")

    _digests: array[int]
    # For each state the index of its flags.
    _needed: array[int]
    _kinds: dict[tuple[bool, ...], int]

    def __init__(self, needed: tuple[bool, ...]) -> None:
        """Start with the flags of the state before the first step."""
        self._digests = array("I")
        self._needed = array("I", [0])
        self._kinds = {needed: 0}

    def add(self, digest: int, needed: tuple[bool, ...]) -> None:
        """Add a step: its sum, and the flags of the state after it."""
        self._digests.append(digest)
        self._needed.append(self._kinds.setdefault(needed, len(self._kinds)))

    def digest(self, step: int) -> int:
        """The sum of a step."""
        return self._digests[step]

    def needed(self, step: int) -> tuple[bool, ...]:
        """Which tensors of the state before a step need a gradient."""
        return list(self._kinds)[self._needed[step]]
