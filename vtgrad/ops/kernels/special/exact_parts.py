"""Sums and products of two floats, with what their rounding has left off.

Note [Pairs]

A pair is two arrays whose exact sum is the number, the second one at most half a digit of the
first. Sums are those of D. Knuth ("The Art of Computer Programming", volume 2, section 4.2.2),
products those of T. J. Dekker ("A floating-point technique for extending the available precision",
Numerische Mathematik 18, 1971), which split a factor at its 26th bit. A function of a number that
is not a float, such as ``exp(-x * x)``, is its value at the first part times a factor for the
second.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np

from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = [
    "Pair",
    "multiple_error",
    "product",
    "product_error",
    "quotient",
    "split",
    "square",
    "square_root",
    "sum_of",
    "times",
]

Pair: TypeAlias = tuple[Array, Array]

_SPLITTER: Final = 2.0**27 + 1


def sum_of(a: Array, b: Array) -> Pair:
    """The sum of two arrays."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def split(a: Array) -> Pair:
    """The parts of an array of 26 bits each, whose sum it is."""
    scaled = a * _SPLITTER
    high = scaled - (scaled - a)
    return high, a - high


def product(a: Array, b: Array | float) -> Pair:
    """The product of two arrays, whose magnitudes are below 1e150."""
    value = np.multiply(a, b)
    return value, product_error(value, split(a), split(making.asarray(b)))


def product_error(value: Array, a: Pair, b: Pair) -> Array:
    """What a product has lost, from the parts of its factors."""
    found: Array = a[0] * b[0]
    found -= value
    found += a[0] * b[1]
    found += a[1] * b[0]
    found += a[1] * b[1]
    return found


def multiple_error(factor: int, value: Array, parts: Pair) -> Array:
    """What the product with a whole number of at most 26 bits has lost."""
    found: Array = parts[0] * float(factor)
    found -= value
    found += parts[1] * float(factor)
    return found


def square(a: Array) -> Pair:
    """The square of an array, whose magnitude is below 1e150."""
    value = a * a
    high, low = split(a)
    return value, ((high * high - value) + 2 * high * low) + low * low


def square_root(a: Array) -> Pair:
    """The root of an array of positive numbers."""
    root = np.sqrt(a)
    value, rest = square(root)
    return root, ((a - value) - rest) / (2 * root)


def times(x: Pair, y: Pair) -> Pair:
    """The product of two pairs."""
    total, rest = product(x[0], y[0])
    return _normal(total, rest + (x[0] * y[1] + x[1] * y[0]))


def quotient(x: Pair, divisor: Array | float) -> Pair:
    """A pair divided by floats."""
    value = x[0] / divisor
    back, rest = product(value, divisor)
    return _normal(value, ((x[0] - back) - rest + x[1]) / divisor)


def _normal(high: Array, low: Array) -> Pair:
    total = high + low
    return total, low - (total - high)
