"""Real numbers as whole multiples of a tiny unit, for the values that tables start from.

They are computed once, at first use, with more digits than a result has. Python's whole numbers do
that without a module that the package would have to load.
"""

from __future__ import annotations

from math import isqrt, log
from typing import Final

__all__ = ["ONE", "UNIT_BITS", "exponential", "fixed", "logarithm", "root", "times"]


# The unit is two to the power of minus this.
UNIT_BITS: Final = 200
ONE: Final = 1 << UNIT_BITS
_HALVINGS: Final = 12


def fixed(x: float) -> int:
    """A number in units. The inverse is ``x / ONE``, which rounds once."""
    numerator, denominator = x.as_integer_ratio()
    return numerator * ONE // denominator


def times(x: int, y: int) -> int:
    """The product of two numbers."""
    return x * y >> UNIT_BITS


def root(x: int) -> int:
    """The square root."""
    return isqrt(x << UNIT_BITS)


def exponential(x: int) -> int:
    """The exponential, by its series of a small part of `x`, and squares."""
    part = x >> _HALVINGS
    term = total = ONE
    n = 1
    while term not in (0, -1):
        term = times(term, part) // n
        total += term
        n += 1
    for _ in range(_HALVINGS):
        total = times(total, total)
    return total


def logarithm(x: int) -> int:
    """The logarithm of a positive number, from Python's."""
    guess = fixed(log(x / ONE))
    rest = times(x, exponential(-guess)) - ONE
    # The next term is as small as the cube of Python's rounding error.
    return guess + rest - (times(rest, rest) >> 1)
