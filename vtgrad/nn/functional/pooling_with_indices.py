"""Pooling that returns the places of the largest elements too, under names of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vtgrad.nn.functional.max_pooling import (
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from vtgrad.ops.calling.explain import explained
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d_with_indices",
    "max_pool1d_with_indices",
    "max_pool2d_with_indices",
    "max_pool3d_with_indices",
]

T = TypeVar("T", bound=Tensor)


@explained
def max_pool1d_with_indices(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[T, Tensor]:
    """Return the largest element of each window of signals, and its place.

    Parameters
    ----------
    input, kernel_size, stride, padding, dilation, ceil_mode
        As of `max_pool1d`.
    return_indices : bool, default False
        Not used: the places are always returned.

    Returns
    -------
    (Tensor, Tensor)
        What `max_pool1d` returns with ``return_indices=True``.

    Raises
    ------
    ShapeError, NotSupportedError
        As `max_pool1d`.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 3.0, 2.0, 5.0]])
    >>> vt.nn.functional.max_pool1d_with_indices(x, 2)
    (tensor([[3., 5.]]), tensor([[1, 3]]))
    """
    return max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices=True)


@explained
def max_pool2d_with_indices(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[T, Tensor]:
    """Return the largest element of each window of images, and its place.

    Parameters
    ----------
    input, kernel_size, stride, padding, dilation, ceil_mode
        As of `max_pool2d`.
    return_indices : bool, default False
        Not used: the places are always returned.

    Returns
    -------
    (Tensor, Tensor)
        What `max_pool2d` returns with ``return_indices=True``.

    Raises
    ------
    ShapeError, NotSupportedError
        As `max_pool2d`.

    Examples
    --------
    >>> x = vt.arange(4.0).reshape(1, 2, 2)
    >>> vt.nn.functional.max_pool2d_with_indices(x, 2)
    (tensor([[[3.]]]), tensor([[[3]]]))
    """
    return max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices=True)


@explained
def max_pool3d_with_indices(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[T, Tensor]:
    """Return the largest element of each window of volumes, and its place.

    Parameters
    ----------
    input, kernel_size, stride, padding, dilation, ceil_mode
        As of `max_pool3d`.
    return_indices : bool, default False
        Not used: the places are always returned.

    Returns
    -------
    (Tensor, Tensor)
        What `max_pool3d` returns with ``return_indices=True``.

    Raises
    ------
    ShapeError, NotSupportedError
        As `max_pool3d`.

    Examples
    --------
    >>> x = vt.arange(8.0).reshape(1, 2, 2, 2)
    >>> vt.nn.functional.max_pool3d_with_indices(x, 2)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices=True)


@explained
def adaptive_max_pool1d_with_indices(
    input: T, output_size: int | Sequence[int], return_indices: bool = False
) -> tuple[T, Tensor]:
    """Return the largest element of each of a number of windows of signals, and its place.

    Parameters
    ----------
    input, output_size
        As of `adaptive_max_pool1d`.
    return_indices : bool, default False
        Not used: the places are always returned.

    Returns
    -------
    (Tensor, Tensor)
        What `adaptive_max_pool1d` returns with ``return_indices=True``.

    Raises
    ------
    ShapeError, NotSupportedError
        As `adaptive_max_pool1d`.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 3.0, 2.0, 5.0]])
    >>> vt.nn.functional.adaptive_max_pool1d_with_indices(x, 1)
    (tensor([[5.]]), tensor([[3]]))
    """
    return adaptive_max_pool1d(input, output_size, return_indices=True)


@explained
def adaptive_max_pool2d_with_indices(
    input: T, output_size: int | Sequence[int | None] | None, return_indices: bool = False
) -> tuple[T, Tensor]:
    """Return the largest element of each of a number of windows of images, and its place.

    Parameters
    ----------
    input, output_size
        As of `adaptive_max_pool2d`.
    return_indices : bool, default False
        Not used: the places are always returned.

    Returns
    -------
    (Tensor, Tensor)
        What `adaptive_max_pool2d` returns with ``return_indices=True``.

    Raises
    ------
    ShapeError, NotSupportedError
        As `adaptive_max_pool2d`.

    Examples
    --------
    >>> x = vt.arange(4.0).reshape(1, 2, 2)
    >>> vt.nn.functional.adaptive_max_pool2d_with_indices(x, 1)
    (tensor([[[3.]]]), tensor([[[3]]]))
    """
    return adaptive_max_pool2d(input, output_size, return_indices=True)


@explained
def adaptive_max_pool3d_with_indices(
    input: T, output_size: int | Sequence[int | None] | None, return_indices: bool = False
) -> tuple[T, Tensor]:
    """Return the largest element of each of a number of windows of volumes, and its place.

    Parameters
    ----------
    input, output_size
        As of `adaptive_max_pool3d`.
    return_indices : bool, default False
        Not used: the places are always returned.

    Returns
    -------
    (Tensor, Tensor)
        What `adaptive_max_pool3d` returns with ``return_indices=True``.

    Raises
    ------
    ShapeError, NotSupportedError
        As `adaptive_max_pool3d`.

    Examples
    --------
    >>> x = vt.arange(8.0).reshape(1, 2, 2, 2)
    >>> vt.nn.functional.adaptive_max_pool3d_with_indices(x, 1)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return adaptive_max_pool3d(input, output_size, return_indices=True)
