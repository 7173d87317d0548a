"""SciPy, which computes the filters: imported by the first call that needs it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from vtgrad.errors import MissingPackageError

__all__ = ["scipy_signal"]


def scipy_signal() -> ModuleType:
    """The module ``scipy.signal``.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    """
    try:
        return import_module("scipy.signal")
    except ImportError:
        raise MissingPackageError(
            "filters need SciPy, the extra 'scipy': pip install scipy", package="scipy"
        ) from None
