"""Sums over labelled dimensions: `einsum`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from vtgrad.errors import ArgumentTypeError, ArgumentValueError
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.take_over import is_keyed_as_whole, take_over
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.operators import EINSUM
from vtgrad.ops.kernels.linalg.einsum_plan import plan_einsum
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["einsum"]


T = TypeVar("T", bound=TensorBase)


@explained
def einsum(equation: str, *operands: T | Sequence[T]) -> T:
    """Return products of tensors, summed over named dimensions.

    Each letter of the equation names a dimension. Elements that stand at the same index of
    every letter are multiplied, and the products are summed over the letters that the result
    does not have. Sizes of one letter agree or are 1. A letter that one operand has twice takes
    its diagonal. Without ``->`` the result has the letters that occur once, in alphabetical
    order, capitals first. ``...`` stands for all further dimensions, which broadcast and come
    first.

    Parameters
    ----------
    equation : str
        Letters of the operands' dimensions, with commas between operands, and ``->`` before the
        letters of the result. Blanks are skipped.
    *operands : Tensor or sequence of Tensor
        The tensors, one by one or as one sequence. Where products are summed, their dtypes must
        agree.

    Returns
    -------
    Tensor
        A new tensor. Of a single operand of which nothing is summed, it is a view: writing to
        it writes to the operand.

    Raises
    ------
    ShapeError
        If the equation cannot be read or does not fit the operands.
    DTypeError
        If operands differ in dtype whose products are summed.
    NotSupportedError
        If products of bools are summed.
    ArgumentTypeError
        If `equation` is not a text or an operand not a tensor.
    ArgumentValueError
        If there is no operand.

    Examples
    --------
    >>> a = vt.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> vt.einsum('ij,jk->ik', a, a)
    tensor([[ 7., 10.],
            [15., 22.]])
    >>> vt.einsum('ii', a), vt.einsum('ij->i', a)
    (tensor(5.), tensor([3., 7.]))
    >>> vt.einsum('ij->ji', a)[0, 1].fill_(9)
    tensor(9.)
    >>> a
    tensor([[1., 2.],
            [9., 4.]])
    """
    if keys.active and is_keyed_as_whole(*operands):
        return take_over(EINSUM, einsum, equation, *operands)
    if not isinstance(equation, str):
        raise ArgumentTypeError(
            f"the equation must be a text, not {type(equation).__name__}", argument="equation"
        )
    if len(operands) == 1 and not isinstance(operands[0], TensorBase):
        given: Sequence[T | Sequence[T]] = operands[0]
    else:
        given = operands
    tensors = [x for x in given if isinstance(x, TensorBase)]
    if len(tensors) != len(given):
        raise ArgumentTypeError("einsum() takes tensors after the equation")
    if not tensors:
        raise ArgumentValueError("einsum() needs at least one operand")
    plan = plan_einsum(equation, [x._impl.array.shape for x in tensors])
    aligned = [
        _aligned(x, labels, plan.labels) for x, labels in zip(tensors, plan.operands, strict=True)
    ]
    summed = range(plan.outputs, plan.labels)
    result = aligned[0]
    if len(aligned) == 1:
        return F.sum_dim_IntList(result, tuple(summed)) if summed else result
    last = {label: nr for nr, own in enumerate(plan.operands) for label in own}
    for nr in range(1, len(aligned)):
        ending = [label for label in summed if (last[label] or 1) == nr]
        result = _contracted(result, aligned[nr], ending)
    return F.view_shape(result, result.shape[: plan.outputs]) if summed else result


def _aligned(x: T, labels: Sequence[int], count: int) -> T:
    """`x` with one dimension for each label, in order; those it does not have are of size 1."""
    own: list[int] = []
    for label in labels:
        if label in own:
            # The diagonal comes out as the last dimension and takes the place of the first.
            first = own.index(label)
            x = F.permute_dims(
                F.diagonal(x, 0, first, len(own)), _moved_from_the_end(x.ndim - 1, first)
            )
        else:
            own.append(label)
    missing = [label for label in range(count) if label not in own]
    for _ in missing:
        x = F.unsqueeze(x, x.ndim)
    own += missing
    return F.permute_dims(x, [own.index(label) for label in range(count)])


def _moved_from_the_end(ndim: int, dim: int) -> list[int]:
    """The permutation that moves the last dimension to `dim`."""
    order = list(range(ndim - 1))
    order.insert(dim, ndim - 1)
    return order


def _contracted(left: T, right: T, ending: Sequence[int]) -> T:
    """The product of two aligned operands, summed over the labels that no later product needs.

    The summed dimensions stay, with size 1.
    """
    ours, theirs = left._impl.array.shape, right._impl.array.shape
    alone_left = [d for d in ending if ours[d] != 1 and theirs[d] == 1]
    alone_right = [d for d in ending if ours[d] == 1 and theirs[d] != 1]
    together = [d for d in ending if ours[d] != 1 and theirs[d] != 1]
    if alone_left:
        left = F.sum_dim_IntList(left, tuple(alone_left), True)
    if alone_right:
        right = F.sum_dim_IntList(right, tuple(alone_right), True)
    return _matrix_product(left, right, together) if together else F.mul(left, right)


def _matrix_product(left: T, right: T, summed: Sequence[int]) -> T:
    """The sum of products over `summed`, as one batched matrix product."""
    ours, theirs = left._impl.array.shape, right._impl.array.shape
    free = [d for d in range(len(ours)) if d not in summed]
    batch = [d for d in free if ours[d] != 1 and theirs[d] != 1]
    rows = [d for d in free if ours[d] != 1 and theirs[d] == 1]
    columns = [d for d in free if ours[d] == 1]
    if rows and columns and rows[-1] > columns[-1]:
        # So that the result lies in memory in the order of its labels.
        left, right, rows, columns = right, left, columns, rows
        ours, theirs = theirs, ours
    inner = math.prod([ours[d] for d in summed])
    count = math.prod([ours[d] for d in batch])
    height = math.prod([ours[d] for d in rows])
    width = math.prod([theirs[d] for d in columns])
    first = F.reshape(
        F.permute_dims(left, [*batch, *rows, *summed, *columns]), (count, height, inner)
    )
    second = F.reshape(
        F.permute_dims(right, [*batch, *summed, *columns, *rows]), (count, inner, width)
    )
    sizes = [ours[d] for d in (*batch, *rows)]
    sizes += [1] * len(summed)
    sizes += [theirs[d] for d in columns]
    order = [*batch, *rows, *summed, *columns]
    product = F.view_shape(F.bmm(first, second), sizes)
    return F.permute_dims(product, [order.index(d) for d in range(len(order))])
