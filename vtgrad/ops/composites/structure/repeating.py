"""Repeating and flipping."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.errors import ShapeError
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.sequences import given_integers
from vtgrad.ops.generated import functional as F
from vtgrad.storage.argument_types import T

__all__ = ["flip", "fliplr", "flipud", "repeat", "tile"]


@explained
def repeat(input: T, *counts: int | Sequence[int], repeats: Sequence[int] | None = None) -> T:
    """The tensor tiled along each dimension; more counts than dimensions add new ones in front."""
    return F.repeat_tiles(input, given_integers(counts, repeats, "repeat"))


@explained
def tile(input: T, *counts: int | Sequence[int], dims: Sequence[int] | None = None) -> T:
    """`repeat`, with missing counts taken for 1."""
    repeats = given_integers(counts, dims, "tile")
    return F.repeat_tiles(input, (1,) * (input.ndim - len(repeats)) + repeats)


def flip(input: T, *axes: int | Sequence[int], dims: int | Sequence[int] | None = None) -> T:
    """A copy with the elements in reverse order along dimensions."""
    return F.flip_dims(input, given_integers(axes, dims, "flip"))


@explained
def fliplr(input: T) -> T:
    """A copy with dimension 1 in reverse order."""
    if input.ndim < 2:
        raise ShapeError(f"fliplr needs at least 2 dimensions, got {input.ndim}", ndim=input.ndim)
    return F.flip_dims(input, (1,))


@explained
def flipud(input: T) -> T:
    """A copy with dimension 0 in reverse order."""
    if input.ndim < 1:
        raise ShapeError("flipud needs at least 1 dimension, got a 0-d tensor", ndim=0)
    return F.flip_dims(input, (0,))
