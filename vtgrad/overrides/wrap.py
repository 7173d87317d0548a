"""Functions of users that ``__torch_function__`` takes over."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar, cast

from vtgrad.overrides.arguments import has_torch_function
from vtgrad.overrides.dispatch import handle_torch_function

__all__ = ["wrap_torch_function"]

P = ParamSpec("P")
R = TypeVar("R")


def wrap_torch_function(
    dispatcher: Callable[P, Iterable[object]],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator for functions that arguments with ``__torch_function__`` take over.

    Parameters
    ----------
    dispatcher : callable
        Called with all arguments of the function; gives those that may take it over.

    Returns
    -------
    callable
        The decorator.

    Examples
    --------
    >>> @vt.overrides.wrap_torch_function(lambda x: (x,))
    ... def double(x):
    ...     return x * 2
    >>> double(vt.ones(2))
    tensor([2., 2.])
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return cast("R", handle_torch_function(call, relevant, *args, **kwargs))
            return function(*args, **kwargs)

        return call

    return decorate
