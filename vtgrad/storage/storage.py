# Compiled by mypyc.
"""A buffer of memory, shared by every tensor on it."""

from __future__ import annotations

import numpy as np

from vtgrad.errors import OutOfBoundsError
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.device import CPU, Device
from vtgrad.storage.lazy_array import physical
from vtgrad.storage.strides import check_sizes

__all__ = ["Storage", "bytes_of"]


class Storage:
    """One buffer. Tensors that alias each other hold the same `Storage` object.

    Attributes
    ----------
    owner : numpy.ndarray
        An array that covers the buffer and keeps it alive. Its shape is not used.
    device : Device
        The device of the memory.
    exported : bool
        Whether NumPy arrays outside of tensors may share the buffer; see Note [Growing a buffer].
    borrowed : bool
        Whether it is the memory of a constant; see Note [Borrowed memory].
    aliases : object
        Audit's list of such arrays, made on first use; see Note [Audit].
    """

    __slots__ = ("__weakref__", "_flat", "aliases", "borrowed", "device", "exported", "owner")

    owner: Array
    device: Device
    exported: bool
    borrowed: bool
    aliases: object
    _flat: Array | None

    def __init__(self, owner: Array) -> None:
        self.owner = owner
        self.device = CPU
        self.exported = False
        self.borrowed = False
        self.aliases = None
        self._flat = None

    @property
    def flat(self) -> Array:
        """The whole buffer as bytes; made on first use."""
        flat = self._flat
        if flat is None:
            flat = self._flat = bytes_of(physical(self.owner))
        return flat

    def nbytes(self) -> int:
        """Size of the buffer in bytes."""
        return int(self.flat.size)

    def size(self) -> int:
        """Size of the buffer in bytes."""
        return int(self.flat.size)

    def __len__(self) -> int:
        return int(self.flat.size)

    def data_ptr(self) -> int:
        """Address of the first byte; 0 for an empty buffer, as in PyTorch."""
        return int(self.flat.ctypes.data) if self.flat.size else 0

    def strided(
        self,
        dtype: NumpyDType,
        sizes: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int,
    ) -> Array:
        """The elements at a geometry, as an array on this buffer.

        Sizes, strides and offset are in elements and must have been checked to stay inside
        (`geometry.check_in_bounds`); NumPy checks once more and raises ValueError.

        Raises
        ------
        ShapeError, NotSupportedError
            If NumPy has no array of these sizes, which a stride of 0 allows to be of any number.
        OutOfBoundsError
            If a stride in bytes exceeds 64 bits, which is possible where the size is 1.
        """
        item = dtype.itemsize
        try:
            if 0 in sizes:
                return making.ndarray(sizes, dtype)
            flat = self._flat
            if flat is None:
                flat = self.flat
            steps = tuple([s * item for s in strides])
            array: Array = making.ndarray(sizes, dtype, flat, offset * item, steps)
        except ValueError:
            check_sizes(sizes, item)
            if any(not -(2**63) <= s * item < 2**63 for s in strides):
                raise OutOfBoundsError(
                    f"strides {list(strides)} are more than memory can have", strides=strides
                ) from None
            raise
        return array


def bytes_of(owner: Array) -> Array:
    """The whole extent of an array's memory, as bytes, which keep the array alive."""
    if owner.size == 0:
        return making.ndarray(0, np.uint8)
    dense = owner
    if not owner.flags.c_contiguous:
        if min(owner.strides) < 0:
            owner = owner[tuple([slice(None, None, -1 if s < 0 else 1) for s in owner.strides])]
        dense = owner.transpose(sorted(range(owner.ndim), key=lambda d: -owner.strides[d]))
    if dense.flags.c_contiguous:
        return dense.reshape(-1).view(np.uint8)
    # A user's array may have gaps (`from_numpy(a[::2])`): the extent includes them.
    extent = (
        sum((n - 1) * s for n, s in zip(owner.shape, owner.strides, strict=True)) + owner.itemsize
    )
    start = owner[(slice(0, 1),) * owner.ndim].reshape(-1)[:1].view(np.uint8)
    return making.as_strided(start, (extent,), (1,))
