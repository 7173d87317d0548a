"""What arrays without anything peculiar have in common.

NOTE [ One look at a layout ]

Reading dtype, shape and flags off an array costs an operator on small arrays more than the
arithmetic. But most values of a program have one of a few shapes, lie in row-major order without
gaps, and come from operands that do. So an impl refers to a `Layout`, the same object for all
arrays of one shape and dtype that lie so; it is looked up when somebody asks first, and the result
of an elementwise operator has its operands' without being asked. Then one comparison of two
references tells that shape, dtype and memory order agree. Arrays that are transposed, strided,
0-d or empty share the one layout `PECULIAR`, which says nothing of them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from .arrays import Array, NumpyDType, Shape

__all__ = ["PECULIAR", "Layout", "layout_of"]


class Layout:
    """Shape and dtype of arrays that lie in row-major order without gaps.

    Attributes
    ----------
    shape : tuple of int
        Length of each dimension.
    dtype : numpy.dtype
        Element type.
    takes_numbers : bool
        Whether a ufunc of an array that lies so and a Python int or float gives a result of the
        same layout, with the right values.
    """

    __slots__ = ("dtype", "shape", "takes_numbers")

    shape: Shape
    dtype: NumpyDType
    takes_numbers: bool

    def __init__(self, shape: Shape, dtype: NumpyDType) -> None:
        self.shape = shape
        self.dtype = dtype
        # Beside a dimension of size 1, NumPy may choose another memory order.
        self.takes_numbers = dtype.char in "fd" and 1 not in shape


PECULIAR: Final = Layout((), np.dtype(np.void))

_known: Final[dict[tuple[Shape, NumpyDType], Layout]] = {}
# For programs whose shapes are always new ones; arrays of one shape then may have two layouts.
_BOUND: Final = 1024


def layout_of(array: Array) -> Layout:
    """The layout of an array; `PECULIAR` if it has none of its own."""
    shape = array.shape
    if not shape or not array.flags.c_contiguous or not array.size:
        return PECULIAR
    key = (shape, array.dtype)
    found = _known.get(key)
    if found is None:
        if len(_known) >= _BOUND:
            _known.clear()
        found = _known.setdefault(key, Layout(shape, array.dtype))
    return found
