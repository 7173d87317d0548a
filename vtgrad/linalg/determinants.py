"""Determinants, and their logarithms."""

from __future__ import annotations

from vtgrad.linalg.matrices import check_square
from vtgrad.linalg.results import SlogdetResult
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.tensor import Tensor

__all__ = ["det", "logdet", "slogdet"]


@explained
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the determinants of square matrices.

    The gradient is that of the cofactors, also of singular matrices.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, n, n)``.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of shape ``(*)``; 1 for matrices without elements.

    Raises
    ------
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.

    Examples
    --------
    >>> a = vt.tensor([[2.0, 1.0], [0.0, 4.0]], requires_grad=True)
    >>> vt.linalg.det(a).backward()
    >>> a.grad.round()
    tensor([[ 4.,  0.],
            [-1.,  2.]])
    """
    return F.linalg_det(A, out=out)


@explained
def slogdet(A: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> SlogdetResult:
    """Return the signs of determinants, and the logarithms of their absolute values.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, n, n)``.
    out : tuple of two Tensor, optional
        Where the results are stored.

    Returns
    -------
    sign : Tensor
        Of shape ``(*)``; complex, of absolute value 1, for complex matrices. 0 if a matrix is
        singular.
    logabsdet : Tensor
        Real, of shape ``(*)``; -inf if a matrix is singular.

    Raises
    ------
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.
    LinAlgError
        In backward and in forward mode, if a matrix is singular.

    Examples
    --------
    >>> vt.linalg.slogdet(vt.tensor([[1.0, 5.0], [0.0, -1.0]])).sign
    tensor(-1.)
    """
    return SlogdetResult(*F.linalg_slogdet(A, out=out))


@explained
def logdet(A: Tensor) -> Tensor:
    """Return the logarithms of determinants.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, n, n)``.

    Returns
    -------
    Tensor
        A new tensor of shape ``(*)``; -inf for a determinant of 0, and nan for a negative one of
        real matrices.

    Raises
    ------
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.
    LinAlgError
        In backward and in forward mode, if a matrix is singular.

    Examples
    --------
    >>> vt.logdet(vt.tensor([[1.0, 5.0], [0.0, 1.0]]))
    tensor(0.)
    """
    check_square("logdet", A)
    sign, logarithm = F.linalg_slogdet(A)
    if sign._impl.array.dtype.kind == "c":
        return F.add(F.log(sign), logarithm)
    return F.masked_fill(logarithm, F.eq(sign, -1), float("nan"))
