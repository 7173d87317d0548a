"""`vtgrad.numpy.linalg`: what is recorded, and what NumPy computes on values."""

from __future__ import annotations

import math
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_in_layouts import Call, check_calls, compare_calls
from tests.numpy.support import DTYPES, array, assert_same, compare, values
from vtgrad.numpy import linalg

OTHER = np.array([[1.5, 2.0, -1.0], [0.5, 3.0, 2.5]])
SQUARE = np.array([[0.5, 1.25], [2.0, 0.875]])


def norms(orders: Any, **options: Any) -> list[Call]:
    def call(f: Any, x: Any, order: Any) -> Any:
        return f(x, ord=order, **options)

    return [partial(call, order=order) for order in orders]


VECTOR_ORDERS = (None, 2, 1, math.inf, -math.inf, 0, 3, 0.5, -1, -2, 2.5, "fro")
MATRIX_ORDERS = (None, "fro", 1, -1, math.inf, -math.inf, 2, -2, "nuc", "f", 3, 0, "x")

CALLS: dict[str, list[Call]] = {
    "linalg.norm": [
        lambda f, x: f(x),
        lambda f, x: f(x, keepdims=True),
        lambda f, x: f(x[0].ravel(), 2),
        lambda f, x: f(x, "fro"),
        lambda f, x: f(x, 1, (1, 0), True),
        lambda f, x: f(x, -np.inf, (-1, -2), keepdims=True),
        lambda f, x: f(x, None, (0,)),
        lambda f, x: f(x[None], axis=(0, 2)),
        *norms(VECTOR_ORDERS, axis=-1),
        *norms(VECTOR_ORDERS[:4], axis=0, keepdims=True),
        *norms(MATRIX_ORDERS),
        lambda f, x: f(x, axis=(0, 0)),
        lambda f, x: f(x, axis=2),
        lambda f, x: f(x, axis=(0, 3)),
        lambda f, x: f(x[None]),
        lambda f, x: f(x[None], 1),
        lambda f, x: f(x, axis="a"),
    ],
    "linalg.vector_norm": [
        lambda f, x: f(x),
        lambda f, x: f(x, keepdims=True),
        lambda f, x: f(x, axis=0),
        lambda f, x: f(x, axis=(0, 1), ord=1, keepdims=True),
        lambda f, x: f(x[None], axis=(0, 2), ord=3),
        lambda f, x: f(x, axis=()),
        lambda f, x: f(x, ord=np.inf),
        lambda f, x: f(x, ord=-np.inf, axis=1),
        lambda f, x: f(x, axis=4),
    ],
    "linalg.matrix_norm": [
        lambda f, x: f(x),
        lambda f, x: f(x[None], keepdims=True),
        lambda f, x: f(x, ord=1),
        lambda f, x: f(x, ord=np.inf),
        lambda f, x: f(x[0]),
    ],
    "linalg.matrix_power": [
        lambda f, x: f(x @ x.T, 3),
        lambda f, x: f(x[:, :2], 2),
        lambda f, x: f(x[:, :2], 1),
        lambda f, x: f(x[:, :2], 7),
        lambda f, x: f(x[None, :, :2], 0),
        lambda f, x: f(x, 2),
        lambda f, x: f(x[0], 2),
        lambda f, x: f(x[:, :2], 1.5),
    ],
    "linalg.multi_dot": [
        lambda f, x: f([x, x.T]),
        lambda f, x: f([x, OTHER.T, x]),
        lambda f, x: f([x[:, 0], x, [1, 2, 3]]),
        lambda f, x: f([x[:, 0], x, x.T, x]),
        lambda f, x: f((x, x.T, x, [[1.0], [2], [3]])),
        lambda f, x: f([x]),
        lambda f, x: f([x, x, x]),
        lambda f, x: f([x, x[0], x]),
    ],
    "linalg.trace": [
        lambda f, x: f(x),
        lambda f, x: f(x[None], offset=1),
        lambda f, x: f(x, dtype="D"),
    ],
    "linalg.diagonal": [lambda f, x: f(x), lambda f, x: f(x[None], offset=-1)],
    "linalg.outer": [
        lambda f, x: f(x[0], x[1]),
        lambda f, x: f([1, 2], x[0]),
        lambda f, x: f(x, x),
    ],
    "linalg.cross": [
        lambda f, x: f(x, OTHER),
        lambda f, x: f(x.T, OTHER.T, axis=0),
        lambda f, x: f(x[:, :2], x),
    ],
    "linalg.matmul": [lambda f, x: f(x, OTHER.T), lambda f, x: f(x, x)],
    "linalg.tensordot": [
        lambda f, x: f(x, OTHER),
        lambda f, x: f(x, OTHER, axes=0),
        lambda f, x: f(x, OTHER, axes=((1,), (1,))),
    ],
    "linalg.vecdot": [
        lambda f, x: f(x, OTHER),
        lambda f, x: f(x, OTHER, axis=0),
        lambda f, x: f(x, x[0]),
    ],
    "linalg.matrix_transpose": [lambda f, x: f(x), lambda f, x: f(x[0])],
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    compare_calls(name, CALLS[name], [(2, 3)], DTYPES)
    compare_calls(name, CALLS[name], [(), (0,), (0, 3), (3,), (1, 1), (2, 1, 3)], ["d", "D"])


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(name: str) -> None:
    x = np.array([[0.5, 1.25, 3.0], [2.0, 0.875, 1.5]])
    numbers = {
        "linalg.norm": 12,
        "linalg.vector_norm": 8,
        "linalg.multi_dot": 5,
        "linalg.matrix_power": 5,
        "linalg.matrix_transpose": 1,
        "linalg.matmul": 1,
        "linalg.vecdot": 3,
    }
    calls = CALLS[name][: numbers.get(name, 2)]
    check_calls(name, calls, x, digits=1e-8)
    if name == "linalg.norm":
        check_calls(name, norms((2, 1, 3, 2.5, -2), axis=0), x, digits=1e-8)
        check_calls(name, norms(MATRIX_ORDERS[:6]), x, digits=1e-8)


def gradient(f: Any, x: Any) -> Any:
    leaf = array(x, grad=True)
    (found,) = vt.autograd.grad(f(leaf).sum(), leaf, materialize_grads=True)
    return found.tolist()


def test_gradients_at_zero_and_of_ties() -> None:
    zero = np.zeros((2, 2))
    for order in (None, 1, np.inf, -np.inf, "fro"):
        assert gradient(partial(linalg.norm, ord=order), zero) == zero.tolist()
    for order in (None, 1, 2, 3, np.inf, -np.inf, 0):
        assert gradient(partial(linalg.norm, ord=order, axis=0), zero) == zero.tolist()
    assert gradient(partial(linalg.norm, ord=np.inf), [2.0, -2.0, 1.0]) == [0.5, -0.5, 0]
    assert gradient(linalg.norm, [0.0, 3.0, -4.0]) == [0, 0.6, -0.8]
    assert gradient(lambda x: linalg.matrix_power(x, 0), SQUARE) == zero.tolist()


def test_infinities_and_nan() -> None:
    for row in ([np.inf, 1.0], [np.nan, 0.0], [-np.inf, np.inf]):
        for call in norms(VECTOR_ORDERS[:7], axis=0):
            compare_calls(
                "linalg.norm", [call], [(2,)], ["d"], numbers=lambda *_, row=row: np.array(row)
            )


@pytest.mark.parametrize("order", [2, -2, "nuc"])
def test_norms_by_singular_values(order: Any) -> None:
    assert_same(linalg.norm(array(SQUARE), order), np.linalg.norm(SQUARE, order))
    for x in (SQUARE, OTHER, np.stack([OTHER, OTHER * 2 + 1])):
        for keepdims in (False, True):
            call = partial(linalg.matrix_norm, ord=order, keepdims=keepdims)
            found, right = call(array(x, grad=True)), np.linalg.matrix_norm(x, ord=order)
            np.testing.assert_allclose(np.ravel(found.tolist()), np.ravel(right))
            assert found.ndim == (x.ndim if keepdims else x.ndim - 2)
            assert vt.autograd.gradcheck(call, (array(x, grad=True),))
    assert vt.autograd.gradcheck(
        lambda x: linalg.norm(x, order, axis=(0, 2)), (array(OTHER[:, None], grad=True),)
    )


def test_products_of_vectors_of_other_dtypes_are_numpys() -> None:
    a, b = np.array([1, 2, 3], np.uint16), np.array([4, 5, 6], np.uint16)
    assert vnp.linalg.outer(a, b).tolist() == np.linalg.outer(a, b).tolist()
    assert vnp.linalg.cross(a, b).tolist() == np.linalg.cross(a, b).tolist()
    assert vnp.linalg.cross(a, b).dtype == np.uint16
    with pytest.raises(ValueError, match="one-dimensional"):
        vnp.linalg.outer(np.ones((2, 2)), a)


def test_the_rank_has_no_derivative() -> None:
    assert linalg.matrix_rank(array(OTHER, grad=True)) == 2


def test_multi_dot_stores_in_out() -> None:
    for grad in (False, True):
        a, out = array(SQUARE, grad), array(np.zeros((2, 2)))
        assert linalg.multi_dot([a, a, a], out=out) is out
        np.testing.assert_allclose(out.tolist(), np.linalg.multi_dot([SQUARE] * 3))


def test_powers_are_not_views_but_of_one() -> None:
    for grad in (False, True):
        x = array(SQUARE, grad)
        assert linalg.matrix_power(x, 1) is x


def test_functions_that_have_numpys_arguments_are_found_by_name() -> None:
    for name in ("eig", "pinv", "cond", "matrix_rank"):
        found = getattr(linalg, name)
        assert repr(found) == f"<function vtgrad.numpy.linalg.{name}>"
        assert pickle.loads(pickle.dumps(found)) is found
        assert f"numpy.linalg.{name}" in found.__doc__


def test_what_is_singular() -> None:
    with pytest.raises(linalg.LinAlgError):
        linalg.inv(array(np.zeros((2, 2))))
    with pytest.raises(np.linalg.LinAlgError):
        linalg.matrix_power(array(OTHER, grad=True), 2)
    compare(
        lambda: linalg.matrix_power(array(SQUARE), -2),
        lambda: np.linalg.matrix_power(SQUARE, -2),
        "inverse",
    )


def test_every_name_of_numpy_is_there() -> None:
    assert set(linalg.__all__) == set(np.linalg.__all__)
    assert vnp.linalg is linalg


def test_second_operands() -> None:
    a = array(values("d", (3,)), grad=True)
    for f in (linalg.vecdot, linalg.matmul, linalg.outer):
        found = f([1.0, 2.0, 3.0], a)
        assert found.requires_grad
    assert linalg.solve(SQUARE, a[:2]).requires_grad


def test_complex_derivatives() -> None:
    z = array([[0.5 + 1j, 1.25], [2.0j, 0.875 - 1j]], grad=True)
    for call in (*norms((None, 2, 1, 3, np.inf, -np.inf, -1), axis=0), *norms((1, -1, "fro"))):
        assert vt.autograd.gradcheck(partial(call, linalg.norm), (z,))
        assert vt.autograd.gradgradcheck(partial(call, linalg.norm), (z,), fast_mode=True)
    assert vt.autograd.gradcheck(lambda z: linalg.matrix_power(z, 3), (z,))
    assert vt.autograd.gradcheck(lambda z: linalg.multi_dot([z[0], z, z, SQUARE]), (z,))
    assert vt.autograd.gradcheck(lambda z: linalg.vecdot(z, SQUARE, axis=0), (z,))
