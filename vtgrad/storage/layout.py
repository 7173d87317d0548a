"""What arrays without anything peculiar have in common.

NOTE [ One look at a layout ]

Reading dtype, shape and flags off an array costs an operator on small arrays more than the
arithmetic. But most values of a program have one of a few shapes, lie in row-major order without
gaps, and come from operands that do. So an impl refers to a `Layout`, the same object for all
arrays of one shape and dtype that lie so; it is looked up when somebody asks first, and the result
of an elementwise operator has its operands' without being asked. Then one comparison of two
references tells that shape, dtype and memory order agree. Arrays that are transposed, strided,
0-d, empty or lazy (Note [Lazy conjugates]) share the one layout `PECULIAR`, which says nothing of
them.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from .arrays import Array, NumpyDType, Shape
from .dtypes import FLOAT_MAX
from .number_arrays import NumberArrays, numbers_of

__all__ = ["PECULIAR", "InputMetadata", "Layout", "layout_of"]


class InputMetadata:
    """Shape and dtype of one value.

    What the graph keeps of the values that go into it; see `vtgrad.graph.input_metadata`.

    Attributes
    ----------
    shape : tuple of int
        Length of each dimension.
    dtype : numpy.dtype
        Element type.
    """

    __slots__ = ("dtype", "shape")

    shape: Shape
    dtype: NumpyDType

    def __init__(self, shape: Shape, dtype: NumpyDType) -> None:
        self.shape = shape
        self.dtype = dtype


class Layout:
    """Shape and dtype of arrays that lie in row-major order without gaps.

    Attributes
    ----------
    shape : tuple of int
        Length of each dimension.
    dtype : numpy.dtype
        Element type.
    numbers : NumberArrays or None
        Python's numbers as operands of a ufunc beside an array that lies so; None if the result
        would not have the same layout, or not the right values.
    inexact : bool
        Whether the elements are floating or complex.
    largest : float
        Up to this absolute value, NumPy stores floats as the library does; negative where that
        depends on more.
    row : Layout or None
        What one index of the first dimension has, which lies without gaps too; see `find_row`.
    row_bytes : int
        From one index of the first dimension to the next.
    metadata : tuple of InputMetadata
        Shape and dtype once more, as the node keeps them that has one result of this layout.
    """

    __slots__ = ("dtype", "inexact", "largest", "metadata", "numbers", "row", "row_bytes", "shape")

    shape: Shape
    dtype: NumpyDType
    numbers: NumberArrays | None
    inexact: bool
    largest: float
    row: Layout | None
    row_bytes: int
    metadata: tuple[InputMetadata]

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
        """Look `row` up; callers ask that first."""
        shape = self.shape[1:]
        row = self.row = _of_shape(shape, self.dtype) if shape else PECULIAR
        return row


PECULIAR: Final = Layout((), np.dtype(np.void))

_known: Final[dict[tuple[Shape, NumpyDType], Layout]] = {}
# For programs whose shapes are always new ones; arrays of one shape then may have two layouts.
_BOUND: Final = 1024


def layout_of(array: Array) -> Layout:
    """The layout of an array; `PECULIAR` if it has none of its own."""
    shape = array.shape
    if not shape or not array.flags.c_contiguous or not array.size or type(array) is not np.ndarray:
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
