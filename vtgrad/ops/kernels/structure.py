"""New arrays around old ones: repeated, turned, triangles, diagonals, blocks, repeated indices."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

import numpy as np

from vtgrad.errors import ArgumentTypeError, DimensionError, NotSupportedError, ShapeError
from vtgrad.ops.kernels.copying.copies import clone, contiguous
from vtgrad.ops.kernels.joining import empty_joined
from vtgrad.ops.kernels.support.result_strides import empty_like_preserving
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number, NumpyDType, Shape
from vtgrad.storage.geometry import normalize_dim
from vtgrad.storage.integers import integer
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.promotion import promote
from vtgrad.storage.strides import check_sizes

__all__ = [
    "block_diag",
    "constant_pad",
    "counted_indices",
    "diag_embed",
    "flip",
    "repeat",
    "roll",
    "rot90_turns",
    "tril",
    "triu",
]


def diag_embed(self: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """Matrices of zeros, over two new dimensions, with the last dimension on a diagonal.

    Raises
    ------
    DimensionError
        If the result has no such dimension.
    ShapeError
        If both are the same dimension.
    """
    ndim = self.ndim + 1
    first, second = normalize_dim(dim1, ndim), normalize_dim(dim2, ndim)
    if first == second:
        raise ShapeError(
            f"diag_embed needs two different dimensions, got {dim1} and {dim2}",
            dim1=dim1,
            dim2=dim2,
        )
    # Integers may be passed as tensors.
    offset = integer(offset)
    extent = self.shape[-1] + abs(offset)
    sizes = list(self.shape[:-1])
    for axis in sorted((first, second)):
        sizes.insert(axis, extent)
    check_sizes(tuple(sizes), self.itemsize)
    result: Array = making.zeros(sizes, self.dtype)
    if not offset and first == ndim - 2 and second == ndim - 1:
        elements: Array = result.reshape(*self.shape[:-1], extent * extent)
        elements[..., :: extent + 1] = resolved(self)
        return result
    if not self.size:
        # The offset may be larger than NumPy's diagonals accept.
        return result
    diagonal = np.diagonal(result, offset, first, second)
    diagonal.flags.writeable = True
    diagonal[...] = resolved(self)
    return result


def rot90_turns(self: Array, turns: int, dims: Sequence[int]) -> Array:
    """The array turned by right angles in the plane of two dimensions, from first to second.

    Raises
    ------
    ShapeError
        If these are not two different dimensions.
    DimensionError
        If one of them does not exist.
    """
    if len(dims) != 2:
        raise ShapeError(f"rot90 turns a plane of 2 dimensions, got {len(dims)}", dims=dims)
    if self.ndim < 2:
        raise ShapeError(f"rot90 needs at least 2 dimensions, got {self.ndim}", ndim=self.ndim)
    first, second = [normalize_dim(integer(dim), self.ndim) for dim in dims]
    if first == second:
        raise ShapeError(
            f"rot90 needs two different dimensions, got {dims[0]} and {dims[1]}", dims=tuple(dims)
        )
    turns = integer(turns) % 4
    if turns == 0:
        return contiguous(self)
    if turns == 2:
        return flip(self, (first, second))
    return flip(self, (second if turns == 1 else first,)).swapaxes(first, second)


def block_diag(tensors: Sequence[Array]) -> Array:
    """A matrix with the given matrices along its diagonal and zeros elsewhere.

    Vectors are rows.

    Raises
    ------
    ShapeError
        If there is no matrix, or one has more than 2 dimensions.
    """
    if not tensors:
        raise ShapeError("block_diag needs at least one tensor")
    for nr, x in enumerate(tensors):
        if x.ndim > 2:
            raise ShapeError(
                f"block_diag takes matrices, but tensor {nr} has shape {x.shape}", position=nr
            )
    blocks = [x.reshape((1,) * (2 - x.ndim) + x.shape) for x in tensors]
    dtype: NumpyDType = blocks[0].dtype
    for x in blocks[1:]:
        dtype = promote(dtype, x.dtype)
    result: Array = making.zeros(
        (sum(x.shape[0] for x in blocks), sum(x.shape[1] for x in blocks)), dtype
    )
    row = column = 0
    for x in blocks:
        result[row : row + x.shape[0], column : column + x.shape[1]] = resolved(x)
        row += x.shape[0]
        column += x.shape[1]
    return result


def counted_indices(repeats: Array, *, output_size: int | None = None) -> Array:
    """Each position repeated by the count at it: ``[2, 0, 1]`` gives ``[0, 0, 2]``.

    Raises
    ------
    ShapeError
        If the counts are not a vector, one is negative, or their sum differs from `output_size` or
        exceeds memory.
    NotSupportedError
        If they are neither int64 nor int32.
    """
    repeats = resolved(repeats)
    if repeats.ndim != 1:
        raise ShapeError(f"repeats must be a vector, got shape {repeats.shape}")
    if repeats.dtype not in (np.int64, np.int32):
        raise NotSupportedError(
            f"repeats must be of int64 or int32, not {repeats.dtype}", dtype=repeats.dtype.name
        )
    if repeats.size and int(repeats.min()) < 0:
        raise ShapeError("repeats must not be negative", least=int(repeats.min()))
    # Integer sums that exceed memory might wrap around.
    check_sizes((int(repeats.sum(dtype=np.float64)),), 8)
    total = int(repeats.sum())
    if output_size is not None and output_size != total:
        raise ShapeError(
            f"the repeats add up to {total}, but output_size is {output_size}",
            expected=total,
            found=output_size,
        )
    return np.repeat(making.arange(repeats.size, dtype=repeats.dtype), repeats)


# -- repeating and moving -------------------------------------------------------------------


def repeat(self: Array, repeats: Sequence[int]) -> Array:
    """The tensor tiled ``repeats[k]`` times along each dimension.

    With more repeats than dimensions, new dimensions come in front.

    Raises
    ------
    ShapeError
        If there are fewer repeats than dimensions, or one is negative.
    """
    if len(repeats) < self.ndim:
        raise ShapeError(
            f"repeat needs a count for each of {self.ndim} dimension(s), got {tuple(repeats)}",
            repeats=tuple(repeats),
            ndim=self.ndim,
        )
    counts = tuple(map(index, repeats))
    if any(count < 0 for count in counts):
        raise ShapeError(f"repeat's counts must not be negative, got {counts}", repeats=counts)
    lead = len(counts) - self.ndim
    sizes = (1,) * lead + self.shape
    target = tuple([count * size for count, size in zip(counts, sizes, strict=True)])
    # Each dimension occurs twice here.
    tiles = tuple([n for pair in zip(counts, sizes, strict=True) for n in pair])
    check_sizes(tiles, self.itemsize)
    result: Array = making.empty(target, self.dtype)
    one_tile = tuple([n for size in sizes for n in (1, size)])
    result.reshape(tiles)[...] = resolved(self).reshape(one_tile)
    return result


def roll(self: Array, shifts: int | Sequence[int], dims: int | Sequence[int] | None = ()) -> Array:
    """The elements shifted cyclically along dimensions, or in row-major order without `dims`.

    Raises
    ------
    ShapeError
        If shifts and dims differ in number, or there is no shift.
    DimensionError
        If the tensor has no such dimension.
    """
    given = shifts if isinstance(shifts, (tuple, list)) else (shifts,)
    steps = tuple(map(integer, given))  # pyright: ignore[reportArgumentType]  # `integer` refuses all else
    where = dims or () if isinstance(dims, (tuple, list)) or dims is None else (dims,)
    axes = tuple(map(integer, where))  # pyright: ignore[reportArgumentType]  # as above
    if not steps:
        raise ShapeError("roll needs at least one shift")
    if len(steps) != len(axes) and not (len(steps) == 1 and not axes):
        raise ShapeError(
            f"roll needs a dimension for each shift, got shifts {steps} and dims {axes}",
            shifts=steps,
            dims=axes,
        )
    if self.size == 0:
        return clone(self)
    if not axes:
        rolled: Array = making.empty(self.shape, self.dtype)
        _roll_one(resolved(self).reshape(-1), steps[0], 0, rolled.reshape(-1))
        return rolled
    if self.ndim == 0:
        raise DimensionError("a 0-d tensor has no dimension to roll", dim=axes[0], ndim=0)
    normalized = tuple([normalize_dim(axis, self.ndim) for axis in axes])
    # PyTorch joins two parts at each step. An empty part is not channels-last.
    moved = all(step % self.shape[axis] for step, axis in zip(steps, normalized, strict=True))
    if moved:
        result = empty_joined([self], self.shape, self.dtype)
    else:
        result = making.empty(self.shape, self.dtype)
    if len(steps) == 1:
        _roll_one(resolved(self), steps[0], normalized[0], result)
    else:
        result[...] = np.roll(self, steps, normalized)
    return result


def _roll_one(source: Array, step: int, axis: int, target: Array) -> None:
    """Store the elements shifted along one dimension, which is not empty."""
    step %= source.shape[axis]
    before = (slice(None),) * axis
    target[(*before, slice(step, None))] = source[(*before, slice(None, -step or None))]
    if step:
        target[(*before, slice(None, step))] = source[(*before, slice(-step, None))]


def flip(self: Array, dims: int | Sequence[int]) -> Array:
    """The elements in reverse order along dimensions.

    Raises
    ------
    ShapeError
        If a dimension comes twice.
    DimensionError
        If the tensor has no such dimension.
    """
    axes = tuple(
        [normalize_dim(d, self.ndim) for d in ((dims,) if isinstance(dims, int) else dims)]
    )
    if len(set(axes)) != len(axes):
        raise ShapeError(f"flip got a dimension more than once: {dims}", dims=dims)
    result = empty_like_preserving(self.dtype, self)
    turned = [slice(None)] * self.ndim
    for axis in axes:
        if axis < self.ndim:
            turned[axis] = slice(None, None, -1)
    result[...] = resolved(self)[tuple(turned)]
    return result


# -- triangles ------------------------------------------------------------------------------


def tril(self: Array, diagonal: int = 0) -> Array:
    """The lower triangles of the last two dimensions, zeros above `diagonal`."""
    _check_matrix(self, "tril")
    kept = _triangle(self.shape[-2:], _shift(self, diagonal))
    result: Array = making.zeros(self.shape, self.dtype)
    np.copyto(result, resolved(self), where=kept)
    return result


def triu(self: Array, diagonal: int = 0) -> Array:
    """The upper triangles of the last two dimensions, zeros below `diagonal`."""
    _check_matrix(self, "triu")
    left_out = _triangle(self.shape[-2:], _shift(self, diagonal) - 1)
    result: Array = making.zeros(self.shape, self.dtype)
    np.copyto(result, resolved(self), where=np.logical_not(left_out))
    return result


def _triangle(sizes: Shape, diagonal: int) -> Array:
    """Where a matrix is on or below a diagonal."""
    rows, columns = sizes
    lowest: Array = making.arange(diagonal, rows + diagonal).reshape(rows, 1)
    below: Array = lowest >= making.arange(columns)
    return below


def _shift(self: Array, diagonal: int) -> int:
    """The number of a diagonal, clipped to the size of the matrix."""
    furthest: int = max(self.shape[-2:])
    try:
        return max(-furthest, min(integer(diagonal), furthest))
    except TypeError:
        # A tensor without an integer; other types are refused before.
        raise ArgumentTypeError("argument 'diagonal' must be an integer") from None


def _check_matrix(self: Array, name: str) -> None:
    if self.ndim < 2:
        raise ShapeError(
            f"{name} needs at least 2 dimensions, got shape {self.shape}", shape=self.shape
        )


def constant_pad(self: Array, widths: Shape, value: Number = 0) -> Array:
    """The elements with a margin of one value.

    Parameters
    ----------
    self : array
        The elements.
    widths : tuple of int
        How many come before and behind along the last dimension, then along the one before it,
        and so on; negative numbers cut off.
    value : number
        The value.
    """
    if len(widths) > 2 * self.ndim:
        raise ShapeError(
            f"a margin of {len(widths)} widths does not fit {self.ndim} dimensions",
            shape=self.shape,
        )
    shape = list(self.shape)
    into, taken = [slice(None)] * self.ndim, [slice(None)] * self.ndim
    for nr in range(len(widths) // 2):
        axis = self.ndim - 1 - nr
        before, after = widths[2 * nr], widths[2 * nr + 1]
        size = shape[axis]
        shape[axis] = size + before + after
        taken[axis] = slice(max(-before, 0), size - max(-after, 0))
        into[axis] = slice(max(before, 0), shape[axis] - max(after, 0))
    check_sizes(tuple(shape), self.itemsize)
    # What is not stored need not fit the dtype.
    margin = as_element(value if any(n > 0 for n in widths) else 0, self.dtype)
    found: Array = making.full(shape, margin, self.dtype)
    found[tuple(into)] = resolved(self)[tuple(taken)]
    return found
