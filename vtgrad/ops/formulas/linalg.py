# Compiled by mypyc.
"""Derivatives of products, inverses and decompositions of matrices.

Note [Gradients of Hermitian matrices]
An operator that reads one triangle of a matrix has a derivative by the elements of that triangle
only. Programs hold Hermitian matrices whole, and move both elements of a pair at once. With
`symmetric` the gradient is, as in PyTorch, the Hermitian matrix that says the same of them: each
element of a pair has half of it, and a step along it keeps a matrix Hermitian. The tangent of a
matrix is taken to be Hermitian likewise.

Note [Tangents of values alone]
Where two eigenvalues or singular values are equal, their vectors have no derivative, which is an
error. Values alone, as those of `eigvalsh` and `svdvals`, have a tangent there: that of the basis
which LAPACK has chosen, as in PyTorch. Such a function states `values_only`, and the tangents of
the vectors, which are computed along with those of the values, are nan instead of an error. A
second derivative reads them, and is nan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vtgrad.ops import kernels as k
from vtgrad.ops.calling.types import Geometry3
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.shapes import broadcast_shapes

__all__ = [
    "adjoint_of",
    "applied",
    "columns",
    "common_stack",
    "first_factor_gradient",
    "for_each",
    "gradient_of_cholesky",
    "gradient_of_determinant",
    "gradient_of_eigh",
    "gradient_of_gaps",
    "gradient_of_hermitian",
    "gradient_of_inverse",
    "gradient_of_left_side",
    "gradient_of_qr",
    "gradient_of_slogdet",
    "gradient_of_svd",
    "gradient_of_trace",
    "in_basis",
    "hermitian_of_lower",
    "hermitian_tangent",
    "imaginary_part",
    "inner_products",
    "is_column_major",
    "minors",
    "minors_back",
    "outer_factor",
    "outer_gradient",
    "outside_of",
    "real_part",
    "reciprocals",
    "right_divided",
    "second_factor_gradient",
    "size_of_stack",
    "stacked_product",
    "sum_with_adjoint",
    "tangent_of_cholesky",
    "tangent_of_eigenvalues",
    "tangent_of_eigenvectors",
    "tangent_of_left_vectors",
    "tangent_of_logarithm",
    "tangent_of_q",
    "tangent_of_r",
    "tangent_of_right_vectors",
    "tangent_of_singular_values",
    "third_of_determinant",
    "turn_of_q",
    "without_one",
    "with_zeros_at",
]


def adjoint_of(matrix: Array) -> Array:
    """The last two dimensions exchanged, conjugated. May share memory with `matrix`."""
    return k.conj(k.transpose(matrix, -2, -1))


def first_factor_gradient(grad: Array, second: Array, geometry: Geometry3) -> Array:
    """The gradient of the first matrix of a product, in that matrix's memory order."""
    if is_column_major(geometry):
        return k.transpose(k.mm(k.conj(second), k.transpose(grad, 0, 1)), 0, 1)
    return k.mm(grad, adjoint_of(second))


def second_factor_gradient(grad: Array, first: Array, geometry: Geometry3) -> Array:
    """The gradient of the second matrix of a product, in that matrix's memory order."""
    if is_column_major(geometry):
        return k.transpose(k.mm(k.transpose(grad, 0, 1), k.conj(first)), 0, 1)
    return k.mm(adjoint_of(first), grad)


def outer_gradient(grad: Array, vec: Array) -> Array:
    """The gradient of the matrix that was multiplied by `vec`."""
    return k.mul(k.reshape(grad, (grad.shape[0], 1)), k.conj(vec))


def outer_factor(grad: Array, vec: Array) -> Array:
    """The rows of a gradient, each times the conjugate of its element of `vec`."""
    return k.mul(grad, k.conj(k.reshape(vec, (vec.shape[0], 1))))


def for_each(grad: Array, batch: Shape) -> Array:
    """A matrix for each of a stack, whose products were added up."""
    return k.expand(grad, (batch[0], *grad.shape))


def gradient_of_trace(grad: Array, sizes: Shape) -> Array:
    """The gradient on the diagonal, 0 elsewhere."""
    return k.diagonal_backward(k.expand(grad, (min(sizes),)), sizes, 0, 0, 1)


def is_column_major(geometry: Geometry3) -> bool:
    """Whether a matrix lies in memory column by column, without gaps."""
    sizes, strides, _ = geometry
    return strides[0] == 1 and strides[1] == sizes[0]


