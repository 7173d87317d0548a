"""pyquaternion: rotations by quaternions."""

from __future__ import annotations

from typing import Any

from tests.adopted.checking import check

NAME = "pyquaternion"
P, Q = [0.8, 0.3, -0.2, 0.4], [0.5, -0.4, 0.6, 0.3]


def test_rotate() -> None:
    def call(m: Any, np: Any, q: Any, v: Any) -> Any:
        return m.Quaternion(q).rotate(v)

    check(NAME, call, P, [1.0, 2.0, 3.0])


def test_slerp() -> None:
    def call(m: Any, np: Any, p: Any, q: Any, amount: Any) -> Any:
        return m.Quaternion.slerp(m.Quaternion(p), m.Quaternion(q), amount).elements

    check(NAME, call, P, Q, 0.3)


def test_product_and_inverse() -> None:
    def call(m: Any, np: Any, p: Any, q: Any) -> Any:
        return (m.Quaternion(p) * m.Quaternion(q).inverse).elements

    check(NAME, call, P, Q)


def test_axis_and_angle() -> None:
    def call(m: Any, np: Any, axis: Any, angle: Any) -> Any:
        return m.Quaternion(axis=axis, angle=angle).rotation_matrix

    check(NAME, call, [1.0, 2.0, 3.0], 0.7)
