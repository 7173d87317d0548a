"""The piecewise polynomials of the logarithm of the gamma function and of the digamma function.

See Note [Piecewise polynomials]. Both start from correctly rounded values at the multiples of the
step, so that the logarithm has all digits near its zeros too, which are among them. The other
Taylor coefficients are zeta functions (DLMF 25.11.12).
"""

from __future__ import annotations

from typing import Final

from vtgrad.ops.kernels.special.fixed_point import ONE, UNIT_BITS, logarithm, times
from vtgrad.ops.kernels.special.piecewise import Piecewise
from vtgrad.ops.kernels.special.zeta import BERNOULLI, zeta_of_positive
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lasting_arrays import made_once

__all__ = ["HIGH", "LOW", "digamma_table", "lgamma_of_one_more", "lgamma_table"]


# The range of the tables, and their step: two to the power of minus this.
LOW: Final = 0.5
HIGH: Final = 8.0
_BITS: Final = 7
# The logarithm has a term more, because around its zeros the error has to be smaller.
_DEGREE: Final = 8
# Here the asymptotic series are exact to more digits than a result has.
_FAR: Final = 24
_HALF_LOG_2_PI: Final = 91893853320467274178032973640561763986139747363778 * ONE // 10**50
# Less than this, in units, is what was rounded on the way to a zero.
_NOTHING: Final = 1 << UNIT_BITS - 80


@made_once
def lgamma_table() -> Piecewise:
    """The logarithm of the gamma function from `LOW` to `HIGH`."""
    r, values = _multiples(), []
    for start in range(2**_BITS):
        # The multiples that differ from `start` by whole numbers, from above.
        numerator = (_FAR << _BITS) + start
        log, product = _stirling(numerator), ONE
        while (numerator := numerator - 2**_BITS) >= LOW * 2**_BITS:
            product = product * numerator >> _BITS
            if numerator <= HIGH * 2**_BITS:
                value = log - logarithm(product)
                values.append((numerator, value / ONE if abs(value) > _NOTHING else 0.0))
    return Piecewise(int(r[0] * 2**_BITS), _BITS, [_sorted(values), *_slopes(r)])


@made_once
def lgamma_of_one_more() -> Piecewise:
    """The logarithm of the gamma function of ``1 + x``, for x up to 7: exact for small x too."""
    return lgamma_table().moved(2**_BITS)


@made_once
def digamma_table() -> Piecewise:
    """The digamma function from `LOW` to `HIGH`."""
    r, values = _multiples(), []
    for start in range(2**_BITS):
        numerator = (_FAR << _BITS) + start
        slope = _stirling_slope(numerator)
        while (numerator := numerator - 2**_BITS) >= LOW * 2**_BITS:
            slope -= (ONE << _BITS) // numerator
            if numerator <= HIGH * 2**_BITS:
                values.append((numerator, slope / ONE))
    rows = [_sorted(values)]
    rows += [(-1.0) ** (k + 1) * zeta_of_positive(k + 1, r) for k in range(1, _DEGREE)]
    return Piecewise(int(r[0] * 2**_BITS), _BITS, rows)


def _multiples() -> Array:
    r: Array = making.arange(int(LOW * 2**_BITS), int(HIGH * 2**_BITS) + 1) / 2**_BITS
    return r


def _sorted(values: list[tuple[int, float]]) -> Array:
    return making.array([value for _, value in sorted(values)])


def _slopes(r: Array) -> list[Array]:
    """The Taylor coefficients of the logarithm from power 1 on."""
    return [
        digamma_table().powers[0],
        *((-1.0) ** k * zeta_of_positive(k, r) / k for k in range(2, _DEGREE + 1)),
    ]


def _stirling(numerator: int) -> int:
    """The logarithm (DLMF 5.11.1) at a multiple of the step."""
    z, inverse = numerator << UNIT_BITS - _BITS, (ONE << _BITS) // numerator
    total = times(z - ONE // 2, logarithm(z)) - z + _HALF_LOG_2_PI
    power, square = inverse, times(inverse, inverse)
    for n, (b, c) in enumerate(BERNOULLI, 1):
        total += power * b // (c * 2 * n * (2 * n - 1))
        power = times(power, square)
    return total


def _stirling_slope(numerator: int) -> int:
    """The digamma function (DLMF 5.11.2) at a multiple of the step."""
    inverse = (ONE << _BITS) // numerator
    total = logarithm(numerator << UNIT_BITS - _BITS) - inverse // 2
    power = square = times(inverse, inverse)
    for n, (b, c) in enumerate(BERNOULLI, 1):
        total -= power * b // (c * 2 * n)
        power = times(power, square)
    return total
