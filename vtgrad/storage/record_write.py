# Compiled by mypyc.
"""The line of the user's program that wrote to a buffer.

Note [Who wrote]

Backward finds that a saved value was overwritten long after the write. So each write leaves a
`Record` with the version counter of the written tensor: the operator, and the line of the program
that called it. The record of version `v` is at index ``v % KEPT`` of a short list and contains its
version: a record of another version there means that the one of `v` has been forgotten.

Records are always on, so their cost must be negligible:

- A frame would keep the locals of its function alive, all tensors among them. A record has the code
  object, which lives as long as its program, and the offset of the instruction. The line number is
  computed only for a message.
- The user's frame is the first one outside of this package. It is usually at the same distance from
  the funnel, and its code is usually that of the previous write: then one comparison confirms it.
  Otherwise its file decides; if the file belongs to this package, the frames are walked outward.
  Native functions have no frames, so in the compiled build the walk begins at once and is short.
- `write_ufunc` contains the commonest case of `record_write` inline, which saves a call.
- Backward adds to many ``.grad`` in turn, far from the line that called it. That line is searched
  once (`begin_write_as`).
"""

from __future__ import annotations

import os
from sys import _getframe
from threading import get_ident
from types import CodeType, FrameType, FunctionType
from typing import Final

from vtgrad.errors import VtgradError
from vtgrad.storage.mark_written import mark_written
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_state import FREE_THREADED, after_fork, refuse_second_thread
from vtgrad.storage.version_counter import INFERENCE, Record, Site, VersionCounter, WrittenPart
from vtgrad.storage.write_log import SAVED

__all__ = [
    "LastCaller",
    "SETITEM",
    "DIRECT",
    "KEPT",
    "OUTERMOST",
    "SLOT_MASK",
    "WITHIN",
    "caller",
    "count_change",
    "count_write",
    "is_inside",
    "is_users",
    "last_caller",
    "on_behalf",
    "begin_write_as",
    "record_write",
]

# The number of writes that are remembered; a power of two.
KEPT: Final = 8
# The bits of a version that are the index of its record.
SLOT_MASK: Final = KEPT - 1

# From a class that stays Python in both builds: native functions have no `__code__`.
_PACKAGE: Final = os.path.dirname(VtgradError.__init__.__code__.co_filename) + os.sep
# Folders of the package that use the library as a user does.
_USERS: Final = (_PACKAGE + "demo" + os.sep, _PACKAGE + "testing" + os.sep)

# The files seen so far: those of this package, and those of its users.
_inside: Final[set[str]] = set()
_using: Final[set[str]] = set()
# Bounds the cache when code is generated at run time.
_BOUND: Final = 1024

# For threads whose writes are recorded under one operator: its name, and the code and instruction
# that called it, once known.
on_behalf: Final[dict[int, tuple[str, CodeType | None, int]]] = {}
after_fork(on_behalf.clear)


class LastCaller:
    """The code of the frame that was found last.

    Attributes
    ----------
    code : CodeType or None
        The code object.
    """

    __slots__ = ("code",)

    code: CodeType | None

    def __init__(self) -> None:
        self.code = None


last_caller: Final[LastCaller] = LastCaller()


def record_write(
    impl: TensorImpl,
    counter: VersionCounter,
    version: int,
    operator: str,
    distance: int,
    part: WrittenPart | None = None,
) -> None:
    """Record the write that made a version; see Note [Who wrote].

    Parameters
    ----------
    impl : TensorImpl
        The written tensor.
    counter : VersionCounter
        The counter of `impl`, which has moved.
    version : int
        The number to which it was moved.
    operator : str
        The public name of the operator that wrote.
    distance : int
        `DIRECT`, `SETITEM` or `OUTERMOST`.
    part : WrittenPart, optional
        The written view, if it is not `impl`.
    """
    writes = counter.writes
    if writes is None:
        if counter is INFERENCE:
            # One counter of many tensors, which are never saved.
            return
        none_yet: list[Record | None] = [None] * KEPT
        writes = counter.writes = none_yet
    meta = impl.autograd_meta
    if part is None and meta is not None and meta.is_view:
        part = meta.written_part(impl)
    thread = get_ident()
    code: CodeType | None
    if on_behalf and thread in on_behalf:
        operator, code, instruction = on_behalf[thread]
        if code is None:
            # The first write under `begin_write_as` looks for the line.
            code, instruction = _outside(distance)
            on_behalf[thread] = operator, code, instruction
    else:
        try:
            frame: FrameType = _getframe(distance)
        except ValueError:
            # The stack has only frames of the library.
            code, instruction = None, -1
        else:
            code, instruction = frame.f_code, frame.f_lasti
            if code is not last_caller.code:
                code, instruction = _outside_from(frame)
    record = writes[version & SLOT_MASK] = version, operator, code, instruction, thread, part
    log = counter.log
    if log is not None and log is not SAVED:
        log.remember(record)


