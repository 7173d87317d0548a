"""Arrays rearranged or embedded: diagonals, rotations, blocks, repeated indices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.errors import NotSupportedError, ShapeError
from vtgrad.ops.kernels.copying import contiguous, flip
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.dtypes import promote
from vtgrad.storage.geometry import infer_size, narrow_geometry, normalize_dim
from vtgrad.storage.integers import integer
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.strides import check_sizes

__all__ = ["block_diag", "counted_indices", "diag_embed", "narrow_copy", "rot90_turns", "view_copy"]


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
    result: Array = np.zeros(sizes, self.dtype)
    if not self.size:
        # The offset may be larger than NumPy's diagonals accept.
        return result
    diagonal = np.diagonal(result, offset, first, second)
    diagonal.flags.writeable = True
    diagonal[...] = resolved(self)
    return result


def view_copy(self: Array, size: Sequence[int]) -> Array:
    """A row-major copy in another shape, of which one size may be -1.

    Raises
    ------
    ShapeError
        If the number of elements differs.
    NotSupportedError
        If there are more dimensions than NumPy allows.
    """
    sizes = infer_size([integer(n) for n in size], self.size)
    check_sizes(sizes, self.itemsize)
    return contiguous(self).reshape(sizes)


def rot90_turns(self: Array, turns: int, dims: Sequence[int]) -> Array:
    """The array turned by right angles in the plane of two dimensions, from first to second.

    Raises
    ------
    ShapeError
        If these are not two different dimensions.
    """
    if len(dims) != 2:
        raise ShapeError(f"rot90 turns a plane of 2 dimensions, got {len(dims)}", dims=dims)
    if self.ndim < 2:
        raise ShapeError(f"rot90 needs at least 2 dimensions, got {self.ndim}", ndim=self.ndim)
    first, second = map(integer, dims)
    if first == second or abs(first - second) == self.ndim:
        raise ShapeError(
            f"rot90 needs two different dimensions, got {first} and {second}", dims=tuple(dims)
        )
    first, second = normalize_dim(first, self.ndim), normalize_dim(second, self.ndim)
    turns = integer(turns) % 4
    if turns == 0:
        return contiguous(self)
    if turns == 2:
        return flip(self, (first, second))
    return flip(self, (second if turns == 1 else first,)).swapaxes(first, second)


def narrow_copy(self: Array, dim: int, start: int, length: int) -> Array:
    """`length` elements of a dimension from `start` on, as a copy.

    Raises
    ------
    ShapeError
        If the part leaves the dimension.
    OutOfRangeError
        If `start` is outside the dimension.
    """
    start, length = integer(start), integer(length)
    narrow_geometry(self.shape, self.strides, 0, dim, start, length)
    axis = normalize_dim(dim, self.ndim)
    first = start + self.shape[axis] if start < 0 else start
    return contiguous(self[(*[slice(None)] * axis, slice(first, first + length))])


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
    for place, x in enumerate(tensors):
        if x.ndim > 2:
            raise ShapeError(
                f"block_diag takes matrices, but tensor {place} has shape {x.shape}", place=place
            )
    blocks = [x.reshape((1,) * (2 - x.ndim) + x.shape) for x in tensors]
    dtype: NumpyDType = blocks[0].dtype
    for x in blocks[1:]:
        dtype = promote(dtype, x.dtype)
    result: Array = np.zeros(
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
    return np.repeat(np.arange(repeats.size, dtype=repeats.dtype), repeats)
