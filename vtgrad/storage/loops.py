"""NumPy's inner loops, called directly by the C module `vtgrad._loops` where it is installed.

Note [Loops in C]

A ufunc of two 4x4 arrays spends four fifths of its time around its loop. `unary_loop` and
`binary_loop` call the loop itself, if they can. Otherwise they return None and have done nothing,
and the caller calls the ufunc. Bits, dtype and strides of the result are the same in both cases.
`piecewise_loop` and `polynomial_loop` are not NumPy's: they do for each element what Note
[Piecewise polynomials] and `polynomial` do by NumPy for all. `cast_loop` is ``astype`` between
float32 and float64, and `are_within` looks whether all values are in a range.
No floating-point warning is given, and no Python code runs meanwhile: a signal handler runs before
the loop or after it.

In an installation without the C module, or a process with ``VTGRAD_LOOPS=0`` in its environment,
all of them always return None, and `fits_along` False. A caller asks `NATIVE` first, which is
quicker than a call.

Note [The same loop as NumPy's]

The common calls of a ufunc are simple: exact arrays of one dtype and one shape that have no gaps or
have one dimension, or a number beside such an array. For these, NumPy calls one function of the
ufunc's table once, for all elements, and so does `vtgrad._loops`.

Sums, differences, products and quotients of real numbers are exact but for one rounding, so they
have the same bits in whatever order they are computed. If their result has a place, `out`,
operands may have any strides and shapes that broadcast to it: the loop is then called once for each
row. All else is left to NumPy.

That NumPy takes this function and these strides is nothing that it promises. So there is a list of
ufuncs and one of dtypes, and tests compare the bits of all of them. Ufuncs whose loops raise
errors, as those of integer powers do, are not in the list.

Note [Memory of a loop]

The memory of the operands and of the result is aligned and of native byte order, and belongs to
arrays that the caller holds. An array to write into is writeable, each of its elements has a place
of its own, and an operand either shares no byte with it or has its elements at the same places,
where a loop reads each before it writes it.

Note [Loops along a dimension]

To read or write along a dimension at an index for each element, NumPy takes an array of indices for
each dimension, or the positions of the elements: one more array of 8 bytes for each element, and it
looks at the indices once more. Also, of several values for one element it does not promise to keep
the last, so that repetitions are looked for. `take_along`, `put_along` and `add_along` walk through
arrays without gaps in row-major order, whose sizes agree in all other dimensions; the indices may
be expanded. They keep the last value, or add in this order, as ``ufunc.at`` does.

A write asks `fits_along` beforehand, which also looks whether all indices are inside, and NumPy
does what does not fit. Another thread may change the indices afterwards, so each loop looks at each
of them again: it never leaves the memory of the array.
"""

from __future__ import annotations

import os
from types import BuiltinFunctionType
from typing import Final

import numpy as np

from vtgrad.storage.arrays import Array

__all__ = [
    "NATIVE",
    "add_along",
    "are_within",
    "binary_loop",
    "cast_loop",
    "fits_along",
    "piecewise_loop",
    "polynomial_loop",
    "put_along",
    "take_along",
    "unary_loop",
]

try:
    if os.environ.get("VTGRAD_LOOPS") == "0":
        raise ModuleNotFoundError("VTGRAD_LOOPS is 0")
    from vtgrad._loops import (
        add_along,
        are_within,
        fits_along,
        put_along,
        take_along,
    )
    from vtgrad._loops import binary as binary_loop
    from vtgrad._loops import cast as cast_loop
    from vtgrad._loops import piecewise as piecewise_loop
    from vtgrad._loops import polynomial as polynomial_loop
    from vtgrad._loops import unary as unary_loop
except ModuleNotFoundError:  # one of another version, or a broken one, is an error

    def unary_loop(ufunc: np.ufunc, a: object, out: Array | None = None, /) -> Array | None:
        """Leave the work to NumPy."""

    def binary_loop(
        ufunc: np.ufunc, a: object, b: object, out: Array | None = None, /
    ) -> Array | None:
        """Leave the work to NumPy."""

    def piecewise_loop(x: Array, shift: Array, start: Array, table: Array, /) -> Array | None:
        """Leave the work to NumPy."""

    def polynomial_loop(coefficients: object, x: Array, /) -> Array | None:
        """Leave the work to NumPy."""

    def cast_loop(x: Array, /) -> Array | None:
        """Leave the work to NumPy."""

    def are_within(x: Array, low: float, high: float, /) -> bool | None:
        """Leave the work to NumPy."""

    def take_along(whole: Array, dim: int, index: Array, /) -> Array | None:
        """Leave the work to NumPy."""

    def fits_along(
        whole: Array, dim: int, index: Array, values: object, of_slices: bool, adds: bool, /
    ) -> bool:
        """Leave the work to NumPy."""
        return False

    def put_along(whole: Array, dim: int, index: Array, values: Array, of_slices: bool, /) -> None:
        """Refuse: nothing fits."""
        raise NotImplementedError("the loops in C are not installed")

    def add_along(whole: Array, dim: int, index: Array, values: Array, of_slices: bool, /) -> None:
        """Refuse: nothing fits."""
        raise NotImplementedError("the loops in C are not installed")


# The value is not written as a literal, which compiled modules would have built in.
NATIVE: Final[bool] = isinstance(binary_loop, BuiltinFunctionType)
