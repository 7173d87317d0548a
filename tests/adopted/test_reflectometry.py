"""refnx: neutrons and X-rays at layers."""

from __future__ import annotations

from typing import Any

from tests.adopted.checking import check


def test_abeles() -> None:
    def call(m: Any, np: Any, q: Any, layers: Any, scale: Any, background: Any) -> Any:
        return m.abeles(q, layers, scale, background)

    layers = [
        [0.0, 2.07, 0.01, 0.0],
        [100.0, 3.45, 0.1, 3.0],
        [50.0, 5.0, 0.01, 3.0],
        [0.0, 6.36, 0.01, 2.0],
    ]
    check("refnx.reflect._reflect", call, [0.03, 0.1, 0.2], layers, 1.1, 1e-6)
