"""The switch for worker threads of the engine."""

from __future__ import annotations

from vtgrad.engine.current_graph_task import running
from vtgrad.errors import ArgumentTypeError
from vtgrad.storage.scope import Scope

__all__ = ["is_multithreading_enabled", "set_multithreading_enabled"]


class set_multithreading_enabled(Scope):  # PyTorch's name
    """Allow or forbid worker threads to backward, permanently or for a ``with`` block.

    The setting belongs to the thread that calls, and counts for the backwards that it calls. It has
    no effect on results. If it is off, nodes of lanes run on the thread that called backward, as
    all others do.

    Parameters
    ----------
    mode : bool
        Whether the engine may use threads of its own.

    Raises
    ------
    ArgumentTypeError
        If `mode` is not a bool.

    Examples
    --------
    >>> with vt.autograd.set_multithreading_enabled(False):
    ...     vt.autograd.is_multithreading_enabled()
    False
    >>> vt.autograd.is_multithreading_enabled()
    True
    """

    __slots__ = ("_before", "mode")

    _before: bool
    mode: bool

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise ArgumentTypeError(
                f"argument 'mode' must be bool, not {type(mode).__name__}", argument="mode"
            )
        super().__init__()
        self.mode = mode
        self._before = running.multithreading
        running.multithreading = mode

    def restore(self) -> None:
        """Restore the former setting."""
        running.multithreading = self._before


def is_multithreading_enabled() -> bool:
    """Whether the engine may use threads of its own for a backward of this thread.

    Returns
    -------
    bool
        What `set_multithreading_enabled` has set; True at first.

    Examples
    --------
    >>> vt.autograd.is_multithreading_enabled()
    True
    """
    return running.multithreading
