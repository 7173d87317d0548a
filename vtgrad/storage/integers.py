"""Integers as users pass them."""

from __future__ import annotations

import operator
from typing import SupportsIndex

__all__ = ["integer"]


def integer(value: SupportsIndex) -> int:
    """Python's integer for an argument that is one; NumPy's and those of tensors are welcome.

    Raises
    ------
    TypeError
        If it is none. A bool counts as none, as in PyTorch: ``x.select(True, 0)`` is a slip.
    """
    if isinstance(value, bool):
        raise TypeError("a bool is no integer here")
    return operator.index(value)