# -- stacks of matrices ------------------------------------------------------------------------


def common_stack(left: Shape, right: Shape) -> Shape:
    """The dimensions in front of the matrices of two stacks, which broadcast."""
    return broadcast_shapes(tuple(left[:-2]), tuple(right[:-2]))


def size_of_stack(stack: Shape) -> int:
    """How many matrices a stack has."""
    return math.prod(stack)


def stacked_product(left: Array, right: Array) -> Array:
    """The products of the matrices of two stacks, which broadcast."""
    if len(left.shape) == 2 and len(right.shape) == 2:
        return k.mm(left, right)
    stack = common_stack(left.shape, right.shape)
    count = size_of_stack(stack)
    height, inner, width = left.shape[-2], left.shape[-1], right.shape[-1]
    a = k.reshape(k.expand(left, (*stack, height, inner)), (count, height, inner))
    b = k.reshape(k.expand(right, (*stack, inner, width)), (count, inner, width))
    return k.reshape(k.bmm(a, b), (*stack, height, width))


# -- inverses ----------------------------------------------------------------------------------


def gradient_of_inverse(grad: Array, inverse: Array) -> Array:
    """From ``d(inverse) = -inverse @ d(matrix) @ inverse``."""
    adjoint = adjoint_of(inverse)
    return k.neg(stacked_product(stacked_product(adjoint, grad), adjoint))


def applied(matrices: Array, solution: Array) -> Array:
    """Matrices times the solution of equations, which has fewer dimensions if it is vectors."""
    if len(solution.shape) < len(matrices.shape):
        return k.squeeze_dim(stacked_product(matrices, k.unsqueeze(solution, -1)), -1)
    return stacked_product(matrices, solution)


def gradient_of_left_side(grad: Array, matrices: Array, solution: Array) -> Array:
    """The gradient of the matrices of equations, from that of the solution."""
    right = k.linalg_solve(adjoint_of(matrices), grad)
    if len(solution.shape) < len(matrices.shape):
        return k.neg(k.mul(k.unsqueeze(right, -1), k.conj(k.unsqueeze(solution, -2))))
    return k.neg(stacked_product(right, adjoint_of(solution)))


# -- determinants ------------------------------------------------------------------------------


def inner_products(left: Array, right: Array) -> Array:
    """For each pair of matrices the sum of the products of their elements; none is conjugated."""
    return k.sum(k.mul(left, right), (-2, -1))


def real_part(values: Array) -> Array:
    """The real parts, in the dtype of the values."""
    return k.mul(k.add(values, k.conj(values)), 0.5)


def imaginary_part(values: Array) -> Array:
    """The imaginary parts times the imaginary unit; of real values 0."""
    return k.mul(k.sub(values, k.conj(values)), 0.5)


def tangent_of_logarithm(matrices: Array, tangent: Array) -> Array:
    """The tangent of the logarithm of a determinant: the trace of ``inverse @ tangent``."""
    return inner_products(k.transpose(k.linalg_inv(matrices), -2, -1), tangent)


def gradient_of_slogdet(
    grads: Sequence[Array | None], matrices: Array, sign: Array, dtype: NumpyDType
) -> Array | None:
    """The gradients of a sign, which only a complex one has, and of a logarithm."""
    of_sign, of_logarithm = grads
    along: Array | None = of_logarithm
    if of_sign is not None and dtype.kind == "c":
        turn = k.neg(imaginary_part(k.mul(k.conj(of_sign), sign)))
        along = turn if of_logarithm is None else k.add(of_logarithm, turn)
    if along is None:
        return k.zeros_like(matrices)
    inverse = k.linalg_inv(matrices)
    return k.mul(k.unsqueeze(k.unsqueeze(along, -1), -1), adjoint_of(inverse))


def gradient_of_determinant(grad: Array, matrices: Array) -> Array:
    """The conjugates of the cofactors, each matrix with a factor of its own."""
    factor = k.unsqueeze(k.unsqueeze(grad, -1), -1)
    return k.mul(factor, k.conj(k.linalg_cofactors(matrices)))


