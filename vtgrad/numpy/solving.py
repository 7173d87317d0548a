"""Linear equations, inverses, determinants and triangular factors, as in `numpy.linalg`."""

from __future__ import annotations

import typing
from typing import Any, Final

import numpy as np

from vtgrad.numpy.function import function
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import ArrayLike, as_array, of, result
from vtgrad.numpy.promotion import common_inexact, inexact
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making

__all__ = ["cholesky", "det", "inv", "slogdet", "solve"]

# The class of its results has no public name.
_SLOGDET: Final[Any] = type(np.linalg.slogdet(making.eye(1)))


@function(of=np.linalg.inv)
def inv(a: ArrayLike) -> ndarray:
    """The inverses of matrices.

    Parameters
    ----------
    a : array_like
        Square matrices, in the last two axes.

    Returns
    -------
    ndarray
        A new array of the same shape.

    Raises
    ------
    LinAlgError
        If a matrix is singular, or not square.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    x = of(a)
    if not any_differentiated(x):
        return on_values(np.linalg.inv, x)
    return as_array(F.linalg_inv(inexact(x)))


@function(of=np.linalg.solve)
def solve(a: ArrayLike, b: ArrayLike) -> ndarray:
    """The solutions ``x`` of linear equations ``a @ x == b``.

    Parameters
    ----------
    a : array_like
        Square matrices, in the last two axes.
    b : array_like
        One vector, if it has one axis; else the columns of matrices.

    Returns
    -------
    ndarray
        A new array, of the shape of `b` for each of the matrices.

    Raises
    ------
    LinAlgError
        If a matrix is singular, or not square.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    if not any_differentiated(a, b):
        return on_values(np.linalg.solve, a, b)
    x, y = common_inexact(a, b)
    is_vector = len(y.shape) == 1
    right = as_array(F.unsqueeze(y, -1)) if is_vector else y
    if len(x.shape) >= 2 and len(right.shape) >= 2:
        # With all axes, since the operator takes some right sides for vectors.
        batch = np.broadcast_shapes(x.shape[:-2], right.shape[:-2])
        right = as_array(F.broadcast_to(right, (*batch, *right.shape[-2:])))
    found = F.linalg_solve(x, right)
    return as_array(F.squeeze(found, -1) if is_vector else found)


@function(of=np.linalg.det)
def det(a: ArrayLike) -> ndarray:
    """The determinants of matrices.

    Parameters
    ----------
    a : array_like
        Square matrices, in the last two axes.

    Returns
    -------
    ndarray
        A new array without these axes; a scalar for one matrix.

    Raises
    ------
    LinAlgError
        If the matrices are not square.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> round(float(np.linalg.det(np.array([[2.0, 1.0], [0.0, 4.0]]))), 9)
    8.0
    """
    x = of(a)
    if not any_differentiated(x):
        return on_values(np.linalg.det, x)
    return result(F.linalg_det(inexact(x)))


@function(of=np.linalg.slogdet)
def slogdet(a: ArrayLike) -> tuple[ndarray, ndarray]:
    """The signs of determinants, and the logarithms of their absolute values.

    Parameters
    ----------
    a : array_like
        Square matrices, in the last two axes.

    Returns
    -------
    sign, logabsdet : ndarray
        New arrays without these axes; scalars for one matrix.

    Raises
    ------
    LinAlgError
        If the matrices are not square.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> sign, logarithm = np.linalg.slogdet(np.array([[1.0, 5.0], [0.0, -1.0]]))
    >>> float(sign), float(logarithm)
    (-1.0, 0.0)
    """
    x = of(a)
    if not any_differentiated(x):
        found: Any = on_values(np.linalg.slogdet, x)
    else:
        found = _SLOGDET(*map(result, F.linalg_slogdet(inexact(x))))
    return typing.cast("tuple[ndarray, ndarray]", found)


@function(of=np.linalg.cholesky)
def cholesky(a: ArrayLike, /, *, upper: bool = False) -> ndarray:
    """The triangular factors of positive definite matrices.

    Parameters
    ----------
    a : array_like
        Symmetric or Hermitian matrices, in the last two axes, of which one triangle is read.
    upper : bool
        Whether to read the upper triangle, and give an upper factor.

    Returns
    -------
    ndarray
        A new array ``l`` with ``l @ l.mT.conj() == a``, or ``u`` with ``u.mT.conj() @ u == a``.

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite, or not square.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    x = of(a)
    if not any_differentiated(x):
        return on_values(np.linalg.cholesky, x, upper=upper)
    x = inexact(x)
    if not upper or len(x.shape) < 2:
        return as_array(F.linalg_cholesky(x))
    turned = F.conj_physical(F.transpose(x, -2, -1))
    lower = F.linalg_cholesky(turned)
    return as_array(F.conj_physical(F.transpose(lower, -2, -1)))
