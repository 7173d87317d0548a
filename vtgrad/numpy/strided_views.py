"""Views with other strides: windows that slide along axes."""

from __future__ import annotations

import operator
import typing
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.numpy.broadcasting import read_only
from vtgrad.numpy.deliver import Axis
from vtgrad.numpy.function import function
from vtgrad.numpy.operands import ArrayLike, as_array, of, viewable
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["as_strided", "sliding_window_view"]


@function(of=np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    x: ArrayLike,
    window_shape: SupportsIndex | Sequence[SupportsIndex],
    axis: Axis = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> ndarray:
    """All windows of a size in an array, one step apart.

    Parameters
    ----------
    x : array_like
        The array.
    window_shape : int or sequence of int
        The size of a window along each axis.
    axis : int or tuple of int, optional
        The axes, all by default. One may be given several times.
    subok : bool
        Accepted.
    writeable : bool
        Whether the view may be written: an element is in several windows.

    Returns
    -------
    ndarray
        A view, with the axes of the windows behind those of their places.

    Raises
    ------
    ValueError
        If sizes and axes do not fit.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.lib.stride_tricks.sliding_window_view(np.array([1, 2, 3, 4]), 2)
    array([[1, 2],
           [2, 3],
           [3, 4]])
    """
    array = viewable(of(x))
    given: Any = window_shape
    sizes = [operator.index(n) for n in (given if np.iterable(given) else (given,))]
    if any(n < 0 for n in sizes):
        raise ValueError("`window_shape` cannot contain negative values")
    ndim = array._impl.array.ndim
    if axis is None:
        axes = tuple(range(ndim))
    else:
        axes = np.lib.array_utils.normalize_axis_tuple(
            typing.cast("int", axis), ndim, allow_duplicate=True
        )
    if len(sizes) != len(axes):
        raise ValueError(
            f"there are {len(sizes)} sizes of windows for {len(axes)} axes; each axis needs one"
        )
    found: TensorBase = F.alias(array)
    for dim, size in zip(axes, sizes, strict=True):
        if found._impl.array.shape[dim] < size:
            raise ValueError("window shape cannot be larger than input array shape")
        found = F.unfold(found, dim, size, 1)
    return as_array(found) if writeable else read_only(found)


@function(of=np.lib.stride_tricks.as_strided)
def as_strided(
    x: ArrayLike,
    shape: Sequence[SupportsIndex] | None = None,
    strides: Sequence[SupportsIndex] | None = None,
    subok: bool = False,
    writeable: bool = True,
) -> ndarray:
    """A view of the memory of an array with any shape and strides.

    Parameters
    ----------
    x : array_like
        The array.
    shape : sequence of int, optional
        The shape, that of `x` by default.
    strides : sequence of int, optional
        For each axis how many bytes one element is from the next. By default as of `x`, or one
        element behind the other if they are so in `x`.
    subok : bool
        Accepted.
    writeable : bool
        Whether the view may be written.

    Returns
    -------
    ndarray
        A view. Unlike NumPy's it cannot leave the memory of the array.

    Raises
    ------
    NotSupportedError
        If a stride is negative or no multiple of the size of an element.
    ValueError
        If the view would leave the memory, or there are not as many strides as sizes.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.lib.stride_tricks.as_strided(np.array([1, 2, 3]), (2, 2), (8, 8))
    array([[1, 2],
           [2, 3]])
    """
    array = viewable(of(x))
    plain = resolved(array._impl.array)
    sizes = plain.shape if shape is None else tuple([operator.index(n) for n in shape])
    if strides is not None:
        steps = tuple([operator.index(n) for n in strides])
    elif plain.flags.c_contiguous and min(sizes, default=0) >= 0:
        # NumPy takes the elements one behind the other.
        steps = tuple([int(np.prod(sizes[n + 1 :])) * plain.itemsize for n in range(len(sizes))])
    else:
        steps = plain.strides
    if len(sizes) != len(steps):
        raise ValueError("mismatch in length of strides and shape")
    if any(n < 0 for n in sizes):
        raise ValueError("negative dimensions are not allowed")
    if any(n < 0 or n % plain.itemsize for n in steps):
        raise NotSupportedError(
            "as_strided of vtgrad.numpy goes forward by whole elements; flip the array for a "
            "negative stride"
        )
    found = F.as_strided(array, sizes, [n // plain.itemsize for n in steps])
    return as_array(found) if writeable else read_only(found)
