"""Names of tensors, for drawings and errors.

They are kept apart from tensors, so that tensors without a name pay nothing for it.

This file is never compiled: it is no part of what programs repeat.
"""

from __future__ import annotations

import weakref
from functools import partial
from typing import Final

from vtgrad.errors import ArgumentTypeError
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.version_counter import VersionCounter

__all__ = ["name_of", "name_of_elements", "set_name"]

# The name of each tensor that has one, by the number of the object, which belongs to it as long as
# it lives. The reference removes the entry when the tensor dies.
_names: Final[dict[int, tuple[weakref.ref[TensorBase], str]]] = {}


def name_of(tensor: TensorBase) -> str | None:
    """The name of a tensor, or None."""
    entry = _names.get(id(tensor))
    return None if entry is None else entry[1]


def name_of_elements(array: Array, counter: VersionCounter) -> str | None:
    """The name of a living tensor that shows exactly these elements, or None.

    Parameters
    ----------
    array : ndarray
        The elements.
    counter : VersionCounter
        The counter of writes to their memory.
    """
    wanted = _place(array)
    for reference, name in tuple(_names.values()):
        tensor = reference()
        if tensor is None or tensor._impl.version_counter is not counter:
            continue
        if _place(tensor._impl.array) == wanted:
            return name
    return None


def _place(array: Array) -> tuple[object, ...]:
    """What two arrays share if they show the same elements in the same order."""
    start = array.__array_interface__["data"][0]
    return type(array), array.dtype, start, array.shape, array.strides


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
        # A C function, which nothing interrupts.
        _names[number] = weakref.ref(tensor, partial(_names.pop, number)), name
