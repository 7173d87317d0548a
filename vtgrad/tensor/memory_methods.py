"""The memory of a tensor, new tensors of its dtype, and its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from vtgrad.storage.device import Device
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.storage_base import StorageBase
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_mixin import TensorMixin
from vtgrad.storage.tensor_name import name_of, set_name
from vtgrad.tensor.new_tensor import new_tensor
from vtgrad.tensor.typed_storage import TypedStorage
from vtgrad.tensor.untyped_storage import UntypedStorage, storage_of

__all__ = ["MemoryMethods"]


class MemoryMethods(TensorMixin):
    """Methods for the memory that a tensor lies in, and the tensor's name."""

    __slots__ = ()

    def untyped_storage(self) -> UntypedStorage:
        """The bytes of the buffer that the elements lie in, shared with every alias.

        Returns
        -------
        UntypedStorage
            On the same memory. Writes to it are counted as writes to this tensor.

        Examples
        --------
        >>> x = vt.zeros(4)
        >>> x[2:].untyped_storage() == x.untyped_storage(), x[2:].untyped_storage().nbytes()
        (True, 16)
        """
        return storage_of(self)

    def storage(self) -> TypedStorage:
        """The elements of the buffer that the tensor's elements lie in, in the order of memory.

        Returns
        -------
        TypedStorage
            On the same memory. Writes to it are counted as writes to this tensor.

        Examples
        --------
        >>> x = vt.tensor([[1, 2], [3, 4]])
        >>> x[1].storage().tolist(), x[1].storage_offset()
        ([1, 2, 3, 4], 2)
        """
        return TypedStorage(wrap_storage=storage_of(self), dtype=dtype_of(self._impl.dtype))

    def new(
        self,
        *data: int | Sequence[object] | TensorBase | StorageBase,
        size: Sequence[int] | None = None,
        device: Device | str | None = None,
    ) -> Self:
        """A new tensor of this dtype, in the manner of older programs.

        `new_zeros`, `new_empty` and `new_tensor` say more clearly what is meant.

        Parameters
        ----------
        *data : int, sequence, Tensor or storage
            Sizes of a tensor of zeros, its elements, a tensor of this dtype, of which the result is
            a view, or memory, which the result shares. Nothing makes a tensor without elements.
        size : sequence of int, optional
            Sizes of a tensor of zeros.
        device : device or str, optional
            The device of the tensor by default.

        Returns
        -------
        Tensor
            A tensor of the dtype of this one.

        Raises
        ------
        ArgumentTypeError
            If the arguments are none of these.
        DTypeError
            If a tensor has another dtype.

        Examples
        --------
        >>> x = vt.zeros(2, dtype=vt.int64)
        >>> x.new([1.5, 2.5]), x.new(2, 3).shape
        (tensor([1, 2]), vtgrad.Size([2, 3]))
        """
        place = self.device if device is None else device
        return cast("Self", new_tensor("new", dtype_of(self._impl.dtype), data, size, place))

    @property
    def name(self) -> str | None:
        """The tensor's name in drawings, maps of storages and errors.

        It belongs to this Python object: writes in place keep it, and pickles and deep copies have
        it too; results and views have none. It may be set, and deleted by setting None.

        Returns
        -------
        str or None
            None if no name was set.

        Raises
        ------
        ArgumentTypeError
            If any other object than a string or None is set.

        Examples
        --------
        >>> w = vt.ones(2)
        >>> w.name = "weight"
        >>> w.mul_(2).name, (w * 2).name
        ('weight', None)
        """
        return name_of(self)

    @name.setter
    def name(self, name: str | None) -> None:
        set_name(self, name)
