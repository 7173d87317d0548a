"""What makes arrays: of values, and of sizes."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.graph.batch import is_batched
from vtgrad.numpy.deliver import handed_over, made
from vtgrad.numpy.function import function
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.memory_order import copied
from vtgrad.numpy.operands import (
    ArrayLike,
    any_tensor,
    array_of_class,
    as_array,
    cast,
    check_keeps,
    has_dtype,
    of,
    on_memory,
    owned,
    value_of,
)
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.shapes import Order
from vtgrad.numpy.write import store
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, NumpyDType
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "asfortranarray",
    "copy",
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]

_Shape = SupportsIndex | Sequence[SupportsIndex]


@function
def array(
    object: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    copy: bool | None = True,
    order: Order = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: ArrayLike | None = None,
) -> ndarray:
    """An array of values, which records where they carry derivatives.

    Parameters
    ----------
    object : array_like
        A number, an array, or nested sequences of them: ``np.array([[a, 1.0], [0.0, b]])``.
    dtype : dtype, optional
        The dtype; by default the one that NumPy finds, float64 for numbers with a point.
    copy : bool, optional
        Whether to copy an array always, never, or, for None, only if needed.
    order : {"C", "F", "A", "K"}
        Which index runs fastest in memory.
    subok : bool
        Accepted.
    ndmin : int
        The least number of dimensions.
    like : array_like, optional
        Accepted.

    Returns
    -------
    ndarray
        A new array. One of a dtype that the namespace does not have is NumPy's.

    Raises
    ------
    ValueError
        If sequences of one level differ in length, or a copy is needed and forbidden.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x = np.array([1.0, 2.0]).requires_grad_()
    >>> np.array([[x[0], 3.0], [0.0, x[1]]])
    array([[1., 3.],
           [0., 2.]], grad_fn=<StackBackward0>)
    """
    wanted = None if dtype is None else np.dtype(dtype)
    if wanted is not None and not has_dtype(wanted):
        # No gradient passes to these.
        given: Any = object
        if isinstance(given, TensorBase):
            check_keeps(given, wanted)
            given = value_of(given)
        return _numpys(given, wanted, copy, order, ndmin)
    if isinstance(object, TensorBase):
        x = of(object)
        if not subok and type(x) not in (kinds.array, kinds.scalar):
            # An array of the class itself, on the same memory.
            x = array_of_class(F.alias(x))
        result = x if wanted is None else cast(x, wanted)
        if result is x and copy:
            result = copied(x, order)
        elif result is not x and copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
    elif isinstance(object, (list, tuple)):
        result = _of_sequence(object, wanted, copy)
    else:
        found = making.array(object, wanted, copy=copy)
        own = copy is True and isinstance(object, (np.ndarray, np.generic, int, float, complex))
        if own:
            result = made(found)
        elif not has_dtype(found.dtype):
            result = handed_over(found)
        else:
            result = on_memory(found) if copy is False else owned(on_memory(found))
    if isinstance(typing.cast("Any", result), (np.ndarray, np.generic)):
        return _numpys(result, None, False if copy is False else None, order, ndmin)
    result = as_array(result)
    if order in ("C", "F") and not _lies_in(result, order):
        result = copied(result, order)
    missing = ndmin - len(result.shape)
    return as_array(F.reshape(result, (*(1,) * missing, *result.shape))) if missing > 0 else result


def _lies_in(x: ndarray, order: str) -> bool:
    """Whether the elements lie in the order of rows, ``"C"``, or in that of columns."""
    return x.flags.c_contiguous if order == "C" else x.flags.f_contiguous


def _of_sequence(items: Sequence[Any], dtype: NumpyDType | None, copy: bool | None) -> ndarray:
    if copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if any_tensor(items):
        return of(items, dtype)
    return made(making.array(items, dtype))


def _numpys(
    value: Any, dtype: NumpyDType | None, copy: bool | None, order: Order, ndmin: int
) -> ndarray:
    """An array that stays NumPy's, because tensors do not have its dtype."""
    found: Any = making.array(value, dtype, copy=copy, order=order, ndmin=ndmin)
    return typing.cast("ndarray", found)


