"""The fields of the nodes of operators, in which saved values are. This file is never compiled."""

from __future__ import annotations

from collections.abc import Iterator
from types import GetSetDescriptorType, MemberDescriptorType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .node import Node

__all__ = ["classes_below", "own_fields", "saved_fields_of"]

_fields_by_class: Final[dict[type[Node], tuple[str, ...]]] = {}


def own_fields(cls: type[Node]) -> tuple[str, ...]:
    """The names of a class's own fields, which are slots or, compiled, members of a struct.

    They are sorted, as Python sorts slots.
    """
    fields = MemberDescriptorType | GetSetDescriptorType
    return tuple(sorted([name for name, value in vars(cls).items() if isinstance(value, fields)]))


def saved_fields_of(cls: type[Node]) -> tuple[str, ...]:
    """The names of the fields in which an operator's node holds saved tensors."""
    known = _fields_by_class.get(cls)
    if known is None:
        known = _fields_by_class[cls] = tuple(
            [name for base in cls.__mro__ for name in own_fields(base) if name.startswith("saved_")]
        )
    return known


def classes_below(cls: type[Node]) -> Iterator[type[Node]]:
    """The classes that inherit from one, those that others inherit from first."""
    for one in cls.__subclasses__():
        yield one
        yield from classes_below(one)
