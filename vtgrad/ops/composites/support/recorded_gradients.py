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
from vtgrad.ops.kernels.indexing.factor_tables import FactorTables
from vtgrad.ops.kernels.indexing.gather_scatter import flat_targets
from vtgrad.ops.kernels.reductions.products import is_near_one, is_plain_product
from vtgrad.storage import making
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

    It is that of products along the rows of tables; see Note [Tables of factors].
    """
    sizes, shape = input.shape, index.shape
    for axis, size in enumerate(shape):
        if len(src.shape) == len(shape) and src.shape[axis] != size:
            src = F.slice(src, axis, 0, size)
    axis = normalize_dim(dim, input.ndim)
    if keys.modes:
        read_value(index)
    positions = flat_targets(sizes, axis, resolved(index._impl.array))
    replaced = making.zeros(input.numel(), np.bool_)
    if not include_self:
        replaced[positions] = True
    tables = FactorTables.of(positions, replaced)
    none = input._wrap(TensorImpl(making.zeros(1, input._impl.array.dtype)))
    factors = F.cat([F.add(none, 1), F.reshape(input, (-1,)), F.reshape(src, (-1,))])
    grad, parts = F.reshape(grad, (-1,)), []
    for rows, elements in zip(tables.rows, tables.elements, strict=True):
        others = F.products_of_others(F.take(factors, _constant(input, rows)), 1)
        given = F.reshape(F.take(grad, _constant(input, elements)), (-1, 1))
        parts.append(F.reshape(F.mul(given, F.conj(others)), (-1,)))
    places = tables.of_elements if of_self else tables.of_values
    found = F.take(F.cat([*parts, none]), _constant(input, places))
    return F.reshape(found, sizes if of_self else shape)


def cumprod_backward(grad: T, input: T, result: T, dim: int) -> T:
    """The gradient of ``cumprod``; see the kernel of the same name."""
    axis = normalize_dim(dim, input.ndim)
    if input.ndim == 0 or input.shape[axis] == 1 or input.numel() == 0:
        return F.clone(grad)
    input = _in_dtype_of(result, input)
    elements, products = resolved(input._impl.array), resolved(result._impl.array)
    if products.dtype != _HALF and is_plain_product(elements, products):
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
    # The products have over- or underflowed in their own dtype, or have few digits.
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
