"""Pseudoinverses and least squares, compared with NumPy."""

from __future__ import annotations

import typing
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array, compare
from vtgrad.errors import NotSupportedError

RANDOM: Final = np.random.default_rng(0)
TALL: Final = RANDOM.normal(size=(5, 3))
COMPLEX: Final = TALL + 1j * RANDOM.normal(size=(5, 3))
RIGHT: Final = RANDOM.normal(size=5)

CALLS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "pinv": lambda np, x: np.linalg.pinv(x),
    "pinv, rcond": lambda np, x: np.linalg.pinv(x, rcond=1e-9),
    "lstsq": lambda np, x: np.linalg.lstsq(x, RIGHT[: x.shape[0]])[0],
    "residuals": lambda np, x: np.linalg.lstsq(x, RIGHT[: x.shape[0]])[1],
    "sizes": lambda np, x: np.linalg.lstsq(x, RIGHT[: x.shape[0]])[3],
    "several": lambda np, x: np.linalg.lstsq(x, x[:, :2])[0],
    "rank": lambda np, x: np.linalg.lstsq(x, RIGHT[: x.shape[0]])[2],
}


@pytest.mark.parametrize("name", CALLS)
def test_values_and_derivatives(name: str) -> None:
    call = CALLS[name]
    matrices = [TALL, COMPLEX, TALL[:3]]
    if "pinv" in name:
        matrices += [TALL.T, COMPLEX.T, np.stack([TALL, TALL + 1])]
    for x in matrices:
        for grad in (False, True):
            mine = partial(call, vnp, array(x, grad))
            compare(mine, partial(call, np, x), f"{name}, {x.shape}")
        if name == "rank":
            continue
        leaf = array(x, grad=True)
        assert vt.autograd.gradcheck(partial(call, vnp), (leaf,))
        if x.dtype.kind == "f":
            assert vt.autograd.gradgradcheck(partial(call, vnp), (leaf,), fast_mode=True)


def test_right_sides_are_differentiated() -> None:
    b = array(RIGHT, grad=True)
    assert vt.autograd.gradcheck(lambda b: vnp.linalg.lstsq(TALL, b)[:2], (b,))
    (found,) = vt.autograd.grad(np.linalg.lstsq(TALL, b)[0].sum(), b)
    np.testing.assert_allclose(found.tolist(), np.linalg.pinv(TALL).sum(0))


def test_singular_values_that_are_left_out_are_refused() -> None:
    stack = np.stack([np.diag([4.0, 1.0]), np.diag([4.0, 3.0])])
    for options in ({"rcond": 0.5}, {"rtol": 0.5}, {"rcond": [0.5, 0.1]}):
        with pytest.raises(NotSupportedError, match="no derivative"):
            vnp.linalg.pinv(array(stack, grad=True), **typing.cast("Any", options))
    # The second one has them all at 0.5.
    for rcond in (0.1, [0.1, 0.5]):
        found = vnp.linalg.pinv(array(stack, grad=True), rcond=rcond)
        assert found.requires_grad
        np.testing.assert_allclose(found.tolist(), np.linalg.pinv(stack, rcond=rcond))


def test_what_is_not_of_full_rank_is_refused() -> None:
    x = array(np.ones((3, 2)), grad=True)
    with pytest.raises(NotSupportedError, match="no derivative"):
        vnp.linalg.pinv(x)
    with pytest.raises(NotSupportedError, match="no derivative"):
        vnp.linalg.lstsq(x, RIGHT[:3])
