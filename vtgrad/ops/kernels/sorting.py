"""Sorting, and the k largest or smallest.

nan counts as larger than every number. Equal elements keep their order, also in descending sorts.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from vtgrad.errors import DTypeError, ElementIndexError
from vtgrad.ops.kernels.support.axes import take_along
from vtgrad.ops.kernels.support.result_strides import empty_like_preserving
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.shapes import normalize_dim

__all__ = ["argsort", "search_rows", "sort", "sort_stable", "topk"]


def _order(x: Array, axis: int, descending: bool) -> Array:
    """The stable order along `axis`."""
    if not descending:
        up: Array = np.argsort(x, axis, kind="stable")
        return up
    # Reversing both the input and the order keeps the order of equal elements.
    reverse = (slice(None),) * axis + (slice(None, None, -1),)
    mirrored = np.argsort(x[reverse], axis, kind="stable")
    down: Array = (x.shape[axis] - 1) - mirrored[reverse]
    return down


# Selecting is faster than sorting from this number of elements, and this many times `k`, on.
_LONG: Final = 64
_MANY: Final = 8


def _has_nan(x: Array) -> bool:
    return x.dtype.kind == "f" and bool(np.isnan(x).any())


def _first_of_order(x: Array, k: int, axis: int, descending: bool) -> Array:
    """The first `k` of the stable order along `axis`, without a full sort; no value is nan."""
    rows = np.moveaxis(x, axis, -1)
    at = rows.shape[-1] - k if descending else k - 1
    border = np.partition(rows, at, -1)[..., at : at + 1]
    wanted: Array = rows >= border if descending else rows <= border
    several = np.count_nonzero(wanted, -1) > k
    if several.any():
        # Of the elements equal to the border, the first ones.
        equal = rows[several] == border[several]
        beyond = np.count_nonzero(wanted[several], -1) - np.count_nonzero(equal, -1)
        wanted[several] &= ~equal | (np.cumsum(equal, -1) <= k - beyond[..., np.newaxis])
    chosen = np.nonzero(wanted)[-1].reshape(*rows.shape[:-1], k)
    order = _order(np.take_along_axis(rows, chosen, -1), rows.ndim - 1, descending)
    return np.moveaxis(np.take_along_axis(chosen, order, -1), -1, axis)


def _sortable(name: str, x: Array, dim: int, kinds: str) -> int:
    axis = normalize_dim(dim, x.ndim)
    if x.dtype.kind in kinds:
        raise DTypeError(f"{name}() has no meaning for {x.dtype} values", dtype=x.dtype)
    return axis


def sort(self: Array, dim: int = -1, descending: bool = False) -> tuple[Array, Array]:
    """The elements in order along `dim`, and their former indices.

    Results have the memory order of the input.
    """
    axis = _sortable("sort", self, dim, "c")
    if self.ndim == 0:
        return self.copy(), making.zeros((), np.int64)
    order = _order(self, axis, descending)
    values = empty_like_preserving(self.dtype, self)
    indices = empty_like_preserving(order.dtype, self)
    values[...] = take_along(self, order, axis)
    indices[...] = order
    return values, indices


def sort_stable(
    self: Array, dim: int = -1, descending: bool = False, *, stable: bool | None
) -> tuple[Array, Array]:
    """`sort` with the argument `stable`; the sort is always stable."""
    return sort(self, dim, descending)


def argsort(self: Array, dim: int = -1, descending: bool = False, stable: bool = False) -> Array:
    """The former index of each element of the sorted tensor."""
    return sort(self, dim, descending)[1]


def topk(
    self: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Array, Array]:
    """The `k` largest (or smallest) elements along `dim`, in order, and their indices.

    They are in order also without `sorted`.

    Raises
    ------
    ElementIndexError
        If there are fewer than `k` elements along `dim`, or `k` is negative.
    """
    axis = _sortable("topk", self, dim, "cb")
    size = self.shape[axis] if self.ndim else 1
    if not 0 <= k <= size:
        raise ElementIndexError(
            f"topk() cannot take {k} of {size} elements along dimension {axis}",
            k=k,
            size=size,
        )
    if self.ndim == 0:
        return self.copy(), making.zeros((), np.int64)
    if k == 1 and (largest or not _has_nan(self)):
        # The first of equal elements, and nan before them.
        order = (np.argmax if largest else np.argmin)(self, axis, keepdims=True)
    elif size >= _LONG and 0 < k <= size // _MANY and not _has_nan(self):
        order = _first_of_order(self, k, axis, largest)
    else:
        head = [slice(None)] * axis + [slice(0, k)]
        order = _order(self, axis, largest)[tuple(head)]
    values: Array = making.empty(order.shape, self.dtype)
    indices: Array = making.empty(order.shape, np.int64)
    values[...] = take_along(self, order, axis)
    indices[...] = order
    return values, indices


def search_rows(self: Array, values: Array, right: bool) -> Array:
    """Where values go into sorted rows: one row of values for each of elements.

    Parameters
    ----------
    self : array
        The elements, ascending along the last dimension.
    values : array
        The values, of any shape for one row, and else with leading dimensions that broadcast.
    right : bool
        Whether a value goes behind equal elements.
    """
    side: Literal["left", "right"] = "right" if right else "left"
    if self.ndim == 1:
        return making.asarray(np.searchsorted(self, values, side), np.int64)
    lead = np.broadcast_shapes(self.shape[:-1], values.shape[:-1])
    found: Array = making.empty((*lead, values.shape[-1]), np.int64)
    rows = making.broadcast_to(self, (*lead, self.shape[-1]))
    wanted = making.broadcast_to(values, found.shape)
    for index in np.ndindex(lead):
        found[index] = np.searchsorted(rows[index], wanted[index], side)
    return found
