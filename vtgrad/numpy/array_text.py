"""The values of arrays as text, as NumPy writes them."""

from __future__ import annotations

import typing
from typing import Any

import numpy as np

from vtgrad.numpy.function import function
from vtgrad.numpy.on_values import holds_tensor
from vtgrad.numpy.operands import ArrayLike, of, value_of
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "array2string",
    "array_repr",
    "array_str",
    "format_float_positional",
    "format_float_scientific",
]


def _values(x: object) -> Any:
    return value_of(x) if isinstance(x, TensorBase) else x


def _text(function: Any, x: object, options: dict[str, object]) -> str:
    found: str = function(_values(of(x) if holds_tensor(x) else x), **options)
    return found


@function
def array_repr(arr: ArrayLike, *args: object, **options: object) -> str:
    """The values of an array as Python would read them, without what is recorded of it.

    Parameters
    ----------
    arr : array_like
        The array.
    *args, **options
        As of `numpy.array_repr`.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.array_repr(np.array([1.0]).requires_grad_())
    'array([1.])'
    """
    names = ("max_line_width", "precision", "suppress_small")
    return _text(np.array_repr, arr, {**dict(zip(names, args, strict=False)), **options})


@function
def array_str(a: ArrayLike, *args: object, **options: object) -> str:
    """The values of an array.

    Parameters
    ----------
    a : array_like
        The array.
    *args, **options
        As of `numpy.array_str`.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.array_str(np.array([1.0, 2.5]))
    '[1.  2.5]'
    """
    names = ("max_line_width", "precision", "suppress_small")
    return _text(np.array_str, a, {**dict(zip(names, args, strict=False)), **options})


@function
def array2string(a: ArrayLike, *args: object, **options: object) -> str:
    """The values of an array, by options.

    Parameters
    ----------
    a : array_like
        The array.
    *args, **options
        As of `numpy.array2string`.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.array2string(np.array([1.0, 2.0]), separator=", ")
    '[1., 2.]'
    """
    names = ("max_line_width", "precision", "suppress_small", "separator", "prefix")
    return _text(np.array2string, a, {**dict(zip(names, args, strict=False)), **options})


@function
def format_float_positional(x: ArrayLike, *args: object, **options: object) -> str:
    """A number as a decimal fraction.

    Parameters
    ----------
    x : number
        The number.
    *args, **options
        As of `numpy.format_float_positional`.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.format_float_positional(np.float64(1.5e-3))
    '0.0015'
    """
    call: Any = np.format_float_positional
    return typing.cast("str", call(_number(x), *args, **options))


@function
def format_float_scientific(x: ArrayLike, *args: object, **options: object) -> str:
    """A number with a power of ten.

    Parameters
    ----------
    x : number
        The number.
    *args, **options
        As of `numpy.format_float_scientific`.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.format_float_scientific(np.float64(1.5e-3))
    '1.5e-03'
    """
    call: Any = np.format_float_scientific
    return typing.cast("str", call(_number(x), *args, **options))


def _number(x: object) -> Any:
    found = _values(x)
    return found[()] if isinstance(found, np.ndarray) and not found.ndim else found
