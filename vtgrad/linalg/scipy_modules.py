"""SciPy, which only some functions need: it is imported when one of them is called."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType

from vtgrad.errors import MissingPackageError

__all__ = ["scipy_linalg", "scipy_linalg_or_none"]


def scipy_linalg(name: str) -> ModuleType:
    """The module `scipy.linalg`.

    Parameters
    ----------
    name : str
        The function that needs it, for the error.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    """
    found = scipy_linalg_or_none()
    if found is None:
        raise MissingPackageError(
            f'{name}() needs SciPy, the extra "scipy" of vtgrad: pip install scipy', package="scipy"
        )
    return found


@cache
def scipy_linalg_or_none() -> ModuleType | None:
    """The module `scipy.linalg`, or None where SciPy is not installed.

    It is asked for once: a backward may run at any moment, and imports nothing.
    """
    try:
        return import_module("scipy.linalg")
    except ImportError:
        return None
