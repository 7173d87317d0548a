"""Elements moved between channels and places, and between groups of channels."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import ShapeError
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.integers import index_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]

T = TypeVar("T", bound=Tensor)


@explained
def pixel_shuffle(input: T, upscale_factor: int) -> T:
    """Return images that are larger by a factor, whose new pixels were channels.

    Parameters
    ----------
    input : Tensor
        Of shape ``(..., C * r * r, H, W)`` for the factor r.
    upscale_factor : int
        The factor r.

    Returns
    -------
    Tensor
        A new tensor of shape ``(..., C, H * r, W * r)``.

    Raises
    ------
    ShapeError
        If `input` has fewer than three dimensions, the factor is not positive, or its square does
        not divide the number of channels.

    Examples
    --------
    >>> vt.nn.functional.pixel_shuffle(vt.arange(4).reshape(4, 1, 1), 2)
    tensor([[[0, 1],
             [2, 3]]])
    """
    refuse_names("pixel_shuffle", input)
    shape = _shape("pixel_shuffle", input)
    factor = _factor("pixel_shuffle", upscale_factor)
    *lead, channels, height, width = shape
    if channels % (factor * factor):
        raise ShapeError(
            f"pixel_shuffle() with the factor {factor} takes a multiple of {factor * factor} "
            f"channels, got {channels}",
            shape=shape,
        )
    count, ndim = channels // (factor * factor), len(lead)
    parts = F.reshape(input, (*lead, count, factor, factor, height, width))
    order = (*range(ndim), ndim, ndim + 3, ndim + 1, ndim + 4, ndim + 2)
    return F.clone(
        F.reshape(F.permute(parts, order), (*lead, count, height * factor, width * factor))
    )


@explained
def pixel_unshuffle(input: T, downscale_factor: int) -> T:
    """Return images that are smaller by a factor, with the pixels of each block as channels.

    Parameters
    ----------
    input : Tensor
        Of shape ``(..., C, H * r, W * r)`` for the factor r.
    downscale_factor : int
        The factor r.

    Returns
    -------
    Tensor
        A new tensor of shape ``(..., C * r * r, H, W)``.

    Raises
    ------
    ShapeError
        If `input` has fewer than three dimensions, the factor is not positive, or it does not
        divide the height and the width.

    Examples
    --------
    >>> vt.nn.functional.pixel_unshuffle(vt.arange(4).reshape(1, 2, 2), 2).reshape(-1)
    tensor([0, 1, 2, 3])
    """
    refuse_names("pixel_unshuffle", input)
    shape = _shape("pixel_unshuffle", input)
    factor = _factor("pixel_unshuffle", downscale_factor)
    *lead, channels, height, width = shape
    if height % factor or width % factor:
        raise ShapeError(
            f"pixel_unshuffle() with the factor {factor} takes heights and widths that are "
            f"multiples of it, got {height} and {width}",
            shape=shape,
        )
    ndim, rows, columns = len(lead), height // factor, width // factor
    parts = F.reshape(input, (*lead, channels, rows, factor, columns, factor))
    order = (*range(ndim), ndim, ndim + 2, ndim + 4, ndim + 1, ndim + 3)
    return F.clone(
        F.reshape(F.permute(parts, order), (*lead, channels * factor * factor, rows, columns))
    )


@explained
def channel_shuffle(input: T, groups: int) -> T:
    """Return a tensor whose channels are those of each group in turn.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, ...)``.
    groups : int
        How many groups of neighbours the channels make.

    Returns
    -------
    Tensor
        A new tensor of the same shape.

    Raises
    ------
    ShapeError
        If `input` has fewer than three dimensions, or the number of groups is not positive or does
        not divide the number of channels.

    Examples
    --------
    >>> vt.nn.functional.channel_shuffle(vt.arange(4).reshape(1, 4, 1), 2).reshape(-1)
    tensor([0, 2, 1, 3])
    """
    refuse_names("channel_shuffle", input)
    shape = _shape("channel_shuffle", input)
    groups = index_of(groups, "groups")
    if groups < 1 or shape[1] % groups:
        raise ShapeError(
            f"channel_shuffle() cannot make {groups} groups of {shape[1]} channels", shape=shape
        )
    parts = F.reshape(input, (shape[0], groups, shape[1] // groups, *shape[2:]))
    return F.clone(F.reshape(F.transpose(parts, 1, 2), shape))


def _shape(name: str, input: Tensor) -> tuple[int, ...]:
    shape: tuple[int, ...] = array_of(input, "input").shape
    if len(shape) < 3:
        raise ShapeError(
            f"{name}() takes at least three dimensions, got shape {list(shape)}", shape=shape
        )
    return shape


def _factor(name: str, factor: int) -> int:
    number = index_of(factor, "the factor")
    if number < 1:
        raise ShapeError(f"{name}() takes a positive factor, got {number}", factor=number)
    return number
