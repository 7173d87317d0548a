"""Reading and writing at index arrays and masks: the advanced part of ``x[...]``.

`indices` has one entry per dimension, None for a whole dimension, and a mask as one entry for
all the dimensions that it covers; trailing Nones may be left out. The index arrays broadcast
with each other; their common shape replaces the dimensions they index if those are
neighbours, and comes first if they are not.

See Note [Which write survives] for duplicates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import setitem
from typing import Final

import numpy as np

from vtgrad.errors import DTypeError, OutOfRangeError, ShapeError
from vtgrad.ops.kernels.copying.copies import clone
from vtgrad.ops.kernels.indexing.index_support import (
    FEW,
    INT64,
    adding_at,
    extremes,
    is_inside,
    last_mentions,
    put_last,
    readable,
)
from vtgrad.ops.kernels.support.result_strides import broadcast_shapes, empty_strided
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, Shape
from vtgrad.storage.geometry import memory_order, view_strides
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.prepared_store import NOTHING, Store, carry_out

__all__ = [
    "index",
    "index_at",
    "index_put",
    "index_put_at",
    "index_put_at_",
    "index_put_into",
    "index_put_overwritten",
    "index_spread",
    "store_at",
]

_BOOL: Final = np.dtype(np.bool_)


def index(self: Array, indices: Sequence[Array | None]) -> Array:
    """The elements at index arrays.

    Raises
    ------
    OutOfRangeError
        If an index is outside its dimension, the index arrays do not broadcast with each other,
        a mask's shape does not fit, or there are more entries than dimensions.
    """
    self = resolved(self)
    if len(indices) == 1 and indices[0] is not None:
        chosen = _at_leading_mask(self, indices[0])
        if chosen is not None:
            return chosen
    key = _expanded(self.shape, indices)
    _check_range(self.shape, key)
    if self.size == 0:
        return making.empty(_arrangement(self.shape, key)[0], self.dtype)
    picked: Array = making.asarray(self[tuple([slice(None) if k is None else k for k in key])])
    # A vector has one order, and one value that is expanded decides none.
    if picked.ndim < 2 or (
        (_is_canonical(self) or not any(self.strides))
        and all(k is None or _is_canonical(k) for k in key)
    ):
        return _owned(picked)
    return _laid_out(picked, self, key)


def _at_leading_mask(self: Array, mask: Array) -> Array | None:
    """The elements at a mask of the first dimensions; None if the general way is needed."""
    if (
        type(mask) not in PLAIN
        or mask.dtype != np.bool_
        or not mask.ndim
        or mask.shape != self.shape[: mask.ndim]
        or not _is_canonical(self)
    ):
        return None
    picked: Array = self[mask]
    # Sizes of 1 have strides of their own.
    return picked if _is_canonical(picked) and picked.size and picked.base is None else None


def index_put(
    self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False
) -> Array:
    """A copy with `values`, broadcast, stored at or added to the elements at index arrays.

    Raises
    ------
    OutOfRangeError
        As `index` does.
    ShapeError
        If `values` does not broadcast to the shape that `index` would give.
    DTypeError
        If `values` has another dtype than `self`; one single value may, with one mask and without
        `accumulate`.
    """
    result = clone(self)
    carry_out(index_put_into(result, indices, values, accumulate))
    return result


def index_put_into(
    target: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False
) -> Store:
    """`index_put` into an array itself.

    `values` may share memory with `target`: it is read first.

    Raises
    ------
    InputOverlapError
        If `values` is the target itself.
    OutOfRangeError, ShapeError, DTypeError
        As `index_put` does.
    """
    if not accumulate:
        alone = indices[0] if len(indices) == 1 and values.dtype is target.dtype else None
        if alone is None:
            store = _at_few(target, indices, values)
        else:
            store = store_at(target, alone, values)
        if store is not None:
            return store
    lone_mask = not accumulate and values.size == 1 and _is_lone_mask(indices)
    values = values.copy() if lone_mask else readable(values, target)
    key = _expanded(target.shape, indices)
    shape, front, first = _arrangement(target.shape, key)
    if values.shape != shape and broadcast_or_none(values.shape, shape) != shape:
        raise ShapeError(
            f"values of shape {values.shape} do not broadcast to {shape}, the shape of the "
            "elements at the indices",
            values=values.shape,
            shape=shape,
        )
    _check_range(target.shape, key)
    if values.dtype != target.dtype:
        if not lone_mask:
            raise DTypeError(
                f"values of dtype {values.dtype} cannot be put at indices of a tensor of "
                f"{target.dtype}",
                expected=target.dtype.name,
                found=values.dtype.name,
            )
        values = as_element(values.item(), target.dtype)
    vectors = _index_vectors(key)
    count = vectors[0].size
    if not count or target.size == 0:
        return NOTHING
    # Indexed dimensions first, and all index arrays as one vector: then entries are in row-major
    # order and each belongs to one contiguous part of the values.
    lead = shape[first : first + len(shape) - len(front)]
    spread = values if values.shape == shape else making.broadcast_to(values, shape)
    if first:
        end = first + len(lead)
        spread = spread.transpose((*range(first, end), *range(first), *range(end, len(shape))))
    pieces = spread.reshape(count, *[target.shape[d] for d in front])
    indexed = [d for d, k in enumerate(key) if k is not None]
    view = target.transpose(*indexed, *front) if front and front[0] < indexed[-1] else target
    remaining = iter(vectors)
    written = tuple([slice(None) if k is None else next(remaining) for k in key])
    if not accumulate:
        numbers, extent = _flat_targets(target.shape, key, vectors)
        return put_last(view, vectors, pieces, numbers, extent, written)
    return adding_at(view, vectors, pieces, written)


def store_at(target: Array, index: Array, values: Array | float | int) -> Store | None:
    """The store at one mask, or one vector of a few integers, of the first dimensions.

    Parameters
    ----------
    target, index : ndarray
        The written array, and the index.
    values : ndarray or number
        Of the target's dtype, or a number that NumPy stores as the library does.

    Returns
    -------
    Store or None
        None for all else, errors included.
    """
    shape = target.shape
    if (
        not index.ndim
        or not shape
        or type(target) not in PLAIN
        or type(index) not in PLAIN
        or 0 in shape
    ):
        return None
    at: tuple[Array, ...]
    is_mask = index.dtype is _BOOL
    if is_mask:
        if index.shape != shape[: index.ndim]:
            return None
        at = index.nonzero()
        count = at[0].size
        if not count:
            return None
    else:
        count = index.size
        if index.dtype is not INT64 or index.ndim != 1 or not 0 < count <= FEW:
            return None
        if type(index) is not np.ndarray:
            return None  # a recording must depend on the answers, not on the numbers
        numbers: list[int] = index.tolist()
        low, size = min(numbers), shape[0]
        if low < -size or max(numbers) >= size:
            return None
        places = numbers if low >= 0 else [n % size for n in numbers]
        if len(set(places)) < count:
            return None
        # The indices may be memory that is written.
        at = (index.copy(),)
    if isinstance(values, np.ndarray):
        if values.ndim and values.shape != (count, *shape[index.ndim :]):
            return None
        # One value at a mask may be an element of the target: it is replaced by itself.
        lone = is_mask and not values.ndim
        values = resolved(values) if lone else readable(values, target)
    return setitem, (target, at, values), at


def _at_few(target: Array, indices: Sequence[Array | None], values: Array) -> Store | None:
    """The store at vectors of a few integers for neighbouring dimensions; None for other indices.

    NumPy's assignment does it, since the integers are in range and no place is repeated. Python
    looks at a few integers sooner than NumPy does.
    """
    shape = target.shape
    if type(target) not in PLAIN or values.dtype is not target.dtype or 0 in shape:
        return None
    axis = 0
    while axis < len(indices) and indices[axis] is None:
        axis += 1
    if not axis < len(indices) <= len(shape):
        return None
    first = indices[axis]
    count = first.size if first is not None else 0
    if not 0 < count <= FEW:
        return None
    vectors: list[Array] = []
    places: list[list[int]] = []
    for dim in range(axis, len(indices)):
        index, size = indices[dim], shape[dim]
        if index is None or index.dtype is not INT64 or index.ndim != 1 or index.size != count:
            return None
        if type(index) is not np.ndarray:
            return None  # as in `store_at`
        numbers: list[int] = index.tolist()
        low = min(numbers)
        if not (-size <= low and max(numbers) < size):
            return None
        # The indices may be memory that is written.
        vectors.append(index.copy())
        places.append(numbers if low >= 0 else [n % size for n in numbers])
    if len(set(places[0] if len(places) == 1 else zip(*places, strict=True))) < count:
        return None
    if values.ndim and values.shape != (*shape[:axis], count, *shape[len(indices) :]):
        return None
    whole: tuple[slice, ...] = (slice(None),) * axis
    at: tuple[Array | slice, ...] = (*whole, *vectors)
    return setitem, (target, at, readable(values, target)), at


def index_put_overwritten(
    indices: Sequence[Array], positions: Sequence[int], self_sizes: Shape
) -> Array:
    """A bool mask of the shape of `index_at`: the values that another one has overwritten."""
    key = _expanded(self_sizes, _spread(indices, positions))
    shape, front, first = _arrangement(self_sizes, key)
    result: Array = making.zeros(shape, np.bool_)
    if 0 in self_sizes:
        # Nothing is stored, so indices outside of their dimension were accepted.
        return result
    kept = last_mentions(*_flat_targets(self_sizes, key, _index_vectors(key)))
    if not kept.all():
        lead = shape[first : first + len(shape) - len(front)]
        tail = (1,) * (len(shape) - first - len(lead))
        result |= ~kept.reshape(*lead, *tail)
    return result


# The table's operators take the index arrays, and separately the dimensions that they index.


def index_at(self: Array, indices: Sequence[Array], positions: Sequence[int]) -> Array:
    """`index` with the entries ``indices[i]`` at ``positions[i]`` and None elsewhere."""
    if len(indices) == 1:
        key, position = resolved(indices[0]), positions[0]
        if (
            key.dtype == np.int64
            and key.ndim
            and self.size
            and position < self.ndim
            and _is_canonical(self)
            and _is_canonical(key)
        ):
            try:
                taken: Array = self.take(key, position)
            except IndexError:
                pass  # a better error follows below
            else:
                return taken
    return index(self, _spread(indices, positions))


def index_put_at(
    self: Array,
    indices: Sequence[Array],
    positions: Sequence[int],
    values: Array,
    accumulate: bool = False,
) -> Array:
    """`index_put` with the entries ``indices[i]`` at ``positions[i]`` and None elsewhere."""
    return index_put(self, _spread(indices, positions), values, accumulate)


def index_put_at_(
    self: Array,
    indices: Sequence[Array],
    positions: Sequence[int],
    values: Array,
    accumulate: bool = False,
) -> Store:
    """`index_put_at` into an array itself."""
    return index_put_into(self, _spread(indices, positions), values, accumulate)


def index_spread(
    self: Array, sizes: Shape, indices: Sequence[Array], positions: Sequence[int]
) -> Array:
    """Zeros of shape `sizes` with `self` added at index arrays: the inverse of `index_at`."""
    result: Array = making.zeros(sizes, self.dtype)
    carry_out(index_put_into(result, _spread(indices, positions), self, accumulate=True))
    return result


def _is_lone_mask(indices: Sequence[Array | None]) -> bool:
    """Whether there is one index only, a mask: then one value is filled in."""
    lone: Array | None = None
    for index in indices:
        if index is not None:
            if lone is not None:
                return False
            lone = index
    return lone is not None and lone.dtype == np.bool_


def _spread(indices: Sequence[Array], positions: Sequence[int]) -> list[Array | None]:
    if len(indices) == 1 and positions[0] == 0:
        return [resolved(indices[0])]
    key: list[Array | None] = [None] * (max(positions, default=-1) + 1)
    for entry, position in zip(indices, positions, strict=True):
        key[position] = resolved(entry)
    return key


# -- index arrays ---------------------------------------------------------------------------


def _expanded(sizes: Shape, indices: Sequence[Array | None]) -> list[Array | None]:
    """One entry per dimension: masks replaced by their true indices, all of one shape.

    The range is not checked; negative indices stay.
    """
    key: list[Array | None] = []
    for entry in indices:
        if entry is None:
            key.append(None)
        elif entry.dtype is INT64:
            key.append(entry)
        elif entry.dtype == np.bool_ or entry.dtype == np.uint8:
            if entry.ndim == 0:
                raise OutOfRangeError(
                    "a 0-d mask stands for no dimension here; write x[mask] or x[mask] = values"
                )
            _check_mask(sizes, len(key), entry)
            key.extend(entry.nonzero())
        elif entry.dtype in (np.int64, np.int32):
            key.append(entry)
        else:
            raise OutOfRangeError(
                f"index arrays must be of int64, int32 or bool, not of {entry.dtype}",
                found=entry.dtype.name,
            )
    if len(key) > len(sizes):
        raise OutOfRangeError(
            f"{len(key)} indices are too many for a tensor with {len(sizes)} dimension(s)",
            ndim=len(sizes),
            count=len(key),
        )
    arrays = [k for k in key if k is not None]
    if not arrays:
        raise OutOfRangeError("advanced indexing needs at least one index array")
    shape = arrays[0].shape
    if len(arrays) > 1 and any(k.shape != shape for k in arrays):
        common = broadcast_or_none(*[k.shape for k in arrays])
        if common is None:
            raise OutOfRangeError(
                "index arrays of shapes "
                + ", ".join(str(k.shape) for k in arrays)
                + " do not broadcast together",
                shapes=tuple(k.shape for k in arrays),
            )
        key = [None if k is None else making.broadcast_to(k, common) for k in key]
    return key


def _check_range(sizes: Shape, key: list[Array | None]) -> None:
    """Refuse indices outside of their dimension; any are accepted if no element is indexed."""
    empty = 0 in sizes and any(
        size == 0 for dim, size in enumerate(sizes) if dim >= len(key) or key[dim] is None
    )
    for dim, k in enumerate(key):
        if k is None or k.size == 0 or (empty and sizes[dim]):
            continue
        size = sizes[dim]
        if not is_inside(k, -size, size):
            low, high = extremes(k)
            wrong = low if low < -size else high
            raise OutOfRangeError(
                f"index {wrong} is outside dimension {dim} of size {size}",
                index=wrong,
                dim=dim,
                size=size,
            )


def _check_mask(sizes: Shape, dim: int, mask: Array) -> None:
    if dim + mask.ndim > len(sizes):
        raise OutOfRangeError(
            f"a mask of shape {mask.shape} at dimension {dim} is too much for a tensor with "
            f"{len(sizes)} dimension(s)",
            ndim=len(sizes),
            mask=mask.shape,
        )
    for k, size in enumerate(mask.shape):
        if size != sizes[dim + k]:
            raise OutOfRangeError(
                f"a mask of shape {mask.shape} does not fit: its size {size} in dimension {k} "
                f"meets dimension {dim + k} of size {sizes[dim + k]}",
                mask=mask.shape,
                dim=dim + k,
                size=sizes[dim + k],
            )


def _arrangement(sizes: Shape, key: list[Array | None]) -> tuple[Shape, list[int], int]:
    """The result's shape, the whole dimensions, and the position of the index shape."""
    indexed = [d for d, k in enumerate(key) if k is not None]
    whole = [d for d in range(len(sizes)) if d >= len(key) or key[d] is None]
    first_array = key[indexed[0]]
    lead: Shape = () if first_array is None else first_array.shape
    neighbours = indexed[-1] - indexed[0] + 1 == len(indexed)
    first = indexed[0] if neighbours else 0
    rest = tuple([sizes[d] for d in whole])
    return (*rest[:first], *lead, *rest[first:]), whole, first


