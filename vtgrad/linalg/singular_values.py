"""Singular values and vectors."""

from __future__ import annotations

from vtgrad.errors import OptionValueError
from vtgrad.linalg.matrices import adjoint, check_matrices, stored, stored_all
from vtgrad.linalg.orthogonal import complement
from vtgrad.linalg.results import SVDResult
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.tensor import Tensor

__all__ = ["svd", "svdvals"]


@explained
def svd(
    A: Tensor,
    full_matrices: bool = True,
    *,
    driver: str | None = None,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> SVDResult:
    """Return singular vectors and values, ``U @ diag(S) @ Vh == A``.

    Singular values have a derivative where they differ from each other and from zero. Singular
    vectors are given up to a sign, of complex matrices up to a phase: a loss must not depend on
    it. The vectors that only complete a basis are constants.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, m, n)``.
    full_matrices : bool, default True
        Whether the vectors are a whole basis; else there are ``min(m, n)``.
    driver : None
        For PyTorch's signature: LAPACK has one way.
    out : tuple of three Tensor, optional
        Where the results are stored.

    Returns
    -------
    U : Tensor
        Left singular vectors, as columns: ``(*, m, m)`` or ``(*, m, min(m, n))``.
    S : Tensor
        Singular values, real, from the largest on.
    Vh : Tensor
        Adjoints of the right singular vectors, as rows: ``(*, n, n)`` or ``(*, min(m, n), n)``.

    Raises
    ------
    MatrixShapeError
        If there are fewer than two dimensions.
    DTypeError
        If the dtype is not float32, float64 or complex.
    OptionValueError
        If a driver is named.
    LinAlgError
        If they are not found, as of nan. In a derivative of the vectors, if two singular values
        are equal.

    Examples
    --------
    >>> u, s, vh = vt.linalg.svd(vt.tensor([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]]))
    >>> u.shape, s.tolist()
    (vtgrad.Size([3, 3]), [2.0, 1.0])
    """
    _check_driver("linalg_svd", driver)
    height, width = check_matrices("linalg_svd", A)[-2:]
    u, s, vh = F.linalg_svd(A)
    if full_matrices and height > width:
        u = F.cat([u, complement(u)], -1)
    if full_matrices and width > height:
        vh = F.cat([vh, adjoint(complement(adjoint(vh)))], -2)
    return stored_all("linalg_svd", SVDResult(u, s, vh), out, A)


@explained
def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor:
    """Return the singular values of matrices.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, m, n)``.
    driver : None
        For PyTorch's signature: LAPACK has one way.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new real tensor of shape ``(*, min(m, n))``, from the largest on.

    Raises
    ------
    MatrixShapeError
        If there are fewer than two dimensions.
    DTypeError
        If the dtype is not float32, float64 or complex.
    OptionValueError
        If a driver is named.
    LinAlgError
        If they are not found, as of nan. In a second derivative, if two are equal.

    Examples
    --------
    >>> vt.linalg.svdvals(vt.tensor([[0.0, 2.0], [1.0, 0.0]])).tolist()
    [2.0, 1.0]
    """
    _check_driver("linalg_svdvals", driver)
    check_matrices("linalg_svdvals", A)
    return stored("linalg_svdvals", F.linalg_svd(A, True)[1], out, A)


def _check_driver(name: str, driver: str | None) -> None:
    if driver is not None:
        raise OptionValueError(f"{name}() has no drivers to choose from", argument="driver")
