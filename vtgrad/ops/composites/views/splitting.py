"""Parts of a tensor along a dimension: `narrow`, and the ways to cut it into pieces."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import TypeAlias, TypeVar

from vtgrad.errors import ArgumentTypeError, DTypeError, ShapeError
from vtgrad.graph.tracer import read_value
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import checked_dim
from vtgrad.ops.calling.take_over import is_keyed_as_whole, take_over
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.operators import CHUNK, NARROW, TENSOR_SPLIT, UNSAFE_CHUNK
from vtgrad.storage.geometry import (
    check_pieces,
    narrow_geometry,
    normalize_dim,
)
from vtgrad.storage.integers import integer
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "chunk",
    "dsplit",
    "hsplit",
    "narrow",
    "split",
    "tensor_split",
    "unsafe_chunk",
    "vsplit",
]


T = TypeVar("T", bound=TensorBase)
# The number of pieces, or the places of the cuts.
Parts: TypeAlias = int | Sequence[int] | TensorBase


@explained
def narrow(input: T, dim: int, start: int | TensorBase, length: int) -> T:
    """Return a range of one dimension, as a view.

    Parameters
    ----------
    input : Tensor
        At least one dimension.
    dim : int
        The dimension that becomes shorter; negative numbers count from the last one.
    start : int or Tensor
        Index of the first element; negative numbers count from the end. A tensor must be 0-d,
        of integers.
    length : int
        How many elements; 0 is allowed.

    Returns
    -------
    Tensor
        A view of `input` with `length` elements in dimension `dim`: writing to it writes to
        `input`.

    Raises
    ------
    ShapeError
        If the range reaches past the end (nothing is cut off), `length` is negative, or `input`
        is 0-d.
    OutOfRangeError
        If `start` is outside the dimension.
    DimensionError
        If `input` has no dimension `dim`.
    DTypeError
        If `start` is a tensor, but not a 0-d one of integers.

    Examples
    --------
    >>> x = vt.arange(6)
    >>> part = vt.narrow(x, 0, -3, 2)
    >>> part
    tensor([3, 4])
    >>> part.zero_()
    tensor([0, 0])
    >>> x
    tensor([0, 1, 2, 0, 0, 5])
    """
    if keys.active and is_keyed_as_whole(input):
        return take_over(NARROW, narrow, input, dim, start, length)
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
    """Cut a tensor into pieces along a dimension, as views.

    If the tensor requires grad, writing to a piece in place raises `MultiOutputViewError`,
    because the pieces are results of one operator; the views that `tensor_split` and `narrow`
    make may be written.

    Parameters
    ----------
    tensor : Tensor
        At least one dimension.
    split_size_or_sections : int or sequence of int
        The size of each piece, where the last may be smaller; or the sizes of all pieces.
    dim : int, default 0
        The dimension that is cut.

    Returns
    -------
    tuple of Tensor
        Views of `tensor`: writing to them writes to `tensor`.

    Raises
    ------
    ShapeError
        If given sizes do not add up to that of the dimension or one is negative, the one size
        is not positive, or `tensor` is 0-d.
    DimensionError
        If `tensor` has no dimension `dim`.

    Examples
    --------
    >>> vt.split(vt.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    >>> x = vt.zeros(4)
    >>> a, b = vt.split(x, (1, 3))
    >>> b.fill_(7.0)
    tensor([7., 7., 7.])
    >>> x
    tensor([0., 7., 7., 7.])
    """
    if isinstance(split_size_or_sections, Sequence):
        return F.split_with_sizes(tensor, tuple(split_size_or_sections), dim)
    return F.split_Tensor(tensor, integer(split_size_or_sections), dim)


@explained
def chunk(input: T, chunks: int, dim: int = 0) -> tuple[T, ...]:
    """Split a tensor into at most `chunks` pieces along a dimension.

    All pieces have the size ``ceil(size / chunks)``, the last one perhaps a smaller one; there
    may be fewer than `chunks`. The pieces are views of one operator: they share memory with
    `input`, but if that requires grad they cannot be written in place while recording. See
    `tensor_split` for pieces that can.

    Parameters
    ----------
    input : Tensor
        What is split, of at least 1 dimension.
    chunks : int
        The number of pieces, at most.
    dim : int, default 0
        The dimension that is split.

    Returns
    -------
    tuple of Tensor
        Views of `input`.

    Raises
    ------
    ShapeError
        If `input` is 0-d, or `chunks` is not positive.
    DimensionError
        If there is no dimension `dim`.
    ArgumentTypeError
        If `chunks` is not an integer.

    Examples
    --------
    >>> x = vt.arange(5)
    >>> vt.chunk(x, 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    >>> vt.chunk(x, 4)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    >>> first, second = vt.chunk(x, 2)
    >>> second.fill_(0)
    tensor([0, 0])
    >>> x
    tensor([0, 1, 2, 0, 0])
    """
    if keys.active and is_keyed_as_whole(input):
        return take_over(CHUNK, chunk, input, chunks, dim)
    chunks = integer(chunks)
    size = chunk_size(input, chunks, dim, "chunk")
    if size == 0:
        check_pieces(chunks)
        return F.split_with_sizes(input, (0,) * chunks, dim)
    return F.split_Tensor(input, size, dim)


def chunk_size(input: TensorBase, chunks: int, dim: int, name: str) -> int:
    """The size of the pieces when a dimension is cut into at most `chunks`."""
    if input.ndim == 0:
        raise ShapeError(f"{name} needs at least 1 dimension, got a 0-d tensor", ndim=0)
    if chunks <= 0:
        raise ShapeError(f"{name} needs a positive number of pieces, got {chunks}", chunks=chunks)
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
    """Cut a tensor into a number of pieces, or at given places, as views.

    Each piece is a slice of its own, so that unlike the pieces of `split` it may be written in
    place also if the tensor requires grad. If the size is no multiple of the number of pieces,
    the first ones are larger by one.

    Parameters
    ----------
    input : Tensor
        At least one dimension.
    indices_or_sections : int, sequence of int or Tensor, optional
        The number of pieces, or the indices to cut at, as in slices; a tensor is of int64, 0-d
        for a number and a vector for indices.
    dim : int, default 0
        The dimension that is cut.
    indices : sequence of int, optional
        The indices to cut at, by keyword.
    sections : int, optional
        The number of pieces, by keyword.

    Returns
    -------
    tuple of Tensor
        Views of `input`: writing to them writes to `input`.

    Raises
    ------
    ShapeError
        If the number is not positive, `input` is 0-d, or a tensor is not as described.
    DimensionError
        If `input` has no dimension `dim`.
    ArgumentTypeError
        If not exactly one of the three ways to say where to cut is used.

    Examples
    --------
    >>> x = vt.arange(7)
    >>> vt.tensor_split(x, 3)
    (tensor([0, 1, 2]), tensor([3, 4]), tensor([5, 6]))
    >>> vt.tensor_split(x, (1, 3))
    (tensor([0]), tensor([1, 2]), tensor([3, 4, 5, 6]))
    """
    if keys.active and is_keyed_as_whole(input):
        return take_over(
            TENSOR_SPLIT,
            tensor_split,
            input,
            indices_or_sections,
            dim,
            indices=indices,
            sections=sections,
        )
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
    if keys.modes:
        read_value(given)
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
    """Return pieces of a tensor along its columns.

    The cut goes along dimension 1, or along dimension 0 of a vector. Each piece is a slice of
    its own, so it may be written in place while recording, unlike the pieces of `split`. Cuts
    outside of the dimension give empty pieces.

    Parameters
    ----------
    input : Tensor
        Tensor with at least 1 dimension.
    indices_or_sections : int or sequence of int, optional
        The number of pieces, all of one size, or the places of the cuts.
    indices : sequence of int, optional
        The places of the cuts by keyword.
    sections : int, optional
        The number of pieces by keyword.

    Returns
    -------
    tuple of Tensor
        Views of `input`: writing to them writes to `input`.

    Raises
    ------
    ShapeError
        If the tensor is 0-d, or the size is not a multiple of the number of pieces.
    ArgumentTypeError
        If the pieces are not described in exactly one way.

    Examples
    --------
    >>> x = vt.arange(8).reshape(2, 4)
    >>> left, right = vt.hsplit(x, 2)
    >>> left
    tensor([[0, 1],
            [4, 5]])
    >>> right.fill_(0)
    tensor([[0, 0],
            [0, 0]])
    >>> x
    tensor([[0, 1, 0, 0],
            [4, 5, 0, 0]])
    >>> [piece.shape[1] for piece in vt.hsplit(x, [1, 3])]
    [1, 2, 1]
    """
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
    """Cut a tensor into pieces along dimension 0, as views.

    As `tensor_split`, but a number of pieces must divide the size.

    Parameters
    ----------
    input : Tensor
        At least two dimensions.
    indices_or_sections : int or sequence of int, optional
        The number of pieces, or the indices to cut at, as in slices.
    indices : sequence of int, optional
        The indices to cut at, by keyword.
    sections : int, optional
        The number of pieces, by keyword.

    Returns
    -------
    tuple of Tensor
        Views of `input`: writing to them writes to `input`. Each may be written in place.

    Raises
    ------
    ShapeError
        If there are fewer than two dimensions, or the number does not divide the size or is not
        positive.
    ArgumentTypeError
        If not exactly one of the three ways to say where to cut is used.

    Examples
    --------
    >>> x = vt.arange(8).reshape(4, 2)
    >>> a, b = vt.vsplit(x, 2)
    >>> b
    tensor([[4, 5],
            [6, 7]])
    >>> [piece.shape[0] for piece in vt.vsplit(x, (1,))]
    [1, 3]
    """
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
    """Split a tensor into pieces along dimension 2.

    The pieces are those of `tensor_split`, but a number of pieces must divide the size of the
    dimension. Places to cut at may lie behind its end, where pieces are empty. Each piece is a
    slice of its own and may be written in place. Exactly one of the last three arguments is
    given.

    Parameters
    ----------
    input : Tensor
        What is split, of at least 3 dimensions.
    indices_or_sections : int or sequence of int, optional
        The number of pieces, or the places to cut at.
    indices : sequence of int, optional
        The places to cut at, by keyword.
    sections : int, optional
        The number of pieces, by keyword.

    Returns
    -------
    tuple of Tensor
        Views of `input`: writing to them writes to `input`.

    Raises
    ------
    ShapeError
        If there are fewer than 3 dimensions, or the number of pieces is not positive or does
        not divide the size.
    ArgumentTypeError
        If not exactly one way to split is given, or it is not an integer nor a sequence of
        integers.

    Examples
    --------
    >>> x = vt.arange(4).reshape(1, 1, 4)
    >>> vt.dsplit(x, 2)
    (tensor([[[0, 1]]]), tensor([[[2, 3]]]))
    >>> a, b, c = vt.dsplit(x, [1, 3])
    >>> b.fill_(0)
    tensor([[[0, 0]]])
    >>> x
    tensor([[[0, 0, 0, 3]]])
    """
    parts = _given_once((indices_or_sections, indices, sections), "dsplit")
    return _named_split(input, parts, 2, 3, "dsplit")


def _named_split(input: T, parts: Parts, dim: int, least: int, name: str) -> tuple[T, ...]:
    if input.ndim < least:
        raise ShapeError(
            f"{name} needs at least {least} dimension(s), got {input.ndim}", ndim=input.ndim
        )
    if not isinstance(parts, Sequence) and not (isinstance(parts, TensorBase) and parts.ndim):
        parts = checked_dim(parts, "indices_or_sections")
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
    if keys.modes:
        read_value(value)
    return int(array)


@explained
def unsafe_chunk(input: T, chunks: int, dim: int = 0) -> tuple[T, ...]:
    """Cut a tensor into a number of pieces that share its memory, but are no views.

    The rules of `unsafe_split` apply. The size of the pieces is that of the dimension by
    `chunks`, rounded up, so that there may be fewer of them.

    Parameters
    ----------
    input : Tensor
        At least one dimension.
    chunks : int
        How many pieces at most.
    dim : int, default 0
        The dimension that is cut.

    Returns
    -------
    tuple of Tensor
        Tensors on the memory of `input`, each with a version of its own.

    Raises
    ------
    ShapeError
        If `chunks` is not positive, or `input` is 0-d.
    DimensionError
        If `input` has no dimension `dim`.

    Examples
    --------
    >>> vt.unsafe_chunk(vt.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    >>> len(vt.unsafe_chunk(vt.arange(5), 4))
    3
    """
    if keys.active and is_keyed_as_whole(input):
        return take_over(UNSAFE_CHUNK, unsafe_chunk, input, chunks, dim)
    chunks = integer(chunks)
    size = chunk_size(input, chunks, dim, "unsafe_chunk")
    if size == 0:
        check_pieces(chunks)
        return F.unsafe_split_with_sizes(input, (0,) * chunks, dim)
    return F.unsafe_split_equal(input, size, dim)
