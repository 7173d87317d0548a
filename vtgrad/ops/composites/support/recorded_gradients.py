"""Gradients of products and shares along a dimension, made of differentiable operators.

The kernels of the same names do the same over arrays, faster; these run when the backward pass
is itself recorded.
"""

from __future__ import annotations

from typing import Final, TypeVar

import numpy as np

from vtgrad.graph.batch import is_batched
from vtgrad.graph.tracer import read_value
from vtgrad.ops.generated import functional as F
from vtgrad.ops.kernels.indexing.gather_scatter import flat_targets
from vtgrad.ops.kernels.reductions.products import is_near_one, is_plain_product
from vtgrad.storage.arrays import Array, NumpyDType
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
_DOUBLE: Final = np.dtype(np.float64)
_INT64: Final = np.dtype(np.int64)
# In which dtype products are computed whose factors have another.
_WIDER: Final[dict[NumpyDType, NumpyDType]] = {
    _HALF: _DOUBLE,
    _SINGLE: _DOUBLE,
    np.dtype(np.complex64): np.dtype(np.complex128),
}
# Powers of two are multiplied in so many steps, none of which over- or underflows.
_STEPS: Final = 4
_STEP: Final = 1000
# Half of the powers of two that a number may have.
_ROOM: Final = 500

T = TypeVar("T", bound=TensorBase)


def _constant(like: T, array: Array) -> T:
    return like._wrap(TensorImpl(array))


def _in_dtype_of(result: TensorBase, input: T) -> T:
    """What was multiplied, as it was: cast to the dtype of the product."""
    wanted = result._impl.array.dtype
    return input if input._impl.array.dtype == wanted else F.to_dtype(input, wanted)


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
    if input.ndim == 0 or input.shape[normalize_dim(dim, input.ndim)] < 2 or input.numel() == 0:
        # The product of no others is 1, whatever the element is.
        return F.zeros_like(grad)
    axis = normalize_dim(dim, input.ndim)
    if (wide := _WIDER.get(input._impl.array.dtype)) is not None:
        found = products_of_others_backward(F.to_dtype(grad, wide), F.to_dtype(input, wide), dim)
        return F.to_dtype(found, input._impl.array.dtype)
    if not (is_batched(grad) or is_batched(input)) and _are_near_one(grad, input, axis):
        return _sums_without_two(grad, F.conj(input), axis)
    exponents = _balancing_exponents(input, axis)
    x = _raised(F.conj(input), F.neg(exponents))
    whole = F.sum_dim_IntList(exponents, axis, True)
    # The gradients relative to the largest. The result's power of two is shared between them and
    # the sums, so that what comes back through either is a number, for derivatives of this one.
    largest = F.amax(F.sub(F.frexp(F.abs(F.detach(grad)))[1], exponents), axis, True)
    of_result = F.sub(F.add(whole, largest), F.amin(exponents, axis, True))
    shift = F.sub(largest, F.clamp(of_result, -_ROOM, _ROOM))
    found = _sums_without_two(_raised(grad, F.neg(F.add(exponents, shift))), x, axis)
    return _raised(found, F.sub(F.add(whole, shift), exponents))


def _are_near_one(grad: TensorBase, input: TensorBase, axis: int) -> bool:
    """Whether nothing over- or underflows as it is."""
    gradients, elements = resolved(grad._impl.array), resolved(input._impl.array)
    return is_near_one(gradients, None) and is_near_one(elements, axis)


def _sums_without_two(grad: T, x: T, axis: int) -> T:
    """Sums over `i` of gradient `i` times the product without the elements `i` and `j`."""
    count = x.shape[axis]
    before, after = _product_before(x, axis), _product_behind(x, axis)
    # Sums over the elements before and behind each; see Note [Linear recurrences].
    sources = F.mul(grad, before), F.flip(F.mul(grad, after), (axis,))
    factors = x, F.flip(x, (axis,))
    earlier, later = (
        F.linear_recurrence(
            F.slice(source, axis, 0, count - 1), F.slice(factor, axis, 0, count - 1), axis, False
        )
        for source, factor in zip(sources, factors, strict=True)
    )
    behind = F.mul(earlier, F.slice(after, axis, 1))
    ahead = F.mul(F.flip(later, (axis,)), F.slice(before, axis, 0, count - 1))
    last = (0, 0) * (x.ndim - 1 - axis)
    return F.add(F.constant_pad(behind, (*last, 1, 0)), F.constant_pad(ahead, (*last, 0, 1)))


