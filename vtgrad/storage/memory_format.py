"""How elements are stored, in words: memory formats and the one layout.

Memory formats are names for the strides of a copy, or for those that `is_contiguous` tests.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from vtgrad.errors import ArgumentTypeError, MemoryFormatError
from vtgrad.storage.arrays import Shape
from vtgrad.storage.strides import (
    channels_last_strides,
    clone_strides,
    contiguous_strides,
    is_channels_last,
    is_channels_last_contiguous,
    is_contiguous,
)

__all__ = [
    "MemoryFormat",
    "MemoryLayout",
    "copy_strides",
    "is_in_format",
    "strides_in_format",
    "suggested_format",
]


class MemoryLayout(Enum):
    """How the elements of a tensor are stored.

    There is one member, STRIDED, which is `vtgrad.strided`: elements lie at the distances that
    the strides give.

    Examples
    --------
    >>> vt.zeros(2).layout is vt.strided
    True
    """

    STRIDED = "strided"

    def __repr__(self) -> str:
        return f"vtgrad.{self.value}"

    __str__ = __repr__


class MemoryFormat(Enum):
    """The memory order of a tensor.

    PRESERVE, `vtgrad.preserve_format`, is the order of the copied tensor: its own strides if it
    is dense, else gapless ones in its order of dimensions. CONTIGUOUS,
    `vtgrad.contiguous_format`, is row-major. In CHANNELS_LAST, `vtgrad.channels_last`, of 4
    dimensions, and CHANNELS_LAST_3D, `vtgrad.channels_last_3d`, of 5, dimension 1 is the
    innermost one; the others stay row-major.

    Examples
    --------
    >>> images = vt.zeros(2, 3, 4, 5)
    >>> images.contiguous(memory_format=vt.channels_last).stride()
    (60, 1, 15, 3)
    """

    PRESERVE = "preserve_format"
    CONTIGUOUS = "contiguous_format"
    CHANNELS_LAST = "channels_last"
    CHANNELS_LAST_3D = "channels_last_3d"

    def __repr__(self) -> str:
        return f"vtgrad.{self.value}"

    __str__ = __repr__


# The number of dimensions that each format for images takes.
_IMAGE_DIMS: Final = {MemoryFormat.CHANNELS_LAST: 4, MemoryFormat.CHANNELS_LAST_3D: 5}


def strides_in_format(sizes: Shape, memory_format: MemoryFormat) -> Shape:
    """The gapless strides that a format gives to sizes.

    Raises
    ------
    MemoryFormatError
        If the format is for another number of dimensions, or there is nothing to preserve.
    ArgumentTypeError
        If it is not a `MemoryFormat`.

    >>> strides_in_format((2, 3, 4, 5), MemoryFormat.CHANNELS_LAST)
    (60, 1, 15, 3)
    """
    _check_type(memory_format)
    if memory_format is MemoryFormat.CONTIGUOUS:
        return contiguous_strides(sizes)
    if memory_format is MemoryFormat.PRESERVE:
        raise MemoryFormatError(
            "preserve_format is for copies, there is no other tensor here whose format could be "
            "preserved",
            memory_format=memory_format,
        )
    ndim = _IMAGE_DIMS[memory_format]
    if len(sizes) != ndim:
        raise MemoryFormatError(
            f"{memory_format.value} is for tensors of {ndim} dimensions, not of shape {sizes}",
            memory_format=memory_format,
            shape=sizes,
        )
    return channels_last_strides(sizes)


def copy_strides(sizes: Shape, strides: Shape, memory_format: MemoryFormat | None) -> Shape:
    """The strides of a copy in a format, by default in that of its source."""
    if memory_format is None or memory_format is MemoryFormat.PRESERVE:
        return clone_strides(sizes, strides)
    return strides_in_format(sizes, memory_format)


def is_in_format(sizes: Shape, strides: Shape, memory_format: MemoryFormat) -> bool:
    """Whether the elements lie without gaps in the order of a format.

    False for a format for another number of dimensions. PRESERVE tests whether they are row-major.

    Raises
    ------
    ArgumentTypeError
        If it is not a `MemoryFormat`.
    """
    _check_type(memory_format)
    ndim = _IMAGE_DIMS.get(memory_format)
    if ndim is None:
        return is_contiguous(sizes, strides)
    return len(sizes) == ndim and is_channels_last_contiguous(sizes, strides)


def suggested_format(sizes: Shape, strides: Shape) -> MemoryFormat:
    """The format that strides are closest to: CONTIGUOUS, unless channels are innermost."""
    for memory_format, ndim in _IMAGE_DIMS.items():
        if len(sizes) == ndim and is_channels_last(sizes, strides):
            return memory_format
    return MemoryFormat.CONTIGUOUS


def _check_type(memory_format: object) -> None:
    if not isinstance(memory_format, MemoryFormat):
        raise ArgumentTypeError(
            f"argument 'memory_format' must be a memory format, not {type(memory_format).__name__}",
            argument="memory_format",
        )
