"""Matrices that are built of diagonals and blocks."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import ShapeError
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.calling.sequences import sequence_of_tensors
from vtgrad.ops.composites.views.shaping import contiguous
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["block_diag", "diag", "diagflat", "fill_diagonal_"]


T = TypeVar("T", bound=TensorBase)


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


def block_diag(*tensors: T) -> T:
    """A matrix with the given ones along its diagonal and zeros elsewhere; vectors are rows."""
    return F.block_diagonal(sequence_of_tensors(tensors, "block_diag"))
