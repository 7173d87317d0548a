"""Tensors with a margin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from vtgrad.errors import NotSupportedError, ShapeError
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number
from vtgrad.storage.integers import integer
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["constant_pad_nd", "pad"]


T = TypeVar("T", bound=TensorBase)


@explained
def pad(input: T, pad: Sequence[int], mode: str = "constant", value: Number | None = None) -> T:
    """Return a tensor with a margin around its elements.

    Parameters
    ----------
    input : Tensor
        The elements.
    pad : sequence of int
        How many elements come before and behind, along the last dimension, then along the one
        before it, and so on. Negative numbers cut off.
    mode : str, default 'constant'
        What the margin is: ``"constant"``, one value; ``"replicate"``, the outermost element;
        ``"reflect"``, the elements seen in a mirror on the outermost one; ``"circular"``, the
        elements from the other end.
    value : number, optional
        The value of a constant margin, 0 by default.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ShapeError
        If `pad` has an odd length or more numbers than `input` has ends, more is to be cut off
        than there is, a margin needs more elements than there are, or `value` stands beside
        another mode.
    NotSupportedError
        If there is no such mode.

    Examples
    --------
    >>> x = vt.tensor([[1, 2, 3]])
    >>> vt.pad(x, (1, 2), value=9)
    tensor([[9, 1, 2, 3, 9, 9]])
    >>> vt.pad(x, (2, 1), "reflect")
    tensor([[3, 2, 1, 2, 3, 2]])
    >>> vt.pad(x, (2, 1), "circular")
    tensor([[2, 3, 1, 2, 3, 1]])
    >>> vt.pad(x, (-1, 2), "replicate")
    tensor([[2, 3, 3, 3]])
    """
    if mode == "constant":
        return constant_pad_nd(input, pad, 0 if value is None else value)
    refuse_names("pad", input)
    widths = _widths("pad", input, pad)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotSupportedError(f"there is no mode {mode!r} of pad()", mode=mode)
    if value is not None:
        raise ShapeError(f"pad() takes no value with mode={mode!r}", value=value)
    found = input
    for axis, (before, after) in widths.items():
        places = _places(mode, axis, input._impl.array.shape[axis], before, after)
        found = F.index_select(found, axis, beside(input, places))
    return F.clone(input) if found is input else found


@explained
def constant_pad_nd(input: T, pad: Sequence[int], value: Number = 0) -> T:
    """Return a tensor with a margin of one value; the same as `pad` without a mode.

    Parameters
    ----------
    input, pad
        As of `pad`.
    value : number, default 0
        The value of the margin.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ShapeError
        As `pad`.

    Examples
    --------
    >>> vt.constant_pad_nd(vt.tensor([1.0, 2.0]), (1, 1), 5.0)
    tensor([5., 1., 2., 5.])
    """
    refuse_names("constant_pad_nd", input)
    widths = _widths("constant_pad_nd", input, pad)
    for axis, (before, after) in widths.items():
        size = input._impl.array.shape[axis]
        if min(before, 0) + min(after, 0) + size < 0:
            raise ShapeError(
                f"constant_pad_nd() cannot cut {max(-before, 0)} and {max(-after, 0)} of {size} "
                f"elements off dimension {axis}"
            )
    return F.constant_pad(input, tuple([integer(n) for n in pad]), value)


def _widths(name: str, input: TensorBase, pad: Sequence[int]) -> dict[int, tuple[int, int]]:
    """How much comes before and behind, by dimension, where it is not nothing."""
    ndim = array_of(input, "input").ndim
    given = [integer(n) for n in pad]
    if len(given) % 2:
        raise ShapeError(f"{name}() takes pairs of widths, got {len(given)} numbers", pad=given)
    if len(given) > 2 * ndim:
        raise ShapeError(
            f"{name}() takes at most {2 * ndim} widths for {ndim} dimensions, got {len(given)}",
            pad=given,
        )
    pairs = zip(given[::2], given[1::2], strict=True)
    return {ndim - 1 - nr: pair for nr, pair in enumerate(pairs) if pair != (0, 0)}


def _places(mode: str, axis: int, size: int, before: int, after: int) -> Array:
    """Of which element each element of the result is a copy."""
    left = size - max(-before, 0) - max(-after, 0)
    most = size if left > 0 else 0
    largest = {"reflect": size - 1, "circular": most}.get(mode, size and max(before, after))
    if max(before, after) > largest or size + before + after < 0:
        raise ShapeError(
            f"mode {mode!r} cannot add {before} and {after} to {size} elements along dimension "
            f"{axis}"
        )
    places = making.arange(-before, size + after)
    if mode == "replicate":
        return np.clip(places, 0, max(size - 1, 0))
    if mode == "circular":
        # What is cut off has no part in the circle.
        start = max(-before, 0)
        return start + np.remainder(places - start, max(left, 1))
    mirrored: Array = (size - 1) - np.abs((size - 1) - np.abs(places))
    return mirrored
