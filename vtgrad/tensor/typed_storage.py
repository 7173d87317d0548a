"""The memory of tensors as elements of one dtype; see Note [Public storages]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self, cast

import numpy as np

from vtgrad.errors import ArgumentTypeError, ShapeError
from vtgrad.graph.operators import operators
from vtgrad.graph.tracer import refuse_traced
from vtgrad.ops.calling.from_python import check_device
from vtgrad.ops.composites.indexing.getitem import setitem
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import Device
from vtgrad.storage.dtypes import DType, dtype_of, get_default_dtype, numpy_dtype
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.tensor.storage_casts import StorageCasts
from vtgrad.tensor.storage_elements import (
    checked_index,
    copy_elements,
    count_of,
    printed,
    size_to_be,
)
from vtgrad.tensor.untyped_storage import UntypedStorage, storage_over

__all__ = ["TypedStorage"]


class TypedStorage(StorageCasts):
    """The elements of a buffer in one dtype, whatever the shape of the tensors on it.

    `Tensor.storage` gives that of a tensor. Writes to it are counted as writes to that tensor, so
    that backward notices what was overwritten; they are not recorded.

    Parameters
    ----------
    size : int or sequence of number, optional
        The number of elements of new memory, which are zero; or the elements. None by default.
    dtype : dtype, optional
        The dtype of the elements; the default dtype by default.
    device : device or str, optional
        There is only the CPU.
    wrap_storage : UntypedStorage, optional
        Memory to use instead of new one.

    Raises
    ------
    ArgumentTypeError
        If an argument has another type, or `size` and `wrap_storage` are both given.
    ShapeError
        If `size` is negative.
    NotSupportedError
        For another device.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> storage = x.t().storage()
    >>> storage
     1.0
     2.0
     3.0
     4.0
    [vtgrad.TypedStorage(dtype=vtgrad.float32, device=cpu) of size 4]
    >>> storage[1:3] = 0
    >>> x
    tensor([[1., 0.],
            [0., 4.]])
    """

    __slots__ = ("_untyped_storage", "dtype")

    dtype: DType
    _untyped_storage: UntypedStorage

    def __init__(
        self,
        size: int | Sequence[complex] = 0,
        *,
        dtype: DType | None = None,
        device: Device | str | None = None,
        wrap_storage: UntypedStorage | None = None,
    ) -> None:
        check_device(device)
        self.dtype = get_default_dtype() if dtype is None else dtype_of(numpy_dtype(dtype))
        if wrap_storage is None:
            wrap_storage = storage_over(TensorImpl(_new_elements(size, self.dtype)), is_whole=True)
        elif size != 0 or not isinstance(wrap_storage, UntypedStorage):
            raise ArgumentTypeError(
                "argument 'wrap_storage' is an untyped storage, instead of a size of new memory"
            )
        self._untyped_storage = wrap_storage
        self._alias = wrap_storage._alias
        self._is_whole = wrap_storage._is_whole

    def _elements(self) -> TensorImpl:
        """The elements as an alias of the bytes."""
        alias = self._untyped_storage._bytes()
        item = self.dtype.numpy.itemsize
        whole = alias.array[: alias.array.size // item * item]
        return alias.alias(whole.view(self.dtype.numpy), alias.byte_offset)

    def size(self) -> int:
        """The number of elements.

        Returns
        -------
        int
            Bytes at the end that make no element do not count.

        Examples
        --------
        >>> vt.zeros(2, 3).storage().size()
        6
        """
        return self._untyped_storage.nbytes() // self.element_size()

    def __len__(self) -> int:
        return self.size()

    def nbytes(self) -> int:
        """The number of bytes.

        Returns
        -------
        int
            Of the whole buffer.

        Examples
        --------
        >>> vt.zeros(2, 3).storage().nbytes()
        24
        """
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """The size of an element in bytes.

        Returns
        -------
        int
            Of the dtype.

        Examples
        --------
        >>> vt.zeros(2).storage().element_size()
        4
        """
        return self.dtype.numpy.itemsize

    @property
    def device(self) -> Device:
        """Where the memory is.

        Returns
        -------
        device
            The CPU, or a lane of it.

        Examples
        --------
        >>> vt.zeros(2).storage().device
        device(type='cpu')
        """
        return self.untyped().device

    def data_ptr(self) -> int:
        """Address of the first element.

        Returns
        -------
        int
            0 if the buffer is empty.

        Examples
        --------
        >>> x = vt.zeros(2)
        >>> x[1:].storage().data_ptr() == x.data_ptr()
        True
        """
        return self._untyped_storage.data_ptr()

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes.

        Returns
        -------
        UntypedStorage
            Not a copy.

        Examples
        --------
        >>> x = vt.zeros(2)
        >>> x.storage().untyped() == x.untyped_storage()
        True
        """
        return self._untyped_storage

    def tolist(self) -> list[complex]:
        """The elements as numbers of Python.

        Returns
        -------
        list of number
            In the order of memory.

        Examples
        --------
        >>> vt.tensor([[1, 2], [3, 4]]).t().storage().tolist()
        [1, 2, 3, 4]
        """
        elements = self._elements()
        if keys.modes:
            refuse_traced(elements, "reading a storage")
        return cast("list[complex]", elements.array.tolist())

    def __iter__(self) -> Iterator[complex]:
        return iter(self.tolist())

    def __getitem__(self, index: int) -> complex:
        """One element.

        Raises
        ------
        OutOfRangeError
            If there is no such element.
        ArgumentTypeError
            If `index` is no integer: slices have only the bytes, see `untyped`.
        """
        elements = self._elements()
        if keys.modes:
            refuse_traced(elements, "reading a storage")
        array = elements.array
        return cast("complex", array[checked_index(index, array.size)].item())

    def __setitem__(self, index: int | slice, value: complex) -> None:
        """Store an element, or the same one several times."""
        elements = self._elements()
        if not isinstance(index, slice):
            index = checked_index(index, elements.array.size)
        setitem(operators().wrap(elements), index, value)

    def fill_(self, value: complex) -> Self:
        """Set all elements.

        Parameters
        ----------
        value : number
            The element.

        Returns
        -------
        TypedStorage
            The storage itself.

        Raises
        ------
        ArgumentTypeError
            If `value` is no number.

        Examples
        --------
        >>> vt.zeros(2).storage().fill_(1.5).tolist()
        [1.5, 1.5]
        """
        F.fill_(operators().wrap(self._elements()), value)
        return self

    def copy_(self, source: TypedStorage) -> Self:
        """Copy the elements of another storage, cast to the dtype of this one.

        Parameters
        ----------
        source : TypedStorage
            As many elements.

        Returns
        -------
        TypedStorage
            The storage itself.

        Raises
        ------
        ArgumentTypeError
            If `source` is no typed storage.
        ShapeError
            If it has another number of elements.

        Examples
        --------
        >>> vt.zeros(2).storage().copy_(vt.tensor([1, 2]).storage()).tolist()
        [1.0, 2.0]
        """
        given: object = source
        if not isinstance(given, TypedStorage):
            raise ArgumentTypeError(
                f"argument 'source' must be a typed storage, not {type(given).__name__}",
                argument="source",
            )
        copy_elements(self._elements(), source._elements(), "elements")
        return self

    def clone(self) -> TypedStorage:
        """A copy on new memory.

        Returns
        -------
        TypedStorage
            The same elements.

        Examples
        --------
        >>> vt.ones(2).storage().clone().tolist()
        [1.0, 1.0]
        """
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def cpu(self) -> Self:
        """The storage itself: all memory is the CPU's.

        Returns
        -------
        TypedStorage
            The same object.

        Examples
        --------
        >>> storage = vt.zeros(2).storage()
        >>> storage.cpu() is storage
        True
        """
        return self

    def is_pinned(self) -> bool:
        """Whether the memory is pinned for a graphics card.

        Returns
        -------
        bool
            False.

        Examples
        --------
        >>> vt.zeros(2).storage().is_pinned()
        False
        """
        return False

    def is_shared(self) -> bool:
        """Whether other processes share the memory.

        Returns
        -------
        bool
            As `UntypedStorage.is_shared`.

        Examples
        --------
        >>> vt.zeros(2).storage().is_shared()
        False
        """
        return self._untyped_storage.is_shared()

    def _cast(self, dtype: DType) -> Self:
        return type(self)(len(self), dtype=dtype).copy_(self)

    def type(self, dtype: DType) -> TypedStorage:
        """The elements in another dtype, cast as `Tensor.to` casts them.

        Parameters
        ----------
        dtype : dtype
            The new dtype.

        Returns
        -------
        TypedStorage
            The storage itself if it has the dtype, else one on new memory.

        Examples
        --------
        >>> vt.ones(2).storage().type(vt.int64).tolist()
        [1, 1]
        """
        wanted = dtype_of(numpy_dtype(dtype))
        if wanted is self.dtype:
            return self
        return TypedStorage(len(self), dtype=wanted).copy_(self)

    def resize_(self, size: int) -> Self:
        """Make the buffer larger, for all tensors on it; new elements are zero.

        Parameters
        ----------
        size : int
            The new number of elements.

        Returns
        -------
        TypedStorage
            The storage itself.

        Raises
        ------
        ArgumentTypeError
            If `size` is no integer.
        NotSupportedError
            If the buffer would become smaller.
        ResizeError
            If NumPy arrays share the memory, or there is not enough of it.

        Examples
        --------
        >>> vt.ones(2).storage().resize_(3).tolist()
        [1.0, 1.0, 0.0]
        """
        self._untyped_storage.resize_(size_to_be(size) * self.element_size())
        return self

    def __repr__(self) -> str:
        name = f"vtgrad.TypedStorage(dtype={self.dtype}, device={self.device.type})"
        return printed(self._elements().array, name)


def _new_elements(size: int | Sequence[complex], dtype: DType) -> Array:
    if isinstance(size, Sequence) and not isinstance(size, (str, bytes)):
        elements = making.array(size, dtype.numpy)
        if elements.ndim != 1:
            raise ShapeError("the elements of a storage are numbers, in one sequence")
    else:
        elements = making.zeros(count_of(size), dtype.numpy)
    return elements.view(np.uint8)
