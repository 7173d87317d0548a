"""What arrays are: shapes, dtypes, shared memory. None of it has a derivative."""

from __future__ import annotations

import typing
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy import promotion
from vtgrad.numpy.function import function
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.on_values import holds_tensor
from vtgrad.numpy.operands import ArrayLike, has_dtype, of, owned, value_of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.storage import making
from vtgrad.storage.arrays import NumpyDType, Shape
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "astype",
    "can_cast",
    "common_type",
    "isfortran",
    "isscalar",
    "may_share_memory",
    "min_scalar_type",
    "ndim",
    "result_type",
    "shape",
    "shares_memory",
    "size",
]


@function
def shape(a: ArrayLike) -> Shape:
    """The length of each axis.

    Parameters
    ----------
    a : array_like
        An array, or what becomes one.

    Returns
    -------
    tuple of int
        The lengths.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.shape([[1, 2, 3]])
    (1, 3)
    """
    if isinstance(a, (list, tuple)):
        a = of(a) if holds_tensor(a) else a
    return a._impl.array.shape if isinstance(a, TensorBase) else np.shape(typing.cast("Any", a))


@function
def ndim(a: ArrayLike) -> int:
    """The number of axes.

    Parameters
    ----------
    a : array_like
        An array, or what becomes one.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.ndim([[1, 2, 3]])
    2
    """
    return len(shape(a))


@function
def size(a: ArrayLike, axis: SupportsIndex | tuple[SupportsIndex, ...] | None = None) -> int:
    """The number of elements, of all or along axes.

    Parameters
    ----------
    a : array_like
        An array, or what becomes one.
    axis : int or tuple of int, optional
        The axes.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.size([[1, 2, 3]], 1)
    3
    """
    probe = making.broadcast_to(making.zeros((), np.bool_), shape(a))
    return np.size(probe, typing.cast("int", axis))


@function
def isscalar(element: object) -> bool:
    """Whether something is a number or a text, not an array.

    Parameters
    ----------
    element : object
        Anything.

    Returns
    -------
    bool
        True for numbers that carry a derivative too.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.isscalar(3.5), np.isscalar(np.array(3.5))
    (True, False)
    """
    return type(element) is kinds.scalar or np.isscalar(element)


# -- dtypes ----------------------------------------------------------------------------------


def _kind(value: object) -> Any:
    """The dtype of an array; anything else as it is."""
    return value._impl.array.dtype if isinstance(value, TensorBase) else value


@function
def result_type(*arrays_and_dtypes: object) -> NumpyDType:
    """The dtype of a result of arrays, numbers and dtypes together.

    Parameters
    ----------
    *arrays_and_dtypes : array_like or dtype
        Python's numbers decide the kind only.

    Returns
    -------
    dtype
        The dtype.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.result_type(np.array([1, 2]), 1.5)
    dtype('float64')
    """
    return promotion.result_type(*arrays_and_dtypes)


@function
def can_cast(from_: object, to: object, casting: str = "safe") -> bool:
    """Whether one dtype may be cast to another.

    Parameters
    ----------
    from_ : dtype or ndarray
        From which; the dtype of an array.
    to : dtype
        To which.
    casting : {"no", "equiv", "safe", "same_kind", "unsafe"}
        What is allowed.

    Returns
    -------
    bool
        Whether it is allowed.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.can_cast(np.int32, np.float64), np.can_cast(float, int)
    (True, False)
    """
    return np.can_cast(_kind(from_), _kind(to), typing.cast("Any", casting))


@function
def min_scalar_type(a: ArrayLike) -> NumpyDType:
    """The smallest dtype that holds a number; the dtype of an array.

    Parameters
    ----------
    a : array_like
        The number.

    Returns
    -------
    dtype
        The dtype.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.min_scalar_type(10)
    dtype('uint8')
    """
    return np.min_scalar_type(_values(a))


@function
def common_type(*arrays: ArrayLike) -> type[np.inexact[Any]]:
    """The type of inexact numbers that all of several arrays can be cast to.

    Parameters
    ----------
    *arrays : ndarray
        The arrays.

    Returns
    -------
    type
        Such as `float64`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.common_type(np.array([1, 2])) is np.common_type(np.array([1.0]))
    True
    """
    probes: list[Any] = [
        making.empty(0, _kind(x)) if isinstance(x, TensorBase) else x for x in arrays
    ]
    return typing.cast("type[np.inexact[Any]]", np.common_type(*probes))


@function
def astype(
    x: ndarray, dtype: DTypeLike, /, *, copy: bool = True, device: str | None = None
) -> ndarray:
    """The array in another dtype, recorded.

    Parameters
    ----------
    x : ndarray
        The array, or a scalar.
    dtype : dtype
        The dtype.
    copy : bool
        Whether to copy if it has the dtype already.
    device : str, optional
        ``"cpu"``.

    Returns
    -------
    ndarray
        An array; a scalar for a scalar.

    Raises
    ------
    TypeError
        If `x` is neither.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.astype(np.array([1.5]), int)
    array([1])
    """
    given: object = x
    if isinstance(given, np.ndarray) and has_dtype(given.dtype):
        x = owned(of(given))
    if not isinstance(given, (TensorBase, np.ndarray)) and not np.isscalar(given):
        raise TypeError(f"Input should be a NumPy array or scalar. It is a {type(given)} instead.")
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')
    if isinstance(given, np.generic):
        return typing.cast("ndarray", given.astype(dtype))
    return x.astype(dtype, copy=copy)


# -- memory ----------------------------------------------------------------------------------


def _values(x: object) -> Any:
    return value_of(x) if isinstance(x, TensorBase) else x


def _memory(x: object) -> Any:
    return resolved(x._impl.array) if isinstance(x, TensorBase) else x


@function
def may_share_memory(a: object, b: object, max_work: int | None = None) -> bool:
    """Whether the memory of two arrays overlaps, by their limits.

    Parameters
    ----------
    a, b : array_like
        The arrays.
    max_work : int, optional
        How much work to spend for a better answer.

    Returns
    -------
    bool
        False only if they share no memory.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x = np.array([1, 2, 3])
    >>> np.may_share_memory(x, x[1:])
    True
    """
    return np.may_share_memory(_memory(a), _memory(b), typing.cast("Any", max_work))


@function
def shares_memory(a: object, b: object, max_work: int | None = None) -> bool:
    """Whether two arrays share memory.

    Parameters
    ----------
    a, b : array_like
        The arrays.
    max_work : int, optional
        How much work to spend at most.

    Returns
    -------
    bool
        Whether they do.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x = np.array([1, 2, 3, 4])
    >>> np.shares_memory(x[::2], x[1::2])
    False
    """
    return np.shares_memory(_memory(a), _memory(b), typing.cast("Any", max_work))


@function
def isfortran(a: ndarray) -> bool:
    """Whether the first index runs fastest in memory, and not the last too.

    Parameters
    ----------
    a : ndarray
        The array.

    Returns
    -------
    bool
        Whether it does.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.isfortran(np.ones((2, 2)).T)
    True
    """
    return np.isfortran(_memory(a))
