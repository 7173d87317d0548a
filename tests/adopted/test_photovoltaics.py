"""pvlib: sunlight and solar cells."""

from __future__ import annotations

from typing import Any

from tests.adopted.checking import check


def test_relative_airmass() -> None:
    def call(m: Any, np: Any, zenith: Any) -> Any:
        return [
            m.get_relative_airmass(zenith, model)
            for model in ("kastenyoung1989", "simple", "gueymard1993", "youngirvine1967")
        ]

    check("pvlib.atmosphere", call, [10.0, 45.0, 70.0])


def test_physical_angle_modifier() -> None:
    def call(m: Any, np: Any, angle: Any, n: Any, K: Any, L: Any) -> Any:
        return m.physical(angle, n, K, L)

    check("pvlib.iam", call, [10.0, 45.0, 70.0], 1.526, 4.0, 0.002)


def test_bishop88() -> None:
    def call(m: Any, np: Any, *at: Any) -> Any:
        voltage, current, saturation, *others = at
        return m.bishop88(voltage, current, 1e-10 * saturation, *others, gradients=True)[:3]

    check("pvlib.singlediode", call, [0.3, 0.5], 7.0, 6.0, 0.0045, 11.0, 0.027, step=1e-6)
