"""Numbers that know their derivatives: Taylor polynomials, an oracle without a graph.

NumPy computes with arrays of them as with arrays of numbers, in place and through views.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

__all__ = ["ORDER", "Jet"]

# The highest derivative.
ORDER: Final = 3


class Jet:
    """``c[0] + c[1] t + ... + c[ORDER] t**ORDER``: the n-th derivative is ``n! c[n]``."""

    __slots__ = ("c",)

    def __init__(self, coefficients: Iterable[float]) -> None:
        self.c = list(coefficients)

    @staticmethod
    def of(value: Jet | float) -> Jet:
        return value if isinstance(value, Jet) else Jet([value] + [0.0] * ORDER)

    @staticmethod
    def variable(value: float) -> Jet:
        return Jet([value, 1.0] + [0.0] * (ORDER - 1))

    def derivative(self, order: int) -> float:
        return math.factorial(order) * self.c[order]

    def __add__(self, other: Jet | float) -> Jet:
        return Jet(a + b for a, b in zip(self.c, Jet.of(other).c, strict=True))

    def __mul__(self, other: Jet | float) -> Jet:
        a, b = self.c, Jet.of(other).c
        return Jet(sum(a[j] * b[k - j] for j in range(k + 1)) for k in range(ORDER + 1))

    def __sub__(self, other: Jet | float) -> Jet:
        return self + Jet.of(other) * -1.0

    def __truediv__(self, other: Jet | float) -> Jet:
        return self * Jet.of(other).reciprocal()

    def __pow__(self, exponent: int) -> Jet:
        return self if exponent == 1 else self * self ** (exponent - 1)

    __radd__ = __add__
    __rmul__ = __mul__

    def reciprocal(self) -> Jet:
        found = [1 / self.c[0]]
        for k in range(1, ORDER + 1):
            found.append(-sum(self.c[j] * found[k - j] for j in range(1, k + 1)) / self.c[0])
        return Jet(found)

    def exp(self) -> Jet:
        found = [math.exp(self.c[0])]
        for k in range(1, ORDER + 1):
            found.append(sum(j * self.c[j] * found[k - j] for j in range(1, k + 1)) / k)
        return Jet(found)

    def tanh(self) -> Jet:
        twice = (self * 2.0).exp()
        return (twice - 1.0) / (twice + 1.0)
