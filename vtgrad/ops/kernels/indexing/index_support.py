"""Helpers of all indexing kernels: checks of index arrays, and writes with duplicates.

Note [Which write survives]
Several indices may name one target. Additions use all values. Of stored values, the last one in
row-major order of the index array survives, and only that one may get a gradient: the
``*_overwritten`` kernels return a mask of the others. NumPy's assignment keeps the last one too,
but in the memory order of the index array; so kernels assign through flat, row-major indices.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import setitem
from typing import Final

import numpy as np

from vtgrad.errors import (
    DTypeError,
    ElementIndexError,
    InputOverlapError,
    OutOfRangeError,
    ShapeError,
)
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, Number
from vtgrad.storage.geometry import is_non_overlapping_and_dense
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.prepared_store import Store, WrittenIndex, carry_out

__all__ = [
    "FEW",
    "FEW_ROWS",
    "INT64",
    "add_at",
    "adding_at",
    "check_index_dtype",
    "check_mask",
    "check_range",
    "check_same_dtype",
    "extremes",
    "is_inside",
    "fill_value",
    "last_mentions",
    "ndim",
    "put_last",
    "readable",
    "survivors",
]


# Up to so many integers are looked at one by one.
FEW: Final = 32
INT64: Final = np.dtype(np.int64)
_UNSIGNED: Final = np.dtype(np.uint64)
_BOOL: Final = np.dtype(np.bool_)
# The largest number of rows that are added one by one.
FEW_ROWS: Final = 16
# Sorting is faster than a table of all positions from this number of positions per index on.
_SPARSE: Final = 64
_INT32: Final = 2**31 - 1


def add_at(target: Array, index: Array | tuple[Array, ...], values: Array) -> None:
    """Add `values` to `target` at vectors of leading indices, duplicates included."""
    carry_out(adding_at(target, index, values, None))


def adding_at(
    target: Array,
    index: Array | tuple[Array, ...],
    values: Array,
    written: WrittenIndex | None,
) -> Store:
    """The store of `add_at`; `written` is the index of the written elements."""
    vectors = index if isinstance(index, tuple) else (index,)
    add = np.logical_or if target.dtype == np.bool_ else np.add
    if values.ndim == 1 or vectors[0].size < FEW_ROWS:
        return add.at, (target, vectors, values), written
    key = np.ravel_multi_index(vectors, target.shape[: len(vectors)], mode="wrap")
    if target.flags.c_contiguous:
        # `ufunc.at` is fast for single elements only.
        width = values[0].size
        each = key[:, None] * width + making.arange(width)
        return add.at, (target.reshape(-1), each.reshape(-1), values.reshape(-1)), written
    # Rows of one index are summed first, then added once.
    order = np.argsort(key, kind="stable")
    grouped = key[order]
    starts = np.flatnonzero(np.concatenate(([True], grouped[1:] != grouped[:-1])))
    first = order[starts]
    at = tuple([vector[first] for vector in vectors])
    sums = add.reduceat(values.take(order, 0), starts, axis=0, dtype=target.dtype)
    return setitem, (target, at, add(target[at], sums)), written


def put_last(
    target: Array,
    vectors: tuple[Array, ...],
    values: Array,
    numbers: Array,
    extent: int,
    written: WrittenIndex | None,
) -> Store:
    """Store `values` in `target` at vectors of leading indices; of duplicates the last stays.

    Parameters
    ----------
    numbers : ndarray
        For each index a number below `extent`, equal for equal indices.
    written : WrittenIndex or None
        The index of the written elements.
    """
    last = survivors(numbers, extent)
    if last is not None and values.ndim == 1:
        # If each entry stores the value of its last repetition, any order is correct.
        values = values.take(last, mode="clip")
    elif last is not None:
        kept = last == making.arange(last.size)
        vectors = tuple([vector[kept] for vector in vectors])
        values = values[kept]
    return setitem, (target, vectors, values), written


def survivors(targets: Array, extent: int) -> Array | None:
    """For each entry of a vector of numbers below `extent`, the position of its last repetition.

    Returns
    -------
    ndarray or None
        Positions in the vector; None if nothing is repeated.
    """
    count = targets.size
    if count < 2:
        return None
    # A recording must depend on the answer, not on the numbers.
    if count <= FEW and type(targets) is np.ndarray and len(set(targets.tolist())) == count:
        return None
    if extent > _SPARSE * count:
        found, first_from_the_end = np.unique(targets[::-1], return_index=True)
        if found.size == count:
            return None
        return making.asarray((count - 1 - first_from_the_end)[np.searchsorted(found, targets)])
    # A table of bytes stays in the cache, and most indices have no repetitions.
    mentioned = making.zeros(extent, np.bool_)
    mentioned[targets] = True
    if np.count_nonzero(mentioned) == count:
        return None
    turns: Array = making.arange(count, dtype=np.int32 if count <= _INT32 else np.int64)
    last: Array = making.empty(extent, turns.dtype)
    last[targets] = turns
    seen = last.take(targets)
    if (seen < turns).any():
        # NumPy stores in order, but does not document that.
        last.fill(-1)
        np.maximum.at(last, targets, turns)
        seen = last.take(targets)
    return seen


def last_mentions(targets: Array, extent: int) -> Array:
    """A mask of the entries of a vector of numbers below `extent` that have no later repetition."""
    last = survivors(targets, extent)
    if last is None:
        return making.ones(targets.shape, np.bool_)
    return making.asarray(last == making.arange(targets.size))


def ndim(x: Array) -> int:
    """The number of dimensions, a 0-d array counting as one of size 1."""
    return x.ndim or 1


def fill_value(value: Array | Number, name: str) -> Number:
    """The number to fill with; that of a 0-d array is read from it."""
    if not isinstance(value, np.ndarray):
        return value
    if value.ndim:
        raise ShapeError(
            f"{name} fills with one value, got a tensor of shape {value.shape}",
            shape=value.shape,
        )
    number: Number = value.item()
    return number


def check_mask(mask: Array, name: str) -> None:
    """Refuse a mask that is not of bool."""
    if mask.dtype is not _BOOL and mask.dtype != _BOOL:
        raise DTypeError(f"{name} needs a mask of bool, got {mask.dtype}", found=mask.dtype.name)


def check_index_dtype(index: Array, name: str) -> None:
    """Refuse indices that are not of int64 or int32."""
    if index.dtype is not INT64 and index.dtype != np.int64 and index.dtype != np.int32:
        raise DTypeError(
            f"{name} needs int64 or int32 indices, got {index.dtype}", found=index.dtype.name
        )


def check_same_dtype(self: Array, source: Array, name: str) -> None:
    """Refuse a source whose dtype is not the target's."""
    if source.dtype is not self.dtype and source.dtype != self.dtype:
        raise DTypeError(
            f"{name} needs a source of the target's dtype {self.dtype}, got {source.dtype}",
            expected=self.dtype.name,
            found=source.dtype.name,
        )


