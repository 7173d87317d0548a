# Compiled by mypyc.
"""Running code for which keys of tensors are not there, see Note [Keys].

Backward knows dimensions by number only: gradients have no names, and what a node computes from its
saved values has none. So a node that computes with tensors excludes `NAMED`, and `OVERRIDES` if it
runs no code of users, which is seen in backward as it is in forward. Hooks of users see names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from vtgrad.storage.thread_mode import thread

__all__ = ["run_excluding"]

R = TypeVar("R")


def run_excluding(
    excluded: int, function: Callable[..., R], /, *args: object, **kwargs: object
) -> R:
    """Call a function; for it, tensors do not have some keys.

    A function rather than a block, so that an interrupt finds no place between the beginning of
    the block and its protection.

    Parameters
    ----------
    excluded : int
        The keys, which are excluded beside those that are already.
    function : callable
        What is called.
    *args, **kwargs
        Its arguments.
    """
    before = thread.excluded_keys
    try:
        thread.excluded_keys = before | excluded
        return function(*args, **kwargs)
    finally:
        thread.excluded_keys = before