def third_of_determinant(matrices: Array, first: Array, second: Array) -> Array:
    """The third derivatives of determinants along two stacks of matrices.

    A cofactor is the determinant of the matrix without a row and a column, up to the sign: so they
    are the derivatives of its cofactors along the same of `first`, times an element of `second`.
    """
    if not matrices.shape[-1]:
        return k.zeros_like(first)
    along = k.linalg_cofactors_along(minors(matrices), minors(first))
    return minors_back(k.mul(along, k.unsqueeze(k.unsqueeze(second, -1), -1)))


def minors(matrices: Array) -> Array:
    """``minors[..., i, j, :, :]`` is the matrix without row i and column j."""
    size, row = matrices.shape[-1], len(matrices.shape) - 2
    rows = k.stack([without_one(matrices, row, nr) for nr in range(size)], row)
    return k.stack([without_one(rows, row + 2, nr) for nr in range(size)], row + 1)


def minors_back(values: Array) -> Array:
    """The sum of all minors, each where it came from, with the signs of cofactors."""
    column, size = len(values.shape) - 3, values.shape[-3]
    rows = with_zeros_at(k.select(values, column, 0), column + 1, 0)
    for nr in range(1, size):
        more = with_zeros_at(k.select(values, column, nr), column + 1, nr)
        rows = k.sub(rows, more) if nr % 2 else k.add(rows, more)
    total = with_zeros_at(k.select(rows, column - 1, 0), column - 1, 0)
    for nr in range(1, size):
        more = with_zeros_at(k.select(rows, column - 1, nr), column - 1, nr)
        total = k.sub(total, more) if nr % 2 else k.add(total, more)
    return total


def without_one(values: Array, dim: int, index: int) -> Array:
    """All but one along a dimension."""
    first = k.slice(values, dim, 0, index)
    return k.cat([first, k.slice(values, dim, index + 1, values.shape[dim])], dim)


def with_zeros_at(values: Array, dim: int, index: int) -> Array:
    """One more along a dimension: zeros."""
    size = values.shape[dim]
    zeros = k.zeros_shaped(values, (*values.shape[:dim], 1, *values.shape[dim + 1 :]))
    first = k.slice(values, dim, 0, index)
    return k.cat([first, zeros, k.slice(values, dim, index, size)], dim)


# -- decompositions ----------------------------------------------------------------------------


def sum_with_adjoint(matrices: Array) -> Array:
    """Twice the Hermitian part."""
    return k.add(matrices, adjoint_of(matrices))


def gradient_of_hermitian(whole: Array, symmetric: bool) -> Array:
    """The gradient of a matrix of which the lower triangle is read, from that of the whole matrix.

    See Note [Gradients of Hermitian matrices].
    """
    both = sum_with_adjoint(whole)
    return k.mul(both, 0.5) if symmetric else k.linalg_half_lower(both)


def hermitian_tangent(tangent: Array, symmetric: bool) -> Array:
    """The tangent of the Hermitian matrix that is seen of a matrix."""
    return k.mul(sum_with_adjoint(tangent), 0.5) if symmetric else hermitian_of_lower(tangent)


def hermitian_of_lower(matrices: Array) -> Array:
    """The Hermitian matrix that an operator sees which reads the lower triangle only.

    Its gradient goes to the lower triangle by ``linalg_half_lower(sum_with_adjoint(grad))``.
    """
    return sum_with_adjoint(k.linalg_half_lower(matrices))


def gradient_of_cholesky(grad: Array, factor: Array, symmetric: bool) -> Array:
    """The gradient of a matrix, from that of the factor."""
    upper = adjoint_of(factor)
    half = k.linalg_solve(upper, k.linalg_half_lower(stacked_product(upper, grad)))
    return gradient_of_hermitian(k.linalg_solve(upper, adjoint_of(half)), symmetric)


def tangent_of_cholesky(tangent: Array, factor: Array, symmetric: bool) -> Array:
    """The tangent of the factor, from that of a matrix."""
    half = adjoint_of(k.linalg_solve(factor, hermitian_tangent(tangent, symmetric)))
    return stacked_product(factor, k.linalg_half_lower(k.linalg_solve(factor, half)))


def in_basis(matrices: Array, vectors: Array) -> Array:
    """Matrices as the vectors of an orthonormal basis see them."""
    return stacked_product(adjoint_of(vectors), stacked_product(matrices, vectors))


