"""Tiling, and flipping rows or columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.errors import ShapeError
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.sequences import given_integers
from vtgrad.ops.generated import functional as F
from vtgrad.storage.argument_types import T

__all__ = ["fliplr", "flipud", "tile"]


@explained
def tile(input: T, *counts: int | Sequence[int], dims: Sequence[int] | None = None) -> T:
    """Return the tensor tiled along its dimensions, as a copy.

    As `repeat`, but counts that are missing in front are 1. The gradient of an element is the
    sum over its copies.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    *counts : int or sequence of int
        How often each dimension is repeated; the last count belongs to the last dimension.
        Given one by one or as one sequence.
    dims : sequence of int, optional
        The same, by keyword.

    Returns
    -------
    Tensor
        A new tensor; its sizes are those of `input` times the counts.

    Raises
    ------
    ShapeError
        If a count is negative.
    ArgumentTypeError
        If no counts are given, or in two ways, or one is no integer.

    Examples
    --------
    >>> x = vt.tensor([[1, 2], [3, 4]])
    >>> vt.tile(x, 2)
    tensor([[1, 2, 1, 2],
            [3, 4, 3, 4]])
    >>> vt.tile(x, (2, 1)).shape
    vtgrad.Size([4, 2])
    """
    repeats = given_integers(counts, dims, "tile")
    # The kernel looks too, but calls the function repeat. What is no integer is left to it.
    counted: Sequence[object] = repeats
    if any(isinstance(count, (int, np.integer)) and count < 0 for count in counted):
        raise ShapeError(f"tile's counts must not be negative, got {repeats}", repeats=repeats)
    return F.repeat_tiles(input, (1,) * (input.ndim - len(repeats)) + repeats)


@explained
def fliplr(input: T) -> T:
    """Return a copy with the columns in reverse order.

    ``fliplr(x)`` is ``flip(x, 1)``: dimension 1 is reversed, however many dimensions follow.
    The gradient is flipped back.

    Parameters
    ----------
    input : Tensor
        Tensor with at least 2 dimensions.

    Returns
    -------
    Tensor
        A new tensor of the shape and dtype of `input`.

    Raises
    ------
    ShapeError
        If there are fewer than 2 dimensions.

    Examples
    --------
    >>> vt.fliplr(vt.tensor([[1, 2, 3], [4, 5, 6]]))
    tensor([[3, 2, 1],
            [6, 5, 4]])
    """
    if input.ndim < 2:
        raise ShapeError(f"fliplr needs at least 2 dimensions, got {input.ndim}", ndim=input.ndim)
    return F.flip_dims(input, (1,))


@explained
def flipud(input: T) -> T:
    """Return a copy with the rows in reverse order.

    ``flipud(x)`` is ``flip(x, 0)``: dimension 0 is reversed, however many dimensions follow.
    The gradient is flipped back.

    Parameters
    ----------
    input : Tensor
        Tensor with at least 1 dimension.

    Returns
    -------
    Tensor
        A new tensor of the shape and dtype of `input`.

    Raises
    ------
    ShapeError
        If the tensor is 0-d.

    Examples
    --------
    >>> vt.flipud(vt.tensor([[1, 2, 3], [4, 5, 6]]))
    tensor([[4, 5, 6],
            [1, 2, 3]])
    >>> vt.flipud(vt.tensor([1, 2]))
    tensor([2, 1])
    """
    if input.ndim < 1:
        raise ShapeError("flipud needs at least 1 dimension, got a 0-d tensor", ndim=0)
    return F.flip_dims(input, (0,))
