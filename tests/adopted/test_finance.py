"""numpy-financial: the value of money over time."""

from __future__ import annotations

from tests.adopted.checking import check

NAME = "numpy_financial"


def test_npv() -> None:
    check(NAME, lambda m, np, rate, values: m.npv(rate, values), 0.08, [-100.0, 39.0, 59.0, 55.0])


def test_pmt() -> None:
    check(NAME, lambda m, np, rate, pv: m.pmt(rate, 180, pv), 0.00625, 2000.0)


def test_fv() -> None:
    check(NAME, lambda m, np, *at: m.fv(*at), 0.05 / 12, 120.0, -100.0, -100.0)


def test_irr() -> None:
    check(NAME, lambda m, np, values: m.irr(values), [-100.0, 39.0, 59.0, 55.0, 20.0])


def test_mirr() -> None:
    check(NAME, lambda m, np, *at: m.mirr(*at), [-100.0, 39.0, -59.0, 155.0, 20.0], 0.05, 0.06)
