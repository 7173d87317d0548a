"""Ranges, whose ends may carry derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_by_namespace import Call, by_numpys_name, compare_call
from tests.numpy.derivatives import check_derivatives
from tests.numpy.support import array

SPACES: dict[str, Call] = {
    "linspace": lambda np, a: np.linspace(a(1.5), 3, 4),
    "to": lambda np, a: np.linspace(0, a(3.0), 4),
    "both": lambda np, a: np.linspace(a([1.5, 2]), a([[3.0], [5]]), 3),
    "axis": lambda np, a: np.linspace(a([1.5, 2]), [3, 4], 3, axis=-1),
    "no axis": lambda np, a: np.linspace(a([1.5, 2]), [3, 4], 3, axis=2),
    "open": lambda np, a: np.linspace(a(1.5), 3, 4, endpoint=False),
    "step": lambda np, a: np.linspace(a(1.5), 3, 4, retstep=True),
    "steps": lambda np, a: np.linspace(a([1.5]), 3, 4, retstep=True, endpoint=False),
    "one": lambda np, a: np.linspace(a(1.5), 3, 1),
    "one of": lambda np, a: np.linspace(a(1.5), 3, 1, retstep=True)[0],
    "none": lambda np, a: np.linspace(a([1.5, 2]), 3, 0),
    "fewer": lambda np, a: np.linspace(a(1.5), 3, -1),
    "no number": lambda np, a: np.linspace(a(1.5), 3, 2.5),
    "dtype": lambda np, a: np.linspace(a(1.5), 3, 4, dtype="f"),
    "integers": lambda np, a: np.linspace(a(-1.5), 3, 4, dtype=int),
    "equal": lambda np, a: np.linspace(a(1.5), 1.5, 4),
    "single": lambda np, a: np.linspace(a(np.float32(1.5)), 3, 4),
    "single and double": lambda np, a: np.linspace(a(np.float32(1.5)), np.float64(3), 4),
    "half": lambda np, a: np.linspace(a(np.float16(1.5)), 3, 4),
    "complex": lambda np, a: np.linspace(a(1.5j), 3, 4),
    "of integers": lambda np, a: np.linspace(a(1), a(4), 4),
    "list": lambda np, a: np.linspace([a(1.5), 2], 4, 3),
    "device": lambda np, a: np.linspace(a(1.5), 3, 4, device="gpu"),
    "scalars": lambda np, a: np.linspace(a([1.5])[0], a([3.0])[0], 3),
    "scalar": lambda np, a: np.linspace(2, a([3.0])[0], 3, retstep=True),
    "infinite": lambda np, a: np.linspace(a(1.5), np.inf, 3),
    "logspace": lambda np, a: np.logspace(a(0.5), 2, 3),
    "logspace to": lambda np, a: np.logspace(0, a(2.0), 3, endpoint=False),
    "base": lambda np, a: np.logspace(0, 2, 3, base=a(2.0)),
    "bases": lambda np, a: np.logspace(0, a([[1.0], [2.0]]), 3, base=a([2.0, 3.0])),
    "bases axis": lambda np, a: np.logspace(0, 2, 3, base=a([2.0, 3.0]), axis=-1),
    "logspace dtype": lambda np, a: np.logspace(a(0.5), 2, 3, dtype="f"),
    "logspace integers": lambda np, a: np.logspace(a(0.5), 2, 3, dtype=int),
    "logspace single": lambda np, a: np.logspace(a(np.float32(0.5)), 2, 3),
    "geomspace": lambda np, a: np.geomspace(a(0.5), 2, 3),
    "geomspace open": lambda np, a: np.geomspace(a(0.5), a(2.0), 3, endpoint=False),
    "geomspace scalars": lambda np, a: np.geomspace(a([0.5])[0], a([2.0])[0], 3),
    "logspace scalars": lambda np, a: np.logspace(a([0.5])[0], 2, 3, base=a([2.0])[0]),
    "negative": lambda np, a: np.geomspace(a(-0.5), -2, 3),
    "signs": lambda np, a: np.geomspace(a(-0.5), 2, 3),
    "geomspace complex": lambda np, a: np.geomspace(a(1j), 2, 3),
    "as complex": lambda np, a: np.geomspace(a(-1.0), 2, 3, dtype="D"),
    "geomspace axis": lambda np, a: np.geomspace(a([0.5, 1]), 2, 4, axis=1),
    "geomspace dtype": lambda np, a: np.geomspace(a(0.5), 2, 3, dtype="f"),
    "zero": lambda np, a: np.geomspace(a(0.0), 2, 3),
    "to zero": lambda np, a: np.geomspace(a(1.0), 0, 3),
    "geomspace one": lambda np, a: np.geomspace(a(0.5), 2, 1),
    "geomspace none": lambda np, a: np.geomspace(a(0.5), 2, 0),
}

ARANGES: dict[str, Call] = {
    "end": lambda np, a: np.arange(a(3.5)[()]),
    "ends": lambda np, a: np.arange(a(0.5)[()], 4),
    "integers": lambda np, a: np.arange(a(1)[()], a(7)[()], 2),
    "step": lambda np, a: np.arange(0, 2, a(0.5)[()]),
    "backward": lambda np, a: np.arange(a(3.0)[()], 0, a(-0.5)[()]),
    "nothing": lambda np, a: np.arange(a(3.0)[()], 0),
    "dtype": lambda np, a: np.arange(a(0.5)[()], 4, dtype="f"),
    "to integers": lambda np, a: np.arange(a(0.5)[()], 4, dtype=int),
    "single": lambda np, a: np.arange(a(np.float32(0.5))[()], 4),
    "by name": lambda np, a: np.arange(start=a(0.5)[()], stop=3, step=1),
    "to by name": lambda np, a: np.arange(stop=a(2.5)[()]),
    "end and step": lambda np, a: np.arange(a(4.0)[()], step=2),
    "zero step": lambda np, a: np.arange(0, 1, a(0.0)[()]),
    "no end": lambda np, a: np.arange(),
    "complex": lambda np, a: np.arange(a(1.0)[()], 3, dtype="D"),
    "numbers": lambda np, a: np.arange(3),
    "unsigned": lambda np, a: np.arange(3, dtype=np.uint8),
    "text": lambda np, a: np.arange("a"),
}


@pytest.mark.parametrize("name", SPACES)
def test_spaces(name: str) -> None:
    compare_call(SPACES[name], name)
    # NumPy looks for arrays of other classes neither in lists nor where there are none.
    if name != "list" and "scalar" not in name:
        by_numpys_name(SPACES[name], name)


@pytest.mark.parametrize("name", ARANGES)
def test_arange(name: str) -> None:
    compare_call(ARANGES[name], name)


def test_what_is_recorded() -> None:
    x = array(0.5, grad=True)
    assert vnp.arange(x, 4).requires_grad
    assert vnp.arange(0, 4, x).requires_grad
    # The end only says how many there are.
    assert not vnp.arange(4.0, dtype=None).requires_grad
    assert not vnp.arange(x + 3).requires_grad
    assert not vnp.linspace(x, 3, 4, dtype=int).requires_grad
    assert vnp.linspace(x, 3, 4, retstep=True)[1].requires_grad


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: vnp.linspace(x, y, 4) ** 2,
        lambda x, y: vnp.linspace(x, [y, y * y], 3, endpoint=False, axis=1) ** 2,
        lambda x, y: vnp.linspace(x, y, 3, retstep=True)[1] ** 2,
        lambda x, y: vnp.linspace(x, x, 3) ** 2,
        lambda x, y: vnp.logspace(x, y, 3, base=2),
        lambda x, y: vnp.logspace(0, x, 3, base=y),
        lambda x, y: vnp.geomspace(x, y, 4),
        lambda x, y: vnp.geomspace(-x, -y, 3, endpoint=False),
    ],
)
def test_derivatives(function: Any) -> None:
    check_derivatives(function, 0.75, 1.5)


def test_derivatives_of_arange_and_of_complex_ends() -> None:
    x, step = array(0.75, grad=True), array(0.5, grad=True)
    assert vt.autograd.gradgradcheck(lambda x, step: vnp.arange(x, 2.5, step) ** 2, (x, step))
    z = array(0.5 + 1j, grad=True)
    assert vt.autograd.gradcheck(lambda z: vnp.geomspace(z, 3, 4), (z,))
    assert vt.autograd.gradgradcheck(lambda z: vnp.geomspace(z, 3, 4), (z,))
    assert vt.autograd.gradcheck(lambda z: vnp.linspace(z, 3, 4), (z,))


def test_the_ends_are_exact() -> None:
    made = vnp.geomspace(array(0.3, grad=True), 7.7, 5)
    assert made[0].item() == 0.3
    assert made[-1].item() == 7.7
    assert vnp.linspace(array(0.3, grad=True), 7.7, 7)[-1].item() == 7.7
    np.testing.assert_array_equal(
        vnp.linspace(array(0.0, grad=True), 1, 11).tolist(), np.linspace(0, 1, 11)
    )
