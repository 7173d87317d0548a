"""spatialmath-python: poses in space."""

from __future__ import annotations

from typing import Any

from tests.adopted.checking import check

NAME = "spatialmath.base"


def test_trotx_and_transl() -> None:
    def call(m: Any, np: Any, angle: Any, x: Any, y: Any) -> Any:
        return m.trotx(angle) @ m.transl(x, y, 3.0)

    check(NAME, call, 0.4, 1.0, 2.0)


def test_rpy2r_and_back() -> None:
    def call(m: Any, np: Any, *at: Any) -> Any:
        rotation = m.rpy2r(*at)
        return rotation, m.tr2rpy(rotation @ m.rotx(0.1))

    check(NAME, call, 0.1, 0.2, 0.3)


def test_trexp() -> None:
    check(NAME, lambda m, np, twist: m.trexp(twist), [0.1, 0.2, 0.3, 0.4, -0.5, 0.6])


def test_q2r() -> None:
    check(NAME, lambda m, np, q: m.q2r(q), [0.5, 0.4, -0.3, 0.7])
