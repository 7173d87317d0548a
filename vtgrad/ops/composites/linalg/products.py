"""Matrix products of every rank, and `outer`."""

from __future__ import annotations

import builtins
import math
from typing import TypeVar, cast

from vtgrad.errors import ArgumentTypeError, ShapeError
from vtgrad.graph.batch import is_batched
from vtgrad.graph.grad_mode import no_grad
from vtgrad.graph.set_history import requires_grad
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.constants import as_tensors
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.take_over import call_override, is_keyed_as_whole, is_overridden, take_over
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.operators import MATMUL, OUTER
from vtgrad.storage.key_set import keys
from vtgrad.storage.shapes import broadcast_shapes
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.write_out import check_out, write_out

__all__ = ["ger", "matmul", "outer"]


T = TypeVar("T", bound=TensorBase)


@explained
def outer(input: T, vec2: TensorBase, *, out: T | None = None) -> T:
    """Return the products of all pairs of elements of two vectors.

    Element `[i, j]` of the result is `input[i] * vec2[j]`; complex values are not conjugated.
    The dtypes are promoted.

    Parameters
    ----------
    input : Tensor
        A vector.
    vec2 : Tensor
        The other vector.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        A new matrix with a row for each element of `input` and a column for each of `vec2`.

    Raises
    ------
    ShapeError
        If one of them is no vector.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> vt.outer(vt.tensor([1.0, 2.0]), vt.tensor([3.0, 4.0, 5.0]))
    tensor([[ 3.,  4.,  5.],
            [ 6.,  8., 10.]])
    """
    if keys.active and is_keyed_as_whole(input, vec2, out):
        return take_over(OUTER, outer, input, vec2, out=out)
    if array_of(input, "input").ndim != 1 or array_of(vec2, "vec2").ndim != 1:
        raise ShapeError(
            f"outer() multiplies two vectors, not shapes {list(input.shape)} and "
            f"{list(vec2.shape)}",
            shapes=(input.shape, vec2.shape),
        )
    return F.mul(F.reshape(input, (input.shape[0], 1)), vec2, out=out)


ger = outer


def matmul(input: T, other: TensorBase, *, out: T | None = None) -> T:
    """Return the matrix product of two tensors, whose further dimensions are batches.

    The last two dimensions are those of the matrices; all before them broadcast. A vector on
    the left counts as one row and a vector on the right as one column, and that dimension is
    left out of the result: of two vectors it is 0-d. The operator ``@`` calls this function.

    Parameters
    ----------
    input : Tensor
        First factor, with at least 1 dimension, not bool.
    other : Tensor
        Second factor, with at least 1 dimension, of the same dtype.
    out : Tensor, optional
        Where the result is stored; of the dtype of the result.

    Returns
    -------
    Tensor
        A new tensor of the dtype of the factors.

    Raises
    ------
    ShapeError
        If the shapes do not fit each other.
    DTypeError
        If the dtypes differ.
    NotSupportedError
        If the factors are bools.
    ArgumentTypeError
        If a factor is neither a tensor nor an array.
    ResultTypeError
        If `out` has another dtype than the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> a = vt.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> vt.matmul(a, vt.tensor([1.0, 10.0]))
    tensor([21., 43.])
    >>> vt.matmul(vt.ones(4, 1, 2, 3), vt.ones(6, 3, 5)).shape
    vtgrad.Size([4, 6, 2, 5])
    >>> w = vt.ones(2, requires_grad=True)
    >>> (a @ w).sum().backward()
    >>> w.grad
    tensor([4., 6.])
    """
    if keys.active and is_overridden(input, other, out):
        return call_override(matmul, input, other, out=out)
    try:
        left, right = array_of(input, "input").ndim, array_of(other, "other").ndim
    except ArgumentTypeError:
        made = as_tensors(("Tensor", "Tensor"), (input, other), written=False)
        if not made:
            raise
        return matmul(cast("T", made[0]), cast("TensorBase", made[1]), out=out)
    if left == 2 and right == 2:
        return F.mm(input, other, out=out)
    if keys.active and is_keyed_as_whole(input, other, out):
        return take_over(MATMUL, matmul, input, other, out=out)
    if left == 0 or right == 0:
        raise ShapeError(
            "matmul() needs at least one dimension in both factors, not shapes "
            f"{list(input.shape)} and {list(other.shape)}",
            shapes=(input.shape, other.shape),
        )
    if out is not None:
        array_of(out, "out")
        return _stored(input, other, out)
    if left == 1 and right == 1:
        return F.dot(input, other)
    if left == 2 and right == 1:
        return F.mv(input, other)
    if left == 1 and right == 2:
        if keys.active and (is_batched(input) or is_batched(other)):
            # One operator, for which there is a rule.
            # Tensors that meet in a product are of one class.
            return cast("T", F.mv(F.t(other), input))
        return F.squeeze_dim_(F.mm(F.unsqueeze(input, 0), other), 0)
    if _can_fold(input, other):
        return _folded(input, other)
    if left == 3 and right == 3 and input.shape[0] != other.shape[0]:
        # One matrix for the whole batch: folded, its gradient is one product without a sum.
        if input.shape[0] == 1 and requires_grad(input):
            return matmul(F.squeeze_dim(input, 0), other)
        if other.shape[0] == 1 and requires_grad(other):
            return matmul(input, F.squeeze_dim(other, 0))
    return _batched(input, other)


