"""Rows of a table, chosen by indices, one by one or in bags; indices as rows of zeros and ones."""

from __future__ import annotations

import math
import typing

import numpy as np

from vtgrad.errors import (
    ArgumentValueError,
    CheckOptionError,
    DTypeError,
    NotSupportedError,
    OptionValueError,
    OutOfRangeError,
    ShapeError,
)
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.graph.grad_mode import no_grad
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.floating import check_kind, real_of
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.values import innermost
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.integers import index_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["embedding", "embedding_bag", "one_hot"]


@explained
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Return rows of a table.

    Parameters
    ----------
    input : Tensor
        The numbers of the rows, of int64 or int32, in any shape.
    weight : Tensor
        The table, a matrix.
    padding_idx : int, optional
        A row that gets no gradient; a negative number counts from the end.
    max_norm : float, optional
        The largest norm of a row: rows that are read and have a larger one are scaled first, in
        `weight`, which is a write that is not recorded.
    norm_type : float, default 2.0
        The order of this norm.
    scale_grad_by_freq : bool, default False
        Whether the gradient of a row is divided by the number of times that it is read.
    sparse : bool, default False
        PyTorch's sparse gradients, which there are not.

    Returns
    -------
    Tensor
        A new tensor: the shape of `input`, with a dimension for the elements of a row behind it.

    Raises
    ------
    ShapeError
        If `weight` is no matrix.
    DTypeError
        If the numbers are not integers.
    OutOfRangeError
        If there is no such row.
    CheckOptionError
        If there is no row `padding_idx`.
    NotSupportedError
        If `sparse` is true.

    Examples
    --------
    >>> table = vt.tensor([[0.0, 1.0], [2.0, 3.0]])
    >>> vt.nn.functional.embedding(vt.tensor([1, 0, 1]), table)
    tensor([[2., 3.],
            [0., 1.],
            [2., 3.]])
    """
    refuse_names("embedding", input, weight)
    _check_table("embedding", input, weight, sparse)
    rows, width = weight._impl.array.shape
    padding = _padding(padding_idx, rows)
    if max_norm is not None:
        _limit_norms(weight, input, real_of(max_norm, "max_norm"), real_of(norm_type, "norm_type"))
    shape = input._impl.array.shape
    flat = F.reshape(input, (math.prod(shape),))
    found = _chosen(weight, flat, padding, check_flag(scale_grad_by_freq, "scale_grad_by_freq"))
    return F.reshape(found, (*shape, width))


@explained
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Return sums, means or maxima of rows of a table.

    Parameters
    ----------
    input : Tensor
        The numbers of the rows, of int64 or int32: a bag in each row of a matrix, or a vector with
        the bags one after the other.
    weight : Tensor
        The table, a matrix.
    offsets : Tensor, optional
        Where each bag of a vector begins; the first begins at 0.
    max_norm, norm_type, scale_grad_by_freq, sparse
        As of `embedding`.
    mode : {"mean", "sum", "max"}, default "mean"
        What becomes of the rows of a bag. A bag without rows gives zeros.
    per_sample_weights : Tensor, optional
        What the rows are multiplied by before they are summed, in the shape of `input`.
    include_last_offset : bool, default False
        Whether the last offset is the end of the last bag.
    padding_idx : int, optional
        A row that is left out of the bags, and gets no gradient.

    Returns
    -------
    Tensor
        A new matrix with a row for each bag.

    Raises
    ------
    ArgumentValueError
        If a shape does not fit, or there is no such mode.
    OptionValueError
        If the offsets do not begin at 0, or are not in order.
    OutOfRangeError
        If there is no such row.
    DTypeError
        If the numbers or the offsets are not integers.
    NotSupportedError
        If `sparse` is true, or there are weights of rows that are not summed.

    Examples
    --------
    >>> table = vt.tensor([[0.0, 1.0], [2.0, 3.0]])
    >>> vt.nn.functional.embedding_bag(vt.tensor([0, 1, 1]), table, vt.tensor([0, 2]))
    tensor([[1., 2.],
            [2., 3.]])
    """
    refuse_names("embedding_bag", input, weight, offsets, per_sample_weights)
    array = array_of(input, "input")
    if per_sample_weights is not None and (
        array_of(per_sample_weights, "per_sample_weights").shape != array.shape
    ):
        raise ArgumentValueError(
            f"embedding_bag() takes weights of rows in the shape {list(array.shape)}, not "
            f"{list(per_sample_weights.shape)}"
        )
    if array_of(weight, "weight").ndim != 2:
        raise ArgumentValueError(f"the table is a matrix, not of shape {list(weight.shape)}")
    ends = _bags(input, offsets, check_flag(include_last_offset, "include_last_offset"))
    by_count = check_flag(scale_grad_by_freq, "scale_grad_by_freq")
    _check_mode(mode, by_count, sparse)
    _check_table("embedding_bag", input, weight, sparse)
    if max_norm is not None:
        _limit_norms(weight, input, real_of(max_norm, "max_norm"), real_of(norm_type, "norm_type"))
    if per_sample_weights is not None and mode != "sum":
        raise NotSupportedError(f'embedding_bag() weighs rows with mode="sum", not {mode!r}')
    flat = F.reshape(input, (array.size,))
    values = innermost(flat)._impl.array
    padding = _padding(padding_idx, weight._impl.array.shape[0])
    # The bag of each row; rows of no bag, which padding is, are left out.
    bags = np.repeat(making.arange(len(ends) - 1), np.diff(ends))
    counted = np.flatnonzero(values != (-1 if padding is None else padding))
    bags = bags[counted]
    places = beside(input, counted)
    found = _chosen(weight, F.index_select(flat, 0, places), None, by_count)
    if per_sample_weights is not None:
        shares = F.index_select(F.reshape(per_sample_weights, (array.size,)), 0, places)
        found = F.mul(found, F.unsqueeze(shares, 1))
    return _joined(found, bags, len(ends) - 1, mode)


