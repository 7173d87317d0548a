"""Functions of `vtgrad` and methods of tensors: PyTorch's older names, with their own arguments."""

from __future__ import annotations

from typing import NamedTuple

from vtgrad.errors import MatrixShapeError, OptionValueError
from vtgrad.linalg import (
    cholesky_factors,
    determinants,
    inverses,
    lu_factors,
    matrix_functions,
    orthogonal,
    products,
    pseudoinverses,
    reflections,
    singular_values,
)
from vtgrad.linalg.matrices import (
    adjoint,
    check_matrices,
    check_same_dtype,
    check_square,
    common_stack,
    constant,
    shape_of,
    stored,
    stored_all,
    transposed,
    with_stack,
)
from vtgrad.linalg.results import (
    LUFactorExResult,
    LUFactorResult,
    LUResult,
    QRResult,
    SlogdetResult,
)
from vtgrad.linalg.triangular import solved
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "TriangularSolveResult",
    "UnpackedSVDResult",
    "chain_matmul",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "det",
    "inverse",
    "logdet",
    "lu",
    "lu_solve",
    "lu_unpack",
    "matrix_exp",
    "matrix_power",
    "orgqr",
    "pinverse",
    "qr",
    "slogdet",
    "svd",
    "triangular_solve",
    "vander",
]


class UnpackedSVDResult(NamedTuple):
    """The results of `svd`."""

    U: Tensor
    S: Tensor
    V: Tensor


class TriangularSolveResult(NamedTuple):
    """The results of `triangular_solve`."""

    solution: Tensor
    cloned_coefficient: Tensor


@explained
def det(input: Tensor) -> Tensor:
    """Return the determinants of square matrices: `vtgrad.linalg.det`.

    Parameters
    ----------
    input : Tensor
        Matrices of shape ``(*, n, n)``.

    Returns
    -------
    Tensor
        A new tensor of shape ``(*)``.

    Raises
    ------
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.

    Examples
    --------
    >>> vt.det(vt.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor(8.)
    """
    return determinants.det(input)


@explained
def logdet(input: Tensor) -> Tensor:
    """Return the logarithms of determinants: `vtgrad.linalg.logdet`.

    Parameters
    ----------
    input : Tensor
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
    return determinants.logdet(input)


@explained
def slogdet(input: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> SlogdetResult:
    """Return signs and logarithms of determinants: `vtgrad.linalg.slogdet`.

    Parameters
    ----------
    input : Tensor
        Matrices of shape ``(*, n, n)``.
    out : tuple of two Tensor, optional
        Where the results are stored.

    Returns
    -------
    sign, logabsdet : Tensor
        Of shape ``(*)``.

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
    >>> vt.slogdet(vt.tensor([[1.0, 5.0], [0.0, -1.0]])).sign
    tensor(-1.)
    """
    return determinants.slogdet(input, out=out)


@explained
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the inverses of square matrices: `vtgrad.linalg.inv`.

    Parameters
    ----------
    input : Tensor
        Matrices of shape ``(*, n, n)``.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.

    Examples
    --------
    >>> vt.inverse(vt.tensor([[2.0, 1.0], [1.0, 1.0]]))
    tensor([[ 1., -1.],
            [-1.,  2.]])
    """
    return inverses.inv(input, out=out)


@explained
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """Return the pseudoinverses of matrices: `vtgrad.linalg.pinv`.

    Parameters
    ----------
    input : Tensor
        Matrices of shape ``(*, m, n)``.
    rcond : float, default 1e-15
        Singular values up to `rcond` times the largest are taken for 0.

    Returns
    -------
    Tensor
        A new tensor of shape ``(*, n, m)``.

    Raises
    ------
    MatrixShapeError
        If there are fewer than two dimensions.
    DTypeError
        If the dtype is not float32, float64 or complex.

    Examples
    --------
    >>> vt.pinverse(vt.tensor([[2.0, 0.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """
    return pseudoinverses.pinv(input, rtol=rcond)