def gradient_of_eigh(
    grads: Sequence[Array | None], values: Array, vectors: Array, symmetric: bool
) -> Array | None:
    """The gradient of a matrix, from those of eigenvalues and eigenvectors.

    Eigenvectors are taken to turn with no phase of their own, which nothing that is well defined
    depends on.
    """
    of_values, of_vectors = grads
    adjoint = adjoint_of(vectors)
    if of_vectors is not None:
        inner = k.mul(k.linalg_inverse_gaps(values), stacked_product(adjoint, of_vectors))
        if of_values is not None:
            inner = k.add(inner, k.diag_embed(of_values))
        whole = stacked_product(vectors, stacked_product(inner, adjoint))
        return gradient_of_hermitian(whole, symmetric)
    if of_values is None:
        return None
    whole = stacked_product(k.mul(vectors, k.unsqueeze(of_values, -2)), adjoint)
    return gradient_of_hermitian(whole, symmetric)


def gradient_of_gaps(grad: Array) -> Array:
    """The gradient of the values, from that of their differences with the opposite sign."""
    return k.sub(k.sum(grad, -1), k.sum(grad, -2))


def tangent_of_eigenvalues(tangent: Array, vectors: Array, symmetric: bool) -> Array:
    """The tangent of the eigenvalues, from that of a matrix."""
    return k.diagonal(in_basis(hermitian_tangent(tangent, symmetric), vectors), 0, -2, -1)


def tangent_of_eigenvectors(
    tangent: Array, values: Array, vectors: Array, symmetric: bool, values_only: bool
) -> Array:
    """The tangent of the eigenvectors, from that of a matrix."""
    inner = in_basis(hermitian_tangent(tangent, symmetric), vectors)
    turn = k.mul(k.linalg_inverse_gaps(values, values_only), inner)
    return stacked_product(vectors, turn)


def columns(matrices: Array, start: int, end: int) -> Array:
    """Some of the columns."""
    return k.slice(matrices, len(matrices.shape) - 1, start, end)


def right_divided(matrices: Array, divisor: Array) -> Array:
    """``matrices @ inverse(divisor)``."""
    return adjoint_of(k.linalg_solve(adjoint_of(divisor), adjoint_of(matrices)))


def gradient_of_qr(grads: Sequence[Array | None], q: Array, r: Array) -> Array:
    """The gradient of a matrix from those of its factors.

    The columns behind the square part of a wide matrix are ``q`` times those of ``r``, and depend
    on the others by ``q`` alone.
    """
    first, second = grads
    of_q = k.zeros_like(q) if first is None else first
    of_r = k.zeros_like(r) if second is None else second
    size, width = r.shape[-2], r.shape[-1]
    if width > size:
        of_rest = columns(of_r, size, width)
        rest = stacked_product(q, columns(r, size, width))
        of_q = k.add(of_q, stacked_product(rest, adjoint_of(of_rest)))
        parts: list[Array | None] = [of_q, columns(of_r, 0, size)]
        square = gradient_of_qr(parts, q, columns(r, 0, size))
        return k.cat([square, stacked_product(q, of_rest)], len(r.shape) - 1)
    both = k.sub(stacked_product(r, adjoint_of(of_r)), stacked_product(adjoint_of(of_q), q))
    of_q = k.add(of_q, stacked_product(q, hermitian_of_lower(both)))
    return right_divided(of_q, adjoint_of(r))


def turn_of_q(tangent: Array, q: Array, r: Array) -> Array:
    """How the columns of ``q`` turn among themselves: a skew-Hermitian matrix."""
    size = r.shape[-2]
    inner = stacked_product(adjoint_of(q), columns(tangent, 0, size))
    half = k.linalg_half_lower(right_divided(inner, columns(r, 0, size)))
    return k.sub(half, adjoint_of(half))


def tangent_of_q(tangent: Array, q: Array, r: Array) -> Array:
    """The tangent of the orthonormal columns: they turn, and of a tall matrix leave their span."""
    size = r.shape[-2]
    within = stacked_product(q, turn_of_q(tangent, q, r))
    if q.shape[-2] == size:
        return within
    outside = k.sub(tangent, stacked_product(q, stacked_product(adjoint_of(q), tangent)))
    return k.add(within, right_divided(outside, r))


def tangent_of_r(tangent: Array, q: Array, r: Array) -> Array:
    """The tangent of the upper triangular factor."""
    inner = stacked_product(adjoint_of(q), tangent)
    return k.triu(k.sub(inner, stacked_product(turn_of_q(tangent, q, r), r)))


