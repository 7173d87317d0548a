"""Ufuncs of a few steps of a special function: by the loops in C, where these are, and serve them.

Without the loops they are NumPy's own, so that nothing is between. NumPy takes an output array
without its name faster, but not of `minimum`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from vtgrad.storage.arrays import Array
from vtgrad.storage.loops import NATIVE, binary_loop, unary_loop

__all__ = [
    "absolute",
    "add",
    "copysign",
    "divide",
    "exp",
    "fmax",
    "log",
    "log1p",
    "minimum",
    "multiply",
    "negative",
    "sqrt",
    "subtract",
]


def _of_one(ufunc: np.ufunc) -> Callable[..., Array]:
    def called(x: Array, out: Array | None = None) -> Array:
        made = unary_loop(ufunc, x, out)
        found: Array = ufunc(x, out=out) if made is None else made
        return found

    return called if NATIVE else ufunc


def _of_two(ufunc: np.ufunc) -> Callable[..., Array]:
    def called(x: Array, y: Array, out: Array | None = None) -> Array:
        made = binary_loop(ufunc, x, y, out)
        found: Array = ufunc(x, y, out=out) if made is None else made
        return found

    return called if NATIVE else ufunc


absolute: Final = _of_one(np.absolute)
add: Final = _of_two(np.add)
copysign: Final = _of_two(np.copysign)
divide: Final = _of_two(np.divide)
exp: Final = _of_one(np.exp)
fmax: Final = _of_two(np.fmax)
log: Final = _of_one(np.log)
log1p: Final = _of_one(np.log1p)
minimum: Final = _of_two(np.minimum)
multiply: Final = _of_two(np.multiply)
negative: Final = _of_one(np.negative)
sqrt: Final = _of_one(np.sqrt)
subtract: Final = _of_two(np.subtract)
