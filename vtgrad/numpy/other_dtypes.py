"""Functions on arrays of the dtypes that tensors do not have, as uint16: NumPy computes them.

Note [Other dtypes]

Arrays of unsigned integers of more than 8 bits, of text, dates and objects stay NumPy's. Ufuncs,
their methods and functions of NumPy's namespace take them all the same, and give arrays of the
namespace where the result has a dtype that tensors have.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.numpy.on_values import any_differentiated, holds_tensor, on_values
from vtgrad.numpy.operands import has_dtype
from vtgrad.storage import making

__all__ = ["method_or_by_numpy", "or_by_numpy", "stays_numpys"]

P = ParamSpec("P")
R = TypeVar("R")


def stays_numpys(value: object) -> bool:
    """Whether NumPy makes an array of a value that has a dtype which tensors do not have."""
    if isinstance(value, (list, tuple)):
        if holds_tensor(value):
            return any(map(stays_numpys, value))
        try:
            value = making.asarray(value)
        except ValueError:
            # Arrays of several shapes, as the choices of `choose`.
            return any(map(stays_numpys, value))
    return isinstance(value, (np.ndarray, np.generic)) and not has_dtype(value.dtype)


def or_by_numpy(text: Callable[P, R]) -> Callable[P, R]:
    """Let NumPy's function of the same name compute what the function refuses for a dtype.

    For functions that begin with `of`, so that nothing is done when they refuse.

    Parameters
    ----------
    text : callable
        The function, which has NumPy's arguments.
    """
    numpys: Callable[..., Any] = getattr(np, text.__name__)
    signature = inspect.signature(text)

    @functools.wraps(text)
    def computed(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return text(*args, **kwargs)
        except NotSupportedError:
            return typing.cast("R", _computed(numpys, signature.bind(*args, **kwargs)))

    return computed


def method_or_by_numpy(text: Callable[P, R]) -> Callable[P, R]:
    """As `or_by_numpy`, for a method of ufuncs, of which NumPy's has the same arguments."""
    signature = inspect.signature(text)

    @functools.wraps(text)
    def computed(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return text(*args, **kwargs)
        except NotSupportedError:
            own, *others = args
            numpys = getattr(typing.cast("Any", own).ufunc, text.__name__)
            given = signature.bind(own, *others, **kwargs)
            return typing.cast("R", _computed(numpys, given, first=1))

    return computed


def _computed(
    numpys: Callable[..., Any], given: inspect.BoundArguments, *, first: int = 0
) -> object:
    """What NumPy's function gives for arguments from the `first` on.

    Raises
    ------
    NotSupportedError
        The one that is handled, if a value has a derivative, or no dtype is the reason.
    """
    operands = [*given.args[first:], *given.kwargs.values()]
    if any_differentiated(operands) or not any(map(stays_numpys, operands)):
        raise
    # What is written is not among the operands.
    out = given.arguments.pop("out", None)
    return on_values(numpys, *given.args[first:], out=out, **given.kwargs)
