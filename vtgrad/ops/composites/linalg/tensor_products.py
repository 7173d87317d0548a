"""Products over chosen dimensions, and of all pairs of elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from vtgrad.errors import ArgumentTypeError, ShapeError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.from_python import index_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage.shapes import normalize_dim
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.write_out import check_out, write_out

__all__ = ["cross", "inner", "kron", "tensordot"]


T = TypeVar("T", bound=TensorBase)


@explained
def inner(input: T, other: TensorBase, *, out: T | None = None) -> T:
    """Sums of products over the last dimension of both tensors; with a 0-d tensor, the product."""
    a, b = array_of(input, "input"), array_of(other, "other")
    if a.ndim == 0 or b.ndim == 0:
        return F.mul(input, other, out=out)
    if a.shape[-1] != b.shape[-1]:
        raise ShapeError(
            f"inner() needs last dimensions of one size, not shapes {list(a.shape)} and "
            f"{list(b.shape)}",
            shapes=(a.shape, b.shape),
        )
    if out is not None:
        check_out(out, input, other)
    result = tensordot(input, other, ([-1], [-1]))
    return result if out is None else write_out(out, result._impl.array, "inner", exact=True)


def tensordot(
    a: T,
    b: TensorBase,
    dims: int | TensorBase | Sequence[Sequence[int]] = 2,
    *,
    out: T | None = None,
) -> T:
    """Sums of products over dimensions of both tensors.

    Parameters
    ----------
    a, b : Tensor
        The factors, of one dtype.
    dims : int or two sequences of int, default 2
        The dimensions of `a` and those of `b` that are summed over, pair by pair; a number stands
        for that many last ones of `a` and first ones of `b`. A dimension of size 1 meets any.
    out : Tensor, optional
        Where to store the result.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.tensordot(vt.ones(2, 3, 4), vt.ones(4, 3), ([1, 2], [1, 0])).tolist()
    [12.0, 12.0]
    """
    left, right = array_of(a, "a").shape, array_of(b, "b").shape
    if not isinstance(dims, (int, Sequence, np.ndarray)):
        dims = index_of(dims, "dims")
    if isinstance(dims, int):
        if not 0 <= dims <= min(len(left), len(right)):
            raise ShapeError(f"tensordot() cannot sum over {dims} of shapes {left} and {right}")
        ours, theirs = list(range(len(left) - dims, len(left))), list(range(dims))
    else:
        try:
            ours, theirs = [
                [normalize_dim(d, ndim) for d in own]
                for own, ndim in zip(dims, (len(left), len(right)), strict=True)
            ]
        except (TypeError, ValueError):
            raise ArgumentTypeError(
                f"argument 'dims' must be an integer or two sequences of integers, not {dims!r}",
                argument="dims",
            ) from None
    if len(ours) != len(theirs) or len(set(ours)) != len(ours) or len(set(theirs)) != len(theirs):
        raise ShapeError(f"tensordot() needs as many dimensions of both tensors, not {dims}")
    for i, j in zip(ours, theirs, strict=True):
        if left[i] != right[j] and 1 not in (left[i], right[j]):
            raise ShapeError(
                f"tensordot() cannot sum over dimension {i} of shape {left} and {j} of {right}",
                shapes=(left, right),
            )
    if out is not None:
        array_of(out, "out")
        check_out(out, a, b)
    for i, j in zip(ours, theirs, strict=True):
        # Of a dimension that the other factor does not have, only the sum counts. It is made also
        # where there is nothing to add, as in PyTorch, so that the product keeps no view of `a`.
        if right[j] == 1:
            a = F.sum_dim_IntList(a, i, True, dtype=a.dtype)
        elif left[i] == 1:
            b = F.sum_dim_IntList(b, j, True, dtype=b.dtype)
    rows = [d for d in range(len(left)) if d not in ours]
    columns = [d for d in range(len(right)) if d not in theirs]
    size = math.prod([a.shape[i] for i in ours])
    sizes = [*[left[d] for d in rows], *[right[d] for d in columns]]
    height, width = math.prod([left[d] for d in rows]), math.prod([right[d] for d in columns])
    a, b = F.permute_dims(a, [*rows, *ours]), F.permute_dims(b, [*theirs, *columns])
    if height == 1 and width == 1:
        if a._impl.is_contiguous and b._impl.is_contiguous:
            product = F.dot(F.flatten(a), F.flatten(b))
        else:
            product = F.sum(F.mul(F.squeeze(a), F.squeeze(b)), dtype=a.dtype)
    else:
        product = F.mm(F.reshape(a, (height, size)), F.reshape(b, (size, width)))
    result = F.view_shape(product, sizes)
    return result if out is None else write_out(out, result._impl.array, "tensordot", exact=True)


@explained
def kron(input: T, other: TensorBase, *, out: T | None = None) -> T:
    """The blocks of one tensor times each element of another (Kronecker's product).

    The shapes are multiplied dimension by dimension, from the last one on.
    """
    left, right = array_of(input, "input").shape, array_of(other, "other").shape
    ndim = max(len(left), len(right))
    left, right = (1,) * (ndim - len(left)) + left, (1,) * (ndim - len(right)) + right
    if out is not None:
        check_out(out, input, other)
    first = F.reshape(input, [n for m in left for n in (m, 1)])
    second = F.reshape(other, [n for m in right for n in (1, m)])
    blocks = F.mul(first, second)
    result = F._unsafe_view(blocks, [m * n for m, n in zip(left, right, strict=True)])
    return result if out is None else write_out(out, result._impl.array, "kron")


@explained
def cross(input: T, other: TensorBase, dim: int | None = None, *, out: T | None = None) -> T:
    """Cross products of vectors of three elements along `dim`: the first of size 3 if not given."""
    if dim is None:
        shape = array_of(input, "input").shape
        if 3 not in shape:
            raise ShapeError(f"cross() needs a dimension of size 3, and shape {shape} has none")
        dim = shape.index(3)
    return F.linalg_cross(input, other, dim, out=out)
