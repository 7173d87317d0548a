"""Grids of coordinates: arrays with the values of each axis, and indices for them."""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy.broadcasting import broadcast_arrays
from vtgrad.numpy.function import Function, function
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import ArrayLike, as_array, of
from vtgrad.numpy.promotion import common
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.ranges import arange, linspace
from vtgrad.numpy.shapes import reshape
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.tensor_base import TensorBase

if TYPE_CHECKING:
    from vtgrad.numpy import signatures

__all__ = [
    "Grid",
    "fromfunction",
    "indices",
    "ix_",
    "meshgrid",
    "mgrid",
    "ogrid",
    "range_of_slice",
]

_INT: Final = int
_FLOAT: Final = float


@function
def meshgrid(
    *xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: Literal["xy", "ij"] = "xy"
) -> tuple[ndarray, ...]:
    """The coordinates of the points of a grid, an array for each axis.

    Parameters
    ----------
    *xi : array_like
        The values of each axis.
    copy : bool
        Whether the arrays are new; else they may be views that cannot be written.
    sparse : bool
        Whether each array is extended along its own axis only.
    indexing : {"xy", "ij"}
        Whether the first two axes are exchanged, as in plots.

    Returns
    -------
    tuple of ndarray
        Arrays that broadcast to the grid.

    Raises
    ------
    ValueError
        If `indexing` is something else.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x, y = np.meshgrid([1, 2, 3], [4, 5])
    >>> y
    array([[4, 4, 4],
           [5, 5, 5]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    ndim = len(xi)
    parts = []
    for nr, x in enumerate(xi):
        dim = 1 - nr if indexing == "xy" and ndim > 1 and nr < 2 else nr
        parts.append(reshape(x, (*(1,) * dim, -1, *(1,) * (ndim - dim - 1))))
    found = tuple(parts) if sparse else broadcast_arrays(*parts)
    if not copy:
        return found
    return tuple([_copied(x) for x in found])


def _copied(x: ndarray | np.ndarray[Any, Any]) -> ndarray:
    """A copy of an array, which is NumPy's if it has a dtype that tensors do not have."""
    if isinstance(x, np.ndarray):
        return typing.cast("ndarray", making.array(x, order="C"))
    return as_array(F.contiguous(F.clone(x)))


def _as_indices(found: Function[..., object]) -> signatures.Indices:
    """The function with the type of each kind of its results."""
    return typing.cast("signatures.Indices", found)


@_as_indices
@function
def indices(
    dimensions: Sequence[int], dtype: DTypeLike = _INT, sparse: bool = False
) -> ndarray | tuple[ndarray, ...]:
    """The indices of the elements of an array of a shape.

    Parameters
    ----------
    dimensions : sequence of int
        The shape.
    dtype : dtype
        The dtype of the result.
    sparse : bool
        Whether to give a tuple of arrays that broadcast to the shape.

    Returns
    -------
    ndarray or tuple of ndarray
        For each axis an array of the indices along it.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.indices((2, 2))[0]
    array([[0, 0],
           [1, 1]])
    """
    found: ndarray | tuple[ndarray, ...] = on_values(making.indices, dimensions, dtype, sparse)
    return found


def _as_fromfunction(found: Function[..., object]) -> signatures.FromFunction:
    """The function with the type of its result, which is that of what it calls."""
    return typing.cast("signatures.FromFunction", found)


@_as_fromfunction
@function
def fromfunction(
    function: Callable[..., object],
    shape: Sequence[int],
    *,
    dtype: DTypeLike = _FLOAT,
    like: ArrayLike | None = None,
    **kwargs: object,
) -> object:
    """What a function gives for the indices of an array of a shape.

    Parameters
    ----------
    function : callable
        Called once, with an array of the indices for each axis.
    shape : sequence of int
        The shape.
    dtype : dtype
        The dtype of the indices.
    like : array_like, optional
        Accepted.
    **kwargs : object
        Passed to the function.

    Returns
    -------
    object
        What the function returns.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.fromfunction(lambda i, j: i + 2 * j, (2, 2))
    array([[0., 2.],
           [1., 3.]])
    """
    return function(*indices(shape, dtype), **kwargs)


@function
def ix_(*args: ArrayLike) -> tuple[ndarray, ...]:
    """Index arrays that together take the elements at all pairs of places.

    Parameters
    ----------
    *args : array_like of int or bool
        The places along each axis.

    Returns
    -------
    tuple of ndarray
        Arrays of integers that broadcast.

    Raises
    ------
    ValueError
        If one has not one axis.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.array([[1, 2, 3], [4, 5, 6]])[np.ix_([0, 1], [0, 2])]
    array([[1, 3],
           [4, 6]])
    """
    found: list[ndarray] = []
    for nr, x in enumerate(args):
        made: ndarray = on_values(making.ix_, x)[0]
        if any_differentiated(x):
            made = of(x)  # no index, but NumPy takes it
        found.append(reshape(made, (*(1,) * nr, -1, *(1,) * (len(args) - nr - 1))))
    return tuple(found)


def range_of_slice(part: slice) -> ndarray:
    """The numbers that a slice stands for in ``mgrid`` and ``r_``, recorded.

    A step ``5j`` is a number of values, of which the end is the last.
    """
    start: Any = 0 if part.start is None else part.start
    step: Any = 1 if part.step is None else part.step
    if isinstance(step, (complex, np.complexfloating)):
        made: ndarray = linspace(start, part.stop, int(typing.cast("float", abs(step))))
        return made
    return arange(start, part.stop, step)


class Grid:
    """An object whose indices are slices, and the grid is what indexing gives.

    Parameters
    ----------
    sparse : bool
        Whether the arrays are extended along their own axes only.
    """

    __slots__ = ("sparse",)

    sparse: bool

    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def __getitem__(self, key: slice | tuple[slice, ...]) -> Any:
        """The grid: a slice for each axis. Its ends may carry derivatives.

        Parameters
        ----------
        key : slice or tuple of slice
            Start, end and step; a step ``5j`` is a number of values, with the end.

        Returns
        -------
        ndarray or tuple of ndarray
            The coordinates along each axis; a tuple of arrays for ``ogrid``.
        """
        if not any_differentiated(key):
            return on_values((np.ogrid if self.sparse else np.mgrid).__getitem__, _numbers(key))
        if isinstance(key, slice):
            return range_of_slice(key)
        lines = common([range_of_slice(part) for part in key])
        found = meshgrid(*lines, copy=False, sparse=self.sparse, indexing="ij")
        return found if self.sparse else as_array(F.stack(found))


def _numbers(key: object) -> object:
    """A key with NumPy's scalars in place of 0-d arrays."""
    if isinstance(key, tuple):
        return tuple([_numbers(part) for part in key])
    if isinstance(key, slice):
        return slice(_numbers(key.start), _numbers(key.stop), _numbers(key.step))
    return of(key)._impl.array[()] if isinstance(key, TensorBase) else key


mgrid: Final = Grid(sparse=False)
ogrid: Final = Grid(sparse=True)
