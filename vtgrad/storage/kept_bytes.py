"""What rewind keeps: the states of a storage between writes. This file is never compiled."""

from __future__ import annotations

import numpy as np

from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.lazy_array import physical
from vtgrad.storage.prepared_store import WrittenIndex
from vtgrad.storage.storage import Storage

__all__ = ["Chain", "Token", "Undo", "view_at"]


class Undo:
    """The elements that one write has overwritten.

    Attributes
    ----------
    offset : int
        Offset of the written array's first element in the storage, in bytes.
    shape, strides : tuple of int
        Geometry of the written array, strides in bytes.
    index : WrittenIndex or None
        The elements that were written; None for all.
    old : ndarray
        The old values.
    """

    __slots__ = ("index", "offset", "old", "shape", "strides")

    offset: int
    shape: Shape
    strides: Shape
    index: WrittenIndex | None
    old: Array

    def __init__(self, array: Array, offset: int, index: WrittenIndex | None) -> None:
        plain = physical(array)
        self.offset = offset
        self.shape = plain.shape
        self.strides = plain.strides
        if index is None or not plain.ndim:
            self.index = None
            self.old = plain.copy()
            return
        key = _numpy_index(index, plain.shape)
        self.index = key
        self.old = making.array(plain[key])

    def apply(self, memory: Array) -> None:
        """Put the elements back in a copy of the storage."""
        view = view_at(memory, self.shape, self.old.dtype, self.offset, self.strides)
        if self.index is None:
            view[...] = self.old
        else:
            view[self.index] = self.old


class Chain:
    """State that the tokens of one storage share.

    Attributes
    ----------
    storage : Storage
        The storage of the values.
    cut : int or None
        The version of the first write that was not kept.
    low, high : int
        The bytes of all saved values, from the first to one past the last.
    """

    __slots__ = ("cut", "high", "low", "storage")

    storage: Storage
    cut: int | None
    low: int
    high: int

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.cut = None
        self.low = 2**62
        self.high = 0


class Token:
    """A storage's state between two writes; see Note [Rewind].

    Attributes
    ----------
    chain : Chain
        The chain of the storage.
    undo : Undo or None
        What the write that ended the state has overwritten; None while the state lasts.
    next : Token or None
        The state after that write.
    """

    __slots__ = ("__weakref__", "chain", "next", "undo")

    chain: Chain
    undo: Undo | None
    next: Token | None

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.undo = None
        self.next = None


def view_at(memory: Array, shape: Shape, dtype: NumpyDType, offset: int, strides: Shape) -> Array:
    """The elements of a copy of a storage that an array with this geometry would show."""
    if 0 in shape:
        return making.empty(shape, dtype)
    view: Array = making.ndarray(shape, dtype, memory, offset, strides)
    return view


def _numpy_index(index: WrittenIndex, shape: Shape) -> WrittenIndex:
    """A copy of an index, in a form that NumPy takes."""
    if isinstance(index, tuple):
        return tuple([k if isinstance(k, slice) else making.array(physical(k)) for k in index])
    if index.dtype == np.bool_:
        return making.array(making.broadcast_to(physical(index), shape))
    return tuple([making.array(k) for k in np.unravel_index(index, shape)])
