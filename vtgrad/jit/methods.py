"""Functions that are recorded apart for each object whose method they are."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Final, Generic, TypeVar

__all__ = ["Methods"]

R = TypeVar("R")
T = TypeVar("T")


class _Method(Generic[R]):
    """A function and its object, which is not kept alive: nothing refers to itself through it."""

    def __init__(self, function: Callable[..., R], instance: object) -> None:
        update_wrapper(self, function)
        self._function = function
        self._instance = weakref.ref(instance)

    def __call__(self, *args: object, **kwargs: object) -> R:
        instance = self._instance()
        if instance is None:
            raise ReferenceError("the object of a replayed method is gone")
        return self._function(instance, *args, **kwargs)


class Methods(Generic[R, T]):
    """What was made for each object, by its identity, while it is alive.

    An attribute of the object would be copied with it.

    Parameters
    ----------
    make : callable
        Makes it from a function of the arguments that follow the object.
    function : callable
        The function, with the object as its first argument.
    """

    def __init__(self, make: Callable[[Callable[..., R]], T], function: Callable[..., R]) -> None:
        self._make: Final = make
        self._function: Final = function
        self._made: Final[dict[int, tuple[weakref.ref[object], T]]] = {}

    def of(self, instance: object) -> T:
        """What belongs to an object; made at first.

        Raises
        ------
        TypeError
            If there are no weak references to the object.
        """
        known = self._made.get(id(instance))
        if known is not None and known[0]() is instance:
            return known[1]
        made = self._make(_Method(self._function, instance))
        gone = partial(self._forget, id(instance))
        self._made[id(instance)] = weakref.ref(instance, gone), made
        return made

    def _forget(self, number: int, reference: weakref.ref[object]) -> None:
        known = self._made.get(number)
        if known is not None and known[0] is reference:
            del self._made[number]
