"""A bar of progress, and calls of the user's callback."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from vtgrad.errors import MissingPackageError

__all__ = ["Bar", "open_bar"]


class Bar(Protocol):
    """The part of tqdm that is used."""

    def update(self, n: int) -> object:
        """Count."""
        ...

    def set_postfix_str(self, s: str, refresh: bool) -> None:
        """Show a text."""
        ...

    def close(self) -> None:
        """Leave the line."""
        ...


def open_bar(title: str, total: int | None) -> Bar:
    """A bar of tqdm on standard error.

    Raises
    ------
    MissingPackageError
        If tqdm is not installed.
    """
    try:
        module = import_module("tqdm.auto")
    except ImportError:
        raise MissingPackageError(
            "progress=True needs tqdm: pip install tqdm", package="tqdm"
        ) from (None)
    return cast("Bar", module.tqdm(desc=title, total=total, unit="it"))
