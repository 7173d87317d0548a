"""The memory of tensors as bytes; see Note [Public storages]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self, cast, overload

import numpy as np

from vtgrad.errors import ArgumentTypeError, NotSupportedError, OptionValueError
from vtgrad.graph.operators import operators
from vtgrad.graph.tracer import refuse_traced
from vtgrad.ops.calling.from_python import check_device
from vtgrad.ops.composites.indexing.getitem import setitem
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import Device
from vtgrad.storage.growth import grow
from vtgrad.storage.key_set import keys
from vtgrad.storage.storage_base import StorageBase
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.tensor.storage_elements import (
    byte,
    checked_index,
    copy_elements,
    count_of,
    printed,
    size_to_be,
)

__all__ = ["UntypedStorage", "storage_of", "storage_over"]


class UntypedStorage(StorageBase):
    """The bytes of a buffer.

    `Tensor.untyped_storage` gives that of a tensor. Writes to it are counted as writes to that
    tensor, so that backward notices what was overwritten; they are not recorded.

    Parameters
    ----------
    size : int or sequence of int, optional
        The number of bytes of new memory, which are zero; or its bytes, of which the lowest eight
        bits are stored. No bytes by default.
    device : device or str, optional
        There is only the CPU.

    Raises
    ------
    ArgumentTypeError
        If `size` is neither.
    ShapeError
        If it is negative.
    NotSupportedError
        For another device.

    Notes
    -----
    Two objects are equal if they are the same bytes of the same buffer. Pickles and copies hold the
    bytes, and share memory with no tensor.

    Examples
    --------
    >>> x = vt.tensor([1, 256], dtype=vt.int16)
    >>> storage = x.untyped_storage()
    >>> storage.tolist(), len(storage), storage[3]
    ([1, 0, 0, 1], 4, 1)
    >>> storage[0] = 7
    >>> x, x._version
    (tensor([  7, 256], dtype=vtgrad.int16), 1)
    >>> x[1:].untyped_storage() == storage
    True
    """

    __slots__ = ()

    def __init__(
        self, size: int | Sequence[int] = 0, *, device: Device | str | None = None
    ) -> None:
        check_device(device)
        self._alias = TensorImpl(_new_bytes(size))
        self._is_whole = True

    def _bytes(self) -> TensorImpl:
        """The bytes as an alias; a buffer may have grown since the last call."""
        alias = self._alias
        if self._is_whole and alias.array.size != alias.storage.nbytes():
            alias = self._alias = alias.alias(alias.storage.flat, 0)
        return alias

    def nbytes(self) -> int:
        """The number of bytes.

        Returns
        -------
        int
            The same as `size`.

        Examples
        --------
        >>> vt.zeros(3).untyped_storage().nbytes()
        12
        """
        return self._bytes().array.size

    def size(self) -> int:
        """The number of bytes.

        Returns
        -------
        int
            The same as `nbytes`.

        Examples
        --------
        >>> vt.UntypedStorage(4).size()
        4
        """
        return self._bytes().array.size

    def __len__(self) -> int:
        return self._bytes().array.size

    def element_size(self) -> int:
        """The size of an element in bytes.

        Returns
        -------
        int
            Always 1.

        Examples
        --------
        >>> vt.UntypedStorage(4).element_size()
        1
        """
        return 1

    @property
    def device(self) -> Device:
        """Where the memory is.

        Returns
        -------
        device
            The CPU, or a lane of it.

        Examples
        --------
        >>> vt.UntypedStorage(4).device
        device(type='cpu')
        """
        return self._alias.device

    def data_ptr(self) -> int:
        """Address of the first byte.

        Returns
        -------
        int
            0 if the buffer is empty.

        Examples
        --------
        >>> x = vt.zeros(2)
        >>> x.untyped_storage().data_ptr() == x.data_ptr()
        True
        """
        start = self._alias.storage.data_ptr()
        return start + self._alias.byte_offset if start else 0

    def untyped(self) -> UntypedStorage:
        """The storage itself.

        Returns
        -------
        UntypedStorage
            For programs that have a storage of either kind.

        Examples
        --------
        >>> storage = vt.UntypedStorage(4)
        >>> storage.untyped() is storage
        True
        """
        return self

    def tolist(self) -> list[int]:
        """The bytes as numbers.

        Returns
        -------
        list of int
            Numbers from 0 to 255.

        Examples
        --------
        >>> vt.UntypedStorage([1, 2]).tolist()
        [1, 2]
        """
        alias = self._bytes()
        if keys.modes:
            refuse_traced(alias, "reading a storage")
        return cast("list[int]", alias.array.tolist())

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> UntypedStorage: ...
    def __getitem__(self, index: int | slice) -> int | UntypedStorage:
        """One byte, or some bytes that follow each other, on the same memory.

        Raises
        ------
        OutOfRangeError
            If there is no such byte.
        OptionValueError
            If a slice has a step.
        ArgumentTypeError
            If `index` is neither an integer nor a slice.
        """
        alias = self._bytes()
        if isinstance(index, slice):
            start, stop, step = index.indices(alias.array.size)
            if step != 1:
                raise OptionValueError(f"a slice of a storage has step 1, not {step}", step=step)
            part = alias.array[start : max(start, stop)]
            return storage_over(alias.alias(part, alias.byte_offset + start), is_whole=False)
        if keys.modes:
            refuse_traced(alias, "reading a storage")
        return int(alias.array[checked_index(index, alias.array.size)])

    def __setitem__(self, index: int | slice, value: int) -> None:
        """Store one byte, or the same one several times; the lowest eight bits are stored."""
        alias = self._bytes()
        if not isinstance(index, slice):
            index = checked_index(index, alias.array.size)
        setitem(operators().wrap(alias), index, byte(value))

    def fill_(self, value: int) -> Self:
        """Set all bytes.

        Parameters
        ----------
        value : int
            Its lowest eight bits are stored.

        Returns
        -------
        UntypedStorage
            The storage itself.

        Raises
        ------
        ArgumentTypeError
            If `value` is not an integer.

        Examples
        --------
        >>> vt.UntypedStorage(2).fill_(258).tolist()
        [2, 2]
        """
        F.fill_(operators().wrap(self._bytes()), byte(value))
        return self

    def copy_(self, source: UntypedStorage) -> Self:
        """Copy the bytes of another storage.

        Parameters
        ----------
        source : UntypedStorage
            As many bytes.

        Returns
        -------
        UntypedStorage
            The storage itself.

        Raises
        ------
        ArgumentTypeError
            If `source` is no untyped storage.
        ShapeError
            If it has another number of bytes.

        Examples
        --------
        >>> vt.UntypedStorage(2).copy_(vt.UntypedStorage([1, 2])).tolist()
        [1, 2]
        """
        given: object = source
        if not isinstance(given, UntypedStorage):
            raise ArgumentTypeError(
                f"argument 'source' must be an untyped storage, not {type(given).__name__}",
                argument="source",
            )
        copy_elements(self._bytes(), source._bytes(), "bytes")
        return self

    def clone(self) -> UntypedStorage:
        """A copy on new memory.

        Returns
        -------
        UntypedStorage
            The same bytes.

        Examples
        --------
        >>> storage = vt.UntypedStorage([1, 2])
        >>> storage.clone() == storage, storage.clone().tolist()
        (False, [1, 2])
        """
        alias = self._bytes()
        if keys.modes:
            refuse_traced(alias, "copying a storage")
        return storage_over(TensorImpl(alias.array.copy()), is_whole=True)

    def resize_(self, size: int) -> Self:
        """Make the buffer larger, for all tensors on it; new bytes are zero.

        Parameters
        ----------
        size : int
            The new number of bytes.

        Returns
        -------
        UntypedStorage
            The storage itself.

        Raises
        ------
        ArgumentTypeError
            If `size` is no integer.
        NotSupportedError
            If the buffer would become smaller, or the storage is a part of a buffer.
        ResizeError
            If NumPy arrays share the memory, or there is not enough of it.

        Examples
        --------
        >>> x = vt.ones(2)
        >>> x.untyped_storage().resize_(12).nbytes(), x
        (12, tensor([1., 1.]))
        """
        count = size_to_be(size)
        if not self._is_whole or count < self.nbytes():
            raise NotSupportedError(
                "a buffer becomes larger only, and only as a whole; clone the part that is needed",
                nbytes=self.nbytes(),
                requested=count,
            )
        grow(self._storage, count)
        return self

    def cpu(self) -> Self:
        """The storage itself: all memory is the CPU's.

        Returns
        -------
        UntypedStorage
            The storage.

        Examples
        --------
        >>> storage = vt.UntypedStorage(4)
        >>> storage.cpu() is storage
        True
        """
        return self

    def is_shared(self) -> bool:
        """Whether other processes share the memory.

        Returns
        -------
        bool
            Always False.

        Examples
        --------
        >>> vt.UntypedStorage(4).is_shared()
        False
        """
        return False

    def is_pinned(self) -> bool:
        """Whether the memory is locked for a GPU.

        Returns
        -------
        bool
            Always False.

        Examples
        --------
        >>> vt.UntypedStorage(4).is_pinned()
        False
        """
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._extent() == other._extent()

    def __hash__(self) -> int:
        return hash(self._extent())

    def _extent(self) -> tuple[int, int, int]:
        """The buffer and the part of it; the whole of one counts as such when it has grown."""
        alias = self._alias
        return id(alias.storage), alias.byte_offset, -1 if self._is_whole else alias.array.size

    def __repr__(self) -> str:
        name = f"vtgrad.UntypedStorage(device={self.device.type})"
        return printed(self._bytes().array, name)


def storage_of(tensor: TensorBase) -> UntypedStorage:
    """The memory of a tensor; writes to it are counted as the tensor's."""
    impl = tensor._impl
    return storage_over(impl.alias(impl.storage.flat, 0), is_whole=True)


def storage_over(alias: TensorImpl, *, is_whole: bool) -> UntypedStorage:
    """The storage of these bytes."""
    made = object.__new__(UntypedStorage)
    made._alias = alias
    made._is_whole = is_whole
    return made


def _new_bytes(size: int | Sequence[int]) -> Array:
    if isinstance(size, Sequence) and not isinstance(size, (str, bytes)):
        return making.array([byte(value) for value in size], np.uint8)
    return making.zeros(count_of(size), np.uint8)
