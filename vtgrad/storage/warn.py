"""Warnings that point at the user's line, from any depth of the library."""

from __future__ import annotations

import warnings
from sys import _getframe
from types import FrameType

from vtgrad.storage.record_write import is_inside

__all__ = ["warn"]


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn about the line that called the library.

    Parameters
    ----------
    message : str
        What is wrong, and what to write instead.
    category : type of Warning
        The class that the user's warning filters match.
    """
    level = 1
    frame: FrameType | None = _getframe()
    while frame is not None and is_inside(frame.f_code):
        level += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)
