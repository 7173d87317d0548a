"""The lines of the program that make the nodes of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..storage.recent_writes import CallSite
from ..storage.record_write import OUTERMOST, caller

if TYPE_CHECKING:
    from .node import Node

__all__ = ["anomaly", "made_at", "remember"]

_KEY: Final = "made_at"


class Anomaly:
    """Whether anomaly mode is on, for all threads.

    Attributes
    ----------
    enabled : bool
        Whether new nodes record the line that made them.
    """

    __slots__ = ("enabled",)

    enabled: bool

    def __init__(self) -> None:
        self.enabled = False


anomaly: Final = Anomaly()


def remember(node: Node) -> None:
    """Record the line of the user's program that makes a node."""
    node.metadata[_KEY] = CallSite.of(caller(OUTERMOST))


def made_at(node: Node) -> CallSite | None:
    """The line that made a node; None if it was not recorded."""
    notes = node._metadata
    call_site = None if notes is None else notes.get(_KEY)
    return call_site if isinstance(call_site, CallSite) else None