@explained
def cholesky(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Return the triangular factors of positive definite matrices: `vtgrad.linalg.cholesky`.

    Parameters
    ----------
    input : Tensor
        Symmetric or Hermitian positive definite matrices, of shape ``(*, n, n)``.
    upper : bool, default False
        Whether to read the upper triangle and return an upper factor.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite.
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.

    Examples
    --------
    >>> vt.cholesky(vt.tensor([[4.0, 6.0], [6.0, 10.0]]))
    tensor([[2., 0.],
            [3., 1.]])
    """
    return cholesky_factors.cholesky(input, upper=upper, out=out)


@explained
def cholesky_solve(
    input: Tensor, L: Tensor, upper: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Return the solutions ``X`` of ``A @ X == input``, where a factor of ``A`` is known.

    Parameters
    ----------
    input : Tensor
        The right sides, of shape ``(*, n, k)``.
    L : Tensor
        Factors of `cholesky`, of shape ``(*, n, n)``; the other triangle is not read. The
        dimensions in front broadcast.
    upper : bool, default False
        Whether they are upper factors.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`, with the dimensions in front broadcast.

    Raises
    ------
    MatrixShapeError
        If the shapes do not fit.
    DTypeError
        If the dtypes differ, or are not float32, float64 or complex.

    Examples
    --------
    >>> factor = vt.cholesky(vt.tensor([[4.0, 0.0], [0.0, 9.0]]))
    >>> vt.cholesky_solve(vt.tensor([[4.0], [18.0]]), factor)
    tensor([[1.],
            [2.]])
    """
    return cholesky_factors.cholesky_solve(input, L, upper, out=out)


@explained
def cholesky_inverse(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Return the inverses of matrices of which factors are known.

    Parameters
    ----------
    input : Tensor
        Factors of `cholesky`, of shape ``(*, n, n)``; the other triangle is not read.
    upper : bool, default False
        Whether they are upper factors.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    MatrixShapeError
        If the factors are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.

    Examples
    --------
    >>> vt.cholesky_inverse(vt.tensor([[2.0, 0.0], [0.0, 4.0]])).diagonal().tolist()
    [0.25, 0.0625]
    """
    return cholesky_factors.cholesky_inverse(input, upper, out=out)


@explained
def lu_solve(
    input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """Return the solutions ``X`` of ``A @ X == input``, where the factors of ``A`` are known.

    Parameters
    ----------
    input : Tensor
        The right sides, of shape ``(*, n, k)``.
    LU_data, LU_pivots : Tensor
        The results of `vtgrad.linalg.lu_factor`. The dimensions in front broadcast.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`, with the dimensions in front broadcast.

    Raises
    ------
    MatrixShapeError
        If the shapes do not fit.
    DTypeError
        If the dtypes differ, or are not float32, float64 or complex; if pivots are not int32.

    Examples
    --------
    >>> found = vt.linalg.lu_factor(vt.tensor([[0.0, 2.0], [4.0, 6.0]]))
    >>> vt.lu_solve(vt.tensor([[2.0], [10.0]]), *found).tolist()
    [[1.0], [1.0]]
    """
    return lu_factors.lu_solve(LU_data, LU_pivots, input, out=out)


@explained
def lu(
    A: Tensor,
    pivot: bool = True,
    get_infos: bool = False,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> LUFactorResult | LUFactorExResult:
    """Return the factors of `vtgrad.linalg.lu_factor`, and which matrices are singular.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, m, n)``.
    pivot : bool, default True
        Whether rows are exchanged; there is no other way.
    get_infos : bool, default False
        Whether `info` is returned, too.
    out : tuple of two or three Tensor, optional
        Where the results are stored.

    Returns
    -------
    LU, pivots : Tensor
        As of `vtgrad.linalg.lu_factor`.
    info : Tensor
        For each matrix 0, or the number of the first pivot that is zero; int32.

    Raises
    ------
    MatrixShapeError, DTypeError, NotSupportedError, MissingPackageError
        As of `vtgrad.linalg.lu`.

    Examples
    --------
    >>> factors, pivots, infos = vt.lu(vt.tensor([[0.0, 2.0], [4.0, 6.0]]), get_infos=True)
    >>> factors.tolist(), infos.item()
    ([[4.0, 6.0], [0.0, 2.0]], 0)
    """
    found = lu_factors.lu_factor_ex(A, pivot=pivot)
    results = found if get_infos else LUFactorResult(found.LU, found.pivots)
    return stored_all("lu", results, out, A)


@explained
def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> LUResult:
    """Return the factors of `vtgrad.linalg.lu` from the results of `vtgrad.linalg.lu_factor`.

    Parameters
    ----------
    LU_data, LU_pivots : Tensor
        The results of `lu_factor`.
    unpack_data, unpack_pivots : bool, default True
        Whether ``L`` and ``U``, and whether ``P`` is wanted. What is not has no elements.
    out : tuple of three Tensor, optional
        Where the results are stored.

    Returns
    -------
    P, L, U : Tensor
        As of `vtgrad.linalg.lu`.

    Raises
    ------
    MatrixShapeError
        If there are fewer than two dimensions, or the shapes do not fit.
    DTypeError
        If the pivots are not int32.

    Examples
    --------
    >>> found = vt.linalg.lu_factor(vt.tensor([[0.0, 2.0], [4.0, 6.0]]))
    >>> p, l, u = vt.lu_unpack(*found)
    >>> (p @ l @ u).tolist()
    [[0.0, 2.0], [4.0, 6.0]]
    """
    return lu_factors.lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots, out=out)


@explained
def matrix_exp(input: Tensor) -> Tensor:
    """Return the exponentials of square matrices: `vtgrad.linalg.matrix_exp`.

    SciPy is needed.

    Parameters
    ----------
    input : Tensor
        Matrices of shape ``(*, n, n)``.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If the values are not floating or complex.
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> vt.matrix_exp(vt.tensor([[0.0, 1.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    return matrix_functions.matrix_exp(input)


@explained
def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """Return square matrices multiplied by themselves: `vtgrad.linalg.matrix_power`.

    Parameters
    ----------
    input : Tensor
        Matrices of shape ``(*, m, m)``.
    n : int
        How many factors; 0 gives identities, fewer are factors of the inverse.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.
    LinAlgError
        If `n` is negative, and a matrix is singular.

    Examples
    --------
    >>> vt.matrix_power(vt.tensor([[1.0, 1.0], [0.0, 1.0]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    return products.matrix_power(input, n, out=out)


@explained
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Return the product of several matrices: `vtgrad.linalg.multi_dot`.

    Parameters
    ----------
    *matrices : Tensor
        Matrices of one dtype; a single one is returned itself.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ShapeError
        If there is none, one is no matrix, or they do not fit.
    DTypeError
        If their dtypes differ.

    Examples
    --------
    >>> vt.chain_matmul(vt.ones(1, 2), vt.ones(2, 3), vt.ones(3, 1))
    tensor([[6.]])
    """
    if len(matrices) == 1:
        return stored("chain_matmul", matrices[0], out, *matrices)
    return products.multi_dot(matrices, out=out)


@explained
def qr(input: Tensor, some: bool = True, *, out: tuple[Tensor, Tensor] | None = None) -> QRResult:
    """Return orthonormal and upper triangular factors: `vtgrad.linalg.qr`.

    Parameters
    ----------
    input : Tensor
        Matrices of shape ``(*, m, n)``.
    some : bool, default True
        Whether there are ``min(m, n)`` columns; else they are a basis, which has no derivative if
        there are more rows than columns.
    out : tuple of two Tensor, optional
        Where the results are stored.

    Returns
    -------
    Q, R : Tensor
        As of `vtgrad.linalg.qr`.

    Raises
    ------
    MatrixShapeError
        If there are fewer than two dimensions.
    DTypeError
        If the dtype is not float32, float64 or complex.

    Examples
    --------
    >>> vt.qr(vt.ones(3, 2)).R.shape
    vtgrad.Size([2, 2])
    """
    return orthogonal.qr(input, "reduced" if some else "complete", out=out)


@explained
def svd(
    input: Tensor,
    some: bool = True,
    compute_uv: bool = True,
    *,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> UnpackedSVDResult:
    """Return singular vectors and values, ``U @ diag(S) @ V.mH == input``.

    `vtgrad.linalg.svd` gives the adjoint of ``V``, and whole bases by default.

    Parameters
    ----------
    input : Tensor
        Matrices of shape ``(*, m, n)``.
    some : bool, default True
        Whether there are ``min(m, n)`` vectors; else they are whole bases.
    compute_uv : bool, default True
        Whether vectors are wanted. If not, whole bases of zeros stand for them.
    out : tuple of three Tensor, optional
        Where the results are stored.

    Returns
    -------
    U, S, V : Tensor
        Left singular vectors as columns, singular values from the largest on, and right singular
        vectors as columns.

    Raises
    ------
    MatrixShapeError
        If there are fewer than two dimensions.
    DTypeError
        If the dtype is not float32, float64 or complex.
    LinAlgError
        If they are not found, as of nan.

    Examples
    --------
    >>> vt.svd(vt.tensor([[0.0, 2.0], [1.0, 0.0]])).S.tolist()
    [2.0, 1.0]
    """
    if compute_uv:
        u, s, vh = singular_values.svd(input, not some)
        return stored_all("svd", UnpackedSVDResult(u, s, adjoint(vh)), out, input)
    *stack, height, width = check_matrices("svd", input, "input")
    dtype = input._impl.array.dtype
    found = UnpackedSVDResult(
        constant(making.zeros((*stack, height, height), dtype)),
        singular_values.svdvals(input),
        constant(making.zeros((*stack, width, width), dtype)),
    )
    return stored_all("svd", found, out, input)


@explained
def orgqr(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return products of Householder reflections: `vtgrad.linalg.householder_product`.

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
    >>> vt.orgqr(vt.tensor([[0.0], [1.0]]), vt.tensor([1.0])).tolist()
    [[0.0], [-1.0]]
    """
    return reflections.householder_product(input, tau, out=out)


@explained
def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    *,
    out: tuple[Tensor, Tensor] | None = None,
) -> TriangularSolveResult:
    """Return solutions of equations with triangular matrices; see `vtgrad.linalg.solve_triangular`.

    Parameters
    ----------
    input : Tensor
        The right sides, of shape ``(*, n, k)``.
    A : Tensor
        Triangular matrices, of shape ``(*, n, n)``. The dimensions in front broadcast.
    upper : bool, default True
        Whether the upper triangles are read; else the lower ones.
    transpose : bool, default False
        Whether to take the transposed matrices.
    unitriangular : bool, default False
        Whether the diagonals are taken to be 1, and not read.
    out : tuple of two Tensor, optional
        Where the results are stored.

    Returns
    -------
    solution : Tensor
        Of the shape of `input`, with the dimensions in front broadcast.
    cloned_coefficient : Tensor
        A copy of `A`, broadcast.

    Raises
    ------
    MatrixShapeError
        If the shapes do not fit.
    DTypeError
        If the dtypes differ, or are not float32, float64 or complex.

    Examples
    --------
    >>> a = vt.tensor([[2.0, 1.0], [0.0, 4.0]])
    >>> vt.triangular_solve(vt.tensor([[4.0], [8.0]]), a).solution.tolist()
    [[1.0], [2.0]]
    """
    right = check_matrices("triangular_solve", input, "input")
    left = check_square("triangular_solve", A)
    check_same_dtype("triangular_solve", input, A)
    if right[-2] != left[-1]:
        raise MatrixShapeError(
            f"triangular_solve() cannot solve for right sides of shape {right} with matrices of "
            f"shape {left}",
            shapes=(left, right),
        )
    stack = common_stack("triangular_solve", left, right)
    a, b = with_stack(A, stack), with_stack(input, stack)
    if transpose:
        solution = solved(transposed(a), b, not upper, unitriangular)
    else:
        solution = solved(a, b, upper, unitriangular)
    found = TriangularSolveResult(solution, F.clone(a))
    return stored_all("triangular_solve", found, out, input, A)


@explained
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return a Vandermonde matrix: the powers of each element of a vector.

    Parameters
    ----------
    x : Tensor
        A vector; not bool.
    N : int, optional
        How many powers; as many as elements by default.
    increasing : bool, default False
        Whether the lowest power comes first, as in `vtgrad.linalg.vander`.

    Returns
    -------
    Tensor
        A new tensor of shape ``(n, N)``; int64 for integers.

    Raises
    ------
    MatrixShapeError
        If `x` is no vector.
    DTypeError
        If the values are bools.
    OptionValueError
        If `N` is negative.

    Examples
    --------
    >>> vt.vander(vt.tensor([2, 3]), 3)
    tensor([[4, 2, 1],
            [9, 3, 1]])
    """
    shape = shape_of(x)
    if len(shape) != 1:
        raise MatrixShapeError(f"vander() needs a vector, not shape {shape}", shape=shape)
    count = shape[0] if N is None else N
    if count < 0:
        raise OptionValueError(f"vander() needs an N that is not negative, not {N}", argument="N")
    found = F.narrow(products.vander(x, N=max(count, 2)), -1, 0, count)
    return F.clone(found) if increasing else F.flip(found, (-1,))
