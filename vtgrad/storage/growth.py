"""Making a buffer larger.

NOTE [ Growing a buffer ]

Memory cannot grow where it lies, so a larger buffer is a copy, and every tensor on the old one
must look at the new one from then on, as in PyTorch. A `Storage` does not know its tensors: that
would cost time whenever a view is made, for something that hardly ever happens. So they are
looked for when it happens, among all objects that Python's garbage collector knows, which takes
milliseconds. See also Note [Frozen objects are not found].

What has failed after a buffer grew for it takes the growth back (`Growth.undo`).

A buffer that somebody looks at who is no tensor cannot grow: `from_numpy` and `x.numpy()` mark it,
for good, because an array outlives what can be known about it.
"""

from __future__ import annotations

import gc

import numpy as np

from vtgrad.errors import ResizeError
from vtgrad.storage.arrays import Array
from vtgrad.storage.frozen_objects import may_hide_tensors
from vtgrad.storage.lazy_array import like
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["Growth", "check_growth", "grow"]


def check_growth(storage: Storage, nbytes: int) -> None:
    """Raise if a buffer may not be made this large.

    Raises
    ------
    ResizeError
        If it is smaller now and somebody who is no tensor looks at it, or if its tensors could
        not be found because of ``gc.freeze()``.
    """
    if nbytes <= storage.nbytes():
        return
    if storage.exported:
        raise ResizeError(
            f"memory that is shared with NumPy cannot grow from {storage.nbytes()} to {nbytes} "
            "bytes; clone the tensor",
            nbytes=storage.nbytes(),
            requested=nbytes,
        )
    if may_hide_tensors():
        raise ResizeError(
            "memory cannot grow after gc.freeze(), which hides the tensors that look at it"
        )


class Growth:
    """A buffer that has grown, and how it was before."""

    __slots__ = ("_arrays", "_flat", "_owner", "_storage")

    _storage: Storage
    _owner: Array
    _flat: Array
    _arrays: list[tuple[TensorImpl, Array]]

    def __init__(self, storage: Storage, arrays: list[tuple[TensorImpl, Array]]) -> None:
        """Remember a buffer, and the arrays of all tensors on it."""
        self._storage = storage
        self._owner = storage.owner
        self._flat = storage.flat
        self._arrays = arrays

    def undo(self) -> None:
        """Let all tensors look at the former memory again, which gets what was written since."""
        storage = self._storage
        if storage.owner is self._owner:
            return
        self._flat[:] = storage.flat[: self._flat.size]
        for impl, array in self._arrays:
            impl.array = array
        storage.owner = self._owner
        storage._flat = self._flat


def grow(storage: Storage, nbytes: int) -> Growth | None:
    """Make a buffer at least this large, for all tensors that look at it; new bytes are zero.

    See Note [Growing a buffer]. After an error it is as before.

    Returns
    -------
    Growth or None
        What can undo it; None if the buffer is large enough.

    Raises
    ------
    ResizeError
        If that is not possible: see `check_growth`, or there is not so much memory.
    """
    check_growth(storage, nbytes)
    before = storage.nbytes()
    if nbytes <= before:
        return None
    try:
        memory = np.zeros(nbytes, np.uint8)
    except (MemoryError, ValueError, OverflowError):
        raise ResizeError(f"there is no memory of {nbytes} bytes", requested=nbytes) from None
    memory[:before] = storage.flat
    users = [
        user
        for user in gc.get_referrers(storage)
        if isinstance(user, TensorImpl) and user._storage is storage
    ]
    moved = [(user, _moved(user.array, memory, user.byte_offset)) for user in users]
    growth = Growth(storage, [(user, user.array) for user in users])
    # First, because `undo` does nothing before.
    storage.owner = memory
    try:
        storage._flat = memory
        for impl, array in moved:
            impl.array = array
    except BaseException:
        growth.undo()
        raise
    return growth


def _moved(array: Array, memory: Array, offset: int) -> Array:
    """An array of the same geometry at an offset of other memory, read in the same way."""
    if not array.size:
        return array
    return like(array, np.ndarray(array.shape, array.dtype, memory, offset, array.strides))
