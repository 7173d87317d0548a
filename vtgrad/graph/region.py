# Compiled by mypyc.
"""A gradient for a part of a tensor.

Note [Regions]

The gradient of `x[3]` is zero everywhere except in row 3. Writing those zeros for every read makes
a loop over rows quadratic. So a view's node returns a `Region`: the gradient of the part, and the
node, which takes the part of a whole gradient. The input buffer of a value that is not a view adds
the part to a whole gradient. If the value is a view itself, its node needs no whole gradient
either: all regions that have arrived become the content of one region more.

    x (3, 4)  --[2]-->  row (4,)  --[1]-->  y ()        row = x[2]; y = row[1]

    node of y          node of row                    buffer of x
    Region(g, y)  -->  Region([Region(g, y)], row)    0 0 0 0
                                                      0 0 0 0
                                                      0 g 0 0    buffer[2][1] += g

So each node of a chain or tree of views costs the same, however many parts were read below it, and
the whole gradient is reached once, from the base to the parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.loops import NATIVE, binary_loop

if TYPE_CHECKING:
    from vtgrad.graph.node import Node

__all__ = ["Gradient", "Region", "add_regions"]


class Region:
    """A gradient that is zero outside of one part.

    Attributes
    ----------
    content : numpy.ndarray or list of Region
        The gradient of the part, or regions of it whose sum that is. Never written.
    node : Node
        The node of the view, which takes the part of a whole gradient.
    size : int
        The number of elements in the arrays.
    """

    __slots__ = ("content", "node", "size")

    content: Array | list[Region]
    node: Node
    size: int

    def __init__(self, content: Array | list[Region], node: Node, size: int) -> None:
        self.content = content
        self.node = node
        self.size = size

    def arrays(self) -> list[Array]:
        """The arrays in the order in which they are added."""
        found: list[Array] = []
        stack: list[Region] = [self]
        while stack:
            content = stack.pop().content
            if isinstance(content, list):
                stack.extend(reversed(content))
            else:
                found.append(content)
        return found

    def add_into(self, buffer: Array) -> None:
        """Add the content into `buffer`, which the caller owns."""
        add_regions([self], buffer)

    def whole(self, shape: Shape, dtype: NumpyDType) -> Array:
        """The gradient with its zeros written out, as a fresh array."""
        buffer: Array = making.zeros(shape, dtype)
        add_regions([self], buffer)
        return buffer


def add_regions(regions: Sequence[Region], buffer: Array) -> None:
    """Add regions into a whole gradient, which the caller owns.

    Where its strides do not allow a view, the part is summed in a fresh array, which is added.
    """
    stack: list[tuple[Array, Array | Region]] = [(buffer, region) for region in reversed(regions)]
    while stack:
        whole, item = stack.pop()
        if not isinstance(item, Region):
            np.add(whole, item, out=whole)
            continue
        try:
            part = item.node.view_array(whole)
        except NoSuchViewError:
            fresh: Array = making.zeros(whole.shape, whole.dtype)
            # It is reached when all of the region was added.
            stack.append((whole, fresh))
            part = item.node.view_array(fresh)
        content = item.content
        if isinstance(content, list):
            for region in reversed(content):
                stack.append((part, region))
        elif not NATIVE or binary_loop(np.add, part, content, part) is None:
            np.add(part, content, out=part, casting="unsafe")


class NoSuchViewError(Exception):
    """A view cannot be taken of an array with these strides. Never reaches users."""


Gradient: TypeAlias = Array | Region