def readable(values: Array, target: Array) -> Array:
    """The values before `target` is written, in a plain array on other memory.

    Raises
    ------
    InputOverlapError
        If they are the written elements themselves: PyTorch refuses that here, since the result
        would depend on the order of writing.
    """
    if type(values) in PLAIN:
        mine, other = values.base, target.base
        mine, other = values if mine is None else mine, target if other is None else other
        if (
            mine is not other
            and type(mine) in PLAIN
            and type(other) in PLAIN
            and mine.base is other.base is None
        ):
            return values  # Both are of memory that another array owns.
    if not np.may_share_memory(values, target):
        return resolved(values)
    plain = type(values) in PLAIN and type(target) in PLAIN
    if plain and _is_dense(values) and _is_dense(target):
        raise InputOverlapError(
            "a tensor cannot be scattered into itself; clone the source first", shape=target.shape
        )
    return values.copy()


def _is_dense(x: Array) -> bool:
    return is_non_overlapping_and_dense(x.shape, tuple([step // x.itemsize for step in x.strides]))


def extremes(index: Array) -> tuple[int, int]:
    """The smallest and the largest of some integers; of a few, Python finds them sooner."""
    if index.size <= FEW:
        numbers: list[int] = (index if index.ndim == 1 else index.reshape(-1)).tolist()
        return min(numbers), max(numbers)
    return int(index.min()), int(index.max())


def is_inside(index: Array, lowest: int, size: int) -> bool:
    """Whether all of some integers are in ``[lowest, size)``."""
    if type(index) is np.ndarray:
        if index.size > FEW and index.dtype is INT64 and not lowest:
            # One pass: read without a sign, a negative integer is larger than any size.
            return bool(np.maximum.reduce(index.view(_UNSIGNED), None) < size)
        low, high = extremes(index)
        return lowest <= low and high < size
    # A recording must depend on the answer, not on the numbers.
    return bool(np.all(index >= lowest)) and bool(np.all(index < size))


def check_range(
    index: Array,
    size: int,
    axis: int | None,
    error: Callable[..., OutOfRangeError | ElementIndexError] = ElementIndexError,
    lowest: int = 0,
) -> None:
    """Refuse indices outside ``[lowest, size)``; PyTorch's kernels differ in the exception."""
    if index.size == 0:
        return
    if not is_inside(index, lowest, size):
        low, high = extremes(index)
        wrong = low if low < lowest else high
        where = f"dimension {axis} of size {size}" if axis is not None else f"{size} elements"
        raise error(f"index {wrong} is outside {where}", index=wrong, dim=axis, size=size)
