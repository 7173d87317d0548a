"""Functions of one variable by a table of short polynomials.

Note [Piecewise polynomials]

A function is tabulated at multiples of a power of two. Around each of them its Taylor polynomial
has a handful of terms, because the distance from the next multiple is small. All coefficients of an
element are taken from the table at once; so there is one formula for the whole range, without a
branch that depends on other elements, and about 16 NumPy calls (P. T. P. Tang, "Table-lookup
algorithms for elementary functions and their error analysis", 10th IEEE Symposium on Computer
Arithmetic, 1991).

Adding and subtracting 1.5 times a large power of two rounds to a multiple, because the sum keeps
just these digits. The lowest digits of the sum are the number of the multiple. The distance of the
rounded value is exact.

Each operation is correctly rounded or is one of NumPy's functions of single elements; so the bits
of an element do not depend on where it stands nor on how many there are. So a loop in C, which does
all of them for one element after the other, gives the same bits (`piecewise_loop`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.loops import NATIVE, binary_loop, piecewise_loop

__all__ = ["Piecewise"]


_INT64: Final[NumpyDType] = np.dtype(np.int64)


class Piecewise:
    """A function that is tabulated at multiples of a step; see Note [Piecewise polynomials].

    Parameters
    ----------
    first : int
        The number of the first multiple.
    bits : int
        The step is two to the power of minus this.
    taylor : sequence of array
        The Taylor coefficients at all multiples, one array for each power. The last power is not
        evaluated: it is replaced by the polynomial of lower degree that is nearest to it.

    Attributes
    ----------
    powers : tuple of array
        The coefficients in use, one array for each power.
    """

    __slots__ = ("_shift", "_start", "_table", "powers")

    powers: tuple[Array, ...]

    def __init__(self, first: int, bits: int, taylor: Sequence[Array]) -> None:
        shift = 1.5 * 2.0 ** (52 - bits)
        self._shift = making.asarray(shift)
        self._start = making.asarray(making.asarray(shift).view(_INT64) + first)
        self._table = _economized(np.stack(taylor), 2.0 ** -(bits + 1))
        self.powers = tuple(self._table)

    def __call__(self, x: Array) -> Array:
        """The values at `x`; those beyond the table have no meaning, and nan stays."""
        made = piecewise_loop(x, self._shift, self._start, self._table) if NATIVE else None
        return self._by_numpy(x)[0] if made is None else made

    def with_distance(self, x: Array) -> tuple[Array, Array]:
        """The values at `x`, and its distance from the nearest multiples."""
        made = piecewise_loop(x, self._shift, self._start, self._table) if NATIVE else None
        return self._by_numpy(x) if made is None else (made, self._distance(x, self._shifted(x)))

    def _by_numpy(self, x: Array) -> tuple[Array, Array]:
        shifted = self._shifted(x)
        at = np.subtract(shifted.view(_INT64), self._start)
        # Made one of a recording's arrays: NumPy asks no index for its class.
        rows = making.asarray(self._table).take(at, 1, mode="clip")
        distance = self._distance(x, shifted)
        return horner(rows, distance), distance

    def moved(self, multiples: int) -> Piecewise:
        """The function of the sum of its argument and so many steps, which is not rounded."""
        result = Piecewise.__new__(Piecewise)
        result._shift, result._table, result.powers = self._shift, self._table, self.powers
        result._start = making.asarray(self._start - multiples)
        return result

    def arrays(self) -> tuple[Array, ...]:
        """All arrays in it."""
        return (self._shift, self._start, self._table, *self.powers)

    def _shifted(self, x: Array) -> Array:
        made = binary_loop(np.add, x, self._shift) if NATIVE else None
        return np.add(x, self._shift) if made is None else made

    def _distance(self, x: Array, shifted: Array) -> Array:
        """The distance, in the memory of what was shifted."""
        if not NATIVE or binary_loop(np.subtract, shifted, self._shift, shifted) is None:
            np.subtract(shifted, self._shift, shifted)
        if not NATIVE or binary_loop(np.subtract, x, shifted, shifted) is None:
            np.subtract(x, shifted, shifted)
        return shifted


def horner(rows: Array, x: Array) -> Array:
    """The polynomials with coefficients in `rows`, which is overwritten."""
    total: Array = rows[-1]
    for row in rows[-2::-1]:
        if not NATIVE or binary_loop(np.multiply, total, x, total) is None:
            np.multiply(total, x, total)
        if not NATIVE or binary_loop(np.add, total, row, total) is None:
            np.add(total, row, total)
    return total


def _economized(table: Array, radius: float) -> Array:
    """A row less: the highest power becomes the nearest polynomial (C. Lanczos, 1938).

    It is the power less its Chebyshev polynomial, the smallest one with the same leading term.
    """
    degree = len(table) - 1
    chebyshev = np.polynomial.chebyshev.cheb2poly([0] * degree + [1])
    lower: Array = table[:degree].copy()
    for k in range(degree):
        lower[k] -= table[degree] * (chebyshev[k] / chebyshev[degree] * radius ** (degree - k))
    # Zeros of the function stay exact.
    lower[0, table[0] == 0] = 0
    return lower
