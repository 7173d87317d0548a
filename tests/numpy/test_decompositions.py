"""Decompositions of matrices, compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array, compare
from vtgrad.errors import NotSupportedError

HERMITIAN: Final = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.8]])
STACK: Final = np.stack([HERMITIAN, HERMITIAN @ HERMITIAN])[:, None]
TALL: Final = np.random.default_rng(0).normal(size=(4, 3))

#: What is compared does not depend on signs that are arbitrary.
CALLS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "eigvalsh": lambda np, x: np.linalg.eigvalsh(x),
    "eigvalsh, upper": lambda np, x: np.linalg.eigvalsh(x, "U"),
    "eigh": lambda np, x: abs(np.linalg.eigh(x)[1]),
    "svdvals": lambda np, x: np.linalg.svdvals(x),
    "svd without vectors": lambda np, x: np.linalg.svd(x, compute_uv=False),
    "svd": lambda np, x: abs(np.linalg.svd(x, full_matrices=False)[0]),
    "svd, right": lambda np, x: abs(np.linalg.svd(x, full_matrices=False)[2]),
    "qr": lambda np, x: abs(np.linalg.qr(x)[0]),
    "qr, right": lambda np, x: abs(np.linalg.qr(x, "r")),
    "wrong triangle": lambda np, x: np.linalg.eigh(x, "x"),
    "wrong mode": lambda np, x: np.linalg.qr(x, "x"),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_and_derivatives(name: str) -> None:
    call, hermitian = CALLS[name], "eig" in name
    for x in (HERMITIAN, STACK) if hermitian else (HERMITIAN, STACK, TALL, TALL.T):
        for dtype in ("d", "f", "D", "l"):
            numbers = (x * 3).astype(dtype)
            if dtype == "l":
                numbers += np.diag([0, 1, 3]) if hermitian else np.arange(x.shape[-1])
            for grad in (False, True):
                mine = partial(call, vnp, array(numbers, grad))
                compare(mine, partial(call, np, numbers), f"{name} of {dtype}{x.shape}")
        if "wrong" not in name:
            leaf = array(x, grad=True)
            assert vt.autograd.gradcheck(partial(call, vnp), (leaf,))
            assert vt.autograd.gradgradcheck(partial(call, vnp), (leaf,))
    for bad in (np.ones(3), np.ones((2, 3)) if hermitian else np.ones(2)):
        compare(partial(call, vnp, array(bad, True)), partial(call, np, bad), name)


def test_results_have_names() -> None:
    x = array(HERMITIAN, grad=True)
    assert vnp.linalg.eigh(x).eigenvalues.shape == (3,)
    assert vnp.linalg.svd(x).S.requires_grad
    assert vnp.linalg.qr(x).R.shape == (3, 3)


def test_what_completes_a_basis_has_no_derivative() -> None:
    x = array(TALL, grad=True)
    calls: list[Callable[[], Any]] = [
        lambda: vnp.linalg.svd(x),
        lambda: vnp.linalg.svd(x[:3], hermitian=True),
        lambda: vnp.linalg.qr(x, "complete"),
        lambda: vnp.linalg.qr(x, "raw"),
    ]
    for refused in calls:
        with pytest.raises(NotSupportedError, match="derivative"):
            refused()
    assert vnp.linalg.svd(x.detach()).U.shape == (4, 4)
