"""Integers as users pass them."""

from __future__ import annotations

import operator
from typing import Final, SupportsIndex

__all__ = ["INT", "integer"]

# Python's class, for modules where `int` is the type of an argument that arrives unchecked.
INT: Final = int


def integer(value: SupportsIndex) -> int:
    """An integer argument as Python's int; NumPy's integers and integer tensors are accepted.

    Raises
    ------
    TypeError
        If it is not an integer. A bool is refused, as in PyTorch: ``x.select(True, 0)`` is a
        mistake.
    """
    if isinstance(value, bool):
        raise TypeError("a bool is no integer here")
    return operator.index(value)
