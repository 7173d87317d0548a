# Compiled by mypyc.
"""Running code that ignores the names of dimensions.

Backward knows dimensions by number only: gradients have no names, and what a node computes from its
saved values has none. So a node that computes with tensors runs under this guard. Hooks do not:
they are the user's code, and see names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from vtgrad.storage.key_set import NAMED
from vtgrad.storage.thread_mode import thread

__all__ = ["NoNamesGuard"]

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
