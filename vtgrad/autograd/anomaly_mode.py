"""The public switches of anomaly mode; its records are in `vtgrad.graph.anomaly`."""

from __future__ import annotations

from typing import Self

from ..errors import NotSupportedError
from ..graph.anomaly import anomaly
from ..storage.scope import Scope

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class set_detect_anomaly(Scope):  # PyTorch's name
    """Switch anomaly mode on or off, permanently or for a ``with`` block.

    While it is on, every node of the graph records the line that made it
    (``node.metadata["made_at"]``), and the error about an overwritten value names the line that
    saved it. Operators take several times as long.

    Parameters
    ----------
    mode : bool
        Whether the mode is on, in all threads.
    check_nan : bool, default True
        Whether backward looks for NaN. Not supported yet: pass False to switch the mode on.

    Raises
    ------
    NotSupportedError
        If `mode` and `check_nan` are both True.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True)
    >>> with vt.autograd.set_detect_anomaly(True, check_nan=False):
    ...     y = x * 2
    >>> y.grad_fn.metadata["made_at"].lineno
    2
    """

    __slots__ = ("_before",)

    _before: bool

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        if mode and check_nan:
            raise NotSupportedError(
                "backward cannot look for NaN yet; pass check_nan=False to remember where nodes "
                "are made",
                argument="check_nan",
            )
        super().__init__()
        on = bool(mode)
        self._before = anomaly.enabled
        anomaly.enabled = on

    def restore(self) -> None:
        """Restore the former setting."""
        anomaly.enabled = self._before


class detect_anomaly(Scope):  # PyTorch's name
    """Anomaly mode for a ``with`` block; see `set_detect_anomaly`.

    Parameters
    ----------
    check_nan : bool, default True
        Whether backward looks for NaN. Not supported yet: pass False.

    Raises
    ------
    NotSupportedError
        When the block is entered, if `check_nan` is True.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True).clone()
    >>> with vt.autograd.detect_anomaly(check_nan=False):
    ...     y = x * x
    >>> x += 1
    >>> try:
    ...     y.sum().backward()
    ... except vt.errors.StaleSavedError as error:
    ...     print(error.saved_at.source)
    y = x * x
    """

    __slots__ = ("_before", "_check_nan")

    _before: bool
    _check_nan: bool

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()
        self._check_nan = check_nan
        self._before = anomaly.enabled

    def __enter__(self) -> Self:
        self._before = anomaly.enabled
        set_detect_anomaly(True, self._check_nan)
        return self

    def restore(self) -> None:
        """Restore the setting of before the block."""
        anomaly.enabled = self._before
