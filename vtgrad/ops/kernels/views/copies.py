"""Copies of what a view shows."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.errors import ShapeError
from vtgrad.ops.kernels.copying.copies import contiguous
from vtgrad.storage.arrays import Array
from vtgrad.storage.geometry import infer_size, narrow_geometry, normalize_dim
from vtgrad.storage.integers import integer
from vtgrad.storage.strides import check_sizes

__all__ = ["narrow_copy", "view_copy"]


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


def narrow_copy(self: Array, dim: int, start: int, length: int) -> Array:
    """`length` elements of a dimension from `start` on, as a copy.

    Raises
    ------
    ShapeError
        If the part leaves the dimension, or the dimension is too large, which is an `IndexError`
        of all other operators, as in PyTorch.
    OutOfRangeError
        If `start` is outside the dimension.
    """
    start, length = integer(start), integer(length)
    if self.ndim and integer(dim) >= self.ndim:
        raise ShapeError(
            f"dimension {dim} does not exist: there are {self.ndim}", dim=dim, ndim=self.ndim
        )
    narrow_geometry(self.shape, self.strides, 0, dim, start, length)
    axis = normalize_dim(dim, self.ndim)
    first = start + self.shape[axis] if start < 0 else start
    return contiguous(self[(*[slice(None)] * axis, slice(first, first + length))])
