"""What NumPy's own functions do when they are called with tensors.

Note [Functions of NumPy]

NumPy hands a call such as ``np.mean(x)`` over to `Tensor.__array_function__`, also if another one
of the arguments is the tensor. What computes it is the function of the same name in the namespace,
with NumPy's arguments and dtypes, so that it is recorded. Where no argument is an array of the
namespace, the results become plain tensors. A function that the namespace does not have is
computed by NumPy on the values; it is refused if a gradient, a tangent or a batch would be lost
there.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from vtgrad.errors import NumpyConversionError
from vtgrad.graph.recording import is_recording
from vtgrad.numpy.deliver import handed_over
from vtgrad.numpy.function import functions
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.operands import has_dtype, is_differentiated, is_keyed, value_of
from vtgrad.numpy.ufunc_loop import by_numpys
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.tensor.tensor import Tensor

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
    function: Callable[..., Any],
    types: Collection[type],
    args: Sequence[object],
    options: Mapping[str, Any],
) -> Any:
    """What a function of NumPy gives: for ``__array_function__``.

    Parameters
    ----------
    function : callable
        NumPy's.
    types : collection of type
        The classes of the arguments that have the protocol. If none is of the namespace, results
        are tensors, of the plain class and also if they are 0-d.
    args, options
        The arguments.

    Returns
    -------
    object
        NotImplemented if an argument is of a class that computes in its own way.
    """
    if not all(map(_is_known, types)):
        return NotImplemented
    mine = functions.get(function)
    if mine is not None:
        found: object = mine(*args, **options)
    else:
        name = getattr(function, "__name__", str(function))
        found = _on_values(function, name, args, options)
    return found if any(issubclass(x, kinds.array) for x in types) else _as_tensors(found)


def _is_known(cls: type) -> bool:
    if issubclass(cls, np.ndarray):
        # Another one has units, or the like, and computes itself.
        return cls.__array_function__ is np.ndarray.__array_function__
    return issubclass(cls, TensorBase)


def _as_tensors(found: object) -> object:
    """A result with plain tensors in place of arrays and numbers of NumPy."""
    if type(found) in (kinds.array, kinds.scalar):
        # A view of an argument or a fresh result: no other code has this object.
        typing.cast("Any", found).__class__ = Tensor
    elif isinstance(found, np.generic) and has_dtype(found.dtype):
        return Tensor._wrap(TensorImpl(np.array(found)))
    elif isinstance(found, (tuple, list)):
        parts = [_as_tensors(x) for x in found]
        if type(found) in (tuple, list):
            return type(found)(parts)
        # A named tuple of NumPy.
        return typing.cast("Any", type(found))(*parts)
    return found


def _on_values(
    function: Callable[..., Any], name: str, args: Sequence[object], options: Mapping[str, Any]
) -> Any:
    """What a function gives that the namespace does not have, on the values alone.

    Raises
    ------
    NumpyConversionError
        If a gradient or a tangent would be lost.
    """
    carries = is_differentiated if is_recording() else is_keyed
    if any(carries(x) for x in _tensors((*args, *options.values()))):
        raise NumpyConversionError(
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
