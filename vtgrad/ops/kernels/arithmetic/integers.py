"""Common divisors and multiples of integers."""

from __future__ import annotations

import numpy as np

from vtgrad.ops.kernels.support.elementwise import refuse, run
from vtgrad.storage.arrays import Array
from vtgrad.storage.promotion import result_dtype

__all__ = ["gcd", "lcm"]


def gcd(input: Array, other: Array, *, out: Array | None = None) -> Array:
    """The greatest common divisor, which is not negative; 0 of two zeros."""
    dtype = result_dtype(input, other)
    refuse("gcd", dtype, "bfc", input, other)
    return run(np.gcd, dtype, out, input, other)


def lcm(input: Array, other: Array, *, out: Array | None = None) -> Array:
    """The least common multiple, which is not negative; 0 if an integer is 0."""
    dtype = result_dtype(input, other)
    refuse("lcm", dtype, "bfc", input, other)
    return run(np.lcm, dtype, out, input, other)
