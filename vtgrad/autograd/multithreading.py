"""The switch for worker threads of the engine."""

from __future__ import annotations

import threading

from ..errors import ArgumentTypeError
from ..storage.scope import Scope

__all__ = ["is_multithreading_enabled", "set_multithreading_enabled"]


class _Setting(threading.local):
    enabled: bool = True


_setting = _Setting()


class set_multithreading_enabled(Scope):  # PyTorch's name
    """Allow or forbid worker threads to backward, permanently or for a ``with`` block.

    The setting belongs to the thread that calls. It has no effect on results or speed: the engine
    runs all nodes on the thread that called backward. It exists so that programs for PyTorch run.

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
        self._before = _setting.enabled
        _setting.enabled = mode

    def restore(self) -> None:
        """Restore the former setting."""
        _setting.enabled = self._before


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
    return _setting.enabled
