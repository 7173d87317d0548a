"""Tensors on the memory of buffers and of other libraries."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final, cast

from vtgrad.errors import ArgumentTypeError, ArgumentValueError
from vtgrad.ops.calling.from_python import check_differentiable, request_grad
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import Device, lane_of
from vtgrad.storage.dtypes import DType, numpy_dtype
from vtgrad.storage.integers import index_of
from vtgrad.storage.on_device import on_device
from vtgrad.tensor.from_data import from_numpy
from vtgrad.tensor.tensor import Tensor

if TYPE_CHECKING:
    from typing_extensions import Buffer, CapsuleType

__all__ = ["from_dlpack", "frombuffer"]


def from_dlpack(
    obj: object, *, device: Device | str | None = None, copy: bool | None = None
) -> Tensor:
    """A tensor on the memory of another library's array, by the protocol of DLPack.

    The memory is shared: writes to one change the other. The other library's writes move no
    version of the tensor; call `vtgrad.autograd.graph.increment_version` after them, if backward
    may still need the values. Strides may be negative, which PyTorch refuses.

    Parameters
    ----------
    obj : object
        An array with a method ``__dlpack__``, of NumPy, PyTorch, JAX or another library, with
        memory that the CPU can read and a dtype that vtgrad has.
    device : device or str, optional
        The CPU asks the other library to copy memory of another device there; by default such
        memory is refused. For a lane the memory is copied.
    copy : bool, optional
        True for a copy, False to raise if one is needed; by default memory is copied only where
        `device` needs it.

    Returns
    -------
    Tensor
        A leaf that does not require grad. It is read-only, as of `from_numpy`, if the memory is, or
        if an old ``__dlpack__`` does not tell whether it is; a copy can be written.

    Raises
    ------
    ArgumentTypeError
        If `obj` has no ``__dlpack__``, or vtgrad does not have its dtype.
    ArgumentValueError
        If `copy` is False and `device` is a lane.
    BufferError
        If the other library refuses, as `DLPackError` of tensors that require grad.

    Examples
    --------
    >>> a = np.zeros(2)
    >>> x = vt.from_dlpack(a)
    >>> a[0] = 7
    >>> x
    tensor([7., 0.], dtype=vtgrad.float64)
    """
    lane = lane_of(device)
    if not hasattr(obj, "__dlpack__"):
        raise ArgumentTypeError(
            f"from_dlpack takes an object with a method __dlpack__, not {type(obj).__name__}",
            argument="obj",
        )
    if lane is not None and copy is False:
        raise ArgumentValueError("memory comes to a lane by a copy, and copy is False", device=lane)
    source = _Source(obj)
    array: Array = making.from_dlpack(
        source,
        device=None if device is None else "cpu",
        # NumPy would ask the other library for the copy, which older ones cannot make.
        copy=False if copy is False else None,
    )
    if copy or lane is not None:
        return on_device(lane, from_numpy, array.copy(order="K"))
    if source.writable and not array.flags.writeable:
        array = making.asarray(_Writable(array))
    # A view of the array that holds the capsule, because `set_audit` may lock only views: NumPy
    # does not make an array writeable again that has a capsule for its base.
    return from_numpy(array.view())


class _Source:
    """What NumPy takes an array from: another library's object, whose answer is looked at.

    Attributes
    ----------
    writable : bool
        Whether the other library says that its memory may be written.
    """

    def __init__(self, obj: object) -> None:
        self._obj: Any = obj
        self.writable = False

    def __dlpack__(self, **options: object) -> CapsuleType:
        capsule: CapsuleType = self._obj.__dlpack__(**options)
        self.writable = _is_writable(capsule)
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return cast("tuple[int, int]", self._obj.__dlpack_device__())


class _Header(ctypes.Structure):
    """The beginning of what a capsule of DLPack 1 points to."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
    )


_VERSIONED: Final = b"dltensor_versioned"
_READ_ONLY: Final = 1
_is_valid: Final = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_pointer: Final = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _is_writable(capsule: object) -> bool:
    """Whether a capsule says that its memory may be written, which old ones cannot."""
    if not _is_valid(capsule, _VERSIONED):
        return False
    header = _Header.from_address(_pointer(capsule, _VERSIONED))
    return header.major == 1 and not header.flags & _READ_ONLY


class _Writable:
    """The memory of an array of NumPy before 2.2.1, which made all arrays of DLPack read-only."""

    def __init__(self, array: Array) -> None:
        self._array = array
        self.__array_interface__ = {
            **array.__array_interface__,
            "data": (array.ctypes.data, False),
            "strides": array.strides,
        }


def frombuffer(
    buffer: Buffer,
    *,
    dtype: DType,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """A vector on the memory of a Python buffer: writes to one change the other.

    Writes to the buffer move no version, as with `from_numpy`. On a read-only buffer, such as
    bytes, the tensor is read-only, where PyTorch warns and writes.

    Parameters
    ----------
    buffer : bytearray, array, mmap or other buffer
        A contiguous buffer.
    dtype : dtype
        What the bytes are; they are in this machine's order.
    count : int, default -1
        How many elements to take; a negative number for all to the end.
    offset : int, default 0
        The first byte.
    requires_grad : bool, default False
        Whether the new leaf requires grad.

    Returns
    -------
    Tensor
        A leaf with one dimension.

    Raises
    ------
    ArgumentTypeError
        If `buffer` is not one, or `dtype` is no dtype.
    ArgumentValueError
        If the buffer is empty or not contiguous; if `count` is 0, or it has fewer
        elements; if `offset` is outside; if the bytes from there are no whole number of elements.
    RequiresGradError
        If `requires_grad` is set for a dtype that has no gradients.

    Examples
    --------
    >>> buffer = bytearray(8)
    >>> x = vt.frombuffer(buffer, dtype=vt.float32)
    >>> x += 1
    >>> buffer.hex()
    '0000803f0000803f'
    >>> vt.frombuffer(buffer, dtype=vt.uint8, count=2, offset=2)
    tensor([128,  63], dtype=vtgrad.uint8)
    """
    wanted = numpy_dtype(dtype)
    number, first = index_of(count, "count"), index_of(offset, "offset")
    if requires_grad:
        check_differentiable(wanted)
    try:
        memory = memoryview(buffer)
    except TypeError:
        raise ArgumentTypeError(
            f"frombuffer takes a buffer, such as a bytearray, not {type(buffer).__name__}",
            argument="buffer",
        ) from None
    if not memory.c_contiguous:
        raise ArgumentValueError("the buffer has gaps or is not in the order of C; pass a copy")
    if not memory.nbytes or not number:
        raise ArgumentValueError(
            f"a buffer of {memory.nbytes} bytes, of which {number} elements are asked for, makes "
            "no tensor; use vt.empty(0)",
            count=number,
        )
    if not 0 <= first < memory.nbytes:
        raise ArgumentValueError(
            f"offset {first} is outside of the {memory.nbytes} bytes of the buffer", offset=first
        )
    rest = memory.nbytes - first
    if number < 0 and rest % wanted.itemsize:
        raise ArgumentValueError(
            f"{rest} bytes, from offset {first} on, are no whole number of elements of "
            f"{wanted.name}",
            offset=first,
        )
    if number * wanted.itemsize > rest:
        raise ArgumentValueError(
            f"{number} elements of {wanted.name} need {number * wanted.itemsize} bytes, and the "
            f"buffer has {rest} from offset {first} on",
            count=number,
            offset=first,
        )
    tensor = from_numpy(making.frombuffer(memory, wanted, max(number, -1), first))
    if requires_grad:
        request_grad(tensor)
    return tensor
