"""Reading and storing values where a mask is true, and the indices of nonzero elements."""

from __future__ import annotations

from operator import setitem

import numpy as np

from vtgrad.errors import ShapeError
from vtgrad.ops.kernels.copying.copies import contiguous
from vtgrad.ops.kernels.indexing.index_support import (
    check_mask,
    check_same_dtype,
    fill_value,
    readable,
)
from vtgrad.ops.kernels.support.result_strides import broadcast_shapes
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, Number, Shape
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.prepared_store import Store, carry_out

__all__ = [
    "masked_fill",
    "masked_fill_",
    "masked_scatter",
    "masked_scatter_",
    "masked_select",
    "masked_spread",
    "nonzero",
]


def masked_select(self: Array, mask: Array) -> Array:
    """The elements where a mask, broadcast with them, is true; in row-major order.

    Raises
    ------
    DTypeError
        If the mask is not of bool.
    ShapeError
        If the shapes do not broadcast.
    """
    check_mask(mask, "masked_select")
    if mask.shape == self.shape and type(self) in PLAIN and type(mask) in PLAIN:
        picked: Array = making.asarray(self[mask])
        return picked
    shape = broadcast_shapes(mask.shape, self.shape)
    chosen: Array = making.broadcast_to(self, shape)[making.broadcast_to(mask, shape)]
    return chosen


def masked_fill(self: Array, mask: Array, value: Array | Number) -> Array:
    """A copy with one value wherever a mask, broadcast with the tensor, is true.

    Raises
    ------
    DTypeError
        If the mask is not of bool.
    ShapeError
        If the shapes do not broadcast or `value` is an array with dimensions.
    ResultTypeError
        If the value cannot be stored in the tensor's dtype.
    """
    number = fill_value(value, "masked_fill")
    check_mask(mask, "masked_fill")
    shape = broadcast_shapes(mask.shape, self.shape)
    element = as_element(number, self.dtype)
    result: Array = making.empty(shape, self.dtype)
    result[...] = resolved(self)
    np.copyto(result, element, where=mask)
    return result


def masked_fill_(self: Array, mask: Array, value: Array | Number) -> Store:
    """`masked_fill` into an array itself; the mask must broadcast to its shape."""
    number = fill_value(value, "masked_fill_")
    check_mask(mask, "masked_fill_")
    element = as_element(number, self.dtype)
    if mask.shape != self.shape and broadcast_shapes(mask.shape, self.shape) != self.shape:
        raise ShapeError(
            f"a mask of shape {mask.shape} is larger than the written tensor's shape {self.shape}",
            mask=mask.shape,
            sizes=self.shape,
        )
    return np.copyto, (self, element, "same_kind", mask), mask


def masked_spread(self: Array, sizes: Shape, mask: Array) -> Array:
    """Zeros of shape `sizes` with the elements of `self` where the mask is true.

    The inverse of `masked_select`; the mask broadcasts to `sizes`.
    """
    result: Array = making.zeros(sizes, self.dtype)
    result[making.broadcast_to(mask, sizes)] = resolved(self)
    return result


def masked_scatter(self: Array, mask: Array, source: Array) -> Array:
    """A copy with the first values of `source`, in order, wherever a mask is true.

    Raises
    ------
    DTypeError
        If the mask is not of bool, or `source` has another dtype.
    ShapeError
        If the shapes do not broadcast, or there are fewer values than true elements of the mask.
    """
    shape = broadcast_shapes(self.shape, mask.shape)
    result = contiguous(making.broadcast_to(self, shape))
    carry_out(masked_scatter_(result, mask, source))
    return result


def masked_scatter_(self: Array, mask: Array, source: Array) -> Store:
    """`masked_scatter` into an array itself; the mask must broadcast to its shape."""
    check_mask(mask, "masked_scatter")
    check_same_dtype(self, source, "masked_scatter")
    if mask.shape != self.shape and broadcast_shapes(mask.shape, self.shape) != self.shape:
        raise ShapeError(
            f"a mask of shape {mask.shape} is larger than the written tensor's shape {self.shape}",
            mask=mask.shape,
            sizes=self.shape,
        )
    chosen = mask if mask.shape == self.shape else making.broadcast_to(mask, self.shape)
    count = int(np.count_nonzero(chosen))
    if source.size < count:
        raise ShapeError(
            f"masked_scatter needs {count} values, one for each true element, got {source.size}",
            needed=count,
            given=source.size,
        )
    values = readable(resolved(source), self).reshape(-1)[:count]
    return setitem, (self, chosen, values), chosen


def nonzero(self: Array) -> Array:
    """Indices of the nonzero elements, one row each, in C order.

    The result is column-major, so that the indices of each dimension are dense.
    """
    if self.ndim == 0:
        return making.empty((1 if self else 0, 0), np.int64)
    found = np.nonzero(self)
    out: Array = making.empty((len(found[0]), self.ndim), np.int64, "F")
    for column, indices in enumerate(found):
        out[:, column] = indices
    return out
