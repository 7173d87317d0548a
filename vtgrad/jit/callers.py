"""Whose code makes a call of NumPy: the user's line, the library's operator, or bookkeeping."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum
from sys import _getframe
from types import CodeType, FrameType
from typing import Final

import numpy as np

from vtgrad.jit.steps import Line
from vtgrad.storage.record_write import is_inside

__all__ = ["Caller", "is_bookkeeping", "is_users", "line_of", "look", "users_frame"]

_JIT: Final = os.path.dirname(__file__) + os.sep
_PACKAGE: Final = os.path.dirname(os.path.dirname(__file__)) + os.sep
_GENERATED: Final = os.path.join(_PACKAGE, "ops", "generated") + os.sep
_NUMPY: Final = os.path.dirname(np.__file__) + os.sep

# Files that mark, log and compare writes. Their arrays hold versions and bytes, none of which is
# a value of the program, so they work on plain arrays and are not recorded. Nor are texts.
_BOOKKEEPING: Final = frozenset(
    os.path.join(_PACKAGE, *name.split("/"))
    for name in (
        "storage/write_log.py",
        "storage/recent_writes.py",
        "storage/record_write.py",
        "storage/mark_written.py",
        "storage/overlap.py",
        "graph/audit.py",
        "graph/written_elements.py",
        "graph/anomaly.py",
        "tensor/formatting.py",
        "tensor/html.py",
    )
)


# What the frames of an import have as their file.
_IMPORTING: Final = "<frozen importlib._bootstrap>"


class _Owner(Enum):
    """Who has written a piece of code."""

    RECORDER = 0
    BOOKKEEPING = 1
    LIBRARY = 2
    NUMPY = 3
    USER = 4


# Read at each step of a walk over frames: members of an enumeration are found more slowly.
_RECORDER: Final = _Owner.RECORDER
_BOOKKEEPER: Final = _Owner.BOOKKEEPING
_USER: Final = _Owner.USER

_lines: Final[dict[Line, Line]] = {}
_owners: Final[dict[CodeType, _Owner]] = {}
# Names of operators by the generated code that calls their kernels.
_operators: Final[dict[CodeType, str]] = {}


@dataclass(frozen=True, slots=True)
class Caller:
    """Where a call comes from.

    Attributes
    ----------
    line : Line or None
        The user's line.
    library : Line or None
        The line of the library that calls NumPy; None if the user's code does.
    operator : str
        The operator or the node of the library; "" if there is none.
    """

    line: Line | None
    library: Line | None
    operator: str


def _owner(code: CodeType) -> _Owner:
    owner = _owners.get(code)
    if owner is None:
        file = code.co_filename
        if file.startswith(_JIT):
            owner = _Owner.RECORDER
        elif file in _BOOKKEEPING:
            owner = _Owner.BOOKKEEPING
        elif is_inside(code):
            owner = _Owner.LIBRARY
        elif file.startswith(_NUMPY):
            owner = _Owner.NUMPY
        else:
            owner = _Owner.USER
        _owners[code] = owner
        if file.startswith(_GENERATED):
            _operators[code] = code.co_qualname.partition(".")[0]
    return owner


def _outside_of_recorder(frame: FrameType | None) -> _Owner:
    """Who calls the recorder."""
    while frame is not None:
        code = frame.f_code
        owner = _owners.get(code) or _owner(code)
        if owner is not _RECORDER:
            return owner
        frame = frame.f_back
    return _USER


def is_bookkeeping() -> bool:
    """Whether the call comes from bookkeeping."""
    return _outside_of_recorder(_getframe(2)) is _BOOKKEEPER


def is_users() -> bool:
    """Whether the caller of a function that asks this is the user's code itself.

    Modules that the program imports as it runs, as those of SciPy, are no part of it: what they
    make as they are imported stays for later calls.
    """
    frame: FrameType | None = _getframe(2)
    if frame is None or _owner(frame.f_code) is not _USER:
        return False
    # Below the recorder's frame are the callers of the recording, which may be an import.
    while frame is not None and _owner(frame.f_code) is not _RECORDER:
        if frame.f_code.co_filename == _IMPORTING:
            return False
        frame = frame.f_back
    return True


def users_frame() -> FrameType | None:
    """The frame of the user's code that calls."""
    frame: FrameType | None = _getframe(1)
    while frame is not None:
        code = frame.f_code
        if (_owners.get(code) or _owner(code)) is _Owner.USER:
            break
        frame = frame.f_back
    return frame


def look() -> Caller:
    """Find out where a call comes from."""
    frame: FrameType | None = _getframe(2)
    library: FrameType | None = None
    operator = ""
    owners, user, recorder = _owners, _USER, _RECORDER
    while frame is not None:
        code = frame.f_code
        owner = owners.get(code) or _owner(code)
        if owner is user:
            break
        if owner is not recorder:
            if library is None:
                library = frame
            if not operator:
                operator = _operators.get(code, "")
        frame = frame.f_back
    return Caller(_line(frame), _line(library), operator)


def _line(frame: FrameType | None) -> Line | None:
    """The line of a frame; one object for each line."""
    if frame is None:
        return None
    line = frame.f_code.co_filename, frame.f_lineno
    return _lines.setdefault(line, line)


def line_of(function: object) -> Line | None:
    """The line at which a function is defined, if it has one."""
    for name in ("__wrapped__", "__func__", "func"):
        function = getattr(function, name, function)
    code = getattr(function, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if isinstance(code, CodeType) else None
