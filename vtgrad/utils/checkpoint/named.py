"""The names of dimensions, when a function runs again.

Backward ignores names, and what it gets from saved values has none. But the function itself may ask
for a dimension by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from vtgrad.graph.operators import operators
from vtgrad.storage.extra_meta import Names
from vtgrad.storage.key_set import NAMED
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_mode import thread
from vtgrad.storage.thread_state import changed, run_with

__all__ = ["NamesOfCall"]

R = TypeVar("R")


class NamesOfCall:
    """The names that a function sees, when it runs for the first time."""

    __slots__ = ("_excluded", "_names")

    # Whether names were ignored: the bit of their key, or 0.
    _excluded: int
    _names: dict[int, Names]

    def __init__(self, arguments: Sequence[object]) -> None:
        self._excluded = thread.excluded_keys & NAMED
        self._names = {
            nr: x._impl.names
            for nr, x in enumerate(arguments)
            if isinstance(x, TensorBase) and x._impl.key_set & NAMED
        }

    def of(self, nr: int) -> Names | None:
        """The names of an argument; None for none."""
        return self._names.get(nr)

    def given_to(self, arguments: list[object]) -> list[object]:
        """The arguments of another run, with these names; tensors of the user keep their own."""
        for nr, names in self._names.items():
            tensor = arguments[nr]
            assert isinstance(tensor, TensorBase)
            if tensor._impl.names != names:
                arguments[nr] = named = operators().unnamed(tensor)
                named._impl.set_names(names)
        return arguments

    def run(self, function: Callable[..., R], *args: object, **kwargs: object) -> R:
        """Call the function, with names in force as they were; see Note [Keys]."""
        excluded = thread.excluded_keys & ~NAMED | self._excluded
        return run_with(changed(excluded_keys=excluded), function, *args, **kwargs)
