"""How elements are stored. NumPy has one way."""

from __future__ import annotations

from enum import Enum

__all__ = ["MemoryLayout"]


class MemoryLayout(Enum):
    """How the elements of a tensor are stored: at distances given by strides."""

    STRIDED = "strided"

    def __repr__(self) -> str:
        return f"vtgrad.{self.value}"

    __str__ = __repr__
