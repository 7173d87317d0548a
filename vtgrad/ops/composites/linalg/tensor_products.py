"""Products over chosen dimensions, and of all pairs of elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar, cast

import numpy as np

from vtgrad.errors import ArgumentTypeError, ShapeError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.constants import as_tensors
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.take_over import is_keyed_as_whole, take_over
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.operators import INNER, KRON, TENSORDOT
from vtgrad.storage.arrays import Shape
from vtgrad.storage.integers import index_of
from vtgrad.storage.key_set import keys
from vtgrad.storage.shapes import normalize_dim
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.write_out import check_out, write_out

__all__ = ["cross", "inner", "kron", "tensordot"]


T = TypeVar("T", bound=TensorBase)


@explained
def inner(input: T, other: TensorBase, *, out: T | None = None) -> T:
    """Return sums of products over the last dimensions of two tensors.

    ``result[i, k]`` is the sum over j of ``input[i, j] * other[k, j]`` for matrices, and
    likewise for any other dimensions. Of two vectors the result is 0-d. Complex values are not
    conjugated. If one of the tensors is 0-d, the result is the product, as of `mul`, with
    promoted dtypes.

    Parameters
    ----------
    input : Tensor
        First factor, not bool.
    other : Tensor
        Second factor, of the same dtype. Its last dimension has the size of that of `input`.
    out : Tensor, optional
        Where the result is stored; of the dtype of the result.

    Returns
    -------
    Tensor
        A new tensor: the dimensions of `input` but the last, then those of `other` but the
        last.

    Raises
    ------
    ShapeError
        If the shapes do not fit each other.
    DTypeError
        If the dtypes differ.
    NotSupportedError
        If the factors are bools.
    ArgumentTypeError
        If a factor is not a tensor.
    ResultTypeError
        If `out` has another dtype than the result and neither factor is 0-d.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> vt.inner(vt.tensor([1, 2, 3]), vt.tensor([1, 10, 100]))
    tensor(321)
    >>> vt.inner(vt.ones(2, 3, 4), vt.ones(5, 4)).shape
    vtgrad.Size([2, 3, 5])
    >>> x = vt.ones(2, requires_grad=True)
    >>> vt.inner(x, vt.tensor([3.0, 4.0])).backward()
    >>> x.grad
    tensor([3., 4.])
    """
    if keys.active and is_keyed_as_whole(input, other, out):
        return take_over(INNER, inner, input, other, out=out)
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
    """Return sums of products over chosen dimensions of two tensors.

    The result has the other dimensions of `a`, then those of `b`. A summed dimension of size 1
    meets one of any size.

    Parameters
    ----------
    a : Tensor
        First factor.
    b : Tensor
        Second factor, of the same dtype.
    dims : int or two sequences of int, default 2
        The dimensions of `a` and those of `b` that are summed over, pair by pair. A number
        stands for so many last dimensions of `a` and first ones of `b`.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        A new tensor of the dtype of the factors.

    Raises
    ------
    ShapeError
        If the sizes of a pair differ, a dimension is given twice, or there are not as many of
        both.
    DimensionError
        If a tensor has no such dimension.
    DTypeError
        If the dtypes differ.
    ArgumentTypeError
        If `dims` is something else.
    ResultTypeError
        If `out` does not have the dtype of the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> a, b = vt.ones(2, 3, 4), vt.ones(4, 3)
    >>> vt.tensordot(a, b, ([1, 2], [1, 0]))
    tensor([12., 12.])
    >>> vt.tensordot(a, b, 1).shape
    vtgrad.Size([2, 3, 3])
    """
    if keys.active and is_keyed_as_whole(a, b, out):
        return take_over(TENSORDOT, tensordot, a, b, dims, out=out)
    try:
        left, right = array_of(a, "a").shape, array_of(b, "b").shape
    except ArgumentTypeError:
        made = as_tensors(("Tensor", "Tensor"), (a, b), written=False)
        if not made:
            raise
        return tensordot(cast("T", made[0]), cast("TensorBase", made[1]), dims, out=out)
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
    """Return the Kronecker product of two tensors.

    Each element of `input` is replaced by a block: that element times `other`. The tensor with
    fewer dimensions gets dimensions of size 1 in front; then sizes are multiplied dimension by
    dimension. The dtypes are promoted. The gradient of each factor sums over the other one.

    Parameters
    ----------
    input : Tensor
        First factor, of any shape.
    other : Tensor
        Second factor, of any shape.
    out : Tensor, optional
        Where the result is stored, cast to the dtype of `out`.

    Returns
    -------
    Tensor
        A new tensor of the promoted dtype.

    Raises
    ------
    ArgumentTypeError
        If a factor is not a tensor.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> vt.kron(vt.eye(2), vt.tensor([[1.0, 2.0]]))
    tensor([[1., 2., 0., 0.],
            [0., 0., 1., 2.]])
    >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
    >>> vt.kron(x, vt.tensor([3.0, 4.0])).sum().backward()
    >>> x.grad
    tensor([7., 7.])
    """
    if keys.active and is_keyed_as_whole(input, other, out):
        return take_over(KRON, kron, input, other, out=out)
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
    """Return the cross products of vectors of three elements.

    Along `dim` the result holds ``(a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0)``.
    The other dimensions broadcast; dtypes are not promoted. Complex values are not conjugated.

    Parameters
    ----------
    input : Tensor
        The first vectors, a.
    other : Tensor
        The second vectors, b, with as many dimensions.
    dim : int or None, default None
        The dimension that holds the vectors; the first of size 3 if None.
    out : Tensor, optional
        Where the result is stored; it must have the result's dtype.

    Returns
    -------
    Tensor
        A new tensor of the broadcast shape.

    Raises
    ------
    ShapeError
        If the numbers of dimensions differ, `dim` is not of size 3 in both tensors, or the
        shapes do not broadcast.
    DimensionError
        If there is no dimension `dim`.
    DTypeError
        If the dtypes differ.
    NotSupportedError
        If the values are bool.
    ResultTypeError
        If `out` has another dtype than the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> x = vt.tensor([1.0, 0.0, 0.0])
    >>> y = vt.tensor([0.0, 1.0, 0.0])
    >>> vt.cross(x, y)
    tensor([0., 0., 1.])
    >>> vt.cross(vt.stack([x, y]), y.reshape(1, 3), dim=1)
    tensor([[0., 0., 1.],
            [0., 0., 0.]])
    """
    if dim is None:
        shape: Shape = array_of(input, "input").shape
        if 3 not in shape:
            raise ShapeError(f"cross() needs a dimension of size 3, and shape {shape} has none")
        dim = shape.index(3)
    return F.linalg_cross(input, other, dim, out=out)
