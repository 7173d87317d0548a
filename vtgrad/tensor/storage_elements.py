"""What both kinds of public storage do with their elements."""

from __future__ import annotations

from operator import index
from typing import Final, cast

from vtgrad.errors import ArgumentTypeError, OutOfRangeError, ShapeError
from vtgrad.graph.operators import operators
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["byte", "checked_index", "copy_elements", "count_of", "printed", "size_to_be"]

# A storage that is printed shows as many elements at most, half of them from its end.
_SHOWN: Final = 1000


def count_of(size: object) -> int:
    """A number of elements."""
    try:
        count = index(cast("int", size))
    except TypeError:
        raise ArgumentTypeError(
            "argument 'size' must be a number of elements or a sequence of them, not "
            f"{type(size).__name__}",
            argument="size",
        ) from None
    if count < 0:
        raise ShapeError(f"a storage cannot have {count} elements", size=count)
    return count


def size_to_be(size: object) -> int:
    """The new size of a storage; whether it fits is checked by what resizes."""
    try:
        return index(cast("int", size))
    except TypeError:
        raise ArgumentTypeError(
            f"resize_ takes an integer, not {type(size).__name__}", argument="size"
        ) from None


def byte(value: object) -> int:
    """The lowest eight bits of an integer."""
    try:
        return index(cast("int", value)) & 255
    except TypeError:
        raise ArgumentTypeError(
            f"a byte is an integer, not {type(value).__name__}", argument="value"
        ) from None


def checked_index(position: object, size: int) -> int:
    """An index of an element, which may count from the end."""
    try:
        found = index(cast("int", position))
    except TypeError:
        raise ArgumentTypeError(
            f"an index of a storage is an integer, not {type(position).__name__}", argument="index"
        ) from None
    if not -size <= found < size:
        raise OutOfRangeError(
            f"index {found} is out of range for a storage of size {size}", index=found, size=size
        )
    return found


def copy_elements(target: TensorImpl, source: TensorImpl, units: str) -> None:
    """Store the elements of `source`, of which there must be as many, in `target`."""
    if target.array.size != source.array.size:
        raise ShapeError(
            f"a storage of {target.array.size} {units} cannot take {source.array.size}",
            expected=target.array.size,
            found=source.array.size,
        )
    wrap = operators().wrap
    F.copy_(wrap(target), wrap(source))


def printed(array: Array, name: str) -> str:
    """One element in each line, and what the storage is."""
    elements = [f" {value}" for value in array[: _SHOWN // 2].tolist()]
    rest = array.size - len(elements)
    if rest > _SHOWN // 2:
        elements.append(f" ... {rest - _SHOWN // 2} more ...")
        rest = _SHOWN // 2
    elements += [f" {value}" for value in array[array.size - rest :].tolist()]
    return "\n".join([*elements, f"[{name} of size {array.size}]"])
