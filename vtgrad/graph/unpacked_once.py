"""Unpacking all saved values of a node before it runs. This file is never compiled.

See Note [Unpacked once].
"""

from __future__ import annotations

from collections.abc import Iterator
from types import GetSetDescriptorType, MemberDescriptorType

from ..storage.tensor_base import TensorBase
from .node import Node
from .packed import Packed
from .saved_variable import SavedVariable

__all__ = ["saved_fields_of", "unpack_saved"]

_fields_by_class: dict[type[Node], tuple[str, ...]] = {}


def unpack_saved(node: Node) -> dict[Packed, TensorBase]:
    """What the unpack functions of a node's values return.

    Raises
    ------
    Exception
        Whatever the functions raise, and as `Packed.unpacked` does.
    """
    owner = node.saving_node()
    return {packed: packed.unpacked(owner) for packed in _packed_values(owner)}


def _packed_values(node: Node) -> Iterator[Packed]:
    for name in saved_fields_of(type(node)):
        value = getattr(node, name)
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, SavedVariable) and one.packed is not None:
                yield one.packed


def saved_fields_of(cls: type[Node]) -> tuple[str, ...]:
    """The names of the fields in which an operator's node holds saved tensors."""
    known = _fields_by_class.get(cls)
    if known is None:
        known = tuple(
            [
                name
                for base in cls.__mro__
                for name, value in vars(base).items()
                if name.startswith("saved_")
                # Slots or, compiled, members of a struct.
                and isinstance(value, MemberDescriptorType | GetSetDescriptorType)
            ]
        )
        _fields_by_class[cls] = known
    return known
