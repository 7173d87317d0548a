"""How tensors lie in memory: the layouts that a grid has, and what views make them."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from vtgrad.testing.custom import Shape
from vtgrad.testing.geometry import Geometry
from vtgrad.testing.views import ViewCall

__all__ = ["LAYOUTS", "base_of", "can_have", "layout_of", "seen_in", "view_for"]

#: In the order in which they are tried.
LAYOUTS = (
    "contiguous", "transposed", "stepped", "reversed", "expanded", "0-d", "empty", "size 1",
)  # fmt: skip

_ALL = slice(None)

S = TypeVar("S", bound=np.generic)


def can_have(layout: str, shape: Shape) -> bool:
    """Whether a tensor of a shape can have a layout."""
    numel = int(np.prod(shape))
    match layout:
        case "0-d":
            return not shape
        case "empty":
            return not numel
        case "size 1":
            return numel > 0 and 1 in shape
        case "transposed":
            return len(shape) > 1 and shape[0] > 1 and shape[-1] > 1 and numel > 0
        case "expanded":
            return bool(shape) and shape[0] > 1 and numel > 0
        case "contiguous":
            return bool(shape) and numel > 0 and 1 not in shape
        case _:
            return bool(shape) and numel > 0 and shape[-1] > 1


def view_for(layout: str, shape: Shape) -> ViewCall | None:
    """Return the view that has a shape and a layout; None for the base itself."""
    match layout:
        case "transposed":
            return ViewCall("transpose", (0, -1))
        case "stepped":
            return ViewCall("[]", (*(_ALL,) * (len(shape) - 1), slice(None, None, 2)))
        case "reversed":
            return ViewCall("[]", tuple(slice(None, None, -1) if n > 1 else _ALL for n in shape))
        case "expanded":
            return ViewCall("expand", shape)
        case _:
            return None


def seen_in(layout: str, array: npt.NDArray[S]) -> npt.NDArray[S]:
    """Return the values that a tensor has in a layout: an expanded one repeats its first row."""
    return np.broadcast_to(array[:1], array.shape).copy() if layout == "expanded" else array


def base_of(layout: str, array: npt.NDArray[S]) -> npt.NDArray[S]:
    """Return the values of a base whose view has the values of an array."""
    match layout:
        case "transposed":
            return np.swapaxes(array, 0, -1)
        case "stepped":
            return np.repeat(array, 2, axis=-1)
        case "reversed":
            return np.flip(array)
        case "expanded":
            return array[:1]
        case _:
            return array


def layout_of(shape: Sequence[int], strides: Sequence[int]) -> str:
    """Return the layout of a tensor."""
    geometry = Geometry(tuple(shape), tuple(strides))
    long = [stride for size, stride in zip(shape, strides, strict=True) if size > 1]
    if not shape:
        return "0-d"
    if not geometry.numel:
        return "empty"
    if 0 in long:
        return "expanded"
    if min(long, default=1) < 0:
        return "reversed"
    if 1 in shape:
        return "size 1"
    if geometry.is_contiguous:
        return "contiguous"
    return "transposed" if geometry.is_dense else "stepped"
