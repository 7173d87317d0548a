"""Making a buffer larger.

Note [Growing a buffer]

Memory cannot grow in place, so a larger buffer is a copy, and from then on every tensor of the old
buffer must refer to the new one, as in PyTorch. A `Storage` has no list of its tensors: that list
would cost time whenever a view is made, and growth is rare. So the tensors are searched when a
buffer grows, among all objects that Python's garbage collector tracks, which takes milliseconds.
See also Note [Frozen objects are not found]. No tensor has elements in an empty buffer, as that of
``out=empty(0)``: it grows without a search.

If an operation fails after its buffer grew, the buffer stays large: its tensors show the same
values as before.

A buffer cannot grow while objects other than tensors refer to it: `from_numpy` and `x.numpy()` mark
it permanently, because the library cannot see when the array dies.
"""

from __future__ import annotations

import gc
from collections import deque
from itertools import chain, starmap

import numpy as np

from vtgrad.errors import ResizeError
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.gc_freeze import may_hide_tensors
from vtgrad.storage.lazy_array import like
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_state import FREE_THREADED, refuse_second_thread

__all__ = ["check_growth", "grow"]


def check_growth(storage: Storage, nbytes: int) -> None:
    """Raise if a buffer may not be made this large.

    Raises
    ------
    ResizeError
        If it is smaller now and NumPy arrays share it, or if its tensors cannot be found because of
        ``gc.freeze()``.
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
    if storage.nbytes() and may_hide_tensors():
        raise ResizeError(
            "memory cannot grow after gc.freeze(), which hides the tensors that look at it: call "
            "gc.unfreeze() before, or give the tensor its shape when it is made"
        )


def grow(storage: Storage, nbytes: int) -> None:
    """Make a buffer at least this large, for all its tensors; new bytes are zero.

    See Note [Growing a buffer]. After an error the buffer is as before.

    Raises
    ------
    ResizeError
        As `check_growth`, or if there is not enough memory.
    """
    check_growth(storage, nbytes)
    if FREE_THREADED:
        refuse_second_thread()
    before = storage.nbytes()
    if nbytes <= before:
        return
    try:
        memory = making.zeros(nbytes, np.uint8)
    except (MemoryError, ValueError, OverflowError):
        raise ResizeError(f"there is no memory of {nbytes} bytes", requested=nbytes) from None
    users = _users(storage) if before else []
    arrays = [_moved(user.array, memory, user.byte_offset) for user in users]
    # One call of a C function: no signal handler runs while some tensors are still on the old #
    # memory, and what a handler writes before the call is copied.
    copies = [(memory[:before], storage.flat)]
    fields = ["owner", "_flat", *["array"] * len(users)]
    moves = map(setattr, [storage, storage, *users], fields, [memory, memory, *arrays])
    deque(chain(starmap(np.copyto, copies), moves), 0)


def _users(storage: Storage) -> list[TensorImpl]:
    """All tensors on a buffer."""
    return [
        user
        for user in gc.get_referrers(storage)
        if isinstance(user, TensorImpl) and user._storage is storage
    ]


def _moved(array: Array, memory: Array, offset: int) -> Array:
    """An array of the same geometry at an offset of other memory; a lazy array stays lazy."""
    if not array.size:
        return array
    return like(array, making.ndarray(array.shape, array.dtype, memory, offset, array.strides))
