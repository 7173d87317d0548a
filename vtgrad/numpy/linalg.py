"""NumPy's ``numpy.linalg`` on arrays of the namespace."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, SupportsIndex

import numpy as np
from numpy.linalg import LinAlgError as LinAlgError
from numpy.typing import DTypeLike

from vtgrad.linalg.products import in_best_order, power_of
from vtgrad.numpy import (
    conditions,
    decompositions,
    eigenvalues,
    least_squares,
    products,
    shapes,
    tensor_equations,
    ufuncs,
)
from vtgrad.numpy.axes import matrix_transpose as matrix_transpose
from vtgrad.numpy.deliver import deliver
from vtgrad.numpy.function import function, functions
from vtgrad.numpy.norms import matrix_norm as matrix_norm
from vtgrad.numpy.norms import norm as norm
from vtgrad.numpy.norms import vector_norm as vector_norm
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import ArrayLike, all_of, as_array, of, result
from vtgrad.numpy.picking import dot
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.refused import function_of_numpy
from vtgrad.numpy.solving import cholesky, det, inv, slogdet, solve
from vtgrad.ops.generated import functional as F

if TYPE_CHECKING:
    from vtgrad.numpy import signatures

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

_Axes = SupportsIndex | Sequence[SupportsIndex | Sequence[SupportsIndex]]

functions[np.linalg.matrix_transpose] = matrix_transpose


@function(of=np.linalg.matrix_power)
def matrix_power(a: ArrayLike, n: SupportsIndex) -> ndarray:
    """A square matrix multiplied by itself.

    Parameters
    ----------
    a : array_like
        Square matrices, in the last two axes.
    n : int
        How many factors; 0 gives the identity, fewer are factors of the inverse.

    Returns
    -------
    ndarray
        A new array; `a` itself for one factor.

    Raises
    ------
    LinAlgError
        If the matrices are not square, or a singular one is to be inverted.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.matrix_power(np.array([[1.0, 1.0], [0.0, 1.0]]), 3)
    array([[1., 3.],
           [0., 1.]])
    """
    x = of(a)
    shape = x.shape
    if len(shape) < 2:
        raise LinAlgError(f"{len(shape)}-dimensional array given: two dimensions are needed")
    if shape[-1] != shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    try:
        count = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if count == 1:
        return x
    if not any_differentiated(x):
        return on_values(np.linalg.matrix_power, x, count)
    return as_array(power_of(x, count))


@function(of=np.linalg.multi_dot)
def multi_dot(arrays: Sequence[ArrayLike], *, out: ndarray | None = None) -> ndarray:
    """The product of several matrices, in the order that takes least work.

    Parameters
    ----------
    arrays : sequence of array_like
        The matrices; the first may be a row, the last a column, with one axis.
    out : ndarray, optional
        Where the result is stored.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`.

    Raises
    ------
    ValueError
        If there are fewer than two, or they do not fit.
    LinAlgError
        If one is no matrix.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.multi_dot([np.array([[1.0, 2.0]]), [[3.0], [4.0]], [[2.0]]])
    array([[22.]])
    """
    if not any_differentiated(arrays):
        return on_values(np.linalg.multi_dot, arrays, out=out)
    parts = all_of(arrays)
    if len(parts) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(parts) == 2:
        return dot(parts[0], parts[1], out)
    for at, x in enumerate(parts):
        if len(x.shape) != 2 and not (at in (0, len(parts) - 1) and len(x.shape) == 1):
            raise LinAlgError(f"{len(x.shape)}-dimensional array given, which is no matrix")
    first, last = len(parts[0].shape), len(parts[-1].shape)
    if first == 1:
        parts[0] = as_array(F.unsqueeze(parts[0], 0))
    if last == 1:
        parts[-1] = as_array(F.unsqueeze(parts[-1], 1))
    found = deliver(in_best_order(parts, dot), out)
    dims = ((0,) if first == 1 else ()) + ((1,) if last == 1 else ())
    return result(F.squeeze_dims(found, dims)) if dims else found


# -- NumPy's functions with the arguments of the array API -----------------------------------


@function(of=np.linalg.trace)
def trace(x: ArrayLike, /, *, offset: SupportsIndex = 0, dtype: DTypeLike | None = None) -> ndarray:
    """The sum along the diagonals of matrices, in the last two axes.

    Parameters
    ----------
    x : array_like
        Matrices.
    offset : int
        Which diagonal: positive above the main one, negative below it.
    dtype : dtype, optional
        The dtype of the result.

    Returns
    -------
    ndarray
        A new array or a scalar.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.trace(np.array([[1.0, 2.0], [3.0, 4.0]])).item()
    5.0
    """
    return shapes.trace(x, offset, -2, -1, dtype)


@function(of=np.linalg.diagonal)
def diagonal(x: ArrayLike, /, *, offset: SupportsIndex = 0) -> ndarray:
    """The diagonals of matrices, in the last two axes.

    Parameters
    ----------
    x : array_like
        Matrices.
    offset : int
        Which diagonal: positive above the main one, negative below it.

    Returns
    -------
    ndarray
        A view.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.diagonal(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([1., 4.])
    """
    return shapes.diagonal(x, offset, -2, -1)


@function(of=np.linalg.outer)
def outer(x1: ArrayLike, x2: ArrayLike, /) -> ndarray:
    """The products of each element of one vector with each of another.

    Parameters
    ----------
    x1, x2 : array_like
        Vectors.

    Returns
    -------
    ndarray
        A new array.

    Raises
    ------
    ValueError
        If they have not one axis.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.outer(np.array([1.0, 2.0]), [3.0]).shape
    (2, 1)
    """
    if not any_differentiated(x1, x2):
        return on_values(np.linalg.outer, x1, x2)
    x, y = of(x1), of(x2)
    if len(x.shape) != 1 or len(y.shape) != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are {len(x.shape)}- and "
            f"{len(y.shape)}-dimensional"
        )
    return products.outer(x, y)


@function(of=np.linalg.cross)
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: SupportsIndex = -1) -> ndarray:
    """The cross products of vectors of three components.

    Parameters
    ----------
    x1, x2 : array_like
        The vectors.
    axis : int
        The axis of the components.

    Returns
    -------
    ndarray
        A new array.

    Raises
    ------
    ValueError
        If the vectors have other lengths.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.cross(np.array([1.0, 0.0, 0.0]), [0.0, 1.0, 0.0])
    array([0., 0., 1.])
    """
    if not any_differentiated(x1, x2):
        return on_values(np.linalg.cross, x1, x2, axis=axis)
    x, y = of(x1), of(x2)
    if x.shape[axis] != 3 or y.shape[axis] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors")
    return products.cross(x, y, axis=axis)


@function(of=np.linalg.matmul)
def matmul(x1: ArrayLike, x2: ArrayLike, /) -> ndarray:
    """The product of matrices.

    Parameters
    ----------
    x1, x2 : array_like
        The factors.

    Returns
    -------
    ndarray
        A new array or a scalar.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.matmul(np.array([[1.0, 2.0]]), [[3.0], [4.0]])
    array([[11.]])
    """
    return ufuncs.matmul(x1, x2)


@function(of=np.linalg.tensordot)
def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: _Axes = 2) -> ndarray:
    """The sums of products over axes of two arrays.

    Parameters
    ----------
    x1, x2 : array_like
        The factors.
    axes : int or pair of axes or of sequences of them
        As of `numpy.tensordot`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.tensordot(np.array([[1.0, 2.0]]), [3.0, 4.0], axes=1)
    array([11.])
    """
    return products.tensordot(x1, x2, axes)


@function(of=np.linalg.vecdot)
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: SupportsIndex = -1) -> ndarray:
    """The sums of products along an axis; the first factors are conjugated.

    Parameters
    ----------
    x1, x2 : array_like
        Vectors.
    axis : int
        The axis.

    Returns
    -------
    ndarray
        A new array or a scalar.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.vecdot(np.array([1.0, 2.0]), [3.0, 4.0]).item()
    11.0
    """
    return ufuncs.vecdot(x1, x2, axis=axis)


# -- what NumPy computes on values -----------------------------------------------------------

pinv: Final[signatures.Pinv] = function_of_numpy(
    np.linalg.pinv, "linalg.pinv", "The pseudo-inverses of matrices.", least_squares.pinv
)
lstsq: Final[signatures.Lstsq] = function_of_numpy(
    np.linalg.lstsq,
    "linalg.lstsq",
    "The least squares solution of linear equations.",
    least_squares.lstsq,
)
tensorsolve: Final[signatures.TensorSolve] = function_of_numpy(
    np.linalg.tensorsolve,
    "linalg.tensorsolve",
    "The solution of linear equations of tensors.",
    tensor_equations.tensorsolve,
)
tensorinv: Final[signatures.TensorInv] = function_of_numpy(
    np.linalg.tensorinv,
    "linalg.tensorinv",
    "The inverse of a linear map of tensors.",
    tensor_equations.tensorinv,
)
qr: Final[signatures.QR] = function_of_numpy(
    np.linalg.qr,
    "linalg.qr",
    "The orthogonal and triangular factors of matrices.",
    decompositions.qr,
)
svd: Final[signatures.SVD] = function_of_numpy(
    np.linalg.svd, "linalg.svd", "The singular values and vectors of matrices.", decompositions.svd
)
svdvals: Final[signatures.SVDVals] = function_of_numpy(
    np.linalg.svdvals, "linalg.svdvals", "The singular values of matrices.", decompositions.svdvals
)
eig: Final[signatures.Eig] = function_of_numpy(
    np.linalg.eig, "linalg.eig", "The eigenvalues and eigenvectors.", eigenvalues.eig
)
eigh: Final[signatures.Eigh] = function_of_numpy(
    np.linalg.eigh,
    "linalg.eigh",
    "The eigenvalues and eigenvectors of Hermitian matrices.",
    decompositions.eigh,
)
eigvals: Final[signatures.OfMatrices] = function_of_numpy(
    np.linalg.eigvals, "linalg.eigvals", "The eigenvalues of matrices.", eigenvalues.eigvals
)
eigvalsh: Final[signatures.Eigvalsh] = function_of_numpy(
    np.linalg.eigvalsh,
    "linalg.eigvalsh",
    "The eigenvalues of Hermitian matrices.",
    decompositions.eigvalsh,
)
cond: Final[signatures.Cond] = function_of_numpy(
    np.linalg.cond, "linalg.cond", "The condition numbers of matrices.", conditions.cond
)
matrix_rank: Final[signatures.MatrixRank] = function_of_numpy(
    np.linalg.matrix_rank,
    "linalg.matrix_rank",
    "The ranks of matrices.",
    # Whole numbers, which have no derivative.
    partial(on_values, np.linalg.matrix_rank),
)
