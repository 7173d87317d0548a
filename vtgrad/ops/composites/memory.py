"""What memory a tensor looks at: giving it more, less, or that of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar, cast

from vtgrad.errors import ArgumentTypeError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.sequences import given_integers
from vtgrad.ops.composites.support.undifferentiable import NotImplemented as NotImplementedNode
from vtgrad.storage.integers import integer
from vtgrad.storage.memory_format import MemoryFormat, suggested_format
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.resize import checked_sizes, resize
from vtgrad.views.set_memory import set_memory

__all__ = ["is_set_to", "resize_", "resize_as_", "set_"]


T = TypeVar("T", bound=TensorBase)

# What is not given is not None, which nobody may give: it is a tensor that was never made.
_NO_SOURCE: Final = cast("Storage", object())
_NO_OFFSET: Final = cast("int", object())
_NO_SIZES: Final = cast("Sequence[int]", object())


def resize_(
    input: T,
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
    memory_format: MemoryFormat | None = None,
) -> T:
    """Give the tensor itself another shape from its first element on.

    Elements are neither moved nor written. If the memory is too small it grows, for all tensors
    that look at it; what was not there before is zero. The version moves if the shape changes, or,
    with a memory format, the order.

    Parameters
    ----------
    *sizes : int
        The new shape.
    size : sequence of int
        The same, by keyword.
    memory_format : MemoryFormat, optional
        Row-major by default; but the shape that the tensor has already changes nothing then.

    Raises
    ------
    ResizeError
        If the tensor requires grad, or its memory is shared with NumPy and too small.
    MemoryFormatError
        If the format is for another number of dimensions, or is `preserve_format`.

    Examples
    --------
    >>> import vtgrad as vt
    >>> x = vt.tensor([1, 2, 3])
    >>> x.resize_(2, 2)
    tensor([[1, 2],
            [3, 0]])
    """
    return resize(input, given_integers(sizes, size, "resize_"), memory_format)


def resize_as_(
    input: T, the_template: TensorBase, *, memory_format: MemoryFormat | None = None
) -> T:
    """`resize_` to the shape of another tensor.

    Parameters
    ----------
    the_template : Tensor
        The other tensor.
    memory_format : MemoryFormat, optional
        As in `resize_`. With `preserve_format`: channels last if those of the other one are, else
        row-major.
    """
    array_of(input, "input")
    shape = array_of(the_template, "the_template").shape
    if memory_format is MemoryFormat.PRESERVE:
        memory_format = suggested_format(shape, the_template._impl.strides)
    return resize(input, shape, memory_format)


def set_(
    input: T,
    source: TensorBase | Storage = _NO_SOURCE,
    storage_offset: int = _NO_OFFSET,
    size: Sequence[int] = _NO_SIZES,
    stride: Sequence[int] = _NO_SIZES,
) -> T:
    """Let the tensor itself look at other memory from now on.

    Its views stay where they are. Writes through this tensor do not move the version of the
    source, so what was saved of the source for a backward pass is not safe from them.

    Parameters
    ----------
    source : Tensor or storage
        Whose memory; a tensor must have the same dtype. No memory at all without it.
    storage_offset, size, stride : int, sequence of int, sequence of int
        Which part of the memory, in elements; row-major without strides.

    Raises
    ------
    ArgumentTypeError
        If an argument has a wrong type; None is none that any of them takes.
    ResizeError
        If the part reaches further than the memory, which cannot grow.
    OutOfBoundsError
        If sizes, strides or the offset are negative.
    """
    if source is not _NO_SOURCE and not isinstance(source, (TensorBase, Storage)):
        raise ArgumentTypeError(
            f"argument 'source' must be a tensor or a storage, not {type(source).__name__}",
            argument="source",
        )
    try:
        offset = None if storage_offset is _NO_OFFSET else integer(storage_offset)
    except TypeError:
        raise ArgumentTypeError(
            "argument 'storage_offset' must be an integer", argument="storage_offset"
        ) from None
    return set_memory(
        input,
        NotImplementedNode.record,
        None if source is _NO_SOURCE else source,
        offset,
        None if size is _NO_SIZES else checked_sizes(size),
        None if stride is _NO_SIZES else checked_sizes(stride, "stride"),
    )


def is_set_to(input: TensorBase, tensor: TensorBase) -> bool:
    """Whether another tensor looks at the same memory in the same way."""
    array_of(input, "input")
    array_of(tensor, "tensor")
    one, other = input._impl, tensor._impl
    return one is other or (
        one.storage is other.storage
        and (one.sizes, one.strides) == (other.sizes, other.strides)
        and one.byte_offset == other.byte_offset
    )
