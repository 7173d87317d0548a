"""The names that a program's own variables give its tensors.

Note [Looking at local variables]

Before Python 3.13 a frame keeps the dict that its ``f_locals`` returned, and all values in it,
until the frame ends: a deleted variable would live on. So the dict is emptied when it has been
read, unless the program has it too, as the result of ``locals()``. It is a copy: the variables are
elsewhere. The namespaces of modules and classes are no copies, and are left as they are.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType
from typing import Final, TypeGuard

from vtgrad.storage.record_write import is_inside
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.viz.story_words import argument

__all__ = ["names_in_frames", "name_stored_next", "users_frames"]

_COPIES: Final = sys.version_info < (3, 13)
# References to a dict that only a frame and this module have, as `getrefcount` counts them.
_OWN: Final = 3
# How many frames of the program are looked at, and how much of a container.
_FRAMES: Final = 4
_PARTS: Final = 32
# Modules whose functions are between an observed call and the recorder.
_CALLS_OPERATORS: Final = (
    "vtgrad.function.apply",
    "vtgrad.profiler.tables",
    "vtgrad.viz.story_names",
    "vtgrad.viz.story_recorder",
)
_STORES: Final = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")


def users_frames() -> list[FrameType]:
    """The innermost frames outside of this package, innermost first."""
    found: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(found) < _FRAMES:
        if not is_inside(frame.f_code):
            found.append(frame)
        frame = frame.f_back
    return found


def names_in_frames(frames: Iterable[FrameType]) -> list[tuple[str, TensorBase]]:
    """The tensors among local variables, and among the first parts of lists, tuples and dicts."""
    return [found for frame in frames for found in _names_in(frame)]


def _names_in(frame: FrameType) -> list[tuple[str, TensorBase]]:
    """The tensors of one frame; see Note [Looking at local variables]."""
    names = frame.f_locals
    in_function = frame.f_code.co_flags & CO_OPTIMIZED
    if not in_function and not issubclass(type(names), dict):
        # A mapping of the program's own, as `exec` and metaclasses accept it.
        return []
    found = [named for name, value in tuple(names.items()) for named in _named(name, value)]
    if _COPIES and in_function and sys.getrefcount(names) <= _OWN:
        names.clear()
    return found


def _named(name: object, value: object) -> Iterator[tuple[str, TensorBase]]:
    # The namespace of `exec` may have other keys.
    if type(name) is not str or name.startswith(("_", "@", ".")):
        return
    if _is_tensor(value):
        yield name, value
    elif type(value) is list or type(value) is tuple:
        for number, part in enumerate(value[:_PARTS]):
            if _is_tensor(part):
                yield f"{name}[{number}]", part
    elif type(value) is dict:
        for key, part in tuple(value.items())[:_PARTS]:
            if _is_tensor(part):
                yield f"{name}[{argument(key, {})}]", part


def _is_tensor(value: object) -> TypeGuard[TensorBase]:
    """As `isinstance`, which asks objects that stand for others, and may so make the others."""
    return issubclass(type(value), TensorBase)


def name_stored_next() -> str | None:
    """The variable that gets the result of the operator that ends.

    None if there is none, or if the operator was called by a function of this package.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in _CALLS_OPERATORS:
        frame = frame.f_back
    if frame is None or is_inside(frame.f_code):
        return None
    return _stores(frame.f_code).get(frame.f_lasti)


@lru_cache(maxsize=64)
def _stores(code: CodeType) -> dict[int, str]:
    """The variable that is stored by the instruction behind the one at an offset."""
    found: dict[int, str] = {}
    before = -1
    for instruction in dis.get_instructions(code):
        name = instruction.argval
        if before >= 0 and instruction.opname.startswith(_STORES):
            # Python 3.13 has one instruction for two variables.
            found[before] = name[0] if isinstance(name, tuple) else str(name)
        before = instruction.offset
    return found
