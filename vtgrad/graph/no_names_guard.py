# Compiled by mypyc.
"""Running code that ignores the names of dimensions.

Backward knows dimensions by number only: gradients have no names, and what a node computes from its
saved values has none. So a node that computes with tensors runs under this guard. Hooks do not:
they are the user's code, and see names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from vtgrad.storage.key_set import NAMED, TORCH_FUNCTION
from vtgrad.storage.thread_mode import thread

__all__ = ["FormulaGuard", "NoNamesGuard"]

R = TypeVar("R")


class NoNamesGuard:
    """Excludes the key of named tensors while a function runs, see Note [Keys].

    A class with a function rather than a block, so that an interrupt finds no place between the
    beginning of the block and its protection.
    """

    __slots__ = ()

    @staticmethod
    def run(function: Callable[..., R], /, *args: object, **kwargs: object) -> R:
        """Call a function; tensors have no names for it."""
        before = thread.excluded_keys
        try:
            thread.excluded_keys = before | NAMED
            return function(*args, **kwargs)
        finally:
            thread.excluded_keys = before


class FormulaGuard:
    """As `NoNamesGuard`, for the formulas of a node: no ``__torch_function__`` sees them either.

    Not for nodes that run code of users, which is seen in backward as it is in forward.
    """

    __slots__ = ()

    @staticmethod
    def run(function: Callable[..., R], /, *args: object, **kwargs: object) -> R:
        """Call a function; tensors have neither names nor classes of users for it."""
        before = thread.excluded_keys
        try:
            thread.excluded_keys = before | NAMED | TORCH_FUNCTION
            return function(*args, **kwargs)
        finally:
            thread.excluded_keys = before
