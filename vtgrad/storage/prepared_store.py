# Compiled by mypyc.
"""The second half of a write, after every check.

Note [Prepare, then store]

A write has two halves. A *writer* prepares: it checks its arguments, computes what it needs, and
may raise; it changes nothing. It returns a `Store`, which the write funnel executes after the
elements have been marked as overwritten (see Note [The write funnel]). A store itself raises no
error. If it is interrupted, by a signal or for lack of memory, all its elements count as
overwritten, whether they were reached or not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from vtgrad.storage.arrays import Array
from vtgrad.storage.lasting_arrays import constant

__all__ = ["NOTHING", "FoundIndex", "Store", "WrittenIndex", "carry_out", "copied"]

# Which elements of the target a store writes: row-major positions (a vector of int64), a mask that
# broadcasts to the target, or a NumPy index for its first dimensions.
WrittenIndex: TypeAlias = Array | tuple[Array | slice, ...]

# The same, or a function that finds it, which is called only if the elements have to be marked.
FoundIndex: TypeAlias = WrittenIndex | Callable[[], WrittenIndex]

# A function, its arguments, and the elements of the target that it writes; None for all.
Store: TypeAlias = tuple[Callable[..., object], tuple[object, ...], FoundIndex | None]


def _do_nothing() -> None:
    pass


# The store that writes no element.
NOTHING: Final[Store] = (_do_nothing, (), constant([], np.dtype(np.int64)))


def carry_out(store: Store) -> None:
    """Execute a store to an array that no tensor shares."""
    function, arguments, _ = store
    function(*arguments)


def copied(target: Array, values: Array) -> Store:
    """Overwrite a whole array with values that broadcast to it, cast to its dtype."""
    return np.copyto, (target, values, "unsafe"), None
