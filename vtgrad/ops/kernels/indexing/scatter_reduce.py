"""Merging values into indexed elements: sums, products, means, extremes."""

from __future__ import annotations

from collections.abc import Mapping
from operator import setitem
from typing import Final

import numpy as np

from vtgrad.errors import DTypeError, NotSupportedError, OutOfRangeError, ShapeError
from vtgrad.ops.kernels.copying.copies import contiguous
from vtgrad.ops.kernels.indexing.factor_tables import FactorTables
from vtgrad.ops.kernels.indexing.gather_scatter import check_scatter, flat_targets, scattered_values
from vtgrad.ops.kernels.indexing.index_support import (
    check_index_dtype,
    check_range,
    check_same_dtype,
    readable,
)
from vtgrad.ops.kernels.reductions.products import is_plain_product, products_of_others
from vtgrad.ops.kernels.support.elementwise import one_of
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number, NumpyDType, Shape
from vtgrad.storage.geometry import normalize_dim
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.prepared_store import NOTHING, Store, carry_out

__all__ = [
    "index_reduce",
    "index_reduce_",
    "repeated_index",
    "scatter_prod_backward",
    "scatter_reduce",
    "scatter_reduce_",
    "scatter_reduced",
    "scatter_reduced_",
]


_UFUNCS: Final[Mapping[str, np.ufunc]] = {
    "sum": np.add,
    "mean": np.add,
    "prod": np.multiply,
    "amax": np.maximum,
    "amin": np.minimum,
}
# PyTorch's older names, used by `scatter`.
_OLDER: Final = {"add": "sum", "multiply": "prod"}


def scatter_reduce(
    self: Array, dim: int, index: Array, src: Array, reduce: str, *, include_self: bool = True
) -> Array:
    """A copy in which ``result[index[i, j], j]`` merges all ``src[i, j]`` with that index.

    Raises
    ------
    ShapeError
        If the shapes do not fit, as in `scatter`, or `reduce` has another value.
    DTypeError
        If `src` has another dtype, or `index` is not of int64 or int32.
    NotSupportedError
        For the largest or smallest of complex values, and the mean of bool.
    """
    result = contiguous(self)
    carry_out(scatter_reduce_(result, dim, index, src, reduce, include_self=include_self))
    return result


def scatter_reduce_(
    self: Array, dim: int, index: Array, src: Array, reduce: str, *, include_self: bool = True
) -> Store:
    """`scatter_reduce` into an array itself."""
    if reduce not in _UFUNCS:
        raise ShapeError(
            f"scatter_reduce merges by sum, prod, mean, amax or amin, not by {reduce!r}",
            reduce=reduce,
        )
    if isinstance(src, np.ndarray):
        src = readable(resolved(src), self)
    return _scatter(self, dim, index, src, reduce, include_self, "scatter_reduce")


def scatter_reduced(self: Array, dim: int, index: Array, src: Array | Number, how: str) -> Array:
    """`scatter` that adds or multiplies instead of storing.

    Raises
    ------
    ShapeError
        If `how` is neither ``add`` nor ``multiply``, or the shapes do not fit.
    """
    result = contiguous(self)
    carry_out(scatter_reduced_(result, dim, index, src, how))
    return result


def scatter_reduced_(self: Array, dim: int, index: Array, src: Array | Number, how: str) -> Store:
    """`scatter_reduced` into an array itself."""
    if how not in _OLDER:
        raise ShapeError(f"scatter can add or multiply, not {how!r}", reduce=how)
    if isinstance(src, np.ndarray):
        src = readable(resolved(src), self)
    return _scatter(self, dim, index, src, _OLDER[how], True, "scatter")


def index_reduce(
    self: Array, dim: int, index: Array, source: Array, reduce: str, *, include_self: bool = True
) -> Array:
    """A copy in which the slices at a vector of indices merge the slices of `source`.

    Raises
    ------
    ShapeError
        If `source` does not have one slice of the target's shape per index, or `reduce` has another
        value.
    DTypeError
        If `source` has another dtype, or `index` is not of int64 or int32.
    OutOfRangeError
        If `index` is not a vector, or an index is negative or past the end.
    """
    result = contiguous(self)
    carry_out(index_reduce_(result, dim, index, source, reduce, include_self=include_self))
    return result


def index_reduce_(
    self: Array, dim: int, index: Array, source: Array, reduce: str, *, include_self: bool = True
) -> Store:
    """`index_reduce` into an array itself."""
    if reduce not in _UFUNCS or reduce == "sum":
        raise ShapeError(
            f"index_reduce merges by prod, mean, amax or amin, not by {reduce!r}", reduce=reduce
        )
    source, index = readable(resolved(source), self), resolved(index)
    axis = normalize_dim(dim, self.ndim)
    if index.ndim > 1:
        raise OutOfRangeError(
            f"index_reduce needs a vector of indices, got shape {index.shape}", shape=index.shape
        )
    check_index_dtype(index, "index_reduce")
    check_same_dtype(self, source, "index_reduce")
    slices = source.shape[axis] if axis < source.ndim else 1
    if index.size != slices:
        raise ShapeError(
            f"index_reduce got {index.size} indices for {slices} slices of the source",
            indices=index.size,
            slices=slices,
        )
    others = [(*x.shape[:axis], *x.shape[axis + 1 :]) for x in (self, source)]
    if source.ndim != self.ndim or others[0] != others[1]:
        raise ShapeError(
            f"index_reduce's source of shape {source.shape} does not have the slices of the "
            f"target's shape {self.shape}",
            source=source.shape,
            sizes=self.shape,
        )
    check_range(index, self.shape[axis] if self.ndim else 1, axis, OutOfRangeError)
    positions = flat_targets(self.shape, axis, repeated_index(index, source.shape, axis))
    return _merge(self, positions, source.reshape(-1), reduce, include_self)


