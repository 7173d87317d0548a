"""What memory a tensor looks at: giving it more, less, or that of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vtgrad.errors import ArgumentTypeError, DeviceError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.reduction_arguments import UNSET, Unset
from vtgrad.ops.calling.sequences import given_integers
from vtgrad.ops.calling.take_over import call_override, is_keyed, is_overridden, take_over
from vtgrad.ops.composites.support.undifferentiable import NotImplemented as NotImplementedNode
from vtgrad.ops.generated.operators import RESIZE_, RESIZE_AS_, SET_
from vtgrad.storage.integers import integer
from vtgrad.storage.key_set import keys
from vtgrad.storage.memory_format import MemoryFormat, suggested_format
from vtgrad.storage.storage_base import StorageBase
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.resize import checked_sizes, resize
from vtgrad.views.set_memory import set_memory

__all__ = ["is_set_to", "resize_", "resize_as_", "set_"]


T = TypeVar("T", bound=TensorBase)


def resize_(
    input: T,
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
    memory_format: MemoryFormat | None = None,
) -> T:
    """Give the tensor itself another shape, from its first element on.

    Elements are neither moved nor written. Memory that is too small grows, for all tensors on
    it; what is new is zero. The version moves if the shape changes. Without a memory format, a
    shape that the tensor has already changes nothing.

    Parameters
    ----------
    input : Tensor
        Must not require grad.
    *sizes : int or sequence of int
        The new sizes, one by one or as one sequence.
    size : sequence of int, optional
        The same, by keyword.
    memory_format : MemoryFormat, optional
        The new order in memory; by default row-major.

    Returns
    -------
    Tensor
        The tensor itself.

    Raises
    ------
    ResizeError
        If the tensor requires grad, or its memory must grow and is shared with NumPy.
    OutOfBoundsError
        If a size is negative.
    MemoryFormatError
        If the format is for another number of dimensions, or is `preserve_format`.
    ArgumentTypeError
        If no sizes are given, or in two ways, or one is no integer.

    Examples
    --------
    >>> x = vt.tensor([1, 2, 3])
    >>> x.resize_(2, 2)
    tensor([[1, 2],
            [3, 0]])
    >>> x.resize_(2)
    tensor([1, 2])
    """
    if keys.active and is_keyed(input):
        return take_over(RESIZE_, resize_, input, *sizes, size=size, memory_format=memory_format)
    return resize(input, given_integers(sizes, size, "resize_"), memory_format)


def resize_as_(
    input: T, the_template: TensorBase, *, memory_format: MemoryFormat | None = None
) -> T:
    """Give the tensor itself the shape of another one.

    `resize_` to `the_template.shape`, with the same rules about memory and version.

    Parameters
    ----------
    input : Tensor
        Must not require grad.
    the_template : Tensor
        Whose shape is taken.
    memory_format : MemoryFormat, optional
        The new order in memory; by default row-major. With `preserve_format` it is channels
        last if that is the order of `the_template`, else row-major.

    Returns
    -------
    Tensor
        The tensor itself.

    Raises
    ------
    ResizeError
        If the tensor requires grad, or its memory must grow and is shared with NumPy.
    MemoryFormatError
        If the format is for another number of dimensions.

    Examples
    --------
    >>> x = vt.tensor([1, 2, 3, 4])
    >>> vt.resize_as_(x, vt.zeros(2, 2))
    tensor([[1, 2],
            [3, 4]])
    """
    if keys.active and is_keyed(input, the_template):
        return take_over(RESIZE_AS_, resize_as_, input, the_template, memory_format=memory_format)
    array_of(input, "input")
    shape = array_of(the_template, "the_template").shape
    if memory_format is MemoryFormat.PRESERVE:
        memory_format = suggested_format(shape, the_template._impl.strides)
    return resize(input, shape, memory_format)


def set_(
    input: T,
    source: TensorBase | StorageBase | Unset = UNSET,
    storage_offset: int | Unset = UNSET,
    size: Sequence[int] | Unset = UNSET,
    stride: Sequence[int] | Unset = UNSET,
) -> T:
    """Let the tensor itself show other memory from now on.

    Its views stay on the old memory, and its version moves. Later writes to it change the
    source, but do not move the version of the source: what was saved of the source for backward
    is not protected. If the source requires grad, backward through the tensor raises
    `NoDerivativeError`.

    Parameters
    ----------
    input : Tensor
        Keeps its dtype.
    source : Tensor, UntypedStorage or TypedStorage, optional
        Whose memory; without it the tensor becomes empty.
    storage_offset : int, optional
        The first element; counted from where a tensor starts, of a storage from the start of
        memory.
    size : sequence of int, optional
        The new sizes; they and `storage_offset` go together. Without them the whole of the
        source.
    stride : sequence of int, optional
        Steps between elements for each dimension; without them those of `input` if it has this
        `size`, else row-major.

    Returns
    -------
    Tensor
        The tensor itself.

    Raises
    ------
    DTypeError
        If the source is a tensor of another dtype, and `size` is not given.
    DeviceError
        If the source is on another device.
    ShapeError
        If `size` is given and the source is a tensor that is not contiguous.
    OutOfBoundsError
        If an offset, size or stride is negative, or there are not as many strides as sizes.
    ResizeError
        If the memory is too small and shared with NumPy, so that it cannot grow.
    ArgumentTypeError
        If an argument has a wrong type, as None has, or only one of `storage_offset` and `size`
        is given.
    LeafWriteError
        If the tensor is a leaf that requires grad, while recording.
    ViewInvalidError
        If the tensor is a view and requires grad, while recording.

    Examples
    --------
    >>> a, b = vt.tensor([1.0, 2.0, 3.0, 4.0]), vt.zeros(0)
    >>> b.set_(a, 1, (2,), (2,))
    tensor([2., 4.])
    >>> b[0] = 9.0
    >>> a
    tensor([1., 9., 3., 4.])
    """
    if keys.active and is_keyed(input, source):
        return take_over(SET_, set_, input, source, storage_offset, size, stride)
    if source is not UNSET and not isinstance(source, (TensorBase, StorageBase)):
        raise ArgumentTypeError(
            f"argument 'source' must be a tensor or a storage, not {type(source).__name__}",
            argument="source",
        )
    try:
        offset = None if storage_offset is UNSET else integer(storage_offset)
    except TypeError:
        raise ArgumentTypeError(
            "argument 'storage_offset' must be an integer", argument="storage_offset"
        ) from None
    if isinstance(source, StorageBase):
        here, there = input._impl.device, source._storage.device
        if here != there:
            raise DeviceError(
                f"set_ lets a tensor on {here} show memory on {there}; it cannot move it",
                operator="set_",
                devices=(here, there),
            )
    return set_memory(
        input,
        NotImplementedNode.record,
        None if source is UNSET else source._storage if isinstance(source, StorageBase) else source,
        offset,
        None if size is UNSET else checked_sizes(size),
        None if stride is UNSET else checked_sizes(stride, "stride"),
    )


def is_set_to(input: TensorBase, tensor: TensorBase) -> bool:
    """Return whether two tensors look at the same memory in the same way.

    They do if storage, shape, strides and the offset of the first element are equal. A write to
    one then changes the other, element for element. The dtype is not compared, nor is lazy
    conjugation.

    Parameters
    ----------
    input : Tensor
        First tensor.
    tensor : Tensor
        Second tensor.

    Returns
    -------
    bool
        Whether memory and geometry are the same.

    Raises
    ------
    ArgumentTypeError
        If one of the two is not a tensor.

    Examples
    --------
    >>> x = vt.arange(4)
    >>> vt.is_set_to(x, x.detach()), vt.is_set_to(x, x[:])
    (True, True)
    >>> vt.is_set_to(x, x[1:]), vt.is_set_to(x, x.clone())
    (False, False)
    """
    if keys.active and is_overridden(input, tensor):
        return call_override(is_set_to, input, tensor)
    array_of(input, "input")
    array_of(tensor, "tensor")
    one, other = input._impl, tensor._impl
    return one is other or (
        one.storage is other.storage
        and (one.sizes, one.strides) == (other.sizes, other.strides)
        and one.byte_offset == other.byte_offset
    )
