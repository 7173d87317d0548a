"""Running sums, products and extremes along one dimension.

Sums and products are accumulated in the next wider dtype and rounded once per element, so the error
of a long float32 series is only that of its last rounding.

Note [Running averages]

The derivative of element `j` of ``logcumsumexp(x)`` by ``x[i]`` is the share ``exp(x[i])`` has in
the sum up to `j`. So a tangent becomes the running average of the tangents, with these shares as
weights, and a gradient becomes what the transposed weights give. Both are linear in what comes in,
whatever it is: no logarithm is taken of it.

Exponentials are taken relative to the largest element so far. A sum that goes on is multiplied
by the exponential of the step where the largest element changes, which is at most 1. So nothing
overflows, and the shares of one sum add up to 1 however large the elements are. Infinite elements
that are the largest so far have equal shares.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.ops.kernels.elementary.log_sums import logaddexp
from vtgrad.ops.kernels.reductions.exponential_sums import relative_exponentials
from vtgrad.ops.kernels.reductions.products import is_plain_product
from vtgrad.ops.kernels.reductions.recurrence import linear_recurrence
from vtgrad.ops.kernels.support.axes import in_dtype
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.shapes import normalize_dim

__all__ = [
    "cummax_dim",
    "cummin_dim",
    "cumprod",
    "cumprod_backward",
    "cumsum",
    "logcumsumexp",
    "running_average",
    "running_average_backward",
]


_HALF: Final[NumpyDType] = np.dtype(np.float16)
_SINGLE: Final[NumpyDType] = np.dtype(np.float32)
_DOUBLE: Final[NumpyDType] = np.dtype(np.float64)
_DOUBLE_COMPLEX: Final[NumpyDType] = np.dtype(np.complex128)
_WIDER: Final[dict[NumpyDType, NumpyDType]] = {
    _HALF: _SINGLE,
    _SINGLE: _DOUBLE,
    np.dtype(np.complex64): _DOUBLE_COMPLEX,
}
_INT64: Final[NumpyDType] = np.dtype(np.int64)


def _running(ufunc: np.ufunc, x: Array, dim: int, dtype: NumpyDType | None) -> Array:
    axis = normalize_dim(dim, x.ndim)
    own: NumpyDType = x.dtype
    if dtype is None:
        dtype = own if own.kind in "fc" else _INT64
    elif dtype.kind == "b" and x.ndim and x.size:
        raise NotSupportedError("running sums and products are not defined in bool", dtype=dtype)
    out: Array = making.empty(x.shape, dtype)
    if x.dtype.kind in "fc":
        x = in_dtype(x, dtype)
    if x.ndim == 0 or x.size == 0:
        out[...] = resolved(x)
        return out
    work = _WIDER.get(dtype)
    if work is None:
        ufunc.accumulate(x, axis, dtype, out)
    else:
        np.copyto(out, ufunc.accumulate(x, axis, work), "same_kind")
    return out


def cumsum(self: Array, dim: int, dtype: NumpyDType | None = None) -> Array:
    """Running sums along `dim`; integers and bools become int64 unless `dtype` is given."""
    return _running(np.add, self, dim, dtype)


def cumprod(self: Array, dim: int, dtype: NumpyDType | None = None) -> Array:
    """Running products along `dim`; integers and bools become int64 unless `dtype` is given."""
    return _running(np.multiply, self, dim, dtype)


# -- extremes -------------------------------------------------------------------------------


def cummax_dim(self: Array, dim: int) -> tuple[Array, Array]:
    """The largest elements up to each index, and the last index of each."""
    return _running_extreme("cummax", np.maximum, np.greater_equal, self, dim)


def cummin_dim(self: Array, dim: int) -> tuple[Array, Array]:
    """The smallest elements up to each index, and the last index of each."""
    return _running_extreme("cummin", np.minimum, np.less_equal, self, dim)


def _running_extreme(
    name: str, ufunc: np.ufunc, reaches: np.ufunc, x: Array, dim: int
) -> tuple[Array, Array]:
    axis = normalize_dim(dim, x.ndim)
    if x.dtype.kind == "c":
        raise NotSupportedError(f"{name}() has no meaning for complex values", dtype=x.dtype)
    values: Array = making.empty(x.shape, x.dtype)
    indices: Array = making.zeros(x.shape, np.int64)
    if x.ndim == 0 or x.size == 0:
        values[...] = resolved(x)
        return values, indices
    # A nan stays the extreme, and the last nan gives the index.
    ufunc.accumulate(x, axis, None, values)
    taken: Array = reaches(x, values)
    if x.dtype.kind == "f":
        np.logical_or(taken, np.isnan(x), taken)
    along = making.arange(x.shape[axis]).reshape([-1 if d == axis else 1 for d in range(x.ndim)])
    np.copyto(indices, along, where=taken)
    np.maximum.accumulate(indices, axis, None, indices)
    return values, indices


# -- logarithms -----------------------------------------------------------------------------


def logcumsumexp(self: Array, dim: int) -> Array:
    """Logarithms of running sums of exponentials, safe against overflow.

    Raises
    ------
    NotSupportedError
        If the values are integers or bools.
    """
    axis = normalize_dim(dim, self.ndim)
    if self.dtype.kind not in "fc":
        raise NotSupportedError(f"logcumsumexp() of {self.dtype} values", dtype=self.dtype)
    result: Array = making.empty(self.shape, self.dtype)
    result[...] = resolved(self)
    if self.ndim == 0 or self.size == 0:
        return result
    if self.dtype.kind == "f":
        wide = self.astype(_WIDER.get(self.dtype, self.dtype))
        np.copyto(result, np.logaddexp.accumulate(wide, axis), "same_kind")
        return result
    rows = np.moveaxis(result, axis, 0)
    for row_nr in range(1, rows.shape[0]):
        # Not a row of a vector, which would be a number and promote like one. The new row is the
        # first operand: with equal real parts the first operand decides the branch, as in PyTorch.
        rows[row_nr] = logaddexp(rows[row_nr : row_nr + 1], rows[row_nr - 1 : row_nr])[0]
    return result


def _reversed_cumsum(x: Array, axis: int) -> Array:
    r: Array = np.flip(np.add.accumulate(np.flip(x, axis), axis), axis)
    return r


def cumprod_backward(self: Array, input: Array, result: Array, dim: int) -> Array:
    """The gradient of ``cumprod``, exact also where elements are zero.

    For an element before the first zero of a row, each later product is divided by the element. The
    first zero uses the products without itself; later elements have no effect on any product. Where
    products over- or underflow it is the product before each element times a sum over all later
    ones; see Note [Linear recurrences].
    """
    axis = normalize_dim(dim, input.ndim)
    if input.ndim == 0 or input.shape[axis] == 1 or input.size == 0:
        return self.copy()
    # Products in half precision are rounded to three digits, and overflow early.
    if result.dtype != _HALF and is_plain_product(input, result):
        x = in_dtype(input, result.dtype).conj()
        r: Array = np.true_divide(_reversed_cumsum(self * result.conj(), axis), x)
        return r
    # In double precision products over- and underflow later.
    wide = _DOUBLE_COMPLEX if result.dtype.kind == "c" else _DOUBLE
    x = in_dtype(input, wide).conj()
    zero = input == 0
    seen = np.add.accumulate(zero, axis, np.int64)
    first = zero & (seen == 1)
    ahead = seen == 0
    left_out = np.multiply.accumulate(np.where(first, 1, x), axis)
    if is_plain_product(np.where(zero, 1, x), np.where(seen > 1, 1, left_out)):
        at_first = _reversed_cumsum(np.where(ahead, 0, self * left_out), axis)
        weighted = np.where(ahead, self * left_out, 0)
        before = np.true_divide(_reversed_cumsum(weighted, axis), np.where(zero, 1, x))
        out: Array = np.where(ahead, before, np.where(first, at_first, 0))
    else:
        sums = linear_recurrence(in_dtype(self, wide), x, axis, True)
        out = np.where(seen > zero, 0, _products_before(x, axis) * sums)
    return out.astype(result.dtype, copy=False)


def _products_before(x: Array, axis: int) -> Array:
    """At each index the product of all elements before it."""
    lead = (slice(None),) * axis
    products: Array = making.ones_like(x)
    np.multiply.accumulate(x[(*lead, slice(-1))], axis, None, products[(*lead, slice(1, None))])
    return products


def _weights(logits: Array) -> tuple[Array, Array, Array]:
    """Exponentials along the first dimension, their running sums, and what those decay by."""
    top: Array = np.maximum.accumulate(logits.real, 0)
    exponentials = relative_exponentials(logits, top)
    decays: Array = making.empty_like(top)
    decays[0] = 0
    decays[1:] = relative_exponentials(top[:-1], top[1:])
    return exponentials, _decaying_sums(exponentials, decays), decays


def _decaying_sums(terms: Array, decays: Array) -> Array:
    """Running sums along the first dimension; before each step the sum is multiplied by its decay.

    Sums over 1, 2, 4, ... elements are put together, which takes no loop over elements.
    """
    sums, decays = terms.copy(), decays.copy()
    width = 1
    while width < len(sums):
        sums[width:] += decays[width:] * sums[:-width]
        decays[width:] *= decays[:-width]
        width *= 2
    return sums


def running_average(self: Array, logits: Array, dim: int) -> Array:
    """The averages of the elements up to each index, weighted by ``exp(logits)``."""
    if self.ndim == 0 or self.size == 0:
        return self.copy()
    axis = normalize_dim(dim, self.ndim)
    values, wide = _moved(self, axis), _moved(logits, axis)
    exponentials, totals, decays = _weights(wide)
    averages = _decaying_sums(exponentials * values, decays) / totals
    return in_dtype(np.moveaxis(averages, 0, axis), self.dtype)


def running_average_backward(self: Array, logits: Array, dim: int) -> Array:
    """The gradient of the elements of `running_average`, for the gradients of the averages."""
    if self.ndim == 0 or self.size == 0:
        return self.copy()
    axis = normalize_dim(dim, self.ndim)
    grads, wide = _moved(self, axis), _moved(logits, axis)
    exponentials, totals, decays = _weights(wide)
    backwards = making.zeros_like(decays)
    backwards[1:] = decays[:0:-1]
    later = _decaying_sums((grads / totals.conj())[::-1], backwards)[::-1]
    return in_dtype(np.moveaxis(exponentials.conj() * later, 0, axis), self.dtype)


def _moved(x: Array, axis: int) -> Array:
    """The array in the next wider dtype, with a dimension in front."""
    own: NumpyDType = x.dtype
    r: Array = np.moveaxis(in_dtype(x, _WIDER.get(own, own)), axis, 0)
    return r
