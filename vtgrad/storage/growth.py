"""Making a buffer larger.

NOTE [ Growing a buffer ]

Memory cannot grow where it lies, so a larger buffer is a copy, and every tensor on the old one
must look at the new one from then on, as in PyTorch. A `Storage` does not know its tensors: that
would cost time whenever a view is made, for something that hardly ever happens. So they are
looked for when it happens, among all objects that Python's garbage collector knows, which takes
milliseconds. See also Note [Frozen objects are not found].

What fails after a buffer grew for it leaves it large: its tensors show what they showed before.

A buffer that somebody looks at who is no tensor cannot grow: `from_numpy` and `x.numpy()` mark it,
for good, because an array outlives what can be known about it.
"""

from __future__ import annotations

import gc
from collections import deque
from itertools import chain, starmap

import numpy as np

from vtgrad.errors import ResizeError
from vtgrad.storage.arrays import Array
from vtgrad.storage.frozen_objects import may_hide_tensors
from vtgrad.storage.lazy_array import like
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["check_growth", "grow"]


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


def grow(storage: Storage, nbytes: int) -> None:
    """Make a buffer at least this large, for all tensors that look at it; new bytes are zero.

    See Note [Growing a buffer]. After an error it is as before.

    Raises
    ------
    ResizeError
        If that is not possible: see `check_growth`, or there is not so much memory.
    """
    check_growth(storage, nbytes)
    before = storage.nbytes()
    if nbytes <= before:
        return
    try:
        memory = np.zeros(nbytes, np.uint8)
    except (MemoryError, ValueError, OverflowError):
        raise ResizeError(f"there is no memory of {nbytes} bytes", requested=nbytes) from None
    users = [
        user
        for user in gc.get_referrers(storage)
        if isinstance(user, TensorImpl) and user._storage is storage
    ]
    arrays = [_moved(user.array, memory, user.byte_offset) for user in users]
    # One call of a C function, so that no signal handler finds some tensors on the old memory, and
    # what it writes before is copied.
    copies = [(memory[:before], storage.flat)]
    fields = ["owner", "_flat", *["array"] * len(users)]
    moves = map(setattr, [storage, storage, *users], fields, [memory, memory, *arrays])
    deque(chain(starmap(np.copyto, copies), moves), 0)


def _moved(array: Array, memory: Array, offset: int) -> Array:
    """An array of the same geometry at an offset of other memory, read in the same way."""
    if not array.size:
        return array
    return like(array, np.ndarray(array.shape, array.dtype, memory, offset, array.strides))
