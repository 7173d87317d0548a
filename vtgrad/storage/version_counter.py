"""The counter by which a saved value learns that it was overwritten."""

from __future__ import annotations

__all__ = ["VersionCounter"]


class VersionCounter:
    """How often a buffer was written; one object for a tensor and all its aliases.

    Attributes
    ----------
    value : int
        Number of writes so far. Only the write funnel and ``x.data`` assignment change it.
    """

    __slots__ = ("value",)

    value: int

    def __init__(self, value: int = 0) -> None:
        self.value = value