def _balancing_exponents(x: T, axis: int) -> T:
    """Powers of two, divided by which elements have products near 1, over any range of them.

    Zeros, infinities and nans count as 1.
    """
    sizes = F.abs(F.detach(x))
    usual = F.logical_and(F.isfinite(sizes), F.ne(sizes, 0))
    logs = F.log2(F.masked_fill(sizes, F.logical_not(usual), 1))
    sums = F.to_dtype(F.floor(F.cumsum_dim(logs, axis)), _INT64)
    behind = F.constant_pad(sums, (*(0, 0) * (x.ndim - 1 - axis), 1, -1))
    return F.sub(sums, behind)


def _raised(x: T, exponents: T) -> T:
    """`x` times powers of two, in steps: a part of a power may be a number where it is not."""
    left = F.clamp(exponents, -_STEPS * _STEP, _STEPS * _STEP)
    for _ in range(_STEPS):
        step = F.clamp(left, -_STEP, _STEP)
        x = F.mul(x, F.exp2(F.to_dtype(step, _DOUBLE)))
        left = F.sub(left, step)
    return x


def _product_before(x: T, axis: int) -> T:
    """At each index the product of all elements before it."""
    products = F.cumprod_dim(F.slice(x, axis, 0, x.shape[axis] - 1), axis)
    return F.cat([F.ones_like(F.slice(x, axis, 0, 1)), products], axis)


def _product_behind(x: T, axis: int) -> T:
    """At each index the product of all elements behind it."""
    return F.flip(_product_before(F.flip(x, (axis,)), axis), (axis,))


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

    The factors of each element stand side by side in one series. There the products of all factors
    before and behind each are recurrences, with a factor of zero where the next element begins; see
    Note [Linear recurrences]. So that is right for zeros too, however often it is differentiated.
    """
    sizes, shape = input.shape, index.shape
    for axis, size in enumerate(shape):
        if len(src.shape) == len(shape) and src.shape[axis] != size:
            src = F.slice(src, axis, 0, size)
    axis = normalize_dim(dim, input.ndim)
    if keys.modes:
        read_value(index)
    targets = flat_targets(sizes, axis, resolved(index._impl.array))
    count = input.numel()
    own = F.reshape(input, (-1,))
    if not include_self:
        replaced = np.zeros(count, np.bool_)
        replaced[targets] = True
        own = F.masked_fill(own, _constant(input, replaced), 1)
    positions = np.concatenate([np.arange(count), targets])
    order = np.argsort(positions, kind="stable")
    of_series = positions[order]
    factors = F.take(F.cat([own, F.reshape(src, (-1,))]), _constant(input, order))
    others = F.mul(*_products_beside(factors, np.diff(of_series, prepend=-1) != 0))
    grads = F.take(F.reshape(grad, (-1,)), _constant(input, of_series))
    # From the series back to the order of the elements.
    wanted = np.argsort(order)[:count] if of_self else np.argsort(order)[count:]
    part = F.take(F.mul(grads, F.conj(others)), _constant(input, wanted))
    if of_self and not include_self:
        part = F.masked_fill(part, _constant(input, replaced), 0)
    return F.reshape(part, sizes if of_self else shape)


def _products_beside(factors: T, starts: Array) -> tuple[T, T]:
    """The products of all factors before and behind each, in series that begin at `starts`."""
    begins = _constant(factors, starts)
    ends = _constant(factors, np.append(starts[1:], True))
    dtype = factors._impl.array.dtype
    one_before = F.constant_pad(F.slice(factors, 0, 0, len(starts) - 1), (1, 0))
    before = F.linear_recurrence(
        F.to_dtype(begins, dtype), F.masked_fill(one_before, begins, 0), 0, False
    )
    behind = F.linear_recurrence(
        F.to_dtype(ends, dtype), F.masked_fill(factors, begins, 0), 0, True
    )
    return before, behind


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
    # The product before each element times a sum over it and all later ones: of the gradients, each
    # times the elements in between. See Note [Linear recurrences].
    wide = _WIDER.get(input._impl.array.dtype)
    if wide is None:
        first = F.ones_like(F.slice(result, axis, 0, 1))
        before = F.cat([first, F.slice(result, axis, 0, result.shape[axis] - 1)], axis)
        return F.mul(F.conj(before), F.linear_recurrence(grad, F.conj(input), axis, True))
    # The products have over- or underflowed in their own dtype.
    factors = F.to_dtype(input, wide)
    sums = F.linear_recurrence(F.to_dtype(grad, wide), F.conj(factors), axis, True)
    found = F.mul(F.conj(_product_before(factors, axis)), sums)
    return F.to_dtype(found, input._impl.array.dtype)


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
