"""seawater: the equation of state of 1980."""

from __future__ import annotations

import pytest

from tests.adopted.checking import check

# It says that it has a successor, which is written in C.
pytestmark = pytest.mark.filterwarnings("ignore:The seawater library is deprecated")

NAME = "seawater"
SALT, HEAT, DEEP = [34.5, 35.1], [10.0, 4.5], [500.0, 3000.0]


def test_dens() -> None:
    check(NAME, lambda m, np, *at: m.dens(*at), SALT, HEAT, DEEP)


def test_svel() -> None:
    check(NAME, lambda m, np, *at: m.svel(*at), SALT, HEAT, DEEP)


def test_ptmp() -> None:
    check(NAME, lambda m, np, *at: m.ptmp(*at), SALT, HEAT, DEEP)


def test_dist() -> None:
    check(NAME, lambda m, np, lat, lon: m.dist(lat, lon), [35.0, 36.0, 38.5], [-20.0, -19.0, -17.0])
