"""Tables of functions that solve a linear differential equation.

Note [Solutions as tables]

The Taylor coefficients of a solution at any number follow from the first ones by a recurrence, and
their sum at the next multiple of a step gives the first ones there. So a solution is followed from
where it is known to where it is needed, in the whole numbers of `fixed_point`, whose 200 bits are
more than what the other solutions can grow to on the way. Its coefficients, rounded once, are the
table of a `Piecewise`.

A table is made when a program first needs it, in a tenth of a second or less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from vtgrad.ops.kernels.special.fixed_point import ONE, UNIT_BITS
from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["Recurrence", "decimal", "derivative", "solution"]

# Takes the number of a multiple, the coefficients there from the first on, and how many there are;
# returns the next one. All but the numbers are in units of `fixed_point`.
Recurrence: TypeAlias = Callable[[int, list[int], int], int]

# The powers of a table, from 0 on. `Piecewise` replaces the highest one.
_POWERS: Final = 8


def decimal(digits: str) -> int:
    """A number between -10 and 10 in units, from its decimal digits."""
    whole, _, fraction = digits.partition(".")
    value: int = int(whole.lstrip("-") + fraction) * ONE // 10 ** len(fraction)
    return -value if digits.startswith("-") else value


def solution(
    recurrence: Recurrence, known: Sequence[int], first: int, last: int, bits: int
) -> list[Array]:
    """The Taylor coefficients at multiples, one array for each power, with one power more.

    Parameters
    ----------
    known : sequence of int
        The first coefficients at the first multiple: as many as the order of the equation, or more
        where the recurrence divides by zero.
    first, last : int
        The numbers of the multiples, both included. The last may be the smaller one.
    bits : int
        The step is two to the power of minus this.
    """
    order = 2 if len(known) > 1 else 1
    step = 1 if last >= first else -1
    count = max(len(known), _terms(bits))
    columns: list[list[float]] = []
    given = list(known)
    for n in range(first, last + step, step):
        c = given
        while len(c) < count:
            c.append(recurrence(n, c, len(c)))
        columns.append([value / ONE for value in c[: _POWERS + 1]])
        given = [_moved(c, bits, step)]
        if order == 2:
            given.append(_moved([k * value for k, value in enumerate(c)][1:], bits, step))
    return [making.array(row) for row in zip(*columns[::step], strict=True)]


def derivative(rows: Sequence[Array]) -> list[Array]:
    """The Taylor coefficients of the derivative, of which there is one less."""
    return [k * row for k, row in enumerate(rows) if k]


def _terms(bits: int) -> int:
    """As many terms as have digits a step away."""
    return UNIT_BITS // bits + 2


def _moved(c: Sequence[int], bits: int, step: int) -> int:
    """The sum of a Taylor series a step away."""
    total = 0
    for value in reversed(c):
        total = value + (step * total >> bits)
    return total
