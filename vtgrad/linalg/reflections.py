"""Householder reflections: what `geqrf` finds, and products of them.

Note [Products of reflections]
The product of the reflections ``I - tau[i] * v @ v.mH`` is ``I - V @ T @ V.mH``, with the vectors
for the columns of V. With D of the numbers and S the part of ``V.mH @ V`` above the diagonal it is
``inv(T) == inv(D) + S``, so ``(I + D @ S) @ T == D``: a triangular solve, with 1 on the diagonal.
Numbers that are 0 do no harm. See T. Joffrain, T. M. Low, E. S. Quintana-Orti, R. van de Geijn and
F. G. Van Zee, "Accumulating Householder transformations, revisited", 2006.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vtgrad.errors import MatrixShapeError, NotSupportedError
from vtgrad.linalg.matrices import (
    adjoint,
    check_matrices,
    check_same_dtype,
    columns_of,
    conjugate,
    constant,
    rows_of,
    shape_of,
    stored,
    stored_all,
    values,
)
from vtgrad.linalg.stacked import Context, Stacked, refusing
from vtgrad.linalg.triangular import solved
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.tensor.tensor import Tensor

__all__ = ["GeqrfResult", "geqrf", "householder_product", "ormqr"]


class GeqrfResult(NamedTuple):
    """The results of `geqrf`."""

    a: Tensor
    tau: Tensor


@explained
def geqrf(input: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> GeqrfResult:
    """Return the factors of `vtgrad.linalg.qr` as LAPACK leaves them.

    As in PyTorch they have no derivative; those of `vtgrad.linalg.qr` have one.

    Parameters
    ----------
    input : Tensor
        Matrices of shape ``(*, m, n)``.
    out : tuple of two Tensor, optional
        Where the results are stored.

    Returns
    -------
    a : Tensor
        Of the shape of `input`: ``R``, and below its diagonal the vectors of reflections, as
        `vtgrad.linalg.householder_product` and `ormqr` take them.
    tau : Tensor
        The number of each reflection, of shape ``(*, min(m, n))``.

    Raises
    ------
    MatrixShapeError
        If there are fewer than two dimensions.
    DTypeError
        If the dtype is not float32, float64 or complex.
    NotSupportedError
        In backward and in forward mode.

    Examples
    --------
    >>> x = vt.tensor([[3.0, 1.0], [4.0, 2.0]])
    >>> a, tau = vt.geqrf(x)
    >>> vt.allclose(vt.linalg.householder_product(a, tau) @ a.triu(), x)
    True
    """
    check_matrices("geqrf", input, "input")
    return stored_all("geqrf", GeqrfResult(*_Reflections.apply(input)), out, input)


class _Reflections(Stacked):
    """The factors as LAPACK leaves them, which have no derivative here."""

    @staticmethod
    def forward(x: Tensor) -> tuple[Tensor, Tensor]:
        transposed, numbers = np.linalg.qr(values(x), mode="raw")
        packed = making.ascontiguousarray(np.swapaxes(transposed, -1, -2))
        return constant(packed), constant(numbers)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        pass

    backward = jvp = staticmethod(
        refusing(
            NotSupportedError, "the results of geqrf() have no derivative; use vtgrad.linalg.qr()"
        )
    )


@explained
def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the first columns of products of Householder reflections.

    The product is that of ``I - tau[i] * v @ v.mH``, from the first i on. Vector i is column i
    below the diagonal, with 1 on it: the form in which LAPACK's ``geqrf`` leaves it.

    Parameters
    ----------
    input : Tensor
        Of shape ``(*, m, n)`` with ``m >= n``. The upper triangle is not read.
    tau : Tensor
        Of shape ``(*, k)`` with ``k <= n``, and of the dtype of `input`.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of shape ``(*, m, n)``.

    Raises
    ------
    MatrixShapeError
        If the shapes do not fit.
    DTypeError
        If the dtypes differ, or are not float32, float64 or complex.

    Examples
    --------
    >>> v = vt.tensor([[0.0], [1.0]])
    >>> vt.linalg.householder_product(v, vt.tensor([1.0])).tolist()
    [[0.0], [-1.0]]
    """
    shape = check_matrices("linalg_householder_product", input, "input")
    check_same_dtype("linalg_householder_product", input, tau)
    height, width = shape[-2:]
    weights = shape_of(tau)
    if height < width or weights[:-1] != shape[:-2] or not weights or weights[-1] > width:
        raise MatrixShapeError(
            f"linalg_householder_product() needs tall matrices and as many numbers as reflections, "
            f"not shapes {shape} and {weights}",
            shapes=(shape, weights),
        )
    vectors, inner = _factors(input, tau, weights[-1])
    start = adjoint(rows_of(vectors, 0, width))
    change = F.matmul(vectors, inner(start, False))
    found = F.sub(_unit_columns(input, height, width), change)
    return stored("linalg_householder_product", found, out, input, tau)


