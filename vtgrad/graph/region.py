"""A gradient for a part of a tensor.

NOTE [ Regions ]

The gradient of `x[3]` is zero everywhere but in row 3. Writing those zeros out for every read
makes a loop over rows quadratic, so a view's node answers with a `Region`: the values, and the
view nodes that lead from a whole gradient of the target down to the place where they belong.
The input buffer adds the values at that place. If the target is a view itself, its node does
not need the whole gradient either and passes the region on with one more step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..storage.arrays import Array, NumpyDType, Shape

if TYPE_CHECKING:
    from .node import Node

__all__ = ["Gradient", "Region"]


class Region:
    """Values to be added at one place of a gradient that is zero elsewhere.

    Attributes
    ----------
    values : numpy.ndarray
        The gradient of the part; never written.
    path : tuple of Node
        View nodes; the first is applied to the whole gradient, the next to what it gives.
    """

    __slots__ = ("path", "values")

    values: Array
    path: tuple[Node, ...]

    def __init__(self, values: Array, path: tuple[Node, ...]) -> None:
        self.values = values
        self.path = path

    def through(self, node: Node) -> Region:
        """The same values seen from one view further up."""
        return Region(self.values, (node, *self.path))

    def add_into(self, buffer: Array) -> Array:
        """Add the values into `buffer`, which the caller owns; returns the sum.

        The sum is `buffer` itself unless its memory layout does not allow one of the views; then
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
        """The sum in a fresh array, found by where in memory each value belongs.

        Positions are only read, so they may be copied where the views of a gradient may not.
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
    """A view cannot be taken of an array of this memory layout. Never reaches users."""


Gradient: TypeAlias = Array | Region
