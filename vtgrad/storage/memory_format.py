"""Which strides a copy gets."""

from __future__ import annotations

from enum import Enum

__all__ = ["MemoryFormat"]


class MemoryFormat(Enum):
    """The memory order of a copy.

    PRESERVE keeps the source's order of dimensions, CONTIGUOUS is row-major.
    """

    PRESERVE = "preserve_format"
    CONTIGUOUS = "contiguous_format"

    def __repr__(self) -> str:
        return f"vtgrad.{self.value}"
