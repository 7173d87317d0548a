"""Functions of the namespace as objects, and which of NumPy's functions they stand for."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Final, Generic, ParamSpec, TypeVar, overload

import numpy as np

__all__ = ["Function", "function", "functions"]

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class Function(Generic[P, R]):
    """A function of the namespace.

    NumPy's functions are no descriptors: a class whose body holds ``norm = np.linalg.norm`` has a
    function there, not a method. So these are objects that can be called, as NumPy's are.
    """

    __name__: str
    __qualname__: str
    __wrapped__: Callable[P, R]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return self.__wrapped__(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<function {self.__module__}.{self.__qualname__}>"

    def __reduce__(self) -> str:
        return self.__qualname__


# The function of the namespace for each of NumPy's: what `__array_function__` calls.
functions: Final[dict[object, Function[..., object]]] = {}


@overload
def function(text: Callable[P, R], /) -> Function[P, R]: ...
@overload
def function(*, of: object) -> Callable[[Callable[P, R]], Function[P, R]]: ...
def function(
    text: Callable[P, R] | None = None, /, *, of: object = None
) -> Function[P, R] | Callable[[Callable[P, R]], Function[P, R]]:
    """Make a function an object of the namespace, and enter it for NumPy's function.

    Parameters
    ----------
    text : callable
        The function, which is documented and annotated.
    of : callable, optional
        NumPy's function, if it is not the one of the same name in ``numpy``.
    """

    def made(text: Callable[P, R]) -> Function[P, R]:
        # A class for each, whose call is the function itself: one call less.
        kind = type(text.__name__, (Function,), {"__call__": staticmethod(text)})
        found: Function[P, R] = kind()
        update_wrapper(found, text)
        twin = getattr(np, text.__name__, None) if of is None else of
        if twin is not None:
            functions[twin] = found
        return found

    return made if text is None else made(text)
