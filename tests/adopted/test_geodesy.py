"""pymap3d: coordinates on the ellipsoid of the Earth."""

from __future__ import annotations

import vtgrad.numpy as np
from tests.adopted.checking import adopted, check


def test_geodetic2ecef() -> None:
    check("pymap3d", lambda m, np, *at: m.geodetic2ecef(*at), 42.1, -82.3, 200.0)


def test_geodetic2ecef_of_arrays() -> None:
    check(
        "pymap3d",
        lambda m, np, *at: m.geodetic2ecef(*at),
        [42.1, -10.0],
        [-82.3, 20.0],
        [200.0, 5000.0],
    )


def test_ecef2geodetic() -> None:
    check("pymap3d", lambda m, np, *at: m.ecef2geodetic(*at), 660675.3, -4700948.7, 4245737.7)


def test_ecef2geodetic_of_arrays() -> None:
    check(
        "pymap3d",
        lambda m, np, *at: m.ecef2geodetic(*at),
        [660675.3, 5000000.0],
        [-4700948.7, 2000000.0],
        [4245737.7, 3600000.0],
    )


def test_geodetic2aer() -> None:
    check("pymap3d", lambda m, np, *at: m.geodetic2aer(*at), 42.5, -82.0, 900.0, 42.1, -82.3, 200.0)


def test_what_leaves_the_record_in_a_loop() -> None:
    vincenty = adopted("pymap3d.vincenty")
    latitude = np.array(10.0).requires_grad_()
    with np.explain() as found:
        distance, _ = vincenty.vdist(latitude, 20.0, 12.5, 24.0)
    assert distance.requires_grad
    looping = [line for line in found if line.kind == "masked copy in a loop"]
    # As often as the loop runs, each.
    assert len({line.count for line in looping}) == 1
    assert {(line.function, line.what) for line in looping} == {("vdist", "x[mask] = y")}
    assert all(line.where.startswith("pymap3d") for line in found)


def test_vdist() -> None:
    check("pymap3d.vincenty", lambda m, np, *at: m.vdist(*at), 10.0, 20.0, 12.5, 24.0)
