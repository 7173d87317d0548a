"""tmm: light in thin films."""

from __future__ import annotations

from typing import Any

import vtgrad.numpy as np
from tests.adopted.checking import adopted, check
from vtgrad.func import grad, jacfwd

NAME = "tmm.tmm_core"


def test_reflectance() -> None:
    def call(m: Any, np: Any, n: Any, d: Any, angle: Any, wave: Any) -> Any:
        found = m.coh_tmm("s", [1.0, n, 3.0, 1.5], [np.inf, d, 200.0, np.inf], angle, wave)
        return found["R"], found["T"]

    # The outer media are infinitely thick: backward, 0 times infinity is no number for the others.
    check(NAME, call, 2.2, 100.0, 0.3, 500.0, backward=(0, 1))


def test_a_gradient_of_zero_times_an_infinite_thickness() -> None:
    # What docs/programs-of-others.md says of it.
    coh_tmm = adopted(NAME).coh_tmm

    def reflectance(angle: Any) -> Any:
        return coh_tmm("s", [1.0, 2.2, 1.5], [np.inf, 100.0, np.inf], angle, 500.0)["R"]

    assert np.isnan(grad(reflectance)(np.array(0.3)))
    assert np.isfinite(jacfwd(reflectance)(np.array(0.3)))


def test_reflectance_of_an_absorbing_film() -> None:
    def call(m: Any, np: Any, n: Any, k: Any, d: Any) -> Any:
        found = m.coh_tmm("p", [1.0, n + 1j * k, 1.5], [np.inf, d, np.inf], 0.3, 500.0)
        return found["R"], found["T"]

    check(NAME, call, 2.2, 0.1, 100.0)


def test_interface_r() -> None:
    def call(m: Any, np: Any, *at: Any) -> Any:
        return m.interface_r("s", *at), m.interface_r("p", *at)

    check(NAME, call, 1.0, 1.5, 0.3, 0.2)