@function
def asarray(
    a: ArrayLike,
    dtype: DTypeLike | None = None,
    order: Order = "K",
    *,
    device: str | None = None,
    copy: bool | None = None,
    like: ArrayLike | None = None,
) -> ndarray:
    """An array of values, without a copy where it is one already.

    Parameters
    ----------
    a : array_like
        The values.
    dtype, order, copy, like
        As of `array`.
    device : str, optional
        ``"cpu"``.

    Returns
    -------
    ndarray
        `a` itself, or a new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x = np.array([1.0, 2.0])
    >>> np.asarray(x) is x
    True
    """
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')
    if not isinstance(a, np.ndarray) or type(a) not in PLAIN:
        return array(a, dtype, copy=copy, order=order)
    wanted = None if dtype is None else np.dtype(dtype)
    if copy is None and has_dtype(a.dtype) and wanted in (None, a.dtype):
        made = owned(of(a))
        wrong = order in ("C", "F") and not _lies_in(made, order)
        return copied(made, order) if wrong else made
    return array(typing.cast("ArrayLike", a), dtype, copy=copy, order=order)


@function
def asanyarray(
    a: ArrayLike,
    dtype: DTypeLike | None = None,
    order: Order = "K",
    *,
    device: str | None = None,
    copy: bool | None = None,
    like: ArrayLike | None = None,
) -> ndarray:
    """As `asarray`, and arrays of subclasses stay what they are.

    Parameters
    ----------
    a, dtype, order, device, copy, like
        As of `asarray`.

    Returns
    -------
    ndarray
        `a` itself, or a new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.asanyarray([1, 2])
    array([1, 2])
    """
    _check_device(device)
    return array(a, dtype, copy=copy, order=order, subok=True)


@function
def ascontiguousarray(
    a: ArrayLike, dtype: DTypeLike | None = None, *, like: ArrayLike | None = None
) -> ndarray:
    """An array of at least one dimension in row-major order.

    Parameters
    ----------
    a, dtype, like
        As of `asarray`.

    Returns
    -------
    ndarray
        `a` itself, or a new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.ascontiguousarray(np.array([[1, 2], [3, 4]]).T).flags.c_contiguous
    True
    """
    return array(asarray(a, dtype, "C"), copy=None, ndmin=1)


@function
def asfortranarray(
    a: ArrayLike, dtype: DTypeLike | None = None, *, like: ArrayLike | None = None
) -> ndarray:
    """An array of at least one dimension in column-major order.

    Parameters
    ----------
    a, dtype, like
        As of `asarray`.

    Returns
    -------
    ndarray
        `a` itself, or a new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.asfortranarray(np.array([[1, 2], [3, 4]])).flags.f_contiguous
    True
    """
    return array(asarray(a, dtype, "F"), copy=None, ndmin=1)


@function
def copy(a: ArrayLike, order: Order = "K", subok: bool = False) -> ndarray:
    """A copy of an array, recorded.

    Parameters
    ----------
    a : array_like
        The values.
    order, subok
        As of `array`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.copy([1.0, 2.0])
    array([1., 2.])
    """
    return array(a, order=order, copy=True, subok=subok)


# -- of sizes --------------------------------------------------------------------------------


def _check_device(device: str | None) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')


@function
def zeros(
    shape: _Shape,
    dtype: DTypeLike | None = None,
    order: Order = "C",
    *,
    device: str | None = None,
    like: ArrayLike | None = None,
) -> ndarray:
    """An array of zeros.

    Parameters
    ----------
    shape : int or sequence of int
        Its shape.
    dtype : dtype, optional
        Its dtype, float64 by default.
    order : {"C", "F"}
        Which index runs fastest in memory.
    device : str, optional
        ``"cpu"``.
    like : array_like, optional
        Accepted.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.zeros(2)
    array([0., 0.])
    """
    _check_device(device)
    return made(making.zeros(_sizes(shape), dtype, _order(order)))


def _sizes(shape: _Shape) -> Any:
    return shape


def _order(order: str) -> Any:
    return order


@function
def ones(
    shape: _Shape,
    dtype: DTypeLike | None = None,
    order: Order = "C",
    *,
    device: str | None = None,
    like: ArrayLike | None = None,
) -> ndarray:
    """An array of ones.

    Parameters
    ----------
    shape, dtype, order, device, like
        As of `zeros`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.ones(2)
    array([1., 1.])
    """
    _check_device(device)
    return made(making.ones(_sizes(shape), dtype, _order(order)))


@function
def empty(
    shape: _Shape,
    dtype: DTypeLike | None = None,
    order: Order = "C",
    *,
    device: str | None = None,
    like: ArrayLike | None = None,
) -> ndarray:
    """An array whose elements are not set.

    Parameters
    ----------
    shape, dtype, order, device, like
        As of `zeros`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.empty((2, 3)).shape
    (2, 3)
    """
    _check_device(device)
    found: Any = making.empty(_sizes(shape), dtype, _order(order))
    return made(found)


