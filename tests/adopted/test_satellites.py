"""sgp4: orbits of satellites."""

from __future__ import annotations

from typing import Any

from tests.adopted.checking import check

NAME = "sgp4.model"
LINES = (
    "1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991",
    "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482",
)


def test_position_by_time() -> None:
    def call(m: Any, np: Any, minutes: Any) -> Any:
        error, position, speed = m.Satrec.twoline2rv(*LINES).sgp4_tsince(minutes)
        assert error == 0
        return position, speed

    check(NAME, call, 37.0)


def test_position_by_elements() -> None:
    def call(m: Any, np: Any, *elements: Any) -> Any:
        satellite = m.Satrec()
        satellite.sgp4init(m.WGS72, "i", 5, 18441.785, *elements)
        error, position, speed = satellite.sgp4_tsince(37.0)
        assert error == 0
        return position, speed

    bstar, ndot, nddot = 2.8098e-05, 6.969196665e-13, 0.0
    eccentricity, perigee, inclination = 0.1859667, 5.7904160274885, 0.5980929187319
    anomaly, motion, node = 0.3373093125574321, 0.0472294454407, 6.0863854713832

    def by_elements(m: Any, np: Any, e: Any, w: Any, i: Any, mean: Any, n: Any, node: Any) -> Any:
        return call(m, np, bstar, ndot, nddot, e, w, i, mean, n, node)

    check(NAME, by_elements, eccentricity, perigee, inclination, anomaly, motion, node, step=1e-6)