def repeated_index(index: Array, sizes: Shape, dim: int) -> Array:
    """A vector of indices along `dim`, repeated to an index for each element of `sizes`.

    Raises
    ------
    ShapeError
        If there are not as many indices as the dimension is long.
    """
    index, axis = resolved(index), normalize_dim(dim, len(sizes))
    if index.size != (sizes[axis] if sizes else 1):
        raise ShapeError(f"{index.size} indices for dimension {dim} of {sizes}", sizes=sizes)
    if not sizes:
        return index.reshape(()).copy()
    shape = [1] * len(sizes)
    shape[axis] = index.size
    return making.array(making.broadcast_to(index.reshape(shape), sizes))


def _scatter(
    self: Array,
    dim: int,
    index: Array,
    src: Array | Number,
    reduce: str,
    include_self: bool,
    name: str,
) -> Store:
    index = resolved(index)
    axis = check_scatter(self, dim, index, src, name)
    if index.size == 0:
        return NOTHING
    values = scattered_values(self, index, src)
    return _merge(self, flat_targets(self.shape, axis, index), values, reduce, include_self)


def _merge(self: Array, positions: Array, values: Array, reduce: str, include_self: bool) -> Store:
    """Merge values into row-major positions, all of them inside."""
    if self.dtype.kind == "c" and reduce in {"amax", "amin"}:
        raise NotSupportedError(f"{reduce} has no meaning for complex values", dtype=self.dtype)
    if self.dtype == np.bool_ and reduce == "mean":
        raise NotSupportedError("there is no mean of bool", dtype=self.dtype.name)
    flat: Array = np.ravel(resolved(self)).copy()
    values = resolved(values)
    if not include_self:
        flat[positions] = _neutral(reduce, self.dtype)
    _UFUNCS[reduce].at(flat, positions, values)
    if reduce == "mean":
        count = np.bincount(positions, minlength=flat.size) + include_self
        several = np.flatnonzero(count > include_self)
        divide = np.floor_divide if self.dtype.kind in "iub" else np.divide
        flat[several] = divide(flat[several], count[several].astype(self.dtype))
    if not self.ndim:
        return setitem, (self, ..., flat[0]), None
    # In order, each once: a mask takes a fraction of the time of a sort or a hash.
    hit: Array = making.zeros(flat.size, np.bool_)
    hit[positions] = True
    merged = np.flatnonzero(hit)
    return setitem, (self, np.unravel_index(merged, self.shape), flat[merged]), merged


def _neutral(reduce: str, dtype: NumpyDType) -> Array:
    """The neutral element of a way to merge."""
    if reduce in {"amax", "amin"} and dtype.kind != "b":
        if dtype.kind == "f":
            bound: float = -np.inf if reduce == "amax" else np.inf
        else:
            limits = np.iinfo(dtype)
            bound = limits.min if reduce == "amax" else limits.max
        return making.array(bound, dtype)
    return making.array(reduce in {"prod", "amin"}, dtype)


# -- gradients ------------------------------------------------------------------------------


def scatter_prod_backward(
    grad: Array, self: Array, dim: int, index: Array, src: Array, include_self: bool, of_self: bool
) -> Array:
    """The gradient of a product of `scatter_reduce`: for each factor the product of the others.

    Parameters
    ----------
    of_self : bool
        Whether the result is for the elements of `self`, not for those of `src`; the latter has the
        shape of `index`.
    """
    grad, self, index, src = resolved(grad), resolved(self), resolved(index), resolved(src)
    if src.dtype != grad.dtype:
        raise DTypeError(f"a gradient of {grad.dtype} for factors of {src.dtype}")
    axis = normalize_dim(dim, self.ndim)
    positions = flat_targets(self.shape, axis, index)
    values = scattered_values(self, index, src)
    own = np.ravel(self)
    replaced = making.zeros(own.size, np.bool_)
    if not include_self:
        replaced[positions] = True
    others = _other_factors(own, values, positions, replaced, of_self)
    at = making.arange(own.size) if of_self else positions
    result: Array = np.ravel(grad)[at] * np.conj(others)
    if of_self:
        result[replaced] = 0
    return result.astype(grad.dtype, copy=False).reshape(self.shape if of_self else index.shape)


def _other_factors(
    own: Array, values: Array, positions: Array, replaced: Array, of_self: bool
) -> Array:
    """For each element of `own`, or else of `values`, the product of the other factors."""
    first = np.where(replaced, one_of(own.dtype), own)
    # The products of all factors except zeros, and the number of zeros.
    products, zeros = np.where(first == 0, one_of(own.dtype), first), (first == 0).astype(np.int64)
    usual = np.where(values == 0, one_of(own.dtype), values)
    np.multiply.at(products, positions, usual)
    np.add.at(zeros, positions, (values == 0).astype(np.int64))
    if is_plain_product(usual, products[positions]):
        factors = first[positions] if of_self else values
        missing = factors == 0
        found: Array = products[positions] / np.where(missing, one_of(own.dtype), factors)
        found[zeros[positions] > missing] = 0
        if not of_self:
            return found
        # An element into which nothing is merged may be infinite: its product of others is 1.
        others = making.ones_like(own)
        others[positions] = found
        return others
    tables = FactorTables.of(positions, replaced)
    factors = np.concatenate([making.ones(1, own.dtype), own, values])
    parts = [products_of_others(factors[rows], 1).reshape(-1) for rows in tables.rows]
    found = np.concatenate([*parts, making.zeros(1, own.dtype)])
    return found[tables.of_elements if of_self else tables.of_values]
