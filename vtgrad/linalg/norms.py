"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from vtgrad.errors import DimensionError, DTypeError, OptionValueError, ShapeError
from vtgrad.linalg.infos import INVERSE, info_of, without_failing
from vtgrad.linalg.matrices import cast_to, check_matrices, check_square, real_of, shape_of, stored
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Shape
from vtgrad.storage.dtypes import DType
from vtgrad.storage.shapes import normalize_dims
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.tensor import Tensor

__all__ = ["cond", "matrix_norm", "norm", "of_matrices", "vector_norm"]

T = TypeVar("T", bound=TensorBase)


@explained
def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return norms of vectors.

    The gradient at zero is 0. Where several elements have the largest absolute value, each gets an
    equal part of the gradient of the norm ``inf``.

    Parameters
    ----------
    x : Tensor
        Floating or complex values, of any shape.
    ord : float, default 2
        The order: ``sum(abs(x) ** ord) ** (1 / ord)``; inf is the largest and -inf the smallest
        absolute value, and 0 the number of elements that are not zero.
    dim : int or sequence of int, optional
        The dimensions whose elements are one vector; all by default.
    keepdim : bool, default False
        Whether these dimensions stay, with size 1.
    dtype : dtype, optional
        The dtype in which it is computed.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new real tensor.

    Raises
    ------
    DTypeError
        If the values are integers or bools.
    DimensionError
        If there is no such dimension.

    Examples
    --------
    >>> vt.linalg.vector_norm(vt.tensor([3.0, -4.0]))
    tensor(5.)
    """
    return F.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype, out=out)


@explained
def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return norms of matrices.

    Parameters
    ----------
    A : Tensor
        Floating or complex values, with at least two dimensions.
    ord : {"fro", "nuc", inf, -inf, 1, -1, 2, -2}, default "fro"
        The root of the sum of squares; the sum of singular values; the largest or the smallest sum
        of absolute values of a row (inf) or a column (1); the largest or the smallest singular
        value.
    dim : two int, default (-2, -1)
        The dimensions of the matrices.
    keepdim : bool, default False
        Whether these dimensions stay, with size 1.
    dtype : dtype, optional
        The dtype in which it is computed.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new real tensor.

    Raises
    ------
    ShapeError
        If there are fewer than two dimensions, or `dim` is not two of them.
    DTypeError
        If the values are integers or bools.
    OptionValueError
        If there is no such norm.

    Examples
    --------
    >>> vt.linalg.matrix_norm(vt.tensor([[3.0, 0.0], [0.0, -4.0]]), "nuc")
    tensor(7.)
    """
    _check_values("linalg_matrix_norm", A, "A")
    x = cast_to("linalg_matrix_norm", A, dtype)
    shape = shape_of(x)
    if len(shape) < 2 or not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise ShapeError(
            f"linalg_matrix_norm() takes two dimensions of a tensor, not {dim!r} of shape {shape}",
            shape=shape,
        )
    one, two = normalize_dims(dim, len(shape))
    found = of_matrices("linalg_matrix_norm", x, ord, one, two, keepdim)
    return stored("linalg_matrix_norm", found, out, A)


