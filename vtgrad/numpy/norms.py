"""Norms of vectors and matrices."""

from __future__ import annotations

import math
import operator
from typing import Any, Final, TypeAlias

import numpy as np

from vtgrad.linalg.norms import of_matrices
from vtgrad.numpy.deliver import Axis, dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.memory_order import reduced
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import ArrayLike, of, result
from vtgrad.numpy.promotion import inexact
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Shape
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["matrix_norm", "norm", "vector_norm"]

_Order: TypeAlias = float | str | None

# The norms of matrices that are sums of powers over both axes.
_FROBENIUS: Final = (None, "fro", "f")


@function(of=np.linalg.norm)
def norm(x: ArrayLike, ord: _Order = None, axis: Axis = None, keepdims: bool = False) -> ndarray:
    """A norm of vectors or matrices.

    Its gradient at zero is zero. Where several elements have the largest absolute value, each gets
    an equal part of the gradient of the norm ``inf``.

    Parameters
    ----------
    x : array_like
        The elements; without `axis` and `ord`, of any shape.
    ord : float, inf, -inf, 0, "fro" or "nuc", optional
        The order; by default the root of the sum of squares.
    axis : int or tuple of two int, optional
        The axis of vectors, or the two of matrices.
    keepdims : bool
        Whether the axes stay, with size 1.

    Returns
    -------
    ndarray
        A new array or a scalar.

    Raises
    ------
    ValueError
        If there is no such norm.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.norm(np.array([3.0, 4.0])).item()
    5.0
    """
    if not any_differentiated(x):
        return on_values(np.linalg.norm, x, ord, axis, keepdims)
    array = inexact(of(x))
    ndim = array._impl.array.ndim
    if axis is None:
        if ord is None or (ord in ("f", "fro") and ndim == 2) or (ord == 2 and ndim == 1):
            return result(_powers(array, 2, tuple(range(ndim)), keepdims))
        dims = tuple(range(ndim))
    elif isinstance(axis, tuple):
        dims = tuple([operator.index(dim) for dim in axis])
    else:
        dims = (operator.index(axis),)
    if len(dims) == 1:
        return result(_of_vectors(array, ord, dims_of(dims, ndim), keepdims))
    if len(dims) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    one, two = dims_of(dims[0], ndim)[0], dims_of(dims[1], ndim)[0]
    if one == two:
        raise ValueError("Duplicate axes given.")
    return result(_of_matrices(array, ord, one, two, keepdims))


@function(of=np.linalg.vector_norm)
def vector_norm(
    x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False, ord: float = 2
) -> ndarray:
    """A norm of vectors.

    Parameters
    ----------
    x : array_like
        The elements.
    axis : int or tuple of int, optional
        The axes, whose elements are one vector; all by default.
    keepdims : bool
        Whether the axes stay, with size 1.
    ord : float, inf, -inf or 0
        The order.

    Returns
    -------
    ndarray
        A new array or a scalar.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.vector_norm(np.array([[3.0, 4.0]])).item()
    5.0
    """
    if not any_differentiated(x):
        return on_values(np.linalg.vector_norm, x, axis=axis, keepdims=keepdims, ord=ord)
    array = inexact(of(x))
    return result(_of_vectors(array, ord, dims_of(axis, array._impl.array.ndim), keepdims))


@function(of=np.linalg.matrix_norm)
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: _Order = "fro") -> ndarray:
    """A norm of matrices, in the last two axes.

    Parameters
    ----------
    x : array_like
        Matrices.
    keepdims : bool
        Whether the axes stay, with size 1.
    ord : 1, -1, inf, -inf, 2, -2, "fro" or "nuc"
        The order.

    Returns
    -------
    ndarray
        A new array or a scalar.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.matrix_norm(np.array([[3.0, 4.0]])).item()
    5.0
    """
    if not any_differentiated(x):
        return on_values(np.linalg.matrix_norm, x, keepdims=keepdims, ord=ord)
    return norm(x, ord, (-2, -1), keepdims)


def _of_vectors(x: TensorBase, order: Any, dims: Shape, keepdims: bool) -> TensorBase:
    if isinstance(order, str):
        raise ValueError(f"Invalid norm order {order!r} for vectors")
    power = 2.0 if order is None else float(order)
    if power == -math.inf and not all(x._impl.array.shape[dim] for dim in dims):
        raise ValueError("zero-size array to reduction operation which has no identity")
    if power == math.inf and not x._impl.array.size:
        # The largest of no absolute values is 0, which is their sum too.
        power = 1.0
    if -math.inf < power < 0 and not all(x._impl.array.shape[dim] for dim in dims):
        # A negative power of the sum of nothing.
        return F.pow(F.sum_dim_IntList(F.abs(x), dims, keepdims), 1 / power)
    return _powers(x, power, dims, keepdims)


def _of_matrices(x: TensorBase, order: Any, one: int, two: int, keepdims: bool) -> TensorBase:
    if order in _FROBENIUS:
        return _powers(x, 2, (one, two), keepdims)
    if order not in (1, -1, 2, -2, math.inf, -math.inf, "nuc"):
        raise ValueError("Invalid norm order for matrices.")
    return of_matrices("norm", x, order, one, two, keepdims)


def _powers(x: TensorBase, order: float, dims: Shape, keepdims: bool) -> TensorBase:
    """The root of the sum of powers of absolute values; without dimensions, of each element."""
    if not dims:
        x, dims, keepdims = F.unsqueeze(x, 0), (0,), False
    return reduced(F.linalg_vector_norm(x, order, dims, keepdims), x, dims)
