"""trimesh: transformations in space."""

from __future__ import annotations

from tests.adopted.checking import check

NAME = "trimesh.transformations"
P, Q = [0.8, 0.3, -0.2, 0.4], [0.5, -0.4, 0.6, 0.3]


def test_rotation_matrix() -> None:
    check(NAME, lambda m, np, *at: m.rotation_matrix(*at), 0.4, [1.0, 2.0, 3.0], [0.5, 0.1, -0.3])


def test_quaternion_matrix() -> None:
    check(NAME, lambda m, np, q: m.quaternion_matrix(q), P)


def test_euler_matrix() -> None:
    check(NAME, lambda m, np, *at: m.euler_matrix(*at, "syxz"), 0.1, 0.2, 0.3)


def test_quaternion_slerp() -> None:
    check(NAME, lambda m, np, *at: m.quaternion_slerp(*at), P, Q, 0.3)
