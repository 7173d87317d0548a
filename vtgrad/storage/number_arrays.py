# Compiled by mypyc.
"""Python numbers as 0-d arrays, which ufuncs take faster.

Note [Numbers that were met before]

A ufunc of a small array and a Python number spends more than half of its time on the number: NumPy
promotes and converts it. As a 0-d array of the other operand's dtype the number is an ordinary
operand, with the same result to the bit. So for float32 and float64 each number is converted once
and kept, since a program has few of them. A number that the dtype does not hold as a finite value
is left to NumPy, and so are 0.0 and -0.0, which are one key of a dictionary. ``1`` and ``1.0``
share one entry, which is correct. Bools and NumPy's scalars never come here.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.dtypes import FLOAT_MAX
from vtgrad.storage.lasting_arrays import lasting, register

__all__ = ["SMALL", "NumberArrays", "numbers_of"]

# Every floating dtype represents integers up to this absolute value exactly.
SMALL: Final = 2**11
# Bounds the cache when numbers never repeat.
_BOUND: Final = 256


class NumberArrays:
    """Numbers as 0-d arrays of one dtype; see Note [Numbers that were met before].

    Attributes
    ----------
    known : dict
        The arrays, read-only, by their numbers.
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
        register(self.known.values())
        self.dtype = dtype
        self.largest = FLOAT_MAX[dtype.char]

    def operand(self, value: float | int) -> Array | float | int:
        """The number as an array; the number itself if NumPy must convert it at each call."""
        known = self.known
        found = known.get(value)
        if found is not None:
            return found
        if not value or not -self.largest <= value <= self.largest:  # too large, or NaN
            return value
        array: Array = lasting(making.array, value, self.dtype)
        array.setflags(write=False)
        if len(known) >= _BOUND:
            known.clear()
        known[value] = array
        return array


_all: Final[dict[str, NumberArrays]] = {code: NumberArrays(np.dtype(code)) for code in "fd"}


def numbers_of(dtype: NumpyDType) -> NumberArrays | None:
    """The numbers of a dtype; None if NumPy must convert the numbers beside arrays of it."""
    return _all.get(dtype.char)
