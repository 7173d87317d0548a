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
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from vtgrad.errors import NumpyConversionError
from vtgrad.graph.recording import is_recording
from vtgrad.numpy.base import ArrayBase
from vtgrad.numpy.function import functions
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.on_values import any_differentiated, any_keyed, on_values
from vtgrad.numpy.operands import has_dtype
from vtgrad.numpy.special_ufuncs import call_special
from vtgrad.numpy.ufunc_loop import by_numpys, computes_itself
from vtgrad.storage import making
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.tensor.tensor import Tensor

__all__ = ["call_function", "call_ufunc"]


def call_ufunc(
    ufunc: np.ufunc, method: str, inputs: Sequence[object], options: Mapping[str, Any]
) -> Any:
    """What ``ufunc(*inputs)``, or a method of it, gives: for ``__array_ufunc__``."""
    for x in (*inputs, *options.get("out", ())):
        if computes_itself(x):
            return NotImplemented
    mine: Any = by_numpys.get(ufunc)
    if mine is not None:
        call = mine if method == "__call__" else getattr(mine, method)
        return call(*inputs, **options)
    if method == "__call__" and not options:
        found = call_special(ufunc, inputs)
        if found is not None:
            return found
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
    return found if any(issubclass(x, ArrayBase) for x in types) else _as_tensors(found)


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
        return Tensor._wrap(TensorImpl(making.array(found)))
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
    carries = any_differentiated if is_recording() else any_keyed
    if carries(args, dict(options)):
        raise NumpyConversionError(
            f"vtgrad.numpy has no {name} through which a gradient passes. Write it with functions "
            "that it has; where no gradient is wanted, pass x.detach()"
        )
    return on_values(function, *args, **options)
