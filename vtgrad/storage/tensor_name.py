"""Names of tensors, for drawings and errors.

They are kept apart from tensors, so that tensors without a name pay nothing for it.

This file is never compiled: it is no part of what programs repeat.
"""

from __future__ import annotations

import weakref
from typing import Final

from ..errors import ArgumentTypeError
from .tensor_base import TensorBase

__all__ = ["name_of", "set_name"]

# The name of each tensor that has one, by the number of the object, which belongs to it as long as
# it lives. The reference removes the entry when the tensor dies.
_names: Final[dict[int, tuple[weakref.ref[TensorBase], str]]] = {}


def name_of(tensor: TensorBase) -> str | None:
    """The name of a tensor, or None."""
    entry = _names.get(id(tensor))
    return None if entry is None else entry[1]


def set_name(tensor: TensorBase, name: str | None) -> None:
    """Name a tensor; None takes its name away.

    Raises
    ------
    ArgumentTypeError
        If `name` is neither a string nor None.
    """
    if name is not None and not isinstance(name, str):
        raise ArgumentTypeError(
            f"the name of a tensor is a string or None, not {type(name).__name__}", argument="name"
        )
    number = id(tensor)
    if name is None:
        _names.pop(number, None)
    else:
        _names[number] = weakref.ref(tensor, lambda _gone: _names.pop(number, None)), name