def is_users(code: CodeType) -> bool:
    """Whether code is known to be the user's; if so, the next write expects it."""
    known = code.co_filename in _using
    if known:
        last_caller.code = code
    return known


def is_inside(code: CodeType) -> bool:
    """Whether code is of this package; if not, the next write expects it."""
    filename = code.co_filename
    if filename in _inside:
        return True
    if filename.startswith(_PACKAGE) and not filename.startswith(_USERS):
        _inside.add(filename)
        return True
    if len(_using) >= _BOUND:
        _using.clear()
    _using.add(filename)
    last_caller.code = code
    return False


def count_write(impl: TensorImpl, operator: str, distance: int) -> None:
    """Mark a tensor that was written by other means, and increase its version.

    Parameters
    ----------
    impl : TensorImpl
        The written tensor.
    operator, distance : str, int
        As in `record_write`.
    """
    if FREE_THREADED:
        refuse_second_thread()
    counter = impl.counter
    if counter.log is not None:
        # See Note [Marked for the next version].
        while mark_written(impl, counter, already=True) != counter.value + 1:
            continue
    version = counter.value = counter.value + 1
    record_write(impl, counter, version, operator, distance + _OWN_FRAME)


def count_change(impl: TensorImpl, operator: str, distance: int) -> None:
    """Increase a version where no element is written, as for a change of geometry.

    The parameters are those of `count_write`.
    """
    if FREE_THREADED:
        refuse_second_thread()
    counter = impl.counter
    version = counter.value = counter.value + 1
    record_write(impl, counter, version, operator, distance + _OWN_FRAME)


def caller(distance: int) -> Site | None:
    """The line of the user's program that called the library; None if none did.

    Parameters
    ----------
    distance : int
        As in `record_write`.
    """
    code, instruction = _outside(distance)
    return None if code is None else (code, instruction)


def _outside(distance: int) -> tuple[CodeType | None, int]:
    """The first line outside this package, from a frame outward."""
    try:
        frame: FrameType | None = _getframe(distance + _OWN_FRAME)
    except ValueError:
        return None, -1
    return _outside_from(frame)


def _outside_from(frame: FrameType | None) -> tuple[CodeType | None, int]:
    """The first line outside this package, from this frame outward."""
    while frame is not None:
        code = frame.f_code
        if code is last_caller.code:
            return code, frame.f_lasti
        # Most files are known: a look at the sets in place of a call for each frame.
        name = code.co_filename
        if name not in _inside and (name in _using or not is_inside(code)):
            last_caller.code = code
            return code, frame.f_lasti
        frame = frame.f_back
    return None, -1


def begin_write_as(operator: str, distance: int = -1) -> None:
    """Record this thread's writes under one operator, until its entry leaves `on_behalf`.

    Parameters
    ----------
    operator : str
        Its name.
    distance : int
        As in `record_write`. By default the first write looks for the line, so that a backward that
        adds to no ``.grad`` costs nothing.
    """
    code: CodeType | None = None
    instruction = -1
    if distance >= 0:
        try:
            frame: FrameType = _getframe(distance)
        except ValueError:
            pass
        else:
            code, instruction = frame.f_code, frame.f_lasti
            if code is not last_caller.code and not is_users(code):
                code, instruction = _outside(distance)
    on_behalf[get_ident()] = operator, code, instruction


_NATIVE: Final = not isinstance(record_write, FunctionType)

# The number of frames that a function of this file has.
_OWN_FRAME: Final = 0 if _NATIVE else 1

# The least distance of the user's frame from a function of this file: for functions of the funnel
# called by an operator that the user called, for `x[i] = v`, and for functions that the user calls.
DIRECT: Final = 0 if _NATIVE else 3
SETITEM: Final = 0 if _NATIVE else 4
OUTERMOST: Final = 0 if _NATIVE else 2
# The distance of the user's frame from the functions of the funnel themselves.
WITHIN: Final = 0 if _NATIVE else 2
