"""Parts of a tensor along a dimension: `narrow`, and the ways to cut it into pieces."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, TypeAlias, TypeVar

from vtgrad.errors import ArgumentTypeError, DTypeError, ShapeError
from vtgrad.graph.node import Node
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import requires_grad
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.views_nodes import AsStridedBeyondBackward0
from vtgrad.ops.view_impls import views as view_impls
from vtgrad.storage.geometry import (
    check_in_bounds,
    check_pieces,
    covers,
    narrow_geometry,
    normalize_dim,
)
from vtgrad.storage.integers import integer
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.views.creation_meta import CreationMeta
from vtgrad.views.differentiable_view_meta import view_meta_of
from vtgrad.views.write import write_geometry

__all__ = [
    "as_strided",
    "as_strided_",
    "as_strided_copy",
    "as_strided_scatter",
    "chunk",
    "dsplit",
    "hsplit",
    "narrow",
    "split",
    "tensor_split",
    "unsafe_chunk",
    "unsafe_split",
    "vsplit",
]


T = TypeVar("T", bound=TensorBase)
# The number of pieces, or the places of the cuts.
Parts: TypeAlias = int | Sequence[int] | TensorBase


@explained
def as_strided(
    input: T,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> T:
    """Any geometry inside the storage; a view.

    A view may be looked beyond, at memory of its base: gradients of what is found there are the
    base's.

    Parameters
    ----------
    size, stride : sequence of int
        Sizes, and steps in memory, in elements.
    storage_offset : int, optional
        Where the first element is in the storage; where this tensor starts without it.

    Raises
    ------
    OutOfBoundsError
        If the geometry leaves the storage.
    """
    result = F.as_strided_part(input, size, stride, storage_offset)
    base = _base_beyond(input, result._impl)
    if base is None:
        return result
    return F.as_strided_beyond(input, base, size, stride, storage_offset)


@explained
def as_strided_(
    input: T,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> T:
    """Let the tensor itself look at any geometry inside its storage; see `as_strided`."""
    base = None
    if view_meta_of(input) is not None:
        base = _base_beyond(input, view_impls.as_strided(input._impl, size, stride, storage_offset))
    if base is None:
        return F.as_strided_part_(input, size, stride, storage_offset)

    def record(target: TensorBase, *geometry: Any, inplace: bool) -> Node:
        return AsStridedBeyondBackward0.record(target, base, *geometry)

    view = view_impls.as_strided
    return write_geometry(input, record, view, size, stride, storage_offset, operator="as_strided_")


def as_strided_copy(
    input: T,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
    *,
    out: T | None = None,
) -> T:
    """What `as_strided` shows, as a copy."""
    result = F._as_strided_copy(input, size, stride, storage_offset, out=out)
    if out is None and requires_grad(result) and view_meta_of(input) is not None:
        shown = as_strided(input, size, stride, storage_offset)
        if _base_beyond(input, shown._impl) is not None:
            return F.clone(shown, memory_format=MemoryFormat.CONTIGUOUS)
    return result


def _base_beyond(input: TensorBase, shown: TensorImpl) -> TensorBase | None:
    """The base of a view, if its memory is shown beyond the view's and this must be recorded."""
    meta = view_meta_of(input)
    if meta is None or not is_recording() or not requires_grad(meta.base):
        return None
    own, base = input._impl, meta.base._impl
    if meta.view_fn is not None or meta.creation_meta is not CreationMeta.DEFAULT:
        return None
    if own._storage is not base._storage or covers(own.geometry, shown.geometry):
        return None
    return meta.base


