"""Which index sets the elements of storages have.

Note [Sets belong to storages]

The sets of a tensor are those of its memory: a storage that has any keeps one number for each of
its elements, and a tensor looks at that array through its own sizes, strides and offset. So views
need nothing, and a write through any of them is seen through all.

An array has an entry for each *unit* of the storage's bytes, at first an element of the tensor that
it was made for. A tensor with smaller elements, as the real part of a complex one, splits the units
for good; the set of a larger element is the union of its units.

A storage is known by the identity of the array that owns its memory, because native objects take no
weak references. The weak references have no callback, in which an interrupt would get lost: entries
of memory that is gone are removed whenever their number of elements has doubled.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from typing import Final

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.ops.rules.patterns.index_sets import IndexSets, IntArray
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.storage import Storage
from vtgrad.storage.strides import MAX_DIMS
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["StorageSets"]

# So many elements are not worth a search for memory that is gone.
_FEW: Final = 2**14


class _Entry:
    """The sets of one storage.

    Attributes
    ----------
    ids : ndarray
        The number of the set of each unit.
    reference : weak reference
        To the array that owns the memory.
    two_histories : bool
        See Note [Local patterns].
    unit : int
        The bytes of a unit.
    """

    __slots__ = ("ids", "reference", "two_histories", "unit")

    ids: IntArray
    reference: weakref.ref[Array]
    two_histories: bool
    unit: int

    def __init__(self, storage: Storage, unit: int) -> None:
        self.reference = weakref.ref(storage.owner)
        self.two_histories = False
        self.unit = unit
        self.ids = making.zeros(storage.nbytes() // unit, np.int64)

    def through(self, impl: TensorImpl) -> IntArray:
        """The entries of a tensor, with a last dimension for the units of each element."""
        item = impl.array.itemsize
        unit = math.gcd(self.unit, item, impl.byte_offset)
        if unit != self.unit:
            self.ids = np.repeat(self.ids, self.unit // unit)
            self.unit = unit
        per, sizes = item // unit, impl.sizes
        if 0 in sizes:
            return making.zeros((*sizes, per), np.int64)
        width = self.ids.itemsize
        return making.ndarray(
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

    __slots__ = ("_entries", "_limit", "_sets", "_size")

    _entries: dict[int, _Entry]
    _limit: int
    _sets: IndexSets
    _size: int

    def __init__(self, sets: IndexSets) -> None:
        self._sets = sets
        self._entries = {}
        # The elements of all entries, and how many there may be before the next search for memory
        # that is gone.
        self._size = 0
        self._limit = _FEW

    def knows(self, impl: TensorImpl) -> bool:
        """Whether the storage of a tensor has sets."""
        return self._entry_of(impl) is not None

    def _entry_of(self, impl: TensorImpl) -> _Entry | None:
        storage = impl._storage
        if storage is None:
            return None
        owner = storage.owner
        entry = self._entries.get(id(owner))
        return entry if entry is not None and entry.reference() is owner else None

    def has_two_histories(self, impl: TensorImpl) -> bool:
        """Whether `begin_two_histories` was called for the storage of a tensor."""
        entry = self._entry_of(impl)
        return entry is not None and entry.two_histories

    def begin_two_histories(self, impl: TensorImpl) -> None:
        """Note that the memory of a tensor, which has sets, has two histories from now on."""
        entry = self._entry_of(impl)
        assert entry is not None
        entry.two_histories = True

    def read(self, impl: TensorImpl) -> IntArray | None:
        """The numbers of a tensor's elements, not to be written; None if all are EMPTY."""
        entry = self._entry_of(impl)
        if entry is None:
            return None
        _check_dimensions(impl)
        units = entry.through(impl)
        if units.shape[-1] == 1:
            ids = units[..., 0]
        else:
            ids = self._sets.unite_rows(units.reshape(-1, units.shape[-1])).reshape(impl.sizes)
        return ids if ids.any() else None

    def write(self, impl: TensorImpl, ids: IntArray) -> None:
        """Store the numbers of a tensor's elements."""
        entry = self._entry_of(impl)
        if entry is None:
            if not ids.any():
                return
            entry = _Entry(impl.storage, impl.array.itemsize)
            self._forget_dead(entry.ids.size)
            self._entries[id(impl.storage.owner)] = entry
        _check_dimensions(impl)
        entry.through(impl)[...] = ids[..., None]

    def _forget_dead(self, new: int) -> None:
        """Remove the entries of memory that is gone, if there are many elements with `new` ones."""
        self._size += new
        if self._size > self._limit:
            entries = {
                key: entry for key, entry in self._entries.items() if entry.reference() is not None
            }
            self._size = new + sum(entry.ids.size for entry in entries.values())
            self._limit = max(_FEW, 2 * self._size)
            self._entries = entries

    def arrays(self) -> Iterator[IntArray]:
        """The arrays of all storages."""
        for entry in tuple(self._entries.values()):
            if entry.reference() is not None:
                yield entry.ids


def _check_dimensions(impl: TensorImpl) -> None:
    """Refuse a tensor of as many dimensions as NumPy's arrays have: the sets need one more.

    Raises
    ------
    NotSupportedError
        If it has so many.
    """
    if impl.array.ndim >= MAX_DIMS:
        raise NotSupportedError(
            f"the pattern of a Jacobian is not found through tensors of {impl.array.ndim} "
            "dimensions; reshape them"
        )
