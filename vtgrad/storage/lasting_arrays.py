"""Arrays that outlast the call in which they are made: constants of modules, and those in caches.

This file is never compiled.

Note [Lasting arrays]

The library keeps arrays that depend on no value of a program: coefficients, numbers as 0-d arrays,
the positions in a shape. A recording meets them without having seen how they were made. And it may
be what makes them, if it is the first that asks a cache, or that imports a module.

So each of them is made with `lasting`, `constant` or `made_once`, by NumPy's own functions also on
a thread that records, and is an ordinary array. Each stands in a collection that is registered,
where a recording finds it by its address. None of them is ever written. What a cache has removed is
not found any more: a recording keeps the arrays that it has found.

A test follows all references from the modules of the library, and finds no other arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, Protocol, TypeVar, runtime_checkable

import numpy as np

from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.thread_state import changed, run_with

__all__ = ["constant", "lasting", "lasting_arrays", "made_once", "register"]

T = TypeVar("T")


@runtime_checkable
class _HasArrays(Protocol):
    """An object with arrays in it, as a table of a function."""

    def arrays(self) -> Sequence[Array]:
        """All of them."""


_constants: Final[list[Array]] = []
_collections: Final[list[Collection[Array]]] = [_constants]


def lasting(make: Callable[..., Array], /, *args: object) -> Array:
    """The array that a function makes for a cache, which depends on no value of a program.

    Parameters
    ----------
    make : callable
        What makes it, with the arguments that follow.
    """
    if making.state.makers is None:
        return make(*args)
    return run_with(changed(makers=None), make, *args)


def constant(value: object, dtype: NumpyDType | None = None) -> Array:
    """An array that a module or a class keeps for good.

    Parameters
    ----------
    value : number or nested sequence of numbers
        What `numpy.array` takes.
    dtype : numpy.dtype, optional
        By default that of the value.
    """
    made: Array = lasting(making.array, value, dtype)
    _constants.append(made)
    return made


def made_once(make: Callable[[], T]) -> Callable[[], T]:
    """Decorate a function without arguments: its first result is kept for good.

    The arrays in the result, those in nested tuples, lists and objects with a method ``arrays``,
    are lasting ones.
    """

    @functools.cache
    @functools.wraps(make)
    def kept() -> T:
        made = make() if making.state.makers is None else run_with(changed(makers=None), make)
        _constants.extend(_arrays_in(made))
        return made

    return kept


def _arrays_in(made: object) -> Iterator[Array]:
    if isinstance(made, np.ndarray):
        yield made
    elif isinstance(made, _HasArrays):
        yield from made.arrays()
    elif isinstance(made, (tuple, list)):
        for part in made:
            yield from _arrays_in(part)


def register(arrays: Collection[Array]) -> None:
    """State that a cache has lasting arrays.

    Parameters
    ----------
    arrays : collection of numpy.ndarray
        A list, or the view of a dictionary's values, so that it shows what is there at each moment
        and can be copied while other threads fill the cache.
    """
    _collections.append(arrays)


def lasting_arrays() -> list[Array]:
    """All lasting arrays at this moment."""
    return [array for arrays in _collections for array in list(arrays)]