def _index_vectors(key: list[Array | None]) -> tuple[Array, ...]:
    """The index arrays as vectors in row-major order."""
    return tuple([k.reshape(-1) for k in key if k is not None])


def _flat_targets(
    sizes: Shape, key: list[Array | None], vectors: tuple[Array, ...]
) -> tuple[Array, int]:
    """The indexed elements as one vector of row-major positions, and an upper bound of them."""
    extents = [sizes[d] for d, k in enumerate(key) if k is not None]
    flat: Array | None = None
    for vector, extent in zip(vectors, extents, strict=True):
        from_start = vector if vector.dtype is INT64 else vector.astype(np.int64, copy=False)
        if vector.size and not is_inside(vector, 0, extent):
            from_start = np.where(vector < 0, vector + extent, vector)
        if flat is None:
            flat = from_start
        else:
            flat = flat * extent
            flat += from_start
    assert flat is not None
    return flat, math.prod(extents)


def broadcast_or_none(*shapes: Shape) -> Shape | None:
    """The common shape, or None if there is none."""
    try:
        return broadcast_shapes(*shapes)
    except ShapeError:
        return None


# -- the result's memory order --------------------------------------------------------------


def _is_canonical(array: Array) -> bool:
    """Whether the strides are the row-major ones, those of size-1 dimensions included."""
    return array.flags.c_contiguous and 1 not in array.shape


