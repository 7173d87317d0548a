"""Functions of arrays whose dtype tensors do not have, such as names and objects."""

from __future__ import annotations

import typing
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, ParamSpec, TypeVar

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import has_dtype

__all__ = ["of_other_dtypes"]

P = ParamSpec("P")
R = TypeVar("R")


def of_other_dtypes(text: Callable[P, R]) -> Callable[P, R]:
    """A function that NumPy's own of the same name stands in for where tensors lack the dtype.

    Such an array stays NumPy's. It is refused beside values that carry a derivative.

    Parameters
    ----------
    text : callable
        A function that makes arrays of its arguments before it does anything else.
    """
    numpys: Callable[..., Any] | None = getattr(np, text.__name__, None)

    def made(*args: P.args, **options: P.kwargs) -> R:
        try:
            return text(*args, **options)
        except NotSupportedError:
            given = (args, options)
            if numpys is None or not _holds_others(given) or any_differentiated(*given):
                raise
            return typing.cast("R", on_values(numpys, *args, **options))

    return update_wrapper(made, text)


def _holds_others(tree: object) -> bool:
    """Whether there is an array in nested sequences that tensors do not have the dtype of."""
    if isinstance(tree, np.ndarray):
        return not has_dtype(tree.dtype)
    if isinstance(tree, dict):
        return _holds_others(list(tree.values()))
    return isinstance(tree, (list, tuple)) and any(map(_holds_others, tree))
