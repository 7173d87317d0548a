"""Inverses, determinants, equations and triangular factors, compared with NumPy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array, compare

MATRIX: Final = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.8]])
STACK: Final = np.stack([MATRIX, MATRIX + np.eye(3)])[:, None]

FUNCTIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "inv": lambda np, x: np.linalg.inv(x),
    "det": lambda np, x: np.linalg.det(x),
    "slogdet": lambda np, x: np.linalg.slogdet(x),
    "cholesky": lambda np, x: np.linalg.cholesky(x),
    "upper cholesky": lambda np, x: np.linalg.cholesky(x, upper=True),
    "inverse power": lambda np, x: np.linalg.matrix_power(x, -2),
    "solve": lambda np, x: np.linalg.solve(x, [1.0, 2.0, 3.0]),
    "solve columns": lambda np, x: np.linalg.solve(x, x),
}
WRONG: Final = (
    np.zeros((3, 3)),
    -MATRIX,
    np.ones((2, 3)),
    np.ones(3),
    np.zeros((0, 0)),
    np.zeros((2, 0, 0)),
    MATRIX.astype(np.float16),
)


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name: str, grad: bool) -> None:
    function = FUNCTIONS[name]
    table = MATRIX + 0.5j * (np.triu(MATRIX, 1) - np.tril(MATRIX, -1))
    for dtype in ("f", "d", "F", "D", "l", "?"):
        for x in (table, STACK, MATRIX.T, *WRONG):
            with np.errstate(all="ignore"):
                numbers = (x.real if dtype not in "FD" else x).astype(dtype)
            for namespace in (vnp, np):
                mine = partial(function, namespace, array(numbers, grad))
                compare(mine, partial(function, np, numbers), f"{name} of {dtype}{x.shape}")
            if x.dtype == np.float16:
                break


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    def function(x: Any) -> Any:
        found = FUNCTIONS[name](vnp, x)
        return found[1] if isinstance(found, tuple) else found

    for x in (MATRIX, STACK):
        leaf = array(x, grad=True)
        assert vt.autograd.gradcheck(function, (leaf,))
        assert vt.autograd.gradgradcheck(function, (leaf,), fast_mode=True)
    samples = array(STACK[:, 0])
    found = vt.vmap(function)(samples)
    np.testing.assert_allclose(found.tolist(), [function(x).tolist() for x in samples])
    value, tangent = vt.func.jvp(function, (array(MATRIX),), (array(np.eye(3)),))
    _, pull = vt.func.vjp(function, array(MATRIX))
    (gradient,) = pull(vnp.ones_like(value))
    np.testing.assert_allclose(float(tangent.sum()), float(gradient.trace()), rtol=1e-10)


@pytest.mark.parametrize("shape", [(2,), (2, 3), (3, 2, 2), (2, 3, 2, 1), (1, 1, 2, 1), (2, 2)])
def test_right_sides(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    left, right = random.normal(size=(2, 1, 2, 2)), random.normal(size=shape)
    for a, b in ((left, right), (left[0, 0], right), (left[:1], right)):
        mine = partial(vnp.linalg.solve, array(a), array(b, grad=True))
        compare(mine, partial(np.linalg.solve, a, b), f"{a.shape}, {b.shape}")
    leaf = array(right, grad=True)
    assert vt.autograd.gradcheck(lambda b: vnp.linalg.solve(array(left), b), (leaf,))


def test_a_singular_matrix_has_a_derivative_of_its_determinant() -> None:
    x = array([[1.0, 2.0], [2.0, 4.0]], grad=True)
    vnp.linalg.det(x).backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.tolist(), [[4, -2], [-2, 1]], atol=1e-12)


def test_functions_are_pickled_by_name() -> None:
    for function in (vnp.linalg.inv, vnp.linalg.solve):
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "uint8", "uint16", "int32", "int64"])
def test_integers_beside_narrow_floats_are_solved_in_float64(dtype: str) -> None:
    x, whole = np.array([[2.0, 1.0], [1.0, 3.0]], "f"), np.array([[1, 0], [0, 1]], dtype)
    leaf = vnp.array(x).requires_grad_()
    for found, right in [
        (vnp.linalg.solve(leaf, whole), np.linalg.solve(x, whole)),
        (vnp.linalg.solve(whole, leaf), np.linalg.solve(whole, x)),
        (vnp.linalg.lstsq(leaf, whole)[0], np.linalg.lstsq(x, whole)[0]),
        (vnp.linalg.tensorsolve(leaf, whole[0]), np.linalg.tensorsolve(x, whole[0])),
    ]:
        assert found.requires_grad
        assert found.dtype == right.dtype == np.float64
        np.testing.assert_allclose(found.detach().numpy(), right, rtol=1e-12)
