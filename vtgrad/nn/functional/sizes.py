"""Arguments that are one number for all dimensions of space, or one for each of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.errors import NotSupportedError, ShapeError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.integers import index_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["is_batch", "numbers", "refuse_dtypes", "spatial"]


def numbers(
    function: str, name: str, value: int | Sequence[int], ndim: int, least: int
) -> tuple[int, ...]:
    """One number for each dimension of space.

    Parameters
    ----------
    function, name : str
        Whose argument it is, for errors.
    value : int or sequence of int
        What the caller has given; one number stands for all dimensions.
    ndim : int
        How many dimensions there are.
    least : int
        The smallest number that is possible.

    Raises
    ------
    ArgumentTypeError
        If it is something else than integers.
    ShapeError
        If there are too many or too few, or one is too small.
    """
    if isinstance(value, Sequence):
        found = tuple([index_of(n, name) for n in value])
    else:
        found = (index_of(value, name),)
    if len(found) == 1:
        found *= ndim
    if len(found) != ndim:
        raise ShapeError(
            f"{function}() takes one number or {ndim} numbers for {name}, got {list(found)}",
            argument=name,
        )
    if found and min(found) < least:
        raise ShapeError(
            f"{function}() takes numbers for {name} that are at least {least}, got {list(found)}",
            argument=name,
        )
    return found


def spatial(function: str, input: Tensor, ndim: int) -> Array:
    """The array of a tensor of `ndim` dimensions of space behind channels, and perhaps samples.

    Raises
    ------
    ArgumentTypeError
        If it is no tensor.
    ShapeError
        If it has another number of dimensions.
    """
    array = array_of(input, "input")
    if array.ndim not in (ndim + 1, ndim + 2):
        raise ShapeError(
            f"{function}() takes an input of {ndim + 1} or {ndim + 2} dimensions, got shape "
            f"{list(array.shape)}",
            shape=array.shape,
        )
    return array


def is_batch(shape: Shape, ndim: int) -> bool:
    """Whether a shape has a dimension of samples, in front of channels and `ndim` of space."""
    return len(shape) == ndim + 2


def refuse_dtypes(function: str, array: Array, kinds: str) -> None:
    """Refuse an array whose dtype has one of the kinds, by NumPy's letters.

    Raises
    ------
    NotSupportedError
        If it has.
    """
    if array.dtype.kind in kinds:
        raise NotSupportedError(
            f"{function}() has no result for {np.dtype(array.dtype).name}", dtype=array.dtype
        )
