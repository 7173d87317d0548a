"""What NumPy's own functions give for the values of arrays, where nothing is differentiated."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from vtgrad.numpy.deliver import NO_VALUE, handed_over
from vtgrad.numpy.operands import fresh, has_dtype, is_differentiated, is_keyed, value_of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.write import store
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "Target",
    "any_differentiated",
    "any_keyed",
    "arrays_in",
    "holds_tensor",
    "on_values",
    "refuse_derivatives",
    "tensors_in",
    "values_in",
]

# What a function may write: an array of the namespace, or one of NumPy's.
Target: TypeAlias = ndarray | np.ndarray[tuple[int, ...], np.dtype[np.generic]]


def tensors_in(tree: object) -> Iterator[TensorBase]:
    """The tensors in nested lists, tuples, dicts and slices."""
    if isinstance(tree, TensorBase):
        yield tree
    elif isinstance(tree, (list, tuple)):
        for x in tree:
            yield from tensors_in(x)
    elif isinstance(tree, dict):
        yield from tensors_in(list(tree.values()))
    elif isinstance(tree, slice):
        yield from tensors_in((tree.start, tree.stop, tree.step))


def holds_tensor(tree: object) -> bool:
    """Whether there is a tensor in nested lists, tuples, dicts and slices."""
    return next(tensors_in(tree), None) is not None


def any_differentiated(*trees: object) -> bool:
    """Whether a value, also in nested sequences, has a gradient, a tangent, samples or a trace."""
    return any(is_differentiated(x) for x in tensors_in(trees))


def any_keyed(*trees: object) -> bool:
    """Whether a value, also in nested sequences, has a tangent, samples or a trace."""
    return any(is_keyed(x) for x in tensors_in(trees))


def refuse_derivatives(*trees: object) -> None:
    """Refuse to store values with derivatives in an array of NumPy.

    Raises
    ------
    TypeError
        If there are some.
    """
    if any_differentiated(*trees):
        raise TypeError(
            "a value with a derivative cannot be stored in an array of NumPy; make the array with "
            "vtgrad.numpy, e.g. np.zeros"
        )


def values_in(tree: object) -> Any:
    """The same tree with arrays of NumPy in place of tensors."""
    if isinstance(tree, TensorBase):
        return value_of(tree)
    if isinstance(tree, list):
        return [values_in(x) for x in tree]
    if type(tree) is tuple:
        return tuple([values_in(x) for x in tree])
    if isinstance(tree, dict):
        return {key: values_in(x) for key, x in tree.items()}
    if isinstance(tree, slice):
        return slice(values_in(tree.start), values_in(tree.stop), values_in(tree.step))
    return tree


def on_values(
    function: Callable[..., Any], *args: object, out: object = None, **options: object
) -> ndarray:
    """What a function of NumPy gives for values, with arrays of the namespace in the result.

    Parameters
    ----------
    function : callable
        The function.
    *args : object
        Its arguments, in which tensors may be nested.
    out : ndarray, optional
        Where the result is stored.
    **options : object
        Further arguments by name; one that is `NO_VALUE` is not given.

    Returns
    -------
    ndarray
        An array, as the type says, or what else the function gives: a number, or a tuple.
    """
    given = [values_in(x) for x in args]
    named = {name: values_in(x) for name, x in options.items() if x is not NO_VALUE}
    if out is None:
        found = run_without_warnings(function, *given, **named)
        operands = list(_arrays_of_numpy((given, named)))
        made: ndarray = arrays_in(found if operands else making.of_numbers(found), operands)
        return made
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not isinstance(target, TensorBase):
        written: ndarray = run_without_warnings(function, *given, out=target, **named)
        return written
    # NumPy computes into an array of its own, with all its rules.
    own = value_of(target).copy()
    found = run_without_warnings(function, *given, out=own, **named)
    stored: ndarray = store(target, fresh(own))
    # Some functions return another array than ``out=``.
    return stored if found is own else typing.cast("ndarray", arrays_in(found))


def arrays_in(found: object, given: Sequence[Array] = ()) -> Any:
    """A result with arrays of the namespace in place of NumPy's, where these have its dtypes.

    Arrays of subclasses, such as masked arrays, stay what they are. What shares memory with one of
    the `given` arrays, which NumPy may hand back, is copied, unless it stays NumPy's.
    """
    if type(found) in PLAIN and isinstance(found, np.ndarray):
        shared = has_dtype(found.dtype) and any(np.may_share_memory(found, x) for x in given)
        return handed_over(found.copy("K") if shared else found)
    if isinstance(found, (tuple, list)):
        parts = [arrays_in(x, given) for x in typing.cast("Sequence[object]", found)]
        if type(found) in (tuple, list):
            return type(found)(parts)
        # Results with names, as of `eigh`, are made of their fields.
        return typing.cast("Any", type(found))(*parts)
    return found


def _arrays_of_numpy(tree: object) -> Iterator[Array]:
    """The arrays of NumPy in nested lists, tuples and dicts."""
    if isinstance(tree, np.ndarray):
        yield tree
    elif isinstance(tree, (list, tuple)):
        for x in tree:
            yield from _arrays_of_numpy(x)
    elif isinstance(tree, dict):
        yield from _arrays_of_numpy(list(tree.values()))
