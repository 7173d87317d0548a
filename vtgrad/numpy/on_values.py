"""What NumPy's own functions give for several operands none of which is differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vtgrad.numpy.deliver import NO_VALUE, handed_over
from vtgrad.numpy.operands import fresh, is_differentiated, value_of
from vtgrad.numpy.write import store
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["has_derivative", "on_values"]


def has_derivative(*values: object) -> bool:
    """Whether any of the values, or of the items of a nested sequence, is differentiated."""
    for value in values:
        if isinstance(value, TensorBase):
            if is_differentiated(value):
                return True
        elif isinstance(value, (list, tuple)) and has_derivative(*value):
            return True
    return False


def on_values(
    function: Callable[..., Any], *args: object, out: object = None, **options: object
) -> Any:
    """What a function of NumPy gives for the elements of arrays, also of those in sequences.

    Parameters
    ----------
    function : callable
        The function.
    *args, **options
        Its arguments; an option that is `NO_VALUE` is not given.
    out : object
        Where the result is stored, if it is not None.

    Returns
    -------
    object
        Arrays as arrays of the namespace, also in tuples and lists; numbers as they are.
    """
    given = [_values(x) for x in args]
    named = {name: _values(x) for name, x in options.items() if x is not NO_VALUE}
    if out is None:
        return _handed_over(run_without_warnings(function, *given, **named))
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not isinstance(target, TensorBase):
        return run_without_warnings(function, *given, out=target, **named)
    # NumPy computes into an array of its own, with all its rules.
    own = value_of(target).copy()
    run_without_warnings(function, *given, out=own, **named)
    return store(target, fresh(own))


def _values(value: object) -> object:
    """A value with arrays of NumPy in place of tensors."""
    if isinstance(value, TensorBase):
        return value_of(value)
    if type(value) in (list, tuple) and _holds_tensor(value):
        items = [_values(x) for x in value]  # type: ignore[attr-defined]
        return items if type(value) is list else tuple(items)
    return value


def _holds_tensor(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_tensor(x) for x in value)
    return isinstance(value, TensorBase)


def _handed_over(found: Any) -> Any:
    if isinstance(found, np.ndarray):
        return handed_over(found)
    if type(found) in (list, tuple):
        return type(found)([_handed_over(x) for x in found])
    return found
