"""Joining, repeating and cutting by names, and what is written to or built around diagonals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Final, TypeVar

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError, ShapeError
from vtgrad.ops.arguments import array_of
from vtgrad.ops.composites.parts import chunk_size
from vtgrad.ops.composites.shaping import contiguous, flatten
from vtgrad.ops.explain import explained
from vtgrad.ops.from_python import number_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number
from vtgrad.storage.geometry import check_pieces, normalize_dim
from vtgrad.storage.integers import integer
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.strides import MAX_DIMS, check_sizes
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.warn import warn

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "cartesian_prod",
    "column_stack",
    "combinations",
    "concat",
    "concatenate",
    "diag",
    "diagflat",
    "dstack",
    "fill_diagonal_",
    "hstack",
    "meshgrid",
    "repeat_interleave",
    "rot90",
    "row_stack",
    "squeeze_copy",
    "unsafe_chunk",
    "unsafe_split",
    "view_copy",
    "vstack",
]

T = TypeVar("T", bound=TensorBase)


# -- pieces and copies ----------------------------------------------------------------------


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


def squeeze_copy(input: T, dim: int | Sequence[int] | None = None, *, out: T | None = None) -> T:
    """What `squeeze` shows, as a copy."""
    if dim is None:
        return F._squeeze_all_copy(input, out=out)
    if isinstance(dim, Sequence):
        return F._squeeze_dims_copy(input, tuple(dim), out=out)
    return F._squeeze_dim_copy(input, dim, out=out)


def view_copy(input: T, size: Sequence[int], *, out: T | None = None) -> T:
    """The same elements in another shape, as a copy."""
    return F._view_copy(input, size, out=out)


# -- diagonals ------------------------------------------------------------------------------


@explained
def diag(input: T, diagonal: int = 0, *, out: T | None = None) -> T:
    """A matrix with a vector on a diagonal, or the diagonal of a matrix, as a copy.

    Raises
    ------
    ShapeError
        If the tensor is neither.
    """
    if input.ndim == 2:
        return F.diagonal_copy(input, diagonal, 0, 1, out=out)
    if input.ndim != 1:
        raise ShapeError(f"diag takes a vector or a matrix, got {input.ndim} dimensions")
    return F.diag_embed(input, diagonal, out=out)


@explained
def diagflat(input: T, offset: int = 0) -> T:
    """A matrix with all elements, in row-major order, on a diagonal."""
    return F.diag_embed(F.view_shape(contiguous(input), (-1,)), offset)


@explained
def fill_diagonal_(input: T, fill_value: Number, wrap: bool = False) -> T:
    """Set the elements whose indices are all equal to a number.

    Parameters
    ----------
    wrap : bool
        Whether a tall matrix gets further diagonals, each one row below the end of the last.

    Raises
    ------
    ShapeError
        If there are fewer than 2 dimensions, or more, of different sizes.
    """
    fill_value = number_of(fill_value, "fill_value")
    sizes, strides = input.shape, input._impl.strides
    if len(sizes) < 2:
        raise ShapeError(f"fill_diagonal_ needs at least 2 dimensions, got {len(sizes)}")
    if len(sizes) > 2 and len(set(sizes)) > 1:
        raise ShapeError(
            f"fill_diagonal_ of more than 2 dimensions needs equal sizes, got {list(sizes)}",
            sizes=sizes,
        )
    start, step, extent = input.storage_offset(), sum(strides), min(sizes)
    F.fill_(F.as_strided(input, (extent,), (step,), start), fill_value)
    if wrap and len(sizes) == 2 and sizes[0] > sizes[1] + 1 and extent:
        # One row is left out after each square; where rows lie close together, one step leads
        # from the end of a diagonal to the start of the next one.
        period = extent + 1
        if strides[0] == extent * strides[1]:
            rest = (input.numel() + period - 1) // period - extent
            first = start + period * strides[0]
            F.fill_(F.as_strided(input, (rest,), (step,), first), fill_value)
        else:
            for row in range(period, sizes[0], period):
                F.fill_(F.diagonal(F.slice(input, 0, row, None)), fill_value)
    return input


def rot90(input: T, k: int = 1, dims: Sequence[int] = (0, 1)) -> T:
    """A copy turned by right angles in the plane of two dimensions.

    Parameters
    ----------
    k : int
        How many; from the first dimension towards the second, or back if negative.

    Raises
    ------
    ShapeError
        If `dims` are not two different dimensions.
    """
    return F.rot90_turns(input, k, dims)


# -- repeating ------------------------------------------------------------------------------


@explained
def repeat_interleave(
    input: T,
    repeats: int | TensorBase | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> T:
    """Each element, or each slice along a dimension, several times in a row.

    Parameters
    ----------
    repeats : int or tensor
        How often: one count for all, or one for each. Without it `input` holds the counts, and
        the result is each position as often as the count there says.
    dim : int, optional
        The dimension; the flattened tensor without it.
    output_size : int, optional
        What the counts add up to.

    Raises
    ------
    ShapeError
        If a count is negative, or there are not as many as slices.
    """
    if output_size is not None:
        output_size = integer(output_size)
    if repeats is None:
        return F.counted_indices(input, output_size=output_size)
    if dim is None:
        input, dim = flatten(input), 0
    if isinstance(repeats, TensorBase):
        return _repeat_each(input, repeats, dim, output_size)
    count = integer(repeats)
    if count < 0:
        raise ShapeError(f"repeats must not be negative, got {count}", repeats=count)
    axis = normalize_dim(dim, input.ndim)
    normalize_dim(axis + 1, input.ndim + 1)  # a 0-d tensor has no slices
    wide = F.unsqueeze(input, axis + 1)
    sizes = [-1] * wide.ndim
    sizes[axis + 1] = count
    if output_size is not None and output_size != count * input.shape[axis]:
        raise ShapeError(
            f"the repeats add up to {count * input.shape[axis]}, but output_size is {output_size}"
        )
    copy = F.clone(F.expand_sizes(wide, sizes), memory_format=MemoryFormat.CONTIGUOUS)
    return flatten(copy, axis, axis + 1)


def _repeat_each(input: T, repeats: TensorBase, dim: int, output_size: int | None) -> T:
    axis = normalize_dim(dim, input.ndim)
    size = input.shape[axis] if input.ndim else 1
    if repeats.ndim == 0 or repeats.shape == (1,):
        repeats = F.expand_sizes(F.reshape(repeats, -1), (size,))
    elif repeats.ndim > 1:
        raise ShapeError(f"repeats must be a vector, got shape {list(repeats.shape)}")
    elif repeats.numel() != size:
        raise ShapeError(
            f"repeat_interleave needs a count for each of {size} slices, got {repeats.numel()}",
            expected=size,
            found=repeats.numel(),
        )
    return F.index_select(input, axis, F.counted_indices(repeats, output_size=output_size))


# -- joining --------------------------------------------------------------------------------


def concat(tensors: Sequence[T], dim: int = 0, *, out: T | None = None) -> T:
    """Another name of `cat`."""
    return F.cat(tensors, dim, out=out)


def concatenate(tensors: Sequence[T], dim: int = 0, *, out: T | None = None) -> T:
    """Another name of `cat`."""
    return F.cat(tensors, dim, out=out)


def hstack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """The tensors side by side: along dimension 1, vectors and numbers along their only one."""
    each = _each_at_least(tensors, 1, "hstack")
    return F.cat(each, 0 if each[0].ndim == 1 else 1, out=out)


def vstack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """The tensors below each other along dimension 0, vectors as rows."""
    return F.cat(_each_at_least(tensors, 2, "vstack"), 0, out=out)


def row_stack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """Another name of `vstack`."""
    return vstack(tensors, out=out)


def dstack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """The tensors behind each other along dimension 2."""
    return F.cat(_each_at_least(tensors, 3, "dstack"), 2, out=out)


def column_stack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """The tensors side by side along dimension 1, vectors as columns."""
    each = _sequence(tensors, "column_stack")
    return F.cat([F.reshape(x, x.numel(), 1) if x.ndim < 2 else x for x in each], 1, out=out)


def block_diag(*tensors: T) -> T:
    """A matrix with the given ones along its diagonal and zeros elsewhere; vectors are rows."""
    return F.block_diagonal(_sequence(tensors, "block_diag"))


def _sequence(tensors: Sequence[T], name: str) -> Sequence[T]:
    """The tensors, of which there must be one.

    Raises
    ------
    ArgumentTypeError
        If they do not come as a sequence of tensors.
    ShapeError
        If there are none.
    """
    if isinstance(tensors, TensorBase) or not isinstance(tensors, Sequence):
        raise ArgumentTypeError(
            f"{name} takes a sequence of tensors, not {type(tensors).__name__}", argument="tensors"
        )
    if not tensors:
        raise ShapeError(f"{name} needs at least one tensor")
    for x in tensors:
        array_of(x, "tensors")
    return tensors


def _each_at_least(tensors: Sequence[T], ndim: int, name: str) -> list[T]:
    return [_at_least(x, ndim) for x in _sequence(tensors, name)]


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
    each = tuple([_at_least(x, ndim) for x in _given(tensors)])
    return each[0] if len(tensors) == 1 and isinstance(tensors[0], TensorBase) else each


def _at_least(x: T, ndim: int) -> T:
    if x.ndim >= ndim:
        return x
    if x.ndim == 0:
        return F.reshape(x, (1,) * ndim)
    if x.ndim == 1:
        row = F.unsqueeze(x, 0)
        return row if ndim == 2 else F.unsqueeze(row, -1)
    return F.unsqueeze(x, -1)


# -- grids ----------------------------------------------------------------------------------


def meshgrid(*tensors: T | Sequence[T], indexing: str | None = None) -> tuple[T, ...]:
    """Each vector repeated over a grid that all of them span; views.

    Parameters
    ----------
    indexing : str
        ``"ij"``: dimension k of the results belongs to vector k. ``"xy"``: the first two are
        exchanged. Say which one: not to say it means ``"ij"`` and warns.

    Raises
    ------
    ShapeError
        If a tensor has more than 1 dimension, there are none, or `indexing` is something else.
    DTypeError
        If their dtypes differ.
    """
    given: Sequence[T] = _given(tensors)
    if not given:
        raise ShapeError("meshgrid needs at least one tensor")
    for x in given:
        if x.ndim > 1:
            raise ShapeError(f"meshgrid takes vectors, got shape {list(x.shape)}", shape=x.shape)
        if x.dtype != given[0].dtype:
            raise DTypeError(
                f"meshgrid takes tensors of one dtype, got {given[0].dtype} and {x.dtype}"
            )
    if indexing is None:
        warn('meshgrid without indexing= takes "ij"; say so, the default may change')
    elif indexing not in ("ij", "xy"):
        raise ShapeError(f'indexing must be "ij" or "xy", not {indexing!r}', indexing=indexing)
    places = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        places[:2] = 1, 0
    sizes = [1] * len(given)
    for place, x in zip(places, given, strict=True):
        sizes[place] = x.numel()
    grids: list[T] = []
    for place, x in zip(places, given, strict=True):
        shape = [1] * len(given)
        shape[place] = x.numel()
        grids.append(F.expand_sizes(F.view_shape(x, shape), sizes))
    return tuple(grids)


def _given(tensors: tuple[T | Sequence[T], ...]) -> Sequence[T]:
    """Tensors that were passed one by one or as one sequence."""
    each: list[T] = []
    for given in tensors:
        if isinstance(given, Sequence) and len(tensors) == 1:
            each.extend(given)
        else:
            array_of(given, "tensors")
            assert isinstance(given, TensorBase)
            each.append(given)
    for x in each:
        array_of(x, "tensors")
    return each


def cartesian_prod(*tensors: T) -> T:
    """All ways to take one element of each vector, one way in each row.

    Raises
    ------
    ShapeError
        If a tensor is no vector, or there are none.
    """
    for x in _sequence(tensors, "cartesian_prod"):
        if x.ndim != 1:
            raise ShapeError(
                f"cartesian_prod takes vectors, got shape {list(x.shape)}", shape=x.shape
            )
    if len(tensors) == 1:
        return tensors[0]
    return F.stack([flatten(x) for x in meshgrid(*tensors, indexing="ij")], 1)


@explained
def combinations(input: T, r: int = 2, with_replacement: bool = False) -> T:
    """All ways to take `r` elements of a vector in their order, one way in each row.

    Raises
    ------
    ShapeError
        If the tensor is no vector, `r` is negative, or there are more ways than memory can have.
    """
    if input.ndim != 1:
        raise ShapeError(
            f"combinations takes a vector, got shape {list(input.shape)}", shape=input.shape
        )
    if r < 0:
        raise ShapeError(f"combinations takes 0 or more elements, got {r}", r=r)
    if r == 0:
        return F.zeros_shaped(input, (0,))
    count = input.numel()
    if r > MAX_DIMS or count**r > _MOST_WAYS:
        return _chosen(input, r, with_replacement)
    rising = np.less_equal if with_replacement else np.less
    mask = np.ones((count,) * r, np.bool_)
    places = [np.arange(count).reshape((-1,) + (1,) * (r - 1 - d)) for d in range(r)]
    for one, following in itertools.pairwise(places):
        mask &= rising(one, following)
    chosen = input._wrap(TensorImpl(mask))
    return F.stack([F.masked_select(x, chosen) for x in meshgrid(*[input] * r, indexing="ij")], 1)


# From so many ways to take elements, in any order and repeated, not all of them are looked at.
_MOST_WAYS: Final = 2**20


def _chosen(input: T, r: int, with_replacement: bool) -> T:
    """What `combinations` returns, in steps that take no more memory than the result."""
    count = input.numel()
    among = count + r - 1 if with_replacement else count
    # With so many on both sides there are more than 2**63.
    few = min(r, among - r)
    rows = 0 if few < 0 else math.comb(among, min(few, 64))
    if rows >= 2**63:
        raise ShapeError(
            f"combinations of {r} out of {count} elements are more than memory can have",
            count=count,
            r=r,
        )
    check_sizes((rows, r), 8)
    if not rows:
        return F.zeros_shaped(input, (0, r))
    ways = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    each = itertools.chain.from_iterable(ways(range(count), r))
    places = np.fromiter(each, np.int64, rows * r)
    index = input._wrap(TensorImpl(places))
    return F.view_shape(F.index_select(input, 0, index), (rows, r))
