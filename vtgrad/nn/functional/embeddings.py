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
from vtgrad.later.searching import searchsorted
from vtgrad.nn.functional.floating import check_kind, real_of
from vtgrad.nn.functional.traced import is_traced
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.values import innermost
from vtgrad.storage import making
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
    _check_table("embedding", input, weight, sparse, "fciub")
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
    bags, count = _bags(input, offsets, check_flag(include_last_offset, "include_last_offset"))
    by_count = check_flag(scale_grad_by_freq, "scale_grad_by_freq")
    _check_mode(mode, by_count, sparse)
    _check_table("embedding_bag", input, weight, sparse, "f")
    if max_norm is not None:
        _limit_norms(weight, input, real_of(max_norm, "max_norm"), real_of(norm_type, "norm_type"))
    if per_sample_weights is not None and mode != "sum":
        raise NotSupportedError(f'embedding_bag() weighs rows with mode="sum", not {mode!r}')
    flat = F.reshape(input, (array.size,))
    found = _chosen(weight, flat, None, by_count)
    if per_sample_weights is not None:
        shares = F.reshape(per_sample_weights, (array.size,))
        found = F.mul(found, F.unsqueeze(shares, 1))
    padding = _padding(padding_idx, weight._impl.array.shape[0])
    left_out = None if padding is None else F.eq(flat, padding)
    return _joined(found, bags, count, mode, left_out)


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
    _check_numbers(flat, weight)
    found = F.index_select(weight, 0, flat)
    if by_count and not is_traced():
        # A Function hides which element depends on which.
        ones = F.full_like(flat, 1, dtype=weight.dtype)
        none = F.zeros_shaped(F.detach(weight), (weight._impl.array.shape[0],))
        often = F.index_select(F.index_add(none, 0, flat, ones), 0, flat)
        found = _ByFrequency.apply(found, F.unsqueeze(often, 1))
    if padding is not None:
        found = F.where_self(F.unsqueeze(F.eq(flat, padding), 1), F.detach(found), found)
    return found


def _check_numbers(numbers: Tensor, weight: Tensor) -> None:
    values, count = innermost(numbers)._impl.array, weight._impl.array.shape[0]
    if values.size and not (values.min() >= 0 and values.max() < count):
        raise OutOfRangeError(f"a row is chosen that there is not: the table has {count}")


def _limit_norms(weight: Tensor, input: Tensor, largest: float, order: float) -> None:
    """Scale the rows that will be read and whose norm is too large, in one write."""
    _check_numbers(input, weight)
    with no_grad():
        # A row that is read several times is written as often, with the same numbers.
        places = F.reshape(input, (input._impl.array.size,))
        rows = F.index_select(F.detach(weight), 0, places)
        norms = F.linalg_vector_norm(rows, order, (1,), True)
        over = F.gt(norms, largest)
        if innermost(over)._impl.array.any():
            factors = F.div(F.full_like(norms, largest), F.add(norms, 1e-7))
            scaled = F.mul(rows, F.where_self(over, factors, 1))
            F.index_copy_(weight, 0, F.to_dtype(places, np.dtype(np.int64)), scaled)


def _check_table(function: str, input: Tensor, weight: Tensor, sparse: bool, kinds: str) -> None:
    if array_of(weight, "weight").ndim != 2:
        raise ShapeError(f"the table is a matrix, not of shape {list(weight.shape)}")
    check_kind(function, weight, kinds, "weight")
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


def _bags(input: Tensor, offsets: Tensor | None, with_end: bool) -> tuple[Tensor, int]:
    """The number of the bag of each row, and how many bags there are.

    What stands behind the last bag has the number behind that of the last bag.
    """
    shape = input._impl.array.shape
    if len(shape) == 2:
        if offsets is not None:
            raise ArgumentValueError("the bags of a matrix are its rows, and need no offsets")
        return beside(input, making.arange(shape[0] * shape[1]) // max(shape[1], 1)), shape[0]
    if len(shape) != 1:
        raise ArgumentValueError(f"input is a vector or a matrix, not of shape {list(shape)}")
    if offsets is None or array_of(offsets, "offsets").ndim != 1:
        raise ArgumentValueError("the bags of a vector need offsets, which are a vector")
    if offsets._impl.array.dtype not in ("int64", "int32"):
        raise DTypeError(f"offsets are of int64 or int32, not {offsets.dtype.name}")
    begins = innermost(offsets)._impl.array
    count = offsets._impl.array.shape[0] - with_end
    if count < 0:
        raise OptionValueError("include_last_offset needs one offset at least")
    if begins.size and (
        begins[..., 0].any() or (np.diff(begins) < 0).any() or begins[..., -1].max() > shape[0]
    ):
        raise OptionValueError(f"offsets begin at 0, ascend, and end within {shape[0]}")
    places = beside(input, making.arange(shape[0]))
    if not begins.size:
        return F.zeros_like(places), 0
    later = F.to_dtype(F.narrow(offsets, 0, 1, count + with_end - 1), np.dtype(np.int64))
    return searchsorted(later, places, right=True), count


def _joined(rows: Tensor, bags: Tensor, count: int, mode: str, left_out: Tensor | None) -> Tensor:
    """The sum, the mean or the largest of the rows of each bag, of which some are left out."""
    width = rows._impl.array.shape[1]
    counted = F.full_like(bags, 1)
    if left_out is not None:
        # A row that is left out goes where those behind the last bag are.
        bags = F.masked_fill(bags, left_out, count)
    zeros = F.zeros_shaped(F.detach(rows), (count + 1, width))
    sizes = F.index_add(F.zeros_shaped(counted, (count + 1,)), 0, bags, counted)
    sizes = F.unsqueeze(sizes, 1)
    if mode == "max":
        found = _largest(rows, bags, zeros, sizes)
    else:
        found = F.index_add(zeros, 0, bags, rows)
        if mode == "mean":
            found = F.div(found, F.clamp_min_default(sizes, 1))
    return F.narrow(found, 0, 0, count)


def _largest(rows: Tensor, bags: Tensor, zeros: Tensor, sizes: Tensor) -> Tensor:
    """The largest of each bag, by element; its gradient is that of the first that is as large."""
    shape = rows._impl.array.shape
    if not shape[0]:
        return F.index_add(zeros, 0, bags, rows)
    values, index = F.detach(rows), F.expand_sizes(F.unsqueeze(bags, 1), shape)
    largest = F.scatter_reduce(zeros, 0, index, values, "amax", include_self=False)
    is_largest = F.eq(values, F.gather(largest, 0, index))
    is_largest = F.logical_or(is_largest, F.isnan(values))
    numbers = F.unsqueeze(beside(rows, making.arange(shape[0])), 1)
    numbers = F.where_self(is_largest, numbers, shape[0])
    last = F.zeros_shaped(index, zeros._impl.array.shape)
    first = F.scatter_reduce(F.add(last, shape[0] - 1), 0, index, numbers, "amin")
    return F.masked_fill(F.gather(rows, 0, first), F.eq(sizes, 0), 0)