@explained
def ormqr(
    input: Tensor,
    tau: Tensor,
    other: Tensor,
    left: bool = True,
    transpose: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the product of matrices with products of Householder reflections.

    That is ``Q @ other``, where ``Q`` is the square matrix of which
    `vtgrad.linalg.householder_product` returns the first columns. ``Q`` itself is not made.

    Parameters
    ----------
    input : Tensor
        The vectors of the reflections below the diagonal, of shape ``(*, m, k)``: from `geqrf`. The
        upper triangle is not read.
    tau : Tensor
        The numbers of the reflections, of shape ``(*, k)`` or fewer, of the dtype of `input`.
    other : Tensor
        Matrices of shape ``(*, m, n)``, or ``(*, n, m)`` if not `left`, of the dtype of `input`.
    left : bool, default True
        Whether ``Q`` stands on the left; else the result is ``other @ Q``.
    transpose : bool, default False
        Whether ``Q.mH`` is taken in place of ``Q``.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of the shape of `other`.

    Raises
    ------
    MatrixShapeError
        If the shapes do not fit.
    DTypeError
        If the dtypes differ, or are not float32, float64 or complex.

    Examples
    --------
    >>> x = vt.tensor([[3.0, 1.0], [4.0, 2.0]])
    >>> a, tau = vt.geqrf(x)
    >>> vt.allclose(vt.ormqr(a, tau, x, transpose=True), a.triu(), atol=1e-6)
    True
    """
    shape = check_matrices("ormqr", input, "input")
    sides = check_matrices("ormqr", other, "other")
    check_same_dtype("ormqr", input, tau, other)
    weights, height = shape_of(tau), shape[-2]
    count = weights[-1] if weights else 0
    fits = weights[:-1] == shape[:-2] == sides[:-2] and height == sides[-2 if left else -1]
    if not weights or not fits or count > min(shape[-2:]):
        raise MatrixShapeError(
            f"ormqr() needs reflections, a number for each and matrices that they turn, not "
            f"shapes {shape}, {weights} and {sides}",
            shapes=(shape, weights, sides),
        )
    vectors, inner = _factors(input, tau, count)
    # The product on the right is the adjoint one of the adjoint matrices.
    turned = other if left else adjoint(other)
    moved = inner(F.matmul(adjoint(vectors), turned), transpose == left)
    found = F.sub(turned, F.matmul(vectors, moved))
    return stored("ormqr", found if left else adjoint(found), out, input, tau, other)


def _factors(
    input: Tensor, tau: Tensor, count: int
) -> tuple[Tensor, Callable[[Tensor, bool], Tensor]]:
    """V, and the product of T, or of its adjoint; see Note [Products of reflections]."""
    unit = _unit_columns(input, shape_of(input)[-2], count)
    vectors = F.add(F.tril(columns_of(input, 0, count), -1), unit)
    numbers = F.unsqueeze(tau, -1)
    scaled = F.mul(numbers, F.triu(F.matmul(adjoint(vectors), vectors), 1))

    def inner(right: Tensor, across: bool) -> Tensor:
        if across:
            return F.mul(conjugate(numbers), solved(adjoint(scaled), right, False, True))
        return solved(scaled, F.mul(numbers, right), True, True)

    return vectors, inner


def _unit_columns(x: Tensor, height: int, width: int) -> Tensor:
    return constant(making.eye(height, width, dtype=x._impl.array.dtype))