def _stored(left: TensorBase, right: TensorBase, out: T) -> T:
    """The product stored in `out`: the pieces reshape their results, so it is copied there."""
    check_out(out, left, right)
    with no_grad():
        result = matmul(left, right)
    return write_out(out, result._impl.array, "matmul", exact=True)


def _can_fold(left: TensorBase, right: TensorBase) -> bool:
    """Whether the batch can be one tall matrix that meets a single matrix or vector.

    That is one product instead of many. It is done if it needs no copy of the batch, or if the
    single factor requires grad, whose gradient is then one product as well.
    """
    batch, single = (left, right) if left.ndim >= right.ndim else (right, left)
    if batch.ndim < 3 or single.ndim > 2:
        return False
    if requires_grad(single):
        return True
    if left.ndim == 2:
        return False
    impl = batch._impl
    if impl.numel == 0:
        return True
    sizes, strides = list(impl.sizes), list(impl.strides)
    if left.ndim < right.ndim:
        # Folded from the right, the batch is transposed first.
        sizes[-2:], strides[-2:] = sizes[:-3:-1], strides[:-3:-1]
    return builtins.all(strides[d] == strides[d + 1] * sizes[d + 1] for d in range(len(sizes) - 2))


def _folded(left: T, right: TensorBase) -> T:
    """The product with the batch as one tall matrix."""
    if left.ndim >= right.ndim:
        return _tall_product(left, right)
    # From the right, a batch is folded transposed: (a @ b).mT is b.mT @ a.mT.
    single = F.t(left) if left.ndim == 2 else left
    product = _tall_product(F.transpose(right, -2, -1), single)
    if left.ndim == 2:
        product = F.contiguous(F.transpose(product, -2, -1))
    return cast("T", product)  # tensors that meet in a product are of one class


def _tall_product(batch: T, single: TensorBase) -> T:
    """``batch @ single``, for a matrix or vector, as one product."""
    *lead, inner = batch._impl.array.shape
    tall = F.reshape(batch, (math.prod(lead), inner))
    if single.ndim == 1:
        return F._unsafe_view(F.mv(tall, single), tuple(lead))
    return F._unsafe_view(F.mm(tall, single), (*lead, single.shape[1]))


def _batched(left: T, right: TensorBase) -> T:
    """The product matrix by matrix, of batches that broadcast."""
    ours, theirs = left._impl.array.shape, right._impl.array.shape
    rows = ours[-2] if len(ours) > 1 else 1
    lead = broadcast_shapes(ours[:-2], theirs[:-2])
    count = math.prod(lead)
    inner = ours[-1]
    first = F.reshape(F.expand(left, (*lead, rows, inner)), (count, rows, inner))
    result_shape = (*lead, rows) if len(ours) > 1 else lead
    if len(theirs) == 1:
        size = theirs[0]
        vectors = F.reshape(F.expand(right, (*lead, size)), (count, size))
        columns = F.bmm(first, F.unsqueeze(vectors, 2))
        return F._unsafe_view(F.squeeze_dim(columns, -1), result_shape)
    height, width = theirs[-2:]
    second = F.reshape(F.expand(right, (*lead, height, width)), (count, height, width))
    return F._unsafe_view(F.bmm(first, second), (*result_shape, width))
