# Compiled by mypyc.
"""Derivatives of tensors that are built around others."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.ops import kernels as k
from vtgrad.storage.arrays import Array, Shape

__all__ = ["block_diag_gradients", "opposite", "repeat_gradient", "turned_back", "unpadded"]


def opposite(shifts: int | Sequence[int]) -> int | list[int]:
    """Shifts that undo a roll."""
    return -shifts if isinstance(shifts, int) else [-shift for shift in shifts]


def repeat_gradient(grad: Array, repeats: Sequence[int], sizes: Shape) -> Array:
    """The sum over all tiles."""
    if 0 in repeats:
        return k.zeros_shaped(grad, sizes)
    padded = (1,) * (len(repeats) - len(sizes)) + tuple(sizes)
    tiles = [n for pair in zip(repeats, padded, strict=True) for n in pair]
    over = tuple(range(0, len(tiles), 2))
    return k.reshape(k.sum(k.reshape(grad, tiles), over), sizes) if over else grad


def turned_back(grad: Array, turns: int, dims: Sequence[int]) -> Array:
    """The gradient, turned the other way."""
    return k.rot90_turns(grad, -turns, dims)


def block_diag_gradients(grad: Array, shapes: Sequence[Shape]) -> list[Array]:
    """For each block its part of the gradient."""
    parts: list[Array] = []
    row = column = 0
    for shape in shapes:
        height = shape[0] if len(shape) == 2 else 1
        width = shape[-1] if shape else 1
        rows = k.slice(grad, 0, row, row + height)
        parts.append(k.reshape(k.slice(rows, 1, column, column + width), shape))
        row += height
        column += width
    return parts


def unpadded(grad: Array, widths: Shape) -> Array:
    """The gradient without the margin, and with zeros for what was cut off."""
    return k.constant_pad(grad, tuple([-n for n in widths]), 0)