@explained
def norm(
    input: Tensor,
    ord: float | str | None = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Tensor:
    """Return norms of vectors or matrices.

    Parameters
    ----------
    input : Tensor
        Floating or complex values.
    ord : float or str, optional
        As of `vector_norm` or `matrix_norm`. By default the root of the sum of squares.
    dim : int or sequence of int, optional
        One dimension for norms of vectors, two for norms of matrices. Without `dim` a tensor of
        one dimension is a vector, and one of two a matrix; without `ord` besides, all elements are
        one vector.
    keepdim : bool, default False
        Whether these dimensions stay, with size 1.
    out : Tensor, optional
        Where the result is stored.
    dtype : dtype, optional
        The dtype in which it is computed.

    Returns
    -------
    Tensor
        A new real tensor.

    Raises
    ------
    ShapeError
        If `ord` is given without `dim`, and the tensor has not one or two dimensions; if `dim` is
        neither one nor two.
    DTypeError
        If the values are integers or bools.
    OptionValueError
        If there is no such norm.

    Examples
    --------
    >>> vt.linalg.norm(vt.tensor([[3.0], [4.0]]))
    tensor(5.)
    >>> vt.linalg.norm(vt.tensor([[3.0], [4.0]]), ord=1)
    tensor(7.)
    """
    ndim = array_of(input, "input").ndim
    if ord is None:
        return F.linalg_vector_norm(input, 2, dim, keepdim, dtype=dtype, out=out)
    if dim is None:
        if ndim not in (1, 2):
            raise ShapeError(
                f"linalg_norm() with ord and without dim needs one or two dimensions, not {ndim}",
                ndim=ndim,
            )
        count = ndim
    else:
        count = 1 if isinstance(dim, int) else len(dim)
        if count not in (1, 2):
            raise ShapeError(f"linalg_norm() takes one or two dimensions, not {dim!r}")
    if count == 2:
        both = (-2, -1) if dim is None or isinstance(dim, int) else dim
        return matrix_norm(input, ord, both, keepdim, dtype=dtype, out=out)
    if isinstance(ord, str):
        raise OptionValueError(f"linalg_norm() of vectors has no order {ord!r}", argument="ord")
    return F.linalg_vector_norm(input, ord, dim, keepdim, dtype=dtype, out=out)


@explained
def cond(A: Tensor, p: float | str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Return condition numbers of matrices.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, m, n)``; square ones, unless `p` is None, 2 or -2.
    p : {None, 2, -2, "fro", "nuc", inf, -inf, 1, -1}, optional
        The norm. None is 2: the largest singular value by the smallest.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new real tensor of shape ``(*)``; inf for a singular matrix.

    Raises
    ------
    MatrixShapeError
        If there are fewer than two dimensions, or the matrices are to be square, and are not.
    DTypeError
        If the dtype is not float32, float64 or complex.
    OptionValueError
        If there is no such norm.

    Examples
    --------
    >>> vt.linalg.cond(vt.tensor([[4.0, 0.0], [0.0, 2.0]])).tolist()
    2.0
    """
    shape = check_matrices("linalg_cond", A)
    if p is None or p in (2, -2):
        sizes = F.linalg_svd(A, True)[1]
        if not shape_of(sizes)[-1]:
            # The condition of nothing is 0, as in PyTorch.
            return stored("linalg_cond", F.sum_dim_IntList(sizes, (-1,)), out, A)
        first, last = F.select(sizes, -1, 0), F.select(sizes, -1, -1)
        ratio = F.true_divide(last, first) if p == -2 else F.true_divide(first, last)
        return stored("linalg_cond", ratio, out, A)
    check_square("linalg_cond", A)
    _check_order("linalg_cond", p)
    if not shape[-1] or 0 in shape:
        return stored("linalg_cond", real_of(F.sum_dim_IntList(A, (-2, -1))), out, A)
    info = info_of(A, INVERSE)
    inverse = F.linalg_inv(without_failing(A, info))
    product = F.mul(
        of_matrices("linalg_cond", A, p, len(shape) - 2, len(shape) - 1, False),
        of_matrices("linalg_cond", inverse, p, len(shape) - 2, len(shape) - 1, False),
    )
    return stored("linalg_cond", F.masked_fill(product, F.ne(info, 0), math.inf), out, A)


def _check_values(name: str, x: TensorBase, argument: str) -> None:
    dtype = array_of(x, argument).dtype
    if dtype.kind not in "fc":
        raise DTypeError(f"{name}() needs floating or complex values, not {dtype}", dtype=dtype)


def _check_order(name: str, order: object) -> None:
    if order not in ("fro", "nuc", math.inf, -math.inf, 1, -1, 2, -2):
        raise OptionValueError(f"{name}() has no norm of order {order!r}", argument="ord")


def of_matrices(name: str, x: T, order: float | str, one: int, two: int, keepdim: bool) -> T:
    """A norm of the matrices in two dimensions.

    Raises
    ------
    OptionValueError
        If there is no such norm.
    ShapeError
        If there are no elements to take the largest or the smallest of.
    """
    _check_order(name, order)
    if order == "fro":
        return F.linalg_vector_norm(x, 2, (one, two), keepdim)
    if isinstance(order, str) or abs(order) == 2:
        return _of_singular_values(name, x, order, one, two, keepdim)
    if abs(order) == math.inf:
        one, two = two, one
    # The sums along one dimension, and of these the largest or the smallest.
    sums = F.linalg_vector_norm(x, 1, (one,), True)
    if not shape_of(sums)[two]:
        if order < 0:
            raise _nothing(name, shape_of(x))
        # The largest of no sums is 0.
        found = F.sum_dim_IntList(sums, (two,), True)
    else:
        found = F.amax(sums, two, True) if order > 0 else F.amin(sums, two, True)
    return found if keepdim else F.squeeze_dims(found, (one, two))


def _of_singular_values(
    name: str, x: T, order: float | str, one: int, two: int, keepdim: bool
) -> T:
    """The largest, the smallest, or the sum."""
    ndim = len(shape_of(x))
    others = [dim for dim in range(ndim) if dim not in (one, two)]
    sizes = F.linalg_svd(F.permute(x, (*others, one, two)), True)[1]
    none = not shape_of(sizes)[-1]
    if order == "nuc" or (none and order == 2):
        # The largest of no singular values is 0, which is their sum too.
        found = F.sum_dim_IntList(sizes, (-1,), False)
    elif none:
        raise _nothing(name, shape_of(x))
    else:
        # Equal ones share the gradient.
        found = F.amax(sizes, -1) if order == 2 else F.amin(sizes, -1)
    if keepdim:
        for dim in sorted((one, two)):
            found = F.unsqueeze(found, dim)
    return found


def _nothing(name: str, shape: Shape) -> DimensionError:
    """The error of a least of nothing, of the class that `amin` raises."""
    return DimensionError(
        f"{name}() of shape {shape} has nothing to take the least of", shape=shape
    )