@explained
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Return a 1 in the place of each index, among zeros.

    Parameters
    ----------
    tensor : Tensor
        Indices, of int64.
    num_classes : int, default -1
        How many places there are; with -1 they end with the largest index.

    Returns
    -------
    Tensor
        A new tensor of int64: the shape of `tensor`, with a dimension of places behind it.

    Raises
    ------
    DTypeError
        If the indices are not of int64.
    OptionValueError
        If an index is negative or too large, or there is nothing to count places by.

    Examples
    --------
    >>> vt.nn.functional.one_hot(vt.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    refuse_names("one_hot", tensor)
    if array_of(tensor, "tensor").dtype != "int64":
        raise DTypeError(f"one_hot() takes int64, not {tensor.dtype.name}", dtype=tensor.dtype)
    count = index_of(num_classes, "num_classes")
    values = innermost(tensor)._impl.array
    if count < -1 or (not count and values.size) or (count <= 0 and not values.size):
        raise OptionValueError(f"one_hot() cannot tell how many places there are by {count}")
    if values.size and values.min() < 0:
        raise OptionValueError("one_hot() takes no negative index")
    if count == -1:
        count = int(values.max()) + 1
    elif values.size and values.max() >= count:
        raise OptionValueError(f"one_hot() got the index {values.max()} for {count} places")
    places = beside(tensor, making.arange(count))
    return F.to_dtype(F.eq(F.unsqueeze(tensor, -1), places), values.dtype)


class _ByFrequency(Function):
    """Rows as they are, whose gradients are divided by how often each was read."""

    generate_vmap_rule = True

    @staticmethod
    def forward(rows: Tensor, counts: Tensor) -> Tensor:
        return F.clone(rows)

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[object, ...], output: object) -> None:
        ctx.save_for_backward(typing.cast("Tensor", inputs[1]))

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor, None]:
        (counts,) = ctx.saved_tensors
        return F.div(grad, counts), None

    @staticmethod
    def jvp(ctx: FunctionCtx, of_rows: Tensor, of_counts: Tensor) -> Tensor:
        return F.clone(of_rows)


def _chosen(weight: Tensor, flat: Tensor, padding: int | None, by_count: bool) -> Tensor:
    """The rows with some numbers."""
    values = innermost(flat)._impl.array
    count = weight._impl.array.shape[0]
    if values.size and not (values.min() >= 0 and values.max() < count):
        raise OutOfRangeError(f"a row is chosen that there is not: the table has {count}")
    found = F.index_select(weight, 0, flat)
    if by_count:
        _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
        often = counts[places].reshape(-1, 1).astype(weight._impl.array.dtype)
        found = _ByFrequency.apply(found, beside(weight, often))
    if padding is not None:
        found = F.where_self(F.unsqueeze(F.eq(flat, padding), 1), F.detach(found), found)
    return found


def _limit_norms(weight: Tensor, input: Tensor, largest: float, order: float) -> None:
    """Scale the rows that will be read and whose norm is too large, in one write."""
    read = np.unique(innermost(input)._impl.array)
    if read.size and not (read[0] >= 0 and read[-1] < weight._impl.array.shape[0]):
        raise OutOfRangeError(f"a row is chosen that there is not, in {list(weight.shape)}")
    with no_grad():
        places = beside(input, read)
        rows = F.index_select(F.detach(weight), 0, places)
        norms = F.linalg_vector_norm(rows, order, (1,), True)
        over = F.gt(norms, largest)
        if not over._impl.array.any():
            return
        factors = F.where_self(over, F.div(F.full_like(norms, largest), F.add(norms, 1e-7)), 1)
        F.index_copy_(weight, 0, places, F.mul(rows, factors))


