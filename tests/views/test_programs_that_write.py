"""The programs of the table in `docs/writing-in-place.md`, under both rules."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import vtgrad as vt
from vtgrad.autograd.graph import set_overwrite_check
from vtgrad.errors import StaleSavedError


def parameter(*values: float) -> vt.Tensor:
    return vt.tensor(list(values), dtype=vt.float64, requires_grad=True)


def rows() -> list[float]:
    a, x = parameter(0.5), vt.ones(4, dtype=vt.float64)
    for t in range(1, 4):
        x[t] = (a * x[t - 1])[0]
    return gradient(x.sum(), a)


def columns_of_the_transposed() -> list[float]:
    a, x = parameter(0.5), vt.ones(4, 2, dtype=vt.float64)
    y = x.t()
    for t in range(1, 4):
        y[:, t] = a * y[:, t - 1]
    return gradient(x.sum(), a)


def part_of_a_result() -> list[float]:
    p = parameter(1.0, 2.0, 3.0)
    b = p * 1
    v = b[1:]
    v *= 2
    return gradient((b * b).sum(), p)


def cholesky() -> list[float]:
    p = parameter(4.0, 2.0, 2.0, 3.0)
    factor = p.view(2, 2) * 1
    for j in range(2):
        factor[j, j] = factor[j, j].sqrt()
        factor[j + 1 :, j] /= factor[j, j]
        for k in range(j + 1, 2):
            factor[k:, k] -= factor[k:, j] * factor[k, j]
    return gradient(factor[0, 0] + factor[1, 1], p)


def elimination() -> list[float]:
    p = parameter(4.0, 2.0, 1.0, 2.0, 5.0, 3.0, 1.0, 3.0, 6.0)
    upper = p.view(3, 3) * 1
    for j in range(3):
        for i in range(j + 1, 3):
            upper[i] -= upper[i, j] / upper[j, j] * upper[j]
    return gradient(upper.diagonal().prod(), p)


def ring_buffer() -> list[float]:
    a, ring = parameter(0.5), vt.ones(2, dtype=vt.float64)
    for t in range(1, 6):
        ring[t % 2] = a[0] * ring[(t - 1) % 2] + ring[t % 2]
    return gradient(ring.sum(), a)


def state() -> list[float]:
    p = parameter(0.1, 0.2)
    x = p * 1
    for _ in range(3):
        x += x.sin()
    return gradient(x.sum(), p)


def factor_without_gradient() -> list[float]:
    a, w = parameter(0.5, 0.5), vt.ones(2, dtype=vt.float64)
    y = a * w
    w *= 2
    return gradient(y.sum(), a)


def step_before_backward() -> list[float]:
    w = parameter(1.0, 2.0)
    loss = (w * w).sum()
    with vt.no_grad():
        w -= 0.1
    return gradient(loss, w)


def gradient(y: vt.Tensor, x: vt.Tensor) -> list[float]:
    y.backward()
    assert x.grad is not None
    return [float(value) for value in x.grad.numpy()]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        # 1 + 2 a + 3 a^2
        (rows, [2.75]),
        (columns_of_the_transposed, [5.5]),
        # With p = (a, b, b, c), the diagonal is sqrt(a) and s = sqrt(c - b^2 / a); only the lower
        # b is read. By a: 1 / (2 sqrt(a)) + b^2 / (2 a^2 s); by b: -b / (a s); by c: 1 / (2 s).
        (
            cholesky,
            [0.25 + 1 / (8 * 2**0.5), 0.0, -1 / (2 * 2**0.5), 1 / (2 * 2**0.5)],
        ),
        (part_of_a_result, [2.0, 16.0, 24.0]),
    ],
)
def test_writes_beside_what_is_saved_run(
    program: Callable[[], list[float]], expected: list[float]
) -> None:
    assert program() == pytest.approx(expected)
    if program is not part_of_a_result:
        with set_overwrite_check("storage"), pytest.raises(StaleSavedError):
            program()


@pytest.mark.parametrize("rule", ["elements", "storage"])
@pytest.mark.parametrize(
    "program", [elimination, ring_buffer, state, factor_without_gradient, step_before_backward]
)
def test_writes_over_what_is_saved_are_refused(
    program: Callable[[], list[float]], rule: str
) -> None:
    with (
        set_overwrite_check("storage" if rule == "storage" else "elements"),
        pytest.raises(StaleSavedError),
    ):
        program()
