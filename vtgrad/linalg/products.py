"""Products and powers of matrices, and what is made of vectors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError, OptionValueError, ShapeError
from vtgrad.linalg.matrices import (
    check_same_dtype,
    check_square,
    conjugate,
    constant,
    shape_of,
    stored,
)
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "cross",
    "diagonal",
    "in_best_order",
    "matrix_power",
    "multi_dot",
    "power_of",
    "vander",
    "vecdot",
]

T = TypeVar("T", bound=TensorBase)


@explained
def matrix_power(A: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """Return square matrices multiplied by themselves.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, m, m)``.
    n : int
        How many factors; 0 gives identities, fewer are factors of the inverse.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of the shape of `A`.

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
    >>> vt.linalg.matrix_power(vt.tensor([[1.0, 1.0], [0.0, 1.0]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    check_square("linalg_matrix_power", A)
    try:
        count = operator.index(n)
    except TypeError:
        raise ArgumentTypeError(
            f"argument 'n' must be an integer, not {type(n).__name__}", argument="n"
        ) from None
    return stored("linalg_matrix_power", power_of(A, count), out, A)


def power_of(x: T, count: int) -> T:
    """Matrices multiplied by themselves, in as few products as there are binary digits."""
    if count < 0:
        x, count = F.linalg_inv(x), -count
    if not count:
        # A constant that stays in the graph.
        shape = shape_of(x)
        identity = constant(
            making.broadcast_to(making.eye(shape[-1], dtype=x._impl.array.dtype), shape).copy()
        )
        return F.add(F.masked_fill(x, constant(making.ones(shape[-2:], np.bool_)), 0), identity)
    found, square = None, x
    while True:
        if count % 2:
            found = square if found is None else F.matmul(found, square)
        count //= 2
        if not count:
            return F.clone(x) if found is x or found is None else found
        square = F.matmul(square, square)


@explained
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Return the product of several matrices, in the order that takes least work.

    Parameters
    ----------
    tensors : sequence of Tensor
        At least two matrices of one dtype; the first may be a row, the last a column, with one
        dimension.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ShapeError
        If there are fewer than two, one is no matrix, or they do not fit.
    DTypeError
        If their dtypes differ.

    Examples
    --------
    >>> a, b = vt.ones(1, 2), vt.ones(2, 3)
    >>> vt.linalg.multi_dot([a, b, vt.ones(3)])
    tensor([6.])
    """
    parts = list(tensors)
    if len(parts) < 2:
        raise ShapeError(f"linalg_multi_dot() needs two tensors at least, not {len(parts)}")
    check_same_dtype("linalg_multi_dot", *parts)
    shapes = [shape_of(x) for x in parts]
    for at, shape in enumerate(shapes):
        if len(shape) != 2 and not (at in (0, len(parts) - 1) and len(shape) == 1):
            raise ShapeError(
                f"linalg_multi_dot() needs matrices, and tensor {at} has shape {shape}", shape=shape
            )
    dims = []
    if len(shapes[0]) == 1:
        parts[0] = F.unsqueeze(parts[0], 0)
        dims.append(-2)
    if len(shapes[-1]) == 1:
        parts[-1] = F.unsqueeze(parts[-1], -1)
        dims.append(-1)
    for x, y in pairwise(parts):
        if shape_of(x)[1] != shape_of(y)[0]:
            raise ShapeError(f"linalg_multi_dot() cannot multiply shapes {shapes}", shapes=shapes)
    found = in_best_order(parts, F.mm)
    return stored("linalg_multi_dot", F.squeeze_dims(found, dims) if dims else found, out, *tensors)


def in_best_order(parts: Sequence[T], multiply: Callable[[T, T], T]) -> T:
    """The product of matrices that fit each other, with the least work.

    Parameters
    ----------
    parts : sequence of Tensor
        The matrices.
    multiply : callable
        The product of two.
    """
    sizes = [shape_of(x)[0] for x in parts] + [shape_of(parts[-1])[1]]
    return _product(parts, multiply, _best_cuts(sizes), 0, len(parts) - 1)


def _product(
    parts: Sequence[T],
    multiply: Callable[[T, T], T],
    cuts: Mapping[tuple[int, int], int],
    i: int,
    j: int,
) -> T:
    """The product of the matrices i to j."""
    # Not a function inside of another: one that names itself is a cycle, which holds the matrices
    # until the garbage collector runs.
    if i == j:
        return parts[i]
    cut = cuts[i, j]
    first = _product(parts, multiply, cuts, i, cut)
    return multiply(first, _product(parts, multiply, cuts, cut + 1, j))


def _best_cuts(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where to cut a chain of matrices ``sizes[k] x sizes[k + 1]``, so that products are cheapest.

    The product of the matrices i to j is that of the products of i to ``cuts[i, j]`` and of those
    behind.
    """
    count = len(sizes) - 1
    costs = {(i, i): 0 for i in range(count)}
    cuts: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            work = {
                k: costs[i, k] + costs[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            }
            cuts[i, j] = min(work, key=work.__getitem__)
            costs[i, j] = work[cuts[i, j]]
    return cuts


@explained
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Return sums of products along a dimension; the first factors are conjugated.

    Parameters
    ----------
    x, y : Tensor
        Vectors of one dtype. The other dimensions broadcast.
    dim : int, default -1
        The dimension.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor without the dimension.

    Raises
    ------
    DTypeError
        If the dtypes differ.
    ShapeError
        If the shapes do not broadcast.

    Examples
    --------
    >>> vt.linalg.vecdot(vt.tensor([1.0, 2.0]), vt.tensor([3.0, 4.0]))
    tensor(11.)
    """
    dtype = check_same_dtype("linalg_vecdot", x, y)
    found = F.sum_dim_IntList(F.mul(conjugate(x), y), (dim,), dtype=None)
    if found._impl.array.dtype != dtype:
        found = F.to_dtype(found, dtype)
    return stored("linalg_vecdot", found, out, x, y)


@explained
def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Return the cross products of vectors of three elements.

    Parameters
    ----------
    input, other : Tensor
        The vectors, with as many dimensions. The other dimensions broadcast.
    dim : int, default -1
        The dimension of the vectors, of size 3.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of the broadcast shape.

    Raises
    ------
    ShapeError
        If the numbers of dimensions differ, or `dim` is not of size 3.
    DTypeError
        If the dtypes differ.

    Examples
    --------
    >>> vt.linalg.cross(vt.tensor([1.0, 0.0, 0.0]), vt.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    return F.linalg_cross(input, other, dim, out=out)


@explained
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return the diagonals of matrices, as a view.

    Parameters
    ----------
    A : Tensor
        At least two dimensions.
    offset : int, default 0
        Which diagonal: positive above the main one, negative below it.
    dim1, dim2 : int, default -2 and -1
        The dimensions of the matrices.

    Returns
    -------
    Tensor
        A view: writing to it writes to `A`.

    Raises
    ------
    DimensionError
        If there are no such dimensions.

    Examples
    --------
    >>> a = vt.zeros(2, 2)
    >>> _ = vt.linalg.diagonal(a).fill_(1)
    >>> a
    tensor([[1., 0.],
            [0., 1.]])
    """
    return F.diagonal(A, offset, dim1, dim2)


@explained
def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Return Vandermonde matrices: the powers of each element, from the lowest on.

    Parameters
    ----------
    x : Tensor
        Of shape ``(*, n)``; a 0-d tensor counts as one element. Not bool.
    N : int, optional
        How many powers, at least 2; n by default.

    Returns
    -------
    Tensor
        A new tensor of shape ``(*, n, N)``; int64 for integers.

    Raises
    ------
    DTypeError
        If the values are bools.
    OptionValueError
        If there would be fewer than two powers.

    Examples
    --------
    >>> vt.linalg.vander(vt.tensor([2.0, 3.0]), N=3)
    tensor([[1., 2., 4.],
            [1., 3., 9.]])
    """
    array = array_of(x, "x")
    if array.dtype.kind == "b":
        raise DTypeError("linalg_vander() has no powers of bools", dtype=array.dtype)
    wide = F.to_dtype(x, np.dtype(np.int64)) if array.dtype.kind in "iu" else x
    if not array.ndim:
        wide = F.unsqueeze(wide, 0)
    count = shape_of(wide)[-1] if N is None else N
    if count < 2:
        raise OptionValueError(
            f"linalg_vander() gives two columns at least, and N is {count}", argument="N"
        )
    first = F.unsqueeze(wide, -1)
    factors = F.expand(first, (*shape_of(wide), count - 1))
    return F.cat([F.ones_like(first), F.cumprod(factors, -1)], -1)
