# Compiled by mypyc.
"""The lines of the program that make the nodes of the graph.

Note [Anomaly mode]

While the mode is on, every new node records in its `metadata`, in its construction, where it was
made:

- ``made_at``: the user's line, as a `CallSite`; what errors about saved values and writes name.
- ``traceback_``: the user's stack as strings, outermost frame first, as tracebacks print it. Frames
  of this package are left out.
- ``parent_``: the node that was running on the thread when this one was made. A node that is made
  in a recorded backward, or by the backward of a custom Function, has one; its own lines say only
  which call ran backward, the parent's lines say what was differentiated.

The stack is stored as text: frames would keep the variables of the program alive. A parent existed
before its children and has no reference to them, so `parent_` closes no cycle.
"""

from __future__ import annotations

import linecache
from itertools import groupby
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Final

from vtgrad.graph.thread_local_state import this_thread
from vtgrad.storage.recent_writes import CallSite
from vtgrad.storage.record_write import OUTERMOST, caller, is_inside

if TYPE_CHECKING:
    from vtgrad.graph.node import Node

__all__ = ["anomaly", "made_at", "parent_of", "remember", "traceback_of"]

_MADE_AT: Final = "made_at"
_TRACEBACK: Final = "traceback_"
_PARENT: Final = "parent_"
# How often a traceback shows a line that a recursion repeats.
_SHOWN: Final = 3


class Anomaly:
    """Whether anomaly mode is on, for all threads.

    Attributes
    ----------
    enabled : bool
        Whether new nodes record where they are made, and backward explains its errors.
    check_nan : bool
        Whether backward, if `enabled`, raises where a node makes a NaN.
    """

    __slots__ = ("check_nan", "enabled")

    enabled: bool
    check_nan: bool

    def __init__(self) -> None:
        self.enabled = False
        self.check_nan = True


anomaly: Final = Anomaly()


def remember(node: Node) -> None:
    """Record where a node is made; see Note [Anomaly mode]."""
    node.metadata[_MADE_AT] = CallSite.of(caller(OUTERMOST))
    store_stack(node)
    assign_parent(node)


def store_stack(node: Node) -> None:
    """Record the user's stack."""
    frame: FrameType | None = _getframe()
    places: list[tuple[str, int, str]] = []
    while frame is not None:
        code = frame.f_code
        if not is_inside(code):
            linecache.lazycache(code.co_filename, frame.f_globals)
            places.append((code.co_filename, frame.f_lineno or code.co_firstlineno, code.co_name))
        frame = frame.f_back
    places.reverse()
    node.metadata[_TRACEBACK] = _as_traceback(places)


def _as_traceback(places: list[tuple[str, int, str]]) -> list[str]:
    """Files, lines and functions as Python's tracebacks show them, which a recursion repeats.

    The module `traceback` does the same for the price of half a millisecond at import, and looks at
    the date of every file for every node.
    """
    entries: list[str] = []
    for (filename, lineno, function), repeated in groupby(places):
        entry = f'  File "{filename}", line {lineno}, in {function}\n'
        source = linecache.getline(filename, lineno).strip()
        if source:
            entry += f"    {source}\n"
        count = len(list(repeated))
        entries.extend([entry] * min(count, _SHOWN))
        if count > _SHOWN:
            more = count - _SHOWN
            times = "time" if more == 1 else "times"
            entries.append(f"  [Previous line repeated {more} more {times}]\n")
    return entries


def assign_parent(node: Node) -> None:
    """Record the node that is running on this thread, if there is one."""
    parent = this_thread.running_node
    if parent is not None:
        node.metadata[_PARENT] = parent


def _notes_of(node: Node) -> dict[str, object] | None:
    """The node's `metadata`, if it was asked for."""
    notes: dict[str, object] | None = getattr(node, "_metadata", None)
    return notes


def made_at(node: Node) -> CallSite | None:
    """The line that made a node; None if it was not recorded."""
    notes = _notes_of(node)
    call_site = None if notes is None else notes.get(_MADE_AT)
    return call_site if isinstance(call_site, CallSite) else None


def traceback_of(node: Node) -> str | None:
    """The stack that made a node, as text; None if it was not recorded."""
    notes = _notes_of(node)
    lines = None if notes is None else notes.get(_TRACEBACK)
    return "".join(map(str, lines)) if isinstance(lines, list) else None


def parent_of(node: Node) -> object:
    """The node that was running when a node was made; None if there was none."""
    notes = _notes_of(node)
    return None if notes is None else notes.get(_PARENT)