@explained
def as_strided_scatter(
    input: T,
    src: TensorBase,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> T:
    """A copy with `src` where `as_strided` would look.

    Raises
    ------
    OutOfBoundsError
        If that is outside the storage.
    SelfOverlapError
        If it names an element twice.
    """
    impl = input._impl
    offset = impl.storage_offset if storage_offset is None else integer(storage_offset)
    target = (tuple(map(index, size)), tuple(map(index, stride)), offset)
    check_in_bounds(*target, impl.storage.nbytes() // impl.array.itemsize)
    return F.as_strided_scatter_at(input, src, impl.geometry, target)


@explained
def narrow(input: T, dim: int, start: int | TensorBase, length: int) -> T:
    """`length` elements of a dimension from `start` on; a view.

    Parameters
    ----------
    start : int or 0-d integer tensor
        May be negative: counted from the end.

    Raises
    ------
    ShapeError
        If the part leaves the dimension; nothing is clamped.
    OutOfRangeError
        If `start` is outside the dimension.
    """
    impl = input._impl
    first = (
        _one_integer(start, "narrow's start") if isinstance(start, TensorBase) else integer(start)
    )
    narrow_geometry(impl.sizes, impl.strides, impl.storage_offset, dim, first, length)
    if first < 0:
        first += impl.sizes[normalize_dim(dim, len(impl.sizes))]
    return F.slice(input, dim, first, first + length, 1)


@explained
def split(tensor: T, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[T, ...]:
    """Pieces along a dimension, of one size (the last perhaps smaller) or of given sizes.

    They are the results of one operator, so none of them may be written in place.
    """
    if isinstance(split_size_or_sections, Sequence):
        return F.split_with_sizes(tensor, tuple(split_size_or_sections), dim)
    return F.split_Tensor(tensor, integer(split_size_or_sections), dim)


@explained
def chunk(input: T, chunks: int, dim: int = 0) -> tuple[T, ...]:
    """At most `chunks` pieces of one size along a dimension, the last perhaps smaller.

    Raises
    ------
    ShapeError
        If the tensor is 0-d or `chunks` is not positive.
    """
    chunks = integer(chunks)
    size = chunk_size(input, chunks, dim)
    if size == 0:
        check_pieces(chunks)
        return F.split_with_sizes(input, (0,) * chunks, dim)
    return F.split_Tensor(input, size, dim)


def chunk_size(input: TensorBase, chunks: int, dim: int) -> int:
    """The size of the pieces when a dimension is cut into at most `chunks`."""
    if input.ndim == 0:
        raise ShapeError("chunk needs at least 1 dimension, got a 0-d tensor", ndim=0)
    if chunks <= 0:
        raise ShapeError(f"chunk needs a positive number of pieces, got {chunks}", chunks=chunks)
    return -(-input.shape[normalize_dim(dim, input.ndim)] // chunks)


@explained
def tensor_split(
    input: T,
    indices_or_sections: Parts | None = None,
    dim: int = 0,
    *,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
) -> tuple[T, ...]:
    """Pieces along a dimension, by their number or by the places of the cuts; views.

    Each piece is a slice of its own: unlike the pieces of `split` it may be written in place.

    Parameters
    ----------
    indices_or_sections : int, sequence of int, or integer tensor
        The number of pieces, or where to cut.
    dim : int
        The dimension to cut.
    indices, sections : sequence of int, int
        Where to cut, or the number of pieces, by keyword.

    Raises
    ------
    ShapeError
        If the tensor is 0-d or the number of pieces is not positive.
    """
    if input.ndim == 0:
        raise ShapeError("tensor_split needs at least 1 dimension, got a 0-d tensor", ndim=0)
    axis = normalize_dim(dim, input.ndim)
    parts = _cuts(_given_once((indices_or_sections, indices, sections), "tensor_split"))
    if not isinstance(parts, int):
        cuts = [0, *parts]
        ends: list[int | None] = [*parts, None]
        return tuple([F.slice(input, axis, a, b, 1) for a, b in zip(cuts, ends, strict=True)])
    size = input.shape[axis]
    if parts <= 0:
        raise ShapeError(
            f"tensor_split needs a positive number of pieces, got {parts}", sections=parts
        )
    check_pieces(parts)
    pieces: list[T] = []
    start = 0
    for place in range(parts):
        end = start + size // parts + (place < size % parts)
        pieces.append(F.slice(input, axis, start, end, 1))
        start = end
    return tuple(pieces)


def _given_once(values: Sequence[Parts | None], name: str) -> Parts:
    """The number of pieces or the places of the cuts, under whichever name they came."""
    given = [x for x in values if x is not None]
    if len(given) != 1:
        raise ArgumentTypeError(
            f"{name} needs a number of pieces or the places of the cuts, once, not "
            f"{len(given)} times",
            argument="indices_or_sections",
        )
    return given[0]


def _cuts(given: Parts) -> int | Sequence[int]:
    """The number of pieces or the places of the cuts, which may come as a tensor."""
    if isinstance(given, Sequence):
        return tuple(map(index, given))
    if not isinstance(given, TensorBase):
        return integer(given)
    array = given._impl.array
    if array.dtype != "int64" or array.ndim > 1:
        raise ShapeError(
            "tensor_split takes a 0-d or 1-d tensor of int64, got shape "
            f"{list(array.shape)} and {array.dtype}",
            shape=array.shape,
        )
    parts: int | list[int] = array.tolist()
    return parts


@explained
def hsplit(
    input: T,
    indices_or_sections: int | Sequence[int] | None = None,
    *,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
) -> tuple[T, ...]:
    """`tensor_split` along dimension 1, or 0 if there is only one."""
    parts = _given_once((indices_or_sections, indices, sections), "hsplit")
    return _named_split(input, parts, 0 if input.ndim == 1 else 1, 1, "hsplit")


@explained
def vsplit(
    input: T,
    indices_or_sections: int | Sequence[int] | None = None,
    *,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
) -> tuple[T, ...]:
    """`tensor_split` along dimension 0."""
    parts = _given_once((indices_or_sections, indices, sections), "vsplit")
    return _named_split(input, parts, 0, 2, "vsplit")


@explained
def dsplit(
    input: T,
    indices_or_sections: int | Sequence[int] | None = None,
    *,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
) -> tuple[T, ...]:
    """`tensor_split` along dimension 2."""
    parts = _given_once((indices_or_sections, indices, sections), "dsplit")
    return _named_split(input, parts, 2, 3, "dsplit")


def _named_split(input: T, parts: Parts, dim: int, least: int, name: str) -> tuple[T, ...]:
    if input.ndim < least:
        raise ShapeError(
            f"{name} needs at least {least} dimension(s), got {input.ndim}", ndim=input.ndim
        )
    if isinstance(parts, int) and (parts <= 0 or input.shape[dim] % parts):
        raise ShapeError(
            f"{name} needs pieces of one size, but {input.shape[dim]} is no multiple of {parts}",
            size=input.shape[dim],
            sections=parts,
        )
    return tensor_split(input, parts, dim)


def _one_integer(value: TensorBase, what: str) -> int:
    array = value._impl.array
    if array.ndim or array.dtype.kind not in "iu":
        raise DTypeError(f"{what} must be an integer or a 0-d integer tensor", shape=array.shape)
    return int(array)


# -- pieces that are no views ---------------------------------------------------------------


@explained
def unsafe_split(input: T, split_size: int, dim: int = 0) -> tuple[T, ...]:
    """`split` into pieces that are no views, and may be written in place.

    They share the tensor's memory all the same. After a write neither the tensor nor the other
    pieces may be used: their versions do not move, so nobody would notice.
    """
    return F.unsafe_split_equal(input, integer(split_size), dim)


@explained
def unsafe_chunk(input: T, chunks: int, dim: int = 0) -> tuple[T, ...]:
    """`chunk` into pieces that are no views; see `unsafe_split`."""
    chunks = integer(chunks)
    size = chunk_size(input, chunks, dim)
    if size == 0:
        check_pieces(chunks)
        return F.unsafe_split_with_sizes(input, (0,) * chunks, dim)
    return F.unsafe_split_equal(input, size, dim)
