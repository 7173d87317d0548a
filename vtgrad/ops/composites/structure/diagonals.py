"""Matrices that are built of diagonals and blocks."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import ShapeError
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.calling.sequences import sequence_of_tensors
from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.composites.views.same_elements import contiguous
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["block_diag", "diag", "diagflat", "fill_diagonal_"]


T = TypeVar("T", bound=TensorBase)


@explained
def diag(input: T, diagonal: int = 0, *, out: T | None = None) -> T:
    """Return a matrix with a vector on a diagonal, or the diagonal of a matrix.

    Of a vector the result is a square matrix with zeros elsewhere, just as large as it must be.
    Of a matrix it is a copy of the diagonal, without elements if there is no such diagonal;
    `diagonal` returns a view instead.

    Parameters
    ----------
    input : Tensor
        A vector or a matrix of any dtype.
    diagonal : int, default 0
        Which diagonal: 0 is the main one, positive ones lie above it, negative ones below.
    out : Tensor, optional
        Where the result is stored; it must have the result's dtype.

    Returns
    -------
    Tensor
        A new tensor of the dtype of `input`.

    Raises
    ------
    ShapeError
        If `input` is neither a vector nor a matrix.
    ArgumentTypeError
        If `diagonal` is not an integer.
    ResultTypeError
        If `out` has another dtype than the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> vt.diag(vt.tensor([1, 2]), 1)
    tensor([[0, 1, 0],
            [0, 0, 2],
            [0, 0, 0]])
    >>> m = vt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> d = vt.diag(m)
    >>> d.detach()
    tensor([1., 4.])
    >>> d.sum().backward()
    >>> m.grad
    tensor([[1., 0.],
            [0., 1.]])
    """
    if input.ndim == 2:
        return F.diagonal_copy(input, diagonal, 0, 1, out=out)
    if input.ndim != 1:
        raise ShapeError(f"diag takes a vector or a matrix, got {input.ndim} dimensions")
    return F.diag_embed(input, diagonal, out=out)


@explained
def diagflat(input: T, offset: int = 0) -> T:
    """Return a matrix with all elements of a tensor on a diagonal and zeros elsewhere.

    The elements come in row-major order. The matrix is square and just as large as it must be.

    Parameters
    ----------
    input : Tensor
        The elements, of any shape and dtype.
    offset : int, default 0
        Which diagonal: 0 is the main one, positive ones lie above it, negative ones below.

    Returns
    -------
    Tensor
        A new matrix with ``input.numel() + abs(offset)`` rows and columns.

    Raises
    ------
    ArgumentTypeError
        If `input` is not a tensor, or `offset` is not an integer.

    Examples
    --------
    >>> vt.diagflat(vt.tensor([[1, 2], [3, 4]]))
    tensor([[1, 0, 0, 0],
            [0, 2, 0, 0],
            [0, 0, 3, 0],
            [0, 0, 0, 4]])
    >>> vt.diagflat(vt.tensor([1, 2]), 1)
    tensor([[0, 1, 0],
            [0, 0, 2],
            [0, 0, 0]])
    """
    return F.diag_embed(F.view_shape(contiguous(input), (-1,)), offset)


@explained
def fill_diagonal_(input: T, fill_value: Number, wrap: bool = False) -> T:
    """Set the elements whose indices are all equal to a number.

    Of a matrix that is its main diagonal. The number is cast to the dtype of the tensor. The
    gradient of the old values on the diagonal is zero, and passes elsewhere.

    Parameters
    ----------
    input : Tensor
        A matrix, or a tensor of more dimensions, all of one size.
    fill_value : number
        The value. A 0-d tensor that does not require grad is taken as a number.
    wrap : bool, default False
        Whether a matrix with more rows than columns gets further diagonals below the first one.
        One row is left out between two of them.

    Returns
    -------
    Tensor
        `input` itself.

    Raises
    ------
    ShapeError
        If there are fewer than 2 dimensions, or more of different sizes.
    ResultTypeError
        If the dtype cannot hold the value.
    ViewOfLeafWriteError
        If the tensor is a leaf that requires grad while recording.
    ArgumentTypeError
        If `fill_value` is not a number.

    Examples
    --------
    >>> vt.zeros(2, 3).fill_diagonal_(5)
    tensor([[5., 0., 0.],
            [0., 5., 0.]])
    >>> vt.zeros(5, 2).fill_diagonal_(5, wrap=True)
    tensor([[5., 0.],
            [0., 5.],
            [0., 0.],
            [5., 0.],
            [0., 5.]])
    >>> x = vt.ones(2, 2, requires_grad=True)
    >>> x.clone().fill_diagonal_(0).sum().backward()
    >>> x.grad
    tensor([[0., 1.],
            [1., 0.]])
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
    """Return a matrix with the given ones along its diagonal and zeros elsewhere.

    A 0-d tensor counts as a matrix with one element, a vector as a matrix with one row. Dtypes
    promote. Each tensor gets the gradient of its block.

    Parameters
    ----------
    *tensors : Tensor
        The blocks, of at most 2 dimensions.

    Returns
    -------
    Tensor
        A new matrix, of as many rows and columns as the blocks have together.

    Raises
    ------
    ShapeError
        If there are no tensors, or one has more than 2 dimensions.
    ArgumentTypeError
        If an argument is not a tensor.

    Examples
    --------
    >>> vt.block_diag(vt.tensor([[1, 2], [3, 4]]), vt.tensor([5, 6]), vt.tensor(7))
    tensor([[1, 2, 0, 0, 0],
            [3, 4, 0, 0, 0],
            [0, 0, 5, 6, 0],
            [0, 0, 0, 0, 7]])
    """
    if keys.active and is_overridden(*tensors):
        return call_override(block_diag, *tensors)
    return F.block_diagonal(sequence_of_tensors(tensors, "block_diag"))
