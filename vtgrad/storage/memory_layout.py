"""How elements are stored. NumPy has one way."""

from __future__ import annotations

from enum import Enum

__all__ = ["MemoryLayout"]


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