@function
def full(
    shape: _Shape,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    order: Order = "C",
    *,
    device: str | None = None,
    like: ArrayLike | None = None,
) -> ndarray:
    """An array of one value, which is recorded.

    Parameters
    ----------
    shape : int or sequence of int
        Its shape.
    fill_value : array_like
        The value; it broadcasts.
    dtype : dtype, optional
        Its dtype, by default that of the value.
    order, device, like
        As of `zeros`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.full(2, 7.0)
    array([7., 7.])
    """
    _check_device(device)
    value = of(fill_value) if isinstance(fill_value, (list, tuple)) else fill_value
    if not isinstance(value, TensorBase):
        found = making.full(_sizes(shape), typing.cast("Any", value), dtype, _order(order))
        return made(found)
    x = of(value, None if dtype is None else np.dtype(dtype))
    sizes = making.empty(_sizes(shape), "b").shape
    return copied(F.broadcast_to(x, sizes), order)


def _made_like(
    a: ArrayLike, dtype: DTypeLike | None, order: str, shape: _Shape | None, value: object
) -> ndarray:
    x = of(a) if isinstance(a, (TensorBase, list, tuple)) else None
    model: Any = a if x is None else x._impl.array
    if x is not None and is_batched(x):
        # Only the geometry of a sample is looked at.
        model = making.plain_view(model)
    found = making.empty_like(model, dtype, _order(order), False, typing.cast("Any", shape))
    if value is not None:
        found[...] = value
    return made(found)


@function
def zeros_like(
    a: ArrayLike,
    dtype: DTypeLike | None = None,
    order: Order = "K",
    subok: bool = True,
    shape: _Shape | None = None,
    *,
    device: str | None = None,
) -> ndarray:
    """Zeros of the shape and dtype of an array.

    Parameters
    ----------
    a : array_like
        The array.
    dtype : dtype, optional
        Another dtype.
    order : {"C", "F", "A", "K"}
        Which index runs fastest in memory.
    subok : bool
        Accepted.
    shape : int or sequence of int, optional
        Another shape.
    device : str, optional
        ``"cpu"``.

    Returns
    -------
    ndarray
        A new array, a constant.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.zeros_like(np.array([1.0, 2.0]))
    array([0., 0.])
    """
    _check_device(device)
    return _made_like(a, dtype, order, shape, 0)


@function
def ones_like(
    a: ArrayLike,
    dtype: DTypeLike | None = None,
    order: Order = "K",
    subok: bool = True,
    shape: _Shape | None = None,
    *,
    device: str | None = None,
) -> ndarray:
    """Ones of the shape and dtype of an array.

    Parameters
    ----------
    a, dtype, order, subok, shape, device
        As of `zeros_like`.

    Returns
    -------
    ndarray
        A new array, a constant.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.ones_like(np.array([1.0, 2.0]))
    array([1., 1.])
    """
    _check_device(device)
    return _made_like(a, dtype, order, shape, 1)


@function
def empty_like(
    a: ArrayLike,
    dtype: DTypeLike | None = None,
    order: Order = "K",
    subok: bool = True,
    shape: _Shape | None = None,
    *,
    device: str | None = None,
) -> ndarray:
    """An array of the shape and dtype of another one, whose elements are not set.

    Parameters
    ----------
    a, dtype, order, subok, shape, device
        As of `zeros_like`.

    Returns
    -------
    ndarray
        A new array, a constant.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.empty_like(np.array([1.0, 2.0])).shape
    (2,)
    """
    _check_device(device)
    return _made_like(a, dtype, order, shape, None)


@function
def full_like(
    a: ArrayLike,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    order: Order = "K",
    subok: bool = True,
    shape: _Shape | None = None,
    *,
    device: str | None = None,
) -> ndarray:
    """One value, which is recorded, in the shape and dtype of an array.

    Parameters
    ----------
    a : array_like
        The array.
    fill_value : array_like
        The value; it broadcasts.
    dtype, order, subok, shape, device
        As of `zeros_like`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.full_like(np.array([1.0, 2.0]), 7)
    array([7., 7.])
    """
    _check_device(device)
    made = _made_like(a, dtype, order, shape, None)
    # As NumPy, which casts here what an assignment to elements refuses.
    return store(made, of(fill_value))
