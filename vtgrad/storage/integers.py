# Compiled by mypyc.
"""Integers as users pass them."""

from __future__ import annotations

import operator
from typing import Final

from vtgrad.errors import ArgumentTypeError

__all__ = ["INT", "index_of", "integer", "size_of"]

# Python's class, for modules where `int` is the type of an argument that arrives unchecked.
INT: Final = int


def integer(value: object) -> int:
    """An integer argument as Python's int; NumPy's integers and integer tensors are accepted.

    Raises
    ------
    TypeError
        If it is not an integer. A bool is refused, as in PyTorch: ``x.select(True, 0)`` is a
        mistake.
    """
    if isinstance(value, bool):
        raise TypeError("a bool is no integer here")
    return operator.index(value)  # type: ignore[arg-type]  # raises for other types


def index_of(value: object, name: str) -> int:
    """An integer argument: an int, a NumPy integer, or an integer tensor of one element.

    Raises
    ------
    ArgumentTypeError
        If `value` is something else.
    """
    try:
        return integer(value)
    except TypeError:
        raise ArgumentTypeError(
            f"argument {name!r} must be an integer, not {type(value).__name__}", argument=name
        ) from None


def size_of(value: object, name: str) -> int:
    """One of several sizes: as `index_of`, but that bools count, as they do in PyTorch there."""
    return int(value) if isinstance(value, bool) else index_of(value, name)
