"""The part of the public storages that the layers below tensors use.

This file is never compiled: the storages that inherit from it are Python classes.
"""

from __future__ import annotations

from vtgrad.errors import NotSupportedError
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["StorageBase"]


class StorageBase:
    """Memory as users see it: the bytes of a buffer, with the version counter of a tensor on it.

    Note [Public storages]

    A `Storage` does not know who counts its writes: tensors on one buffer may have several
    counters, as ``x`` and ``x.data`` do. So the storage that a tensor shows to users is an alias of
    the tensor, of dtype uint8 and without a gradient. A write through it goes the way of every
    other write and is counted by the counter of that tensor, as one through ``x.detach()``.
    """

    __slots__ = ("_alias", "_is_whole")

    _alias: TensorImpl
    # False for a part of a buffer, which a slice has made.
    _is_whole: bool

    @property
    def _storage(self) -> Storage:
        """The buffer.

        Raises
        ------
        NotSupportedError
            If this is a part of a buffer.
        """
        if not self._is_whole:
            raise NotSupportedError("a part of a storage is not a storage for tensors; clone it")
        return self._alias.storage
