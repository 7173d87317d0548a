"""Which index sets the elements of storages have.

NOTE [ Sets belong to storages ]

The sets of a tensor are those of its memory: a storage that has any keeps one number for each of
its elements, and a tensor looks at that array through its own sizes, strides and offset. So views
need nothing, and a write through any of them is seen through all.

An array has an entry for each *unit* of the storage's bytes, at first an element of the tensor that
it was made for. A tensor with smaller elements, as the real part of a complex one, splits the units
for good; the set of a larger element is the union of its units.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np

from vtgrad.ops.sparsity.index_sets import IndexSets, IntArray
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["StorageSets"]


class _Entry:
    """The sets of one storage.

    Attributes
    ----------
    ids : ndarray
        The number of the set of each unit.
    unit : int
        The bytes of a unit.
    """

    __slots__ = ("ids", "unit")

    ids: IntArray
    unit: int

    def __init__(self, unit: int, size: int) -> None:
        self.unit = unit
        self.ids = np.zeros(size // unit, np.int64)

    def through(self, impl: TensorImpl) -> IntArray:
        """The entries of a tensor, with a last dimension for the units of each element."""
        item = impl.array.itemsize
        unit = math.gcd(self.unit, item, impl.byte_offset)
        if unit != self.unit:
            self.ids = np.repeat(self.ids, self.unit // unit)
            self.unit = unit
        per, sizes = item // unit, impl.sizes
        if 0 in sizes:
            return np.zeros((*sizes, per), np.int64)
        width = self.ids.itemsize
        return np.ndarray(
            (*sizes, per),
            self.ids.dtype,
            self.ids,
            impl.byte_offset // unit * width,
            (*[s * per * width for s in impl.strides], width),
        )


class StorageSets:
    """The sets of all storages that have any; see Note [Sets belong to storages].

    Parameters
    ----------
    sets : IndexSets
        What the numbers mean.
    """

    __slots__ = ("_entries", "_sets")

    _entries: WeakKeyDictionary[Storage, _Entry]
    _sets: IndexSets

    def __init__(self, sets: IndexSets) -> None:
        self._sets = sets
        self._entries = WeakKeyDictionary()

    def knows(self, impl: TensorImpl) -> bool:
        """Whether the storage of a tensor has sets."""
        return impl._storage is not None and impl._storage in self._entries

    def read(self, impl: TensorImpl) -> IntArray | None:
        """The numbers of a tensor's elements, not to be written; None if all are EMPTY."""
        storage = impl._storage
        entry = None if storage is None else self._entries.get(storage)
        if entry is None:
            return None
        units = entry.through(impl)
        if units.shape[-1] == 1:
            ids = units[..., 0]
        else:
            ids = self._sets.unite_rows(units.reshape(-1, units.shape[-1])).reshape(impl.sizes)
        return ids if ids.any() else None

    def write(self, impl: TensorImpl, ids: IntArray) -> None:
        """Store the numbers of a tensor's elements."""
        storage = impl.storage
        entry = self._entries.get(storage)
        if entry is None:
            if not ids.any():
                return
            entry = self._entries[storage] = _Entry(impl.array.itemsize, storage.nbytes())
        entry.through(impl)[...] = ids[..., None]

    def arrays(self) -> Iterator[IntArray]:
        """The arrays of all storages."""
        for entry in tuple(self._entries.values()):
            yield entry.ids
