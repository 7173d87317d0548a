"""A gradient for a part of a tensor.

Note [Regions]

The gradient of `x[3]` is zero everywhere except in row 3. Writing those zeros for every read makes
a loop over rows quadratic. So a view's node returns a `Region`: the values, and the path of view
nodes that leads from a whole gradient to the part. The input buffer of a value that is not a view
adds the values to that part. If the value is a view itself, its node needs no whole gradient either
and returns the region with one more node in front of the path:

    x (3, 4)  --[2]-->  row (4,)  --[1]-->  y ()        row = x[2]; y = row[1]

    node of y                node of row                     buffer of x
    Region(g, (y,))  ----->  Region(g, (row, y))  ----->     0 0 0 0
                                                             0 0 0 0
                                                             0 g 0 0    buffer[2][1] += g
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..storage.arrays import Array, NumpyDType, Shape

if TYPE_CHECKING:
    from .node import Node

__all__ = ["Gradient", "Region"]


class Region:
    """A gradient that is zero outside of one part.

    Attributes
    ----------
    values : numpy.ndarray
        The gradient of the part; never written.
    path : tuple of Node
        View nodes; the first is applied to the whole gradient, each other to the result of the one
        before.
    """

    __slots__ = ("path", "values")

    values: Array
    path: tuple[Node, ...]

    def __init__(self, values: Array, path: tuple[Node, ...]) -> None:
        self.values = values
        self.path = path

    def through(self, node: Node) -> Region:
        """The region of the value of which `node` is the view."""
        return Region(self.values, (node, *self.path))

    def add_into(self, buffer: Array) -> Array:
        """Add the values into `buffer`, which the caller owns; returns the sum.

        The sum is `buffer` itself unless its strides do not allow one of the views; then
        it is a fresh array.
        """
        part: Array = buffer
        try:
            for node in self.path:
                part = node.view_array(part)
        except NoSuchViewError:
            return self._added_at_positions(buffer)
        np.add(part, self.values, out=part, casting="unsafe")
        return buffer

    def _added_at_positions(self, buffer: Array) -> Array:
        """The sum in a fresh array, through the position of each value in memory.

        Positions are only read, so they may be copied where the views of a gradient must not be.
        """
        whole: Array = buffer.copy(order="C")
        positions: Array = np.arange(whole.size).reshape(whole.shape)
        for node in self.path:
            try:
                positions = node.view_array(positions)
            except NoSuchViewError:
                positions = node.view_array(np.ascontiguousarray(positions))
        flat = whole.reshape(-1)
        flat[positions] = np.add(flat[positions], self.values, dtype=flat.dtype, casting="unsafe")
        return whole

    def whole(self, shape: Shape, dtype: NumpyDType) -> Array:
        """The gradient with its zeros written out, as a fresh array."""
        return self.add_into(np.zeros(shape, dtype))


class NoSuchViewError(Exception):
    """A view cannot be taken of an array with these strides. Never reaches users."""


Gradient: TypeAlias = Array | Region
