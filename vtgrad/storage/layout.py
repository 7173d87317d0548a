# Compiled by mypyc.
"""Properties that arrays of one shape and dtype share, if they are row-major without gaps.

Note [One look at a layout]

Reading dtype, shape and flags off an array costs an operator on small arrays more than the
arithmetic. But most values of a program have one of a few shapes, are row-major without gaps, and
come from operands that are so too. An impl therefore refers to a `Layout`, one object for all
arrays of one shape and dtype that are row-major without gaps. The layout is looked up on first use,
and the result of an elementwise operator takes that of its operands without a look-up. Then one
comparison of two references shows that shape, dtype and memory order agree. Arrays that are
transposed, strided, 0-d, empty, lazy (Note [Lazy conjugates]) or read-only
(Note [Read-only memory]) share the one layout `PECULIAR`, which states nothing about them.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from vtgrad.storage.arrays import PLAIN, Array, NumpyDType, Shape
from vtgrad.storage.device import CPU, Device
from vtgrad.storage.dtypes import FLOAT_MAX
from vtgrad.storage.number_arrays import NumberArrays, numbers_of

__all__ = ["PECULIAR", "InputMetadata", "Layout", "layout_of"]


class InputMetadata:
    """Shape, dtype and device of one value.

    What the graph keeps of its input values; see `vtgrad.graph.input_metadata`.

    Attributes
    ----------
    shape : tuple of int
        Length of each dimension.
    dtype : numpy.dtype
        Element type.
    device : Device
        Where the value is, and its gradient.
    """

    __slots__ = ("device", "dtype", "shape")

    shape: Shape
    dtype: NumpyDType
    device: Device

    def __init__(self, shape: Shape, dtype: NumpyDType, device: Device = CPU) -> None:
        self.shape = shape
        self.dtype = dtype
        self.device = device


class Layout:
    """Shape and dtype of arrays that are row-major without gaps.

    Attributes
    ----------
    shape : tuple of int
        Length of each dimension.
    dtype : numpy.dtype
        Element type.
    numbers : NumberArrays or None
        Python numbers as operands of a ufunc beside an array of this layout; None if the result
        would not have the same layout, or not the right values.
    inexact : bool
        Whether the elements are floating or complex.
    largest : float
        Up to this absolute value, NumPy stores floats as the library does; negative for a dtype
        where the value alone does not decide.
    row : Layout or None
        The layout of one index of the first dimension; see `find_row`.
    row_bytes : int
        Distance from one index of the first dimension to the next.
    metadata : tuple of InputMetadata
        Shape and dtype as a node with one result of this layout keeps them.
    """

    __slots__ = ("dtype", "inexact", "largest", "metadata", "numbers", "row", "row_bytes", "shape")

    shape: Shape
    dtype: NumpyDType
    numbers: NumberArrays | None
    inexact: bool
    largest: float
    row: Layout | None
    row_bytes: int
    # Not of a fixed length: mypyc keeps those as their items, and makes a tuple for each node.
    metadata: tuple[InputMetadata, ...]

    def __init__(self, shape: Shape, dtype: NumpyDType) -> None:
        self.shape = shape
        self.dtype = dtype
        # Beside a dimension of size 1, NumPy may choose another memory order.
        self.numbers = None if 1 in shape else numbers_of(dtype)
        self.inexact = dtype.kind in "fc"
        self.largest = FLOAT_MAX.get(dtype.char, -1.0)
        self.row = None
        self.row_bytes = math.prod(shape[1:]) * dtype.itemsize
        self.metadata = (InputMetadata(shape, dtype),)

    def find_row(self) -> Layout:
        """Look `row` up; callers read `row` first."""
        shape = self.shape[1:]
        row = self.row = _of_shape(shape, self.dtype) if shape else PECULIAR
        return row


PECULIAR: Final = Layout((), np.dtype(np.void))

_known: Final[dict[tuple[Shape, NumpyDType], Layout]] = {}
# Bounds the cache when shapes never repeat; arrays of one shape may then have two layouts.
_BOUND: Final = 1024


def layout_of(array: Array) -> Layout:
    """The layout of an array; `PECULIAR` if it has none of its own."""
    shape = array.shape
    if not shape or not array.flags.carray or not array.size or type(array) not in PLAIN:
        return PECULIAR
    return _of_shape(shape, array.dtype)


def _of_shape(shape: Shape, dtype: NumpyDType) -> Layout:
    key = (shape, dtype)
    found = _known.get(key)
    if found is None:
        if len(_known) >= _BOUND:
            _known.clear()
        found = _known.setdefault(key, Layout(shape, dtype))
    return found
