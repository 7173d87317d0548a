"""Giving the interpreter its turn in long loops. This file is never compiled.

NOTE [ Interrupts in long loops ]

Python runs the handlers of signals, the one that raises KeyboardInterrupt among them, when the
interpreter begins a function or goes round a loop. Compiled code does neither: a million nodes
that call no Python function would run to their end first. So the loops over nodes call the
function below now and then, and whatever a handler raises comes out of that call. Interpreted
loops do the same, to no effect.
"""

from __future__ import annotations

from typing import Final

__all__ = ["NODES_BETWEEN_LOOKS", "look_for_signals"]

# Some tens of microseconds.
NODES_BETWEEN_LOOKS: Final = 64


def look_for_signals() -> None:
    """Let the handlers of signals that have arrived run."""