def _check_table(function: str, input: Tensor, weight: Tensor, sparse: bool) -> None:
    if array_of(weight, "weight").ndim != 2:
        raise ShapeError(f"the table is a matrix, not of shape {list(weight.shape)}")
    check_kind(function, weight, "fc", "weight")
    if array_of(input, "input").dtype not in ("int64", "int32"):
        raise DTypeError(f"{function}() takes int64 or int32, not {input.dtype.name}")
    if check_flag(sparse, "sparse"):
        raise NotSupportedError(f"{function}() has no sparse gradients; pass sparse=False")


def _check_mode(mode: str, by_count: bool, sparse: bool) -> None:
    if mode not in ("sum", "mean", "max"):
        raise ArgumentValueError(f'mode is "sum", "mean" or "max", not {mode!r}')
    if mode == "max" and (by_count or sparse):
        raise ArgumentValueError('scale_grad_by_freq and sparse do not go with mode="max"')


def _padding(padding_idx: int | None, rows: int) -> int | None:
    if padding_idx is None:
        return None
    number = index_of(padding_idx, "padding_idx")
    if not -rows <= number < max(rows, 1):
        raise CheckOptionError(f"padding_idx is {number}, and the table has {rows} rows")
    return number + rows if number < 0 else number


def _bags(input: Tensor, offsets: Tensor | None, with_end: bool) -> Array:
    """Where bags begin, and where the last one ends."""
    shape = input._impl.array.shape
    if len(shape) == 2:
        if offsets is not None:
            raise ArgumentValueError("the bags of a matrix are its rows, and need no offsets")
        begins: Array = making.arange(shape[0] + 1) * shape[1]
        return begins
    if len(shape) != 1:
        raise ArgumentValueError(f"input is a vector or a matrix, not of shape {list(shape)}")
    if offsets is None or array_of(offsets, "offsets").ndim != 1:
        raise ArgumentValueError("the bags of a vector need offsets, which are a vector")
    if offsets._impl.array.dtype not in ("int64", "int32"):
        raise DTypeError(f"offsets are of int64 or int32, not {offsets.dtype.name}")
    begins = innermost(offsets)._impl.array.astype(np.int64)
    if with_end and not begins.size:
        raise OptionValueError("include_last_offset needs one offset at least")
    ends = begins if with_end else np.append(begins, shape[0])
    if begins.size and (begins[0] or (np.diff(ends) < 0).any() or ends[-1] > shape[0]):
        raise OptionValueError(
            f"offsets begin at 0, ascend, and end within {shape[0]}, not {begins.tolist()}"
        )
    return ends


def _joined(rows: Tensor, bags: Array, count: int, mode: str) -> Tensor:
    """The sum, the mean or the largest of the rows of each bag."""
    width = rows._impl.array.shape[1]
    sizes = np.bincount(bags, minlength=count)
    if mode == "max":
        return _largest(rows, bags, sizes)
    zeros = F.zeros_shaped(rows, (count, width))
    total = F.index_add(zeros, 0, beside(rows, bags), rows)
    if mode == "sum":
        return total
    divisors = np.maximum(sizes, 1).reshape(-1, 1).astype(rows._impl.array.dtype)
    return F.div(total, beside(rows, divisors))


def _largest(rows: Tensor, bags: Array, sizes: Array) -> Tensor:
    """The largest of each bag, by element; its gradient is that of the first that is as large."""
    full = np.flatnonzero(sizes)
    begins = np.searchsorted(bags, full)
    width = rows._impl.array.shape[1]
    zeros = F.zeros_shaped(rows, (len(sizes), width))
    if not full.size:
        return zeros
    values = innermost(F.detach(rows))._impl.array
    largest = np.maximum.reduceat(values, begins, axis=0)
    is_largest = values == np.repeat(largest, sizes[full], axis=0)
    places = np.where(is_largest, making.arange(len(bags))[:, None], len(bags))
    # A bag with nan has none that is equal; its first row stands for it.
    first = np.minimum.reduceat(places, begins, axis=0)
    first = np.where(first == len(bags), begins[:, None], first)
    chosen = F.gather(rows, 0, beside(rows, first))
    return F.index_add(zeros, 0, beside(rows, full), chosen)
