"""The least squares fit of a polynomial.

Note [Derivatives of a fit]

The coefficients are linear in `y`: the pseudoinverse of the matrix of the powers of `x`, which is a
constant as long as `x` and the weights are. Where these have a derivative, the matrix is recorded,
and what the normal equations leave over is solved for by an operator and added. Nothing is left
over but roundings, so that the value is that of the pseudoinverse; the derivatives of the sum are
those of the solution of the normal equations, of every order.
"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.numpy.function import Function, function
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import ArrayLike, as_array, cast, fresh, of_numbers, value_of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase

if TYPE_CHECKING:
    from vtgrad.numpy import signatures

__all__ = ["polyfit"]


def _powers(x: TensorBase, weights: TensorBase | None, order: int) -> TensorBase:
    """The powers of the points as columns, the highest first, as NumPy fits them."""
    columns: list[TensorBase] = [F.ones_like(x)]
    for _ in range(order - 1):
        columns.insert(0, F.mul(columns[0], x))
    found: TensorBase = F.stack(columns, 1)
    return found if weights is None else F.mul(found, F.unsqueeze(weights, 1))


def _inverse(powers: Array, rcond: float) -> tuple[Array, int]:
    """The pseudoinverse of the matrix of powers, and its rank."""
    scale = np.sqrt((powers * powers).sum(axis=0))
    scale[scale == 0] = 1
    left, sizes, right = np.linalg.svd(powers / scale, full_matrices=False)
    kept = sizes > rcond * sizes[:1]
    inverse = (right[kept].T / sizes[kept]) @ left[:, kept].T
    return inverse / scale[:, None], int(kept.sum())


def _times(weights: TensorBase | None, y: TensorBase) -> TensorBase:
    if weights is None:
        return y
    factor = F.to_dtype(weights, y._impl.array.dtype)
    return F.mul(y, F.unsqueeze(factor, 1) if y._impl.array.ndim == 2 else factor)


def _as_polyfit(found: Function[..., object]) -> signatures.Polyfit:
    """The function with the type of each kind of its results."""
    return typing.cast("signatures.Polyfit", found)


@_as_polyfit
@function
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: SupportsIndex,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike | None = None,
    cov: bool | Literal["unscaled"] = False,
) -> ndarray | tuple[ndarray, ...]:
    """The polynomial that fits points best in the sense of least squares.

    Parameters
    ----------
    x : array_like
        Where the points are.
    y : array_like
        The values there, or several sets of values as columns.
    deg : int
        The degree.
    rcond : float, optional
        Which singular values, relative to the largest, count as zero.
    full : bool
        Whether residuals, rank, singular values and `rcond` are returned too.
    w : array_like, optional
        A factor of each distance.
    cov : bool or {"unscaled"}
        Whether the covariances of the coefficients are returned too.

    Returns
    -------
    ndarray or tuple
        The coefficients, the highest power first, and what was asked for. They are recorded in `x`,
        `y` and `w`, with derivatives up to the third; see Note [Derivatives of a fit].

    Raises
    ------
    NotSupportedError
        If `x` or `w` has a derivative, and the points do not determine the polynomial, or
        covariances are wanted, or `x` is complex.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.polyfit([0.0, 1.0, 2.0], np.array([1.0, 3.0, 5.0]), 1).round(12)
    array([2., 1.])
    """
    if not any_differentiated(x, y, w):
        return on_values(np.polyfit, x, y, deg, rcond, full, w, cov)
    values = of_numbers(y)
    probe: Any = making.ones(values.shape, values.dtype) if values._impl.key_set else values
    # NumPy says what is wrong, and all that has no derivative.
    numpys: Any = on_values(np.polyfit, x, probe, deg, rcond, full, w, cov)
    base: Any = numpys[0] if isinstance(numpys, tuple) else numpys
    kind = base.dtype
    order = int(deg) + 1
    points = of_numbers(x)
    if points.dtype.kind == "c":
        raise NotSupportedError("vtgrad.numpy has no derivative of a fit at complex points")
    points = cast(points, points.dtype if points.dtype.kind == "f" else np.dtype(np.float64))
    weights = None if w is None else of_numbers(w)
    if weights is not None:
        weights = cast(weights, np.result_type(weights.dtype, np.float16))
    powers = _powers(points, weights, order)
    matrix = value_of(powers)
    if rcond is None:
        rcond = len(matrix) * float(np.finfo(points.dtype).eps)
    inverse, rank = _inverse(matrix, rcond)
    right = F.to_dtype(_times(weights, values), kind)
    fit: TensorBase = F.matmul(fresh(inverse.astype(kind)), right)
    moves = any_differentiated(x, w)
    powers = F.to_dtype(powers, kind)
    if moves:
        if rank != order:
            raise NotSupportedError(
                "the points do not determine the polynomial, so the fit has no derivative in them"
            )
        if cov and not full:
            raise NotSupportedError(
                "vtgrad.numpy has no derivative of the covariances of a fit in x and w"
            )
        fit = F.add(fit, _left_over(powers, _residual(right, powers, fit)))
    if not full and not cov:
        return as_array(fit)
    count = len(matrix)
    squares = _squares(_residual(right, powers, fit))
    if full:
        known = rank == order and count > order
        residuals = as_array(F.reshape(squares, -1)) if known else numpys[1]
        return (as_array(fit), residuals, *numpys[2:])
    covariance: TensorBase = fresh(inverse @ inverse.T)
    if values._impl.array.ndim == 2:
        covariance = F.unsqueeze(covariance, 2)
    if cov != "unscaled":
        covariance = F.mul(covariance, F.true_divide(squares, count - order))
    return as_array(fit), as_array(covariance)


def _residual(right: TensorBase, powers: TensorBase, fit: TensorBase) -> TensorBase:
    return F.sub(right, F.matmul(powers, fit))


def _left_over(powers: TensorBase, residual: TensorBase) -> TensorBase:
    """What the normal equations give for a residual, with columns of powers of one size."""
    sizes = np.sqrt((np.abs(value_of(powers)) ** 2).sum(axis=0))
    sizes[sizes == 0] = 1
    scale = fresh((1 / sizes).astype(powers._impl.dtype))
    columns = F.mul(powers, scale)
    rows = F.permute(columns, (1, 0))
    found = F.linalg_solve(F.matmul(rows, columns), F.matmul(rows, residual))
    return F.mul(found, F.unsqueeze(scale, 1) if found._impl.array.ndim == 2 else scale)


def _squares(x: TensorBase) -> TensorBase:
    """The sums of the squares of columns."""
    if x._impl.array.dtype.kind == "c":
        squares = F.add(F.square(F.real(x)), F.square(F.imag(x)))
    else:
        squares = F.square(x)
    return F.sum_dim_IntList(squares, (0,), False)
