"""Options of checkpoints that hold for a block."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final, Self

from vtgrad.storage.scope import Scope

__all__ = ["set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "settings"]


_early_stop: Final[ContextVar[bool | None]] = ContextVar("early_stop", default=None)
_debug: Final[ContextVar[bool | None]] = ContextVar("debug", default=None)


class _Settings:
    """The options of one context, which a pass takes to the threads of lanes.

    None where a call of `checkpoint` decides.
    """

    __slots__ = ()

    @property
    def early_stop(self) -> bool | None:
        """Whether backward stops early."""
        return _early_stop.get()

    @early_stop.setter
    def early_stop(self, value: bool | None) -> None:
        _early_stop.set(value)

    @property
    def debug(self) -> bool | None:
        """Whether errors tell what was saved where."""
        return _debug.get()

    @debug.setter
    def debug(self, value: bool | None) -> None:
        _debug.set(value)


settings: Final = _Settings()


class set_checkpoint_early_stop(Scope):  # PyTorch's name
    """Choose for all calls of `checkpoint` in a block whether backward stops early.

    It counts for calls in the block, whatever their ``early_stop`` says. Around backward it does
    nothing.

    Parameters
    ----------
    enable : bool
        Whether a function that runs again is left as soon as all values are there that backward
        needs.

    Examples
    --------
    >>> def function(x):
    ...     y = x.sin()
    ...     print("at the end")
    ...     return y
    >>> x = vt.ones(2, requires_grad=True)
    >>> with vt.utils.checkpoint.set_checkpoint_early_stop(False):
    ...     y = vt.utils.checkpoint.checkpoint(function, x, use_reentrant=False)
    at the end
    >>> y.sum().backward()
    at the end
    """

    __slots__ = ("_before", "_enable", "_is_open")

    _enable: bool
    _before: bool | None
    _is_open: bool

    def __init__(self, enable: bool) -> None:
        super().__init__()
        self._enable = enable
        self._before = None
        self._is_open = False

    def __enter__(self) -> Self:
        self._before = settings.early_stop
        self._is_open = True
        settings.early_stop = self._enable
        return self

    def restore(self) -> None:
        """Restore the previous setting."""
        if self._is_open:
            settings.early_stop = self._before


class set_checkpoint_debug_enabled(Scope):  # PyTorch's name
    """Choose for all calls of `checkpoint` in a block whether errors tell what was saved where.

    Parameters
    ----------
    enabled : bool or None
        True or False, whatever the calls say; None for what they say.

    Examples
    --------
    >>> x, calls = vt.ones(2, requires_grad=True), []
    >>> def function(x):
    ...     calls.append(x)
    ...     return x.sin() if len(calls) == 1 else (x * 2).sin()
    >>> with vt.utils.checkpoint.set_checkpoint_debug_enabled(True):
    ...     y = vt.utils.checkpoint.checkpoint(function, x, use_reentrant=False)
    >>> y.sum().backward()
    Traceback (most recent call last):
    ...
    vtgrad.errors.CheckpointError: ...saved at first:...
    """

    __slots__ = ("_before", "_enabled", "_is_open")

    _enabled: bool | None
    _before: bool | None
    _is_open: bool

    def __init__(self, enabled: bool | None) -> None:
        super().__init__()
        self._enabled = enabled
        self._before = None
        self._is_open = False

    def __enter__(self) -> Self:
        self._before = settings.debug
        self._is_open = True
        settings.debug = self._enabled
        return self

    def restore(self) -> None:
        """Restore the previous setting."""
        if self._is_open:
            settings.debug = self._before
