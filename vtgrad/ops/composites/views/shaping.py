"""Reshaping and rearranging: views where strides allow it, copies elsewhere.

The methods take sizes and dimensions as separate integers or as one sequence, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vtgrad.errors import ArgumentTypeError, MemoryFormatError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explain, explained
from vtgrad.ops.calling.sequences import given_integers, given_tensors
from vtgrad.ops.generated import functional as F
from vtgrad.ops.view_impls.views import view_dtype
from vtgrad.storage.dtypes import DType
from vtgrad.storage.geometry import (
    broadcast_shapes,
    flatten_sizes,
    infer_size,
    movedim_order,
    unflatten_sizes,
    view_strides,
)
from vtgrad.storage.integers import integer
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_tensors",
    "broadcast_to",
    "contiguous",
    "detach",
    "expand",
    "expand_as",
    "flatten",
    "moveaxis",
    "movedim",
    "permute",
    "ravel",
    "reshape",
    "reshape_as",
    "swapaxes",
    "swapaxes_",
    "swapdims",
    "swapdims_",
    "unflatten",
    "view",
    "view_as",
]


T = TypeVar("T", bound=TensorBase)


# -- another shape --------------------------------------------------------------------------


def view(
    input: T,
    *shape: int | Sequence[int] | DType,
    size: Sequence[int] | None = None,
    dtype: DType | None = None,
) -> T:
    """The same elements in another shape, or the same bytes as elements of another dtype.

    Parameters
    ----------
    *shape : int
        One size may be -1: it is worked out from the others.
    size : sequence of int
        The same, by keyword.
    dtype : DType
        In place of a shape, also as the only argument: the memory is looked at as elements of
        this dtype. Smaller elements are more, larger ones fewer, in the last dimension. No gradient
        passes, also if the dtype is the tensor's own: as in PyTorch, the result is a tensor of its
        own on the same memory and version.

    Raises
    ------
    ShapeError
        If the number of elements differs, or the strides allow no such view.
    DTypeError
        If the values are lazy conjugates or negatives and a dtype is asked for.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.tensor([1.0, -0.0]).view(vt.int32)
    tensor([ 1065353216, -2147483648], dtype=vtgrad.int32)
    """
    if dtype is not None or (shape and isinstance(shape[0], DType)):
        given = [x for x in (*shape, size, dtype) if x is not None]
        if len(given) != 1 or not isinstance(given[0], DType):
            raise ArgumentTypeError("view takes a shape or one dtype", given=given)
        array_of(input, "input")
        return input._wrap(view_dtype(input._impl, given[0].numpy))
    return F.view_shape(input, given_integers(shape, size, "view"))


def view_as(input: T, other: TensorBase) -> T:
    """The same elements in the shape of another tensor; a view."""
    return F.view_shape(input, array_of(other, "other").shape)


def reshape(input: T, *sizes: int | Sequence[int], shape: Sequence[int] | None = None) -> T:
    """The same elements in another shape; a view if strides allow it, else a copy.

    Parameters
    ----------
    *sizes : int
        One may be -1: it is worked out from the others.
    shape : sequence of int
        The same, by keyword.

    Raises
    ------
    ShapeError
        If the number of elements differs.
    """
    try:
        impl = input._impl
        wanted = given_integers(sizes, shape, "reshape")
        if impl.is_contiguous:
            return F.view_shape(input, wanted)
        wanted = infer_size(wanted, impl.numel)
    except Exception as error:
        given = sizes[0] if len(sizes) == 1 else sizes if shape is None else shape
        # What `view_shape` says of its arguments is not in the words of this one's caller. No name
        # for it: an error that a frame on its own traceback knows is in a cycle.
        explain(
            error.__cause__ if isinstance(error.__cause__, Exception) else error,
            "input: Tensor, shape: int | Sequence[int]",
            input,
            given,
        )
        raise
    strides = view_strides(impl.sizes, impl.strides, wanted)
    if strides is None:
        return F._unsafe_view(F.clone(input, memory_format=MemoryFormat.CONTIGUOUS), wanted)
    return F._reshape_alias(input, wanted, strides)


def reshape_as(input: T, other: TensorBase) -> T:
    """The same elements in the shape of another tensor; a view if strides allow it."""
    return reshape(input, array_of(other, "other").shape)


def flatten(input: T, start_dim: int = 0, end_dim: int = -1) -> T:
    """Some dimensions merged into one; the tensor itself if there is nothing to merge.

    Raises
    ------
    ShapeError
        If `start_dim` comes after `end_dim`.
    """
    try:
        sizes = flatten_sizes(input.shape, start_dim, end_dim)
    except Exception as error:
        explain(error, "input: Tensor, start_dim: int, end_dim: int", input, start_dim, end_dim)
        raise
    return input if len(sizes) == input.ndim else reshape(input, sizes)


@explained
def ravel(input: T) -> T:
    """All dimensions merged into one; a view if strides allow it, else a copy."""
    return F.view_shape(contiguous(input), (-1,)) if input.numel() else reshape(input, (0,))


@explained
def unflatten(input: T, dim: int, sizes: Sequence[int]) -> T:
    """One dimension split into several; a view.

    Raises
    ------
    ShapeError
        If the sizes do not multiply to the dimension's size.
    """
    return F.view_shape(input, unflatten_sizes(input.shape, dim, sizes))


def expand(
    input: T,
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
    implicit: bool = False,
) -> T:
    """Dimensions of size 1 repeated without a copy; new ones come in front.

    Parameters
    ----------
    *sizes : int
        -1 keeps a dimension as it is.
    size : sequence of int
        The same, by keyword.

    Raises
    ------
    ShapeError
        If a dimension of another size than 1 would have to change.
    """
    return F.expand_sizes(input, given_integers(sizes, size, "expand"), implicit=implicit)


def expand_as(input: T, other: TensorBase) -> T:
    """`expand` to the shape of another tensor."""
    return F.expand_sizes(input, array_of(other, "other").shape)


@explained
def broadcast_to(input: T, *sizes: int | Sequence[int], size: Sequence[int] | None = None) -> T:
    """`expand` to a shape."""
    return F.expand_sizes(input, given_integers(sizes, size, "broadcast_to"))


@explained
def broadcast_tensors(*tensors: T | Sequence[T]) -> tuple[T, ...]:
    """All tensors expanded to their common shape: views, or the very tensors that have it."""
    each: list[T] = []
    for given in tensors:
        if isinstance(given, TensorBase):
            each.append(given)
        else:
            each.extend(given)
    shape = broadcast_shapes(*[x.shape for x in each])
    return tuple([x if x.shape == shape else F.expand_sizes(x, shape) for x in each])


def contiguous(input: T, *, memory_format: MemoryFormat = MemoryFormat.CONTIGUOUS) -> T:
    """The tensor itself if it lies without gaps in a memory format, else a copy that does.

    Parameters
    ----------
    memory_format : MemoryFormat
        Row-major by default.

    Raises
    ------
    MemoryFormatError
        If the tensor would have to be copied, and the format is for another number of dimensions,
        or is `preserve_format`.

    Examples
    --------
    >>> import vtgrad as vt
    >>> images = vt.zeros(2, 3, 4, 5)
    >>> images.contiguous(memory_format=vt.channels_last).stride()
    (60, 1, 15, 3)
    """
    array_of(input, "input")
    if memory_format is MemoryFormat.CONTIGUOUS:
        if input._impl.is_contiguous:
            return input
    elif input.is_contiguous(memory_format=memory_format):
        return input
    elif memory_format is MemoryFormat.PRESERVE:
        raise MemoryFormatError(
            "contiguous() cannot preserve the format of a tensor with gaps or in another order; "
            "clone() can",
            memory_format=memory_format,
        )
    return F.clone(input, memory_format=memory_format)


@explained
def detach(input: T) -> T:
    """A tensor on the same memory and version, without a producer; no view."""
    impl = input._impl
    alias = impl.alias(impl.array, impl.byte_offset, impl._strides)
    alias.allow_tensor_metadata_change = False
    return input._wrap(alias)


# -- another order --------------------------------------------------------------------------


def permute(input: T, *order: int | Sequence[int], dims: Sequence[int] | None = None) -> T:
    """The dimensions in another order; a view.

    Raises
    ------
    ShapeError
        If a dimension is not named, or named twice.
    """
    return F.permute_dims(input, given_integers(order, dims, "permute"))


@explained
def movedim(input: T, source: int | Sequence[int], destination: int | Sequence[int]) -> T:
    """Some dimensions moved to other places, the rest in their old order; a view."""
    sources = tuple(source) if isinstance(source, Sequence) else (integer(source),)
    places = tuple(destination) if isinstance(destination, Sequence) else (integer(destination),)
    if input.ndim == 0:
        movedim_order(1, sources, places)
        return F.alias(input)
    return F.permute_dims(input, movedim_order(input.ndim, sources, places))


def moveaxis(input: T, source: int | Sequence[int], destination: int | Sequence[int]) -> T:
    """Another name of `movedim`."""
    return movedim(input, source, destination)


def swapaxes(input: T, axis0: int, axis1: int) -> T:
    """Two dimensions exchanged; a view."""
    return F.transpose(input, axis0, axis1)


def swapdims(input: T, dim0: int, dim1: int) -> T:
    """Two dimensions exchanged; a view."""
    return F.transpose(input, dim0, dim1)


def swapaxes_(input: T, axis0: int, axis1: int) -> T:
    """Exchange two dimensions of the tensor itself."""
    return F.transpose_(input, axis0, axis1)


def swapdims_(input: T, dim0: int, dim1: int) -> T:
    """Exchange two dimensions of the tensor itself."""
    return F.transpose_(input, dim0, dim1)


# -- more dimensions ------------------------------------------------------------------------


def atleast_1d(*tensors: T | Sequence[T]) -> T | tuple[T, ...]:
    """Tensors with at least 1 dimension: views of those with none, the others themselves."""
    return _all_at_least(tensors, 1)


def atleast_2d(*tensors: T | Sequence[T]) -> T | tuple[T, ...]:
    """Tensors with at least 2 dimensions; a vector becomes a row. Views, or themselves."""
    return _all_at_least(tensors, 2)


def atleast_3d(*tensors: T | Sequence[T]) -> T | tuple[T, ...]:
    """Tensors with at least 3 dimensions; a matrix gets the last one. Views, or themselves."""
    return _all_at_least(tensors, 3)


def _all_at_least(tensors: tuple[T | Sequence[T], ...], ndim: int) -> T | tuple[T, ...]:
    each = tuple([at_least(x, ndim) for x in given_tensors(tensors)])
    return each[0] if len(tensors) == 1 and isinstance(tensors[0], TensorBase) else each


def at_least(x: T, ndim: int) -> T:
    if x.ndim >= ndim:
        return x
    if x.ndim == 0:
        return F.reshape(x, (1,) * ndim)
    if x.ndim == 1:
        row = F.unsqueeze(x, 0)
        return row if ndim == 2 else F.unsqueeze(row, -1)
    return F.unsqueeze(x, -1)