def reciprocals(values: Array, values_only: bool = False) -> Array:
    """One by each singular value; an error if one is zero, unless `values_only`."""
    if values_only:
        return k.reciprocal(values)
    return k.diagonal(k.linalg_inv(k.diag_embed(values)), 0, -2, -1)


def outside_of(vectors: Array, matrices: Array) -> Array:
    """What is not in the span of orthonormal vectors."""
    inner = stacked_product(adjoint_of(vectors), matrices)
    return k.sub(matrices, stacked_product(vectors, inner))


def gradient_of_svd(
    grads: Sequence[Array | None], u: Array, s: Array, vh: Array, dtype: NumpyDType
) -> Array | None:
    """The gradient of a matrix, from those of its singular vectors and values.

    Right vectors are taken to turn with no phase of their own, and left ones as that demands.
    """
    first, of_s, last = grads
    if first is None and last is None:
        if of_s is None:
            return None
        return stacked_product(k.mul(u, k.unsqueeze(of_s, -2)), vh)
    of_u = k.zeros_like(u) if first is None else first
    of_v = adjoint_of(k.zeros_like(vh) if last is None else last)
    gaps = k.linalg_inverse_gaps(k.mul(s, s))
    left = stacked_product(adjoint_of(u), of_u)
    inner = k.mul(sum_with_adjoint(k.mul(gaps, left)), k.unsqueeze(s, -2))
    right = sum_with_adjoint(k.mul(gaps, stacked_product(vh, of_v)))
    inner = k.add(inner, k.mul(right, k.unsqueeze(s, -1)))
    if of_s is not None:
        inner = k.add(inner, k.diag_embed(of_s))
    if dtype.kind == "c":
        phases = imaginary_part(k.diagonal(left, 0, -2, -1))
        inner = k.add(inner, k.diag_embed(k.mul(phases, reciprocals(s))))
    grad = stacked_product(u, stacked_product(inner, vh))
    if u.shape[-2] > u.shape[-1]:
        scaled_left = k.mul(outside_of(u, of_u), k.unsqueeze(reciprocals(s), -2))
        grad = k.add(grad, stacked_product(scaled_left, vh))
    if vh.shape[-1] > vh.shape[-2]:
        scaled_right = k.mul(outside_of(adjoint_of(vh), of_v), k.unsqueeze(reciprocals(s), -2))
        grad = k.add(grad, stacked_product(u, adjoint_of(scaled_right)))
    return grad


def tangent_of_singular_values(tangent: Array, u: Array, vh: Array) -> Array:
    """The tangent of the singular values."""
    inner = stacked_product(adjoint_of(u), stacked_product(tangent, adjoint_of(vh)))
    return real_part(k.diagonal(inner, 0, -2, -1))


def tangent_of_left_vectors(
    tangent: Array, u: Array, s: Array, vh: Array, dtype: NumpyDType, values_only: bool
) -> Array:
    """The tangent of the left singular vectors."""
    moved = stacked_product(tangent, adjoint_of(vh))
    inner = stacked_product(adjoint_of(u), moved)
    gaps = k.linalg_inverse_gaps(k.mul(s, s), values_only)
    turn = k.mul(gaps, sum_with_adjoint(k.mul(inner, k.unsqueeze(s, -2))))
    if dtype.kind == "c":
        phases = imaginary_part(k.diagonal(inner, 0, -2, -1))
        turn = k.add(turn, k.diag_embed(k.mul(phases, reciprocals(s, values_only))))
    within = stacked_product(u, turn)
    if u.shape[-2] == u.shape[-1]:
        return within
    return k.add(within, k.mul(outside_of(u, moved), k.unsqueeze(reciprocals(s, values_only), -2)))


def tangent_of_right_vectors(
    tangent: Array, u: Array, s: Array, vh: Array, values_only: bool
) -> Array:
    """The tangent of the adjoint of the right singular vectors."""
    v = adjoint_of(vh)
    moved = stacked_product(adjoint_of(tangent), u)
    inner = stacked_product(vh, moved)
    gaps = k.linalg_inverse_gaps(k.mul(s, s), values_only)
    turn = k.mul(gaps, sum_with_adjoint(k.mul(inner, k.unsqueeze(s, -2))))
    within = stacked_product(v, turn)
    if v.shape[-2] > v.shape[-1]:
        outside = k.mul(outside_of(v, moved), k.unsqueeze(reciprocals(s, values_only), -2))
        within = k.add(within, outside)
    return adjoint_of(within)
