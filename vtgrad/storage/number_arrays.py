"""Python's numbers as the arrays that ufuncs take sooner.

NOTE [ Numbers that were met before ]

A ufunc of a small array and a Python number spends more than half of its time on the number: NumPy
asks what it promotes to, and converts it. As a 0-d array of the other operand's dtype it is an
operand like any other, with the same result to the bit. So for float32 and float64 each number is
converted once and kept, since a program has few of them. What the dtype does not hold as a finite
value is left to NumPy as it is, and so is what a dictionary cannot tell apart: 0.0 and -0.0.
``1`` and ``1.0`` are one entry, rightly. Bools and NumPy's scalars never come here.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from .arrays import Array, NumpyDType
from .dtypes import FLOAT_MAX

__all__ = ["SMALL", "NumberArrays", "numbers_of"]

# Integers up to this absolute value are numbers of every floating dtype.
SMALL: Final = 2**11
# For programs whose numbers are always new ones.
_BOUND: Final = 256


class NumberArrays:
    """Numbers as 0-d arrays of one dtype; see Note [Numbers that were met before].

    Attributes
    ----------
    known : dict
        The arrays by their numbers. They are read only.
    dtype : numpy.dtype
        float32 or float64.
    largest : float
        The largest finite value.
    """

    __slots__ = ("dtype", "known", "largest")

    known: dict[object, Array]
    dtype: NumpyDType
    largest: float

    def __init__(self, dtype: NumpyDType) -> None:
        self.known = {}
        self.dtype = dtype
        self.largest = FLOAT_MAX[dtype.char]

    def operand(self, value: float | int) -> Array | float | int:
        """The number as an array; itself where NumPy has to convert it at each call."""
        known = self.known
        found = known.get(value)
        if found is not None:
            return found
        if not value or not -self.largest <= value <= self.largest:  # too large, or NaN
            return value
        array: Array = np.array(value, self.dtype)
        array.setflags(write=False)
        if len(known) >= _BOUND:
            known.clear()
        known[value] = array
        return array


_all: Final[dict[str, NumberArrays]] = {code: NumberArrays(np.dtype(code)) for code in "fd"}


def numbers_of(dtype: NumpyDType) -> NumberArrays | None:
    """The numbers of a dtype; None if NumPy has to convert those that stand beside it."""
    return _all.get(dtype.char)
