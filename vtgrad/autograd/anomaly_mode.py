"""The public switches of anomaly mode; see Note [Anomaly mode]."""

from __future__ import annotations

from typing import Self

from vtgrad.graph.anomaly import anomaly
from vtgrad.storage.scope import Scope
from vtgrad.storage.warn import warn

__all__ = [
    "detect_anomaly",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "set_detect_anomaly",
]


class set_detect_anomaly(Scope):  # PyTorch's name
    """Switch anomaly mode on or off, permanently or for a ``with`` block.

    While it is on, every node of the graph records in its ``metadata`` the line that made it
    (``"made_at"``), the stack (``"traceback_"``) and the node in whose backward it was made
    (``"parent_"``). If a node fails in backward, a warning shows that stack, and one more the stack
    of each parent. Errors about an overwritten value name the line that saved it. Operators take
    several times as long.

    Parameters
    ----------
    mode : bool
        Whether the mode is on, in all threads.
    check_nan : bool, default True
        Whether backward raises `NanGradientError` at the first node that makes a gradient with NaN.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True)
    >>> with vt.autograd.set_detect_anomaly(True):
    ...     y = x * 2
    >>> y.grad_fn.metadata["made_at"].lineno
    2
    """

    __slots__ = ("_before",)

    _before: tuple[bool, bool]

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__()
        on, checks = bool(mode), bool(check_nan)
        self._before = anomaly.enabled, anomaly.check_nan
        anomaly.enabled, anomaly.check_nan = on, checks

    def restore(self) -> None:
        """Restore the former setting."""
        anomaly.enabled, anomaly.check_nan = self._before


class detect_anomaly(Scope):  # PyTorch's name
    """Anomaly mode for a ``with`` block; see `set_detect_anomaly`.

    Making the object warns that the mode is for debugging; `set_detect_anomaly` does not.

    Parameters
    ----------
    check_nan : bool, default True
        Whether backward raises `NanGradientError` at the first node that makes a gradient with NaN.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> x = vt.zeros(2, requires_grad=True)
    >>> with vt.autograd.detect_anomaly():
    ...     y = (x * 0).sqrt()
    ...     try:
    ...         (y * 0).sum().backward()
    ...     except vt.errors.NanGradientError as error:
    ...         print(error.node, error.index, error.made_at.source)
    SqrtBackward0 0 y = (x * 0).sqrt()
    """

    __slots__ = ("_before", "_check_nan")

    _before: tuple[bool, bool]
    _check_nan: bool

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()
        self._check_nan = bool(check_nan)
        self._before = anomaly.enabled, anomaly.check_nan
        warn("anomaly mode makes programs several times slower; use it for debugging only")

    def __enter__(self) -> Self:
        self._before = anomaly.enabled, anomaly.check_nan
        anomaly.enabled, anomaly.check_nan = True, self._check_nan
        return self

    def restore(self) -> None:
        """Restore the setting of before the block."""
        anomaly.enabled, anomaly.check_nan = self._before


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on.

    Returns
    -------
    bool
        The `mode` of `vtgrad.autograd.set_detect_anomaly`; the same in all threads.

    Examples
    --------
    >>> vt.is_anomaly_enabled()
    False
    """
    return anomaly.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether backward looks for NaN while anomaly mode is on.

    Returns
    -------
    bool
        The `check_nan` of `vtgrad.autograd.set_detect_anomaly`.

    Examples
    --------
    >>> with vt.autograd.set_detect_anomaly(True, check_nan=False):
    ...     vt.is_anomaly_check_nan_enabled()
    False
    """
    return anomaly.check_nan
