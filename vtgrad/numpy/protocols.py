"""What NumPy's own functions do when they are called with arrays of the namespace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from vtgrad.numpy.deliver import handed_over
from vtgrad.numpy.function import functions
from vtgrad.numpy.operands import is_differentiated, value_of
from vtgrad.numpy.ufunc_loop import by_numpys
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["call_function", "call_ufunc"]


def call_ufunc(
    ufunc: np.ufunc, method: str, inputs: Sequence[object], options: Mapping[str, Any]
) -> Any:
    """What ``ufunc(*inputs)``, or a method of it, gives: for ``__array_ufunc__``."""
    mine: Any = by_numpys.get(ufunc)
    if mine is not None:
        call = mine if method == "__call__" else getattr(mine, method)
        return call(*inputs, **options)
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    return _on_values(getattr(ufunc, method), name, inputs, options)


def call_function(
    function: Callable[..., Any], args: Sequence[object], options: Mapping[str, Any]
) -> Any:
    """What a function of NumPy gives: for ``__array_function__``."""
    mine = functions.get(function)
    if mine is not None:
        return mine(*args, **options)
    return _on_values(function, getattr(function, "__name__", str(function)), args, options)


def _on_values(
    function: Callable[..., Any], name: str, args: Sequence[object], options: Mapping[str, Any]
) -> Any:
    """What a function gives that the namespace does not have, on the values alone.

    Raises
    ------
    TypeError
        If a gradient or a tangent would be lost.
    """
    if any(is_differentiated(x) for x in _tensors((*args, *options.values()))):
        raise TypeError(
            f"vtgrad.numpy has no {name} through which a gradient passes. Write it with functions "
            "that it has; where no gradient is wanted, pass x.detach()"
        )
    found = run_without_warnings(
        function,
        *[_values(x) for x in args],
        **{key: _values(x) for key, x in options.items()},
    )
    return _arrays(found)


def _tensors(tree: object) -> Iterator[TensorBase]:
    """The tensors in nested lists, tuples and dicts."""
    if isinstance(tree, TensorBase):
        yield tree
    elif isinstance(tree, (list, tuple)):
        for x in tree:
            yield from _tensors(x)
    elif isinstance(tree, dict):
        yield from _tensors(list(tree.values()))


def _values(tree: object) -> object:
    """Nested lists, tuples and dicts with arrays of NumPy in place of tensors."""
    if isinstance(tree, TensorBase):
        return value_of(tree)
    if isinstance(tree, list):
        return [_values(x) for x in tree]
    if type(tree) is tuple:
        return tuple([_values(x) for x in tree])
    if isinstance(tree, dict):
        return {key: _values(x) for key, x in tree.items()}
    return tree


def _arrays(found: object) -> object:
    """A result with arrays of the namespace in place of NumPy's, where these have its dtypes."""
    if isinstance(found, np.ndarray):
        return handed_over(found) if found.dtype.char in "?bBhilqefdFD" else found
    if type(found) in (tuple, list):
        parts = [_arrays(x) for x in cast("Sequence[object]", found)]
        return tuple(parts) if type(found) is tuple else parts
    return found
