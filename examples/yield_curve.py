"""A yield curve: discount factors from par rates, a spline through them, and the price of a bond.

A bond at par of `k` years pays its rate each year, so each discount factor follows from those of
the years before, and is written behind them. Between whole years there is a spline. The gradient of
a price by the par rates says how many bonds at par hedge it.
"""

from __future__ import annotations

import numpy as np
from _check import check

import vtgrad as vt

RATES = np.array([0.021, 0.024, 0.026, 0.027, 0.029, 0.03, 0.031, 0.0315, 0.032, 0.0322])


def curve(rates: vt.Tensor) -> vt.interpolate.CubicSpline:
    """The yield by years, of continuous compounding."""
    years = len(rates)
    discounts = vt.ones(years + 1, dtype=vt.float64)
    for k in range(years):
        paid = discounts[1 : k + 1].sum()
        discounts[k + 1] = (1 - rates[k] * paid) / (1 + rates[k])
    maturities = vt.arange(1, years + 1, dtype=vt.float64)
    yields = -discounts[1:].log() / maturities
    return vt.interpolate.CubicSpline(maturities, yields, bc_type="natural")


def price(rates: vt.Tensor) -> vt.Tensor:
    """A bond of seven years and a half that pays four per cent each half year."""
    dates = vt.arange(1, 16, dtype=vt.float64) / 2
    payments = vt.full((15,), 0.04, dtype=vt.float64)
    payments[-1] += 1.0
    return (payments * vt.exp(-curve(rates)(dates) * dates)).sum()


if __name__ == "__main__":
    # A curve that is flat has the same price by the sum of a geometric series.
    flat = vt.full((10,), 0.03, dtype=vt.float64)
    half_year = 1.03**-0.5
    series = 0.04 * half_year * (1 - half_year**15) / (1 - half_year) + half_year**15
    assert abs(price(flat).item() - series) < 1e-12
    check(price, RATES, way="exact")
