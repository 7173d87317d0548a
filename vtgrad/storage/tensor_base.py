# Compiled by mypyc.
"""A tensor without operators: the handle that the lower layers use."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Self, TypeVar

from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.device import Device
from vtgrad.storage.dtypes import DType, dtype_of
from vtgrad.storage.memory_format import MemoryFormat, is_in_format
from vtgrad.storage.native import mypyc_attr
from vtgrad.storage.recent_writes import Write, recent_writes
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["TensorBase", "handle_like", "wrap_like"]

# Note [Objects of results]
#
# A result of an operator has the class of its first tensor. Its object is made by the function that
# the class has as `_make`, not by calling the class: ``__new__`` and ``__init__`` of users' classes
# take what users pass. `Tensor` states it, for itself and for users' classes; a class can have a
# `_make` of its own, which makes results of another class.

# Looking the member up in its class costs more than testing whether a tensor is contiguous.
_CONTIGUOUS: Final = MemoryFormat.CONTIGUOUS


@mypyc_attr(allow_interpreted_subclasses=True)
class TensorBase:
    """A handle to one `TensorImpl`; two handles never share an impl.

    The public `Tensor` adds operators and autograd attributes to it.
    """

    __slots__ = ("_impl",)

    _impl: TensorImpl

    # Makes the object of a result; see Note [Objects of results]. Any, because a type checker would
    # take a function for a method.
    _make: ClassVar[Any]

    # The class of gradients, see Note [Classes of gradients]; None for that of all other tensors.
    _gradient_class: ClassVar[Any] = None

    # The class of what an array or a number of NumPy becomes that forward of a custom Function
    # returns, if an argument is of the class; None where it stays what it is.
    _number_class: ClassVar[Any] = None

    @classmethod
    def _wrap(cls, impl: TensorImpl) -> Self:
        """The tensor of an impl that no other handle has."""
        make = cls._make
        tensor: Self = make(cls)
        tensor._impl = impl
        return tensor

    @property
    def shape(self) -> Shape:
        """Length of each dimension."""
        shape: Shape = self._impl.array.shape
        return shape

    @property
    def ndim(self) -> int:
        """Number of dimensions.

        Returns
        -------
        int
            The length of the shape.

        Examples
        --------
        >>> vt.zeros(2, 3).ndim
        2
        """
        return self._impl.array.ndim

    def dim(self) -> int:
        """Number of dimensions; the same as `ndim`.

        Returns
        -------
        int
            The length of the shape.

        Examples
        --------
        >>> vt.tensor(1.0).dim()
        0
        """
        return self._impl.array.ndim

    def numel(self) -> int:
        """Number of elements.

        Returns
        -------
        int
            The product of the sizes.

        Examples
        --------
        >>> vt.zeros(2, 3).numel()
        6
        """
        return self._impl.array.size

    def nelement(self) -> int:
        """Number of elements; the same as `numel`.

        Returns
        -------
        int
            The product of the sizes.

        Examples
        --------
        >>> vt.zeros(2, 3).nelement()
        6
        """
        return self._impl.array.size

    def element_size(self) -> int:
        """Bytes per element.

        Returns
        -------
        int
            A number from 1 to 16.

        Examples
        --------
        >>> vt.zeros(2).element_size()
        4
        """
        return self._impl.array.itemsize

    def storage_offset(self) -> int:
        """Distance of the first element from the start of the storage, in elements.

        Returns
        -------
        int
            0 unless the tensor is a part of a larger one.

        Examples
        --------
        >>> vt.zeros(2, 3)[1].storage_offset()
        3
        """
        return self._impl.storage_offset

    @property
    def dtype(self) -> DType:
        """Element type.

        Returns
        -------
        dtype
            One of vtgrad's dtypes; `vtgrad.dtype` lists them.

        Examples
        --------
        >>> vt.tensor([1, 2]).dtype
        vtgrad.int64
        """
        return dtype_of(self._impl.array.dtype)

    @property
    def device(self) -> Device:
        """Where the memory is.

        Returns
        -------
        device
            The CPU, or a lane of it.

        Examples
        --------
        >>> vt.zeros(2).device, vt.zeros(2, device="lane:1").device
        (device(type='cpu'), device(type='lane', index=1))
        """
        return self._impl.device

    def is_contiguous(self, *, memory_format: MemoryFormat = MemoryFormat.CONTIGUOUS) -> bool:
        """Whether the elements lie without gaps in the order of a memory format.

        Parameters
        ----------
        memory_format : memory_format, default contiguous_format
            Row-major by default. The answer is False for a format of another number of dimensions.

        Returns
        -------
        bool
            Whether `contiguous` with this format returns the tensor itself.

        Raises
        ------
        ArgumentTypeError
            If `memory_format` is not a format.

        Examples
        --------
        >>> x = vt.zeros(2, 3)
        >>> x.is_contiguous(), x.t().is_contiguous()
        (True, False)
        """
        if memory_format is _CONTIGUOUS:
            return self._impl.is_contiguous
        return is_in_format(self._impl.sizes, self._impl.strides, memory_format)

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating one.

        Returns
        -------
        bool
            False for complex dtypes.

        Examples
        --------
        >>> vt.zeros(2).is_floating_point(), vt.tensor([1j]).is_floating_point()
        (True, False)
        """
        kind: str = self._impl.array.dtype.kind
        return kind == "f"

    def is_complex(self) -> bool:
        """Whether the dtype is a complex one.

        Returns
        -------
        bool
            Whether elements have an imaginary part.

        Examples
        --------
        >>> vt.tensor([1j]).is_complex()
        True
        """
        kind: str = self._impl.array.dtype.kind
        return kind == "c"

    def is_signed(self) -> bool:
        """Whether the dtype has negative values.

        Returns
        -------
        bool
            False for bool and uint8.

        Examples
        --------
        >>> vt.zeros(2).is_signed(), vt.zeros(2, dtype=vt.uint8).is_signed()
        (True, False)
        """
        return self._impl.array.dtype.kind in "ifc"

    def data_ptr(self) -> int:
        """Address of the first element.

        Returns
        -------
        int
            0 for a tensor on an empty storage.

        Examples
        --------
        >>> x = vt.zeros(4)
        >>> x[1:].data_ptr() - x.data_ptr()
        4
        """
        storage = self._impl.storage
        return storage.data_ptr() + self._impl.byte_offset if storage.nbytes() else 0

    @property
    def _version(self) -> int:
        """Number of in-place writes to the storage, through any alias.

        Raises
        ------
        InferenceModeError
            For an inference tensor.
        """
        extra = self._impl.extra_meta
        if extra is not None and extra.stands_for is not None:
            return extra.stands_for.version()
        return self._impl.version

    def writes(self) -> tuple[Write, ...]:
        """The last writes to the storage, through any alias, newest last.

        Eight are remembered, and none of an inference tensor. Writes through ``x.data`` are missing
        here, and backward does not see them either: ``x.data`` has a counter of its own.

        Returns
        -------
        tuple of Write
            The version, operator, line of the program, and view of each.

        Examples
        --------
        >>> x = vt.zeros(2, 3)
        >>> row = x[1].add_(1)
        >>> x[0, 0] = 5
        >>> [write.operator for write in x.writes()]
        ['add_', '__setitem__']
        >>> first = x.writes()[0]
        >>> first.version, first.lineno, first.view.shape, first.view.storage_offset
        (1, 1, (3,), 3)
        """
        extra = self._impl.extra_meta
        if extra is not None and extra.stands_for is not None:
            return recent_writes(extra.stands_for.counter())
        return recent_writes(self._impl.version_counter)

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode; see `vtgrad.inference_mode`.

        Returns
        -------
        bool
            True also for a view of such a tensor.

        Examples
        --------
        >>> with vt.inference_mode():
        ...     x = vt.zeros(2)
        >>> x.is_inference(), x.clone().is_inference()
        (True, False)
        """
        return self._impl.is_inference


T = TypeVar("T", bound=TensorBase)


def handle_like(tensor: T, impl: TensorImpl) -> T:
    """A tensor, of the class of `tensor`, of an impl that no other handle has."""
    cls = type(tensor)
    make = cls._make
    result: T = make(cls)
    result._impl = impl
    return result


def wrap_like(tensor: T, array: Array) -> T:
    """A new tensor, of the class of `tensor`, of an array that has no other reader."""
    return handle_like(tensor, TensorImpl(array))
