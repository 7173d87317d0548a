"""Gradients of products and shares along a dimension, made of differentiable operators.

The kernels of the same names do the same over arrays, faster; these run when the backward pass
is itself recorded.
"""

from __future__ import annotations

from typing import Final, TypeVar

import numpy as np

from vtgrad.graph.tracer import read_value
from vtgrad.ops.generated import functional as F
from vtgrad.ops.kernels.indexing.gather_scatter import flat_targets
from vtgrad.ops.kernels.reductions.products import is_plain_product
from vtgrad.storage.key_set import keys
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.shapes import normalize_dim
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = [
    "cumprod_backward",
    "log_softmax_backward",
    "prod_backward",
    "products_of_others_backward",
    "scatter_prod_backward",
    "softmax_backward",
]


_HALF: Final = np.dtype(np.float16)
_SINGLE: Final = np.dtype(np.float32)

T = TypeVar("T", bound=TensorBase)


def _constant(like: T, array: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> T:
    return like._wrap(TensorImpl(array))


def _in_dtype_of(result: TensorBase, input: T) -> T:
    """What was multiplied, as it was: cast to the dtype of the product."""
    wanted = result._impl.array.dtype
    return input if input._impl.array.dtype == wanted else F.to_dtype(input, wanted)


def _without_one(x: T) -> T:
    """Square matrices over the last dimension: row i has all elements, but 1 at index i.

    Products along the rows are products of the other elements, found without a division, so
    they can be differentiated as often as one likes.
    """
    count = x.shape[-1]
    lead = x.shape[:-1]
    rows = F.expand_to(F.reshape(x, (*lead, 1, count)), (*lead, count, count))
    return F.masked_fill(rows, _constant(x, np.eye(count, dtype=np.bool_)), 1)


def prod_backward(grad: T, input: T, result: T, dim: int | None, keepdim: bool) -> T:
    """The gradient of ``prod``; see the kernel of the same name."""
    if input.ndim == 0:
        return F.clone(grad)
    input = _in_dtype_of(result, input)
    is_plain = is_plain_product(resolved(input._impl.array), resolved(result._impl.array))
    if dim is None and is_plain:
        return F.mul(grad, F.conj(F.div(result, input)))
    if dim is None:
        flat = prod_backward(F.reshape(grad, ()), F.reshape(input, (-1,)), result, 0, False)
        return F.reshape(flat, input.shape)
    axis = normalize_dim(dim, input.ndim)
    kept = (*input.shape[:axis], 1, *input.shape[axis + 1 :])
    grad = F.reshape(grad, kept)
    if is_plain:
        return F.mul(grad, F.conj(F.div(F.reshape(result, kept), input)))
    if input.shape[axis] == 1:
        # A zero alone has no others: the gradient depends on no input.
        return F.clone(grad)
    return F.mul(grad, F.conj(F.products_of_others(input, axis)))


def products_of_others_backward(grad: T, input: T, dim: int) -> T:
    """The gradient of ``products_of_others``; see the kernel of the same name."""
    if input.ndim == 0 or input.numel() == 0:
        return F.zeros_like(grad)
    axis = normalize_dim(dim, input.ndim)
    # Entry (i, j) is the product without the elements i and j.
    products = F.products_of_others(_without_one(F.transpose(input, axis, -1)), -1)
    lead = F.transpose(grad, axis, -1)
    terms = F.mul(F.reshape(lead, (*lead.shape, 1)), F.conj(products))
    same = _constant(input, np.eye(input.shape[axis], dtype=np.bool_))
    found = F.sum_dim_IntList(F.masked_fill(terms, same, 0), -2)
    return F.transpose(found, axis, -1)


def scatter_prod_backward(
    grad: T,
    input: T,
    dim: int,
    index: TensorBase,
    src: T,
    include_self: bool,
    of_self: bool,
) -> T:
    """The gradient of a product that ``scatter_reduce`` made; see the kernel of the same name.

    The factors of each element become a row of a table, of which the gradient of ``prod`` is
    taken: that one is right for zeros too, however often it is differentiated.
    """
    sizes, shape = input.shape, index.shape
    for axis, size in enumerate(shape):
        if len(src.shape) == len(shape) and src.shape[axis] != size:
            src = F.slice(src, axis, 0, size)
    axis = normalize_dim(dim, input.ndim)
    if keys.modes:
        read_value(index)
    targets = flat_targets(sizes, axis, resolved(index._impl.array))
    table = _factor_table(targets, input.numel(), include_self)
    one = input._wrap(TensorImpl(np.ones(1, input._impl.array.dtype)))
    factors = F.cat([one, F.reshape(input, (-1,)), F.reshape(src, (-1,))])
    rows = F.take(factors, input._wrap(TensorImpl(table)))
    of_rows = prod_backward(F.reshape(grad, (-1,)), rows, F.prod_dim_int(rows, 1), 1, False)
    spread = F.take_spread(of_rows, factors.shape, input._wrap(TensorImpl(table)))
    first = 1 if of_self else 1 + input.numel()
    part = F.slice(spread, 0, first, 1 + input.numel() if of_self else None)
    return F.reshape(part, sizes if of_self else shape)


def _factor_table(
    targets: np.ndarray[tuple[int, ...], np.dtype[np.int64]], count: int, include_self: bool
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """A row for each of `count` elements: 1 + the numbers of its factors, filled up with 0.

    The elements themselves are the first `count` factors, what goes to `targets` the rest.
    """
    order = np.argsort(targets, kind="stable")
    grouped = targets[order]
    nth = np.arange(grouped.size) - np.searchsorted(grouped, grouped)
    table = np.zeros((count, 2 + int(nth.max())), np.int64)
    table[:, 0] = np.arange(1, count + 1)
    if not include_self:
        table[targets, 0] = 0
    table[grouped, 1 + nth] = 1 + count + order
    return table


def cumprod_backward(grad: T, input: T, result: T, dim: int) -> T:
    """The gradient of ``cumprod``; see the kernel of the same name."""
    axis = normalize_dim(dim, input.ndim)
    if input.ndim == 0 or input.shape[axis] == 1 or input.numel() == 0:
        return F.clone(grad)
    input = _in_dtype_of(result, input)
    if is_plain_product(resolved(input._impl.array), resolved(result._impl.array)):
        weighted = F.mul(grad, F.conj(result))
        sums = F.flip(F.cumsum_dim(F.flip(weighted, (axis,)), axis), (axis,))
        return F.div(sums, F.conj(input))
    # Entry (i, j) of the running products is what product j is without element i.
    products = F.cumprod_dim(_without_one(F.transpose(input, axis, -1)), -1)
    count = input.shape[axis]
    earlier = _constant(input, np.tril(np.ones((count, count), np.bool_), -1))
    lead = F.transpose(grad, axis, -1)
    weights = F.reshape(lead, (*lead.shape[:-1], 1, count))
    terms = F.masked_fill(F.mul(weights, F.conj(products)), earlier, 0)
    return F.transpose(F.sum_dim_IntList(terms, -1), axis, -1)


def softmax_backward(grad: T, result: T, dim: int) -> T:
    """The gradient of ``softmax``; see the kernel of the same name."""
    if result._impl.array.dtype == _HALF:
        wide = softmax_backward(F.to_dtype(grad, _SINGLE), F.to_dtype(result, _SINGLE), dim)
        return F.to_dtype(wide, _HALF)
    weighted = F.mul(grad, result)
    return F.sub(weighted, F.mul(result, F.sum_dim_IntList(weighted, dim, True)))


def log_softmax_backward(grad: T, result: T, dim: int) -> T:
    """The gradient of ``log_softmax``; see the kernel of the same name."""
    if result._impl.array.dtype == _HALF:
        wide = log_softmax_backward(F.to_dtype(grad, _SINGLE), F.to_dtype(result, _SINGLE), dim)
        return F.to_dtype(wide, _HALF)
    return F.sub(grad, F.mul(F.exp(result), F.sum_dim_IntList(grad, dim, True)))
