"""The fields of the nodes of operators, in which saved values are. This file is never compiled."""

from __future__ import annotations

from collections.abc import Iterator
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Final, TypeVar

__all__ = ["classes_below", "own_fields", "saved_fields_of"]

C = TypeVar("C")

_FIELDS: Final = (MemberDescriptorType, GetSetDescriptorType)

# `import vtgrad` asks for the fields of each class of nodes, and for those of their base classes as
# often, so each is looked up once.
_own: Final[dict[type[object], tuple[str, ...]]] = {}
_saved: Final[dict[type[object], tuple[str, ...]]] = {}


def own_fields(cls: type[object]) -> tuple[str, ...]:
    """The names of a class's own fields, which are slots or, compiled, members of a struct.

    They are sorted, as Python sorts slots.
    """
    known = _own.get(cls)
    if known is None:
        members = vars(cls)
        slots = members.get("__slots__")
        if type(slots) is not tuple:
            slots = [name for name, value in members.items() if isinstance(value, _FIELDS)]
        known = _own[cls] = tuple(sorted(slots))
    return known


def saved_fields_of(cls: type[object]) -> tuple[str, ...]:
    """The names of the fields in which an operator's node holds saved tensors."""
    known = _saved.get(cls)
    if known is None:
        known = _saved[cls] = tuple(
            [name for base in cls.__mro__ for name in own_fields(base) if name.startswith("saved_")]
        )
    return known


def classes_below(cls: type[C]) -> Iterator[type[C]]:
    """The classes that inherit from one, those that others inherit from first."""
    for one in cls.__subclasses__():
        yield one
        yield from classes_below(one)
