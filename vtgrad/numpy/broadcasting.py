"""Arrays in a common shape: views that repeat elements."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Final, Self, SupportsIndex

import numpy as np

from vtgrad.numpy.function import function
from vtgrad.numpy.index import getitem
from vtgrad.numpy.operands import ArrayLike, as_array, of, of_any_dtype, viewable
from vtgrad.numpy.other_dtypes import or_by_numpy
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Shape
from vtgrad.storage.lasting_arrays import constant
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["broadcast", "broadcast_arrays", "broadcast_to", "read_only"]

_ZERO: Final = constant(False)


def read_only(x: TensorBase) -> ndarray:
    """A fresh view that cannot be written: its elements are in memory more than once."""
    found = as_array(x)
    found._impl.make_read_only()
    return found


@function
@or_by_numpy
def broadcast_to(
    array: ArrayLike, shape: SupportsIndex | Sequence[SupportsIndex], subok: bool = False
) -> ndarray:
    """The elements repeated until they fill a shape.

    Parameters
    ----------
    array : array_like
        The elements.
    shape : int or sequence of int
        The shape.
    subok : bool
        Accepted.

    Returns
    -------
    ndarray
        A view that cannot be written.

    Raises
    ------
    ValueError
        If the array does not broadcast to the shape.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.broadcast_to(np.array([1.0, 2.0]), (2, 2))
    array([[1., 2.],
           [1., 2.]])
    """
    x = viewable(of(array))
    # NumPy says which shape is meant, and what is wrong.
    probe = making.broadcast_to(_ZERO, x._impl.array.shape)
    sizes = making.broadcast_to(probe, typing.cast("Shape", shape)).shape
    return read_only(F.broadcast_to(F.alias(x), sizes))


@function
def broadcast_arrays(*args: ArrayLike, subok: bool = False) -> tuple[ndarray, ...]:
    """Arrays repeated until they have a shape in common.

    Parameters
    ----------
    *args : array_like
        The arrays.
    subok : bool
        Accepted.

    Returns
    -------
    tuple of ndarray
        The array itself where it has the shape, else a view that cannot be written.

    Raises
    ------
    ValueError
        If there is no such shape.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x, y = np.broadcast_arrays([1.0, 2.0], [[3.0], [4.0]])
    >>> x.shape, y.shape
    ((2, 2), (2, 2))
    """
    given = [of_any_dtype(x) for x in args]
    arrays = [viewable(x) if isinstance(x, TensorBase) else x for x in given]
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    found = [x if x.shape == shape else broadcast_to(x, shape) for x in arrays]
    return typing.cast("tuple[ndarray, ...]", tuple(found))


class broadcast:
    """How arrays broadcast together.

    An iterator of the elements that meet, which record.

    Parameters
    ----------
    *args : array_like
        The arrays.

    Attributes
    ----------
    shape : tuple of int
        The shape that they have in common.
    size, ndim, nd, numiter : int
        Its number of elements, the number of its axes (by two names), the number of arrays.
    index : int
        How many elements were iterated over.

    Raises
    ------
    ValueError
        If there is no such shape.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.broadcast(np.array([1.0, 2.0]), np.array([[3.0]])).shape
    (1, 2)
    """

    shape: Shape
    size: int
    ndim: int
    nd: int
    numiter: int
    index: int

    def __init__(self, *args: ArrayLike) -> None:
        self._arrays = [of(x) for x in args]
        self.shape = np.broadcast_shapes(*[x._impl.array.shape for x in self._arrays])
        self.size = int(np.prod(self.shape, dtype=np.int64))
        self.ndim = self.nd = len(self.shape)
        self.numiter = len(args)
        self.index = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[ndarray, ...]:
        if self.index >= self.size:
            raise StopIteration
        place = np.unravel_index(self.index, self.shape)
        self.index += 1
        views = [F.broadcast_to(x, self.shape) for x in self._arrays]
        return tuple([getitem(view, tuple([int(n) for n in place])) for view in views])

    def reset(self) -> None:
        """Start the iteration again."""
        self.index = 0