def _owned(picked: Array) -> Array:
    """Row-major with canonical strides, and not a view of another array."""
    if picked.base is None and _is_canonical(picked):
        return picked
    result: Array = making.empty(picked.shape, picked.dtype)
    result[...] = picked
    return result


def _laid_out(picked: Array, self: Array, key: list[Array | None]) -> Array:
    """`picked` in the memory order that the input and the index arrays determine.

    The input decides the order of its whole dimensions, the index arrays that of theirs, and the
    order of the two groups stays row-major.
    """
    shape, whole, first = _arrangement(self.shape, key)
    width = len(shape) - len(whole)
    kept = [self.strides[d] for d in whole]
    operands: list[Shape] = [(*kept[:first], *[0] * width, *kept[first:])]
    for k in key:
        if k is not None:
            padded = (*[1] * first, *k.shape, *[1] * (len(whole) - first))
            own = view_strides(k.shape, k.strides, padded) or ()
            operands.append(
                tuple([0 if n == 1 != m else s for n, m, s in zip(padded, shape, own, strict=True)])
            )
    order = memory_order(shape, *operands)
    if all(dim == len(shape) - 1 - at for at, dim in enumerate(order)):
        return _owned(picked)
    strides = [0] * len(shape)
    step = 1
    for dim in order:
        strides[dim] = step
        step *= shape[dim]
    result = empty_strided(picked.dtype, shape, strides)
    result[...] = picked
    return result
