"""Products of vectors and tensors, and sums over named axes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_in_layouts import Call, check_calls, compare_calls
from tests.numpy.support import DTYPES, array, compare, values

OTHER = np.array([[1.5, 2.0, -1.0], [0.5, 3.0, 2.5]])

CALLS: dict[str, list[Call]] = {
    "inner": [
        lambda f, x: f(x, x),
        lambda f, x: f(x, OTHER),
        lambda f, x: f([1, 2, 3], x),
        lambda f, x: f(x[0], x[1]),
        lambda f, x: f(x, 2),
        lambda f, x: f(x, x[None]),
        lambda f, x: f(x, x.T),
    ],
    "outer": [
        lambda f, x: f(x, x),
        lambda f, x: f(x, [1.0, 2]),
        lambda f, x: f(3, x),
        lambda f, x: f(OTHER, x),
    ],
    "tensordot": [
        lambda f, x: f(x, x),
        lambda f, x: f(x, OTHER.T, 1),
        lambda f, x: f(x, x, axes=0),
        lambda f, x: f(x, OTHER, ([0, 1], [0, 1])),
        lambda f, x: f(x, x, (1, 1)),
        lambda f, x: f(x, x, [[-1], [-1]]),
        lambda f, x: f(OTHER, x, ((0,), (0,))),
        lambda f, x: f(x, x, 1),
        lambda f, x: f(x, x, 3),
        lambda f, x: f(x, x, ([0], [0, 1])),
        lambda f, x: f(x, x, (5, 5)),
    ],
    "kron": [
        lambda f, x: f(x, x),
        lambda f, x: f(x, [1.0, 2]),
        lambda f, x: f(OTHER[0], x),
        lambda f, x: f(x, 2),
        lambda f, x: f(x[0], x[None]),
    ],
    "vdot": [
        lambda f, x: f(x, x),
        lambda f, x: f(OTHER, x),
        lambda f, x: f(x, OTHER + 1j * OTHER),
        lambda f, x: f(x, [1, 2, 3, 4, 5, 6]),
        lambda f, x: f(x, [1, 2]),
    ],
    "cross": [
        lambda f, x: f(x, OTHER),
        lambda f, x: f([1, 2, 3], x),
        lambda f, x: f(x[:, None], OTHER[None], axisc=0),
        lambda f, x: f(x.T, OTHER, axisa=0),
        lambda f, x: f(x.T, OTHER.T, axis=0),
        lambda f, x: f(x[:, :2], OTHER),
        lambda f, x: f(OTHER, x[:, :2]),
        lambda f, x: f(x[:, :2], x[:, 1:]),
        lambda f, x: f(x[0, :2], x[0, 1:]),
        lambda f, x: f(x[:, :1], OTHER),
        lambda f, x: f(x, OTHER, axisc=3),
        lambda f, x: f(x, np.ones((3, 3))),
    ],
    "einsum": [
        lambda f, x: f("ij,kj->ik", x, OTHER),
        lambda f, x: f("ij,ij", x, x),
        lambda f, x: f("ij,kj,k", x, OTHER, [1, 2], optimize=True),
        lambda f, x: f("ij->ji", x),
        lambda f, x: f("ij->", x),
        lambda f, x: f("ji", x),
        lambda f, x: f("i...->...", x),
        lambda f, x: f("...j,...j->...", x, OTHER, optimize="greedy"),
        lambda f, x: f("iij->ij", x[:, None] + x[None]),
        lambda f, x: f(x, [0, 1], OTHER, [2, 1], [2, 0]),
        lambda f, x: f(x, [0, 1]),
        lambda f, x: f(x, [Ellipsis, 1], OTHER, [Ellipsis, 1], [Ellipsis]),
        lambda f, x: f(x, [51, 1], OTHER, [2, 1], [51, 2]),
        lambda f, x: f(x, [52, 1], OTHER, [2, 1]),
        lambda f, x: f(x, [-1, 1], OTHER, [2, 1]),
        lambda f, x: f(x, [0.5, 1], OTHER, [2, 1]),
        lambda f, x: f(" i j , j -> i ", x, [1.0, 2, 3]),
        lambda f, x: f("ij,->ij", x, 2.5),
        lambda f, x: f("ij,kj->ik", x, x[:, :1]),
        lambda f, x: f("ij,jk", x, x.T, dtype="D"),
        lambda f, x: f("ij,jk", x, x.T, dtype="i"),
        lambda f, x: f("ij,jk", x, x.T, dtype="f", casting="unsafe"),
        lambda f, x: f("ij,jk", x, x),
        lambda f, x: f("ij", x, x),
        lambda f, x: f("ij->k", x),
        lambda f, x: f("ij->ii", x),
        lambda f, x: f("ijk", x),
        lambda f, x: f("i...->i", x),
        lambda f, x: f("ij>j", x),
        lambda f, x: f(),
        lambda f, x: f("ij"),
    ],
    "einsum_path": [
        lambda f, x: f("ij,kj,k->i", x, OTHER, [1, 2]),
        lambda f, x: f("ij,jk", x, x.T, optimize="optimal"),
        lambda f, x: f("ij,jk", x, x),
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    compare_calls(name, CALLS[name], [(2, 3)], DTYPES)
    compare_calls(name, CALLS[name], [(), (0,), (0, 3), (3,), (1, 1), (2, 1, 3)], ["d", "D"])


@pytest.mark.parametrize("name", [name for name in CALLS if name != "einsum_path"])
def test_derivatives(name: str) -> None:
    x = np.array([[0.5, 1.25, 3.0], [2.0, 0.875, 1.5]])
    number = {"tensordot": 7, "einsum": 12, "cross": 5}.get(name, 4)
    check_calls(name, CALLS[name][:number], x)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional")
def test_cross_of_two_components() -> None:
    x = np.array([[0.5, 1.25, 3.0], [2.0, 0.875, 1.5]])
    check_calls("cross", CALLS["cross"][5:8], x)


@pytest.mark.parametrize("name", ["outer", "einsum"])
@pytest.mark.parametrize("kind", ["d", "f", "D", "l"])
def test_out(name: str, kind: str) -> None:
    x = values("d", (2,))

    def call(f: Any, given: Any, out: Any) -> Any:
        found = f(given, given, out=out) if name == "outer" else f("i,j", given, given, out=out)
        assert found is out
        return out

    mine, theirs = getattr(vnp, name), getattr(np, name)
    for grad in (False, True):
        out = np.zeros((2, 2), kind)
        compare(
            partial(call, mine, array(x, grad), array(out)),
            partial(call, theirs, x, out),
            f"{name} {kind} {grad}",
        )


def test_einsum_of_one_array_is_a_view() -> None:
    for grad in (False, True):
        x = array(np.arange(4.0).reshape(2, 2), grad) * 1
        vnp.einsum("ij->ji", x)[0, 1] = 7
        vnp.einsum("ii->i", x)[...] = 5
        assert x.tolist() == [[5, 1], [7, 5]]


def test_second_factors_are_differentiated() -> None:
    a, b = array([1.0, 2.0]), array([3.0, 5.0], grad=True)
    for f in (
        lambda: vnp.einsum("i,i", a, b),
        lambda: vnp.inner(a, b),
        lambda: vnp.vdot(a, b),
        lambda: vnp.tensordot([1, 2], b, 1),
        lambda: np.tensordot(np.array([1, 2]), b, 1),
    ):
        (grad,) = vt.autograd.grad(f().sum(), b)
        assert grad.tolist() == [1, 2]


@pytest.mark.parametrize("name", ["inner", "outer", "tensordot", "kron", "vdot"])
def test_special_values(name: str) -> None:
    special = np.array([[np.nan, 0.0, 1.0], [np.inf, -np.inf, -0.0]])
    compare_calls(name, CALLS[name][:1], [(2, 3)], ["d", "f"], numbers=lambda *_: special)


@pytest.mark.parametrize("name", ["inner", "outer", "tensordot", "kron", "vdot", "cross", "einsum"])
def test_complex_derivatives(name: str) -> None:
    z = array([[0.5 + 1j, 1.25, 3.0 - 2j], [2.0j, 0.875, 1.5 - 1j]], grad=True)
    x = array(OTHER, grad=True)
    f: Any = getattr(vnp, name)
    assert vt.autograd.gradcheck(partial(CALLS[name][0], f), (z,))
    assert vt.autograd.gradgradcheck(partial(CALLS[name][0], f), (z,), fast_mode=True)
    options = {"axes": ((0, 1), (0, 1))} if name == "tensordot" else {}

    def mixed(x: Any, z: Any) -> Any:
        return f("ij,kj->ik", x, z) if name == "einsum" else f(x, z, **options)

    # The gradient of a real factor is real.
    assert vt.autograd.gradcheck(mixed, (x, z))
    assert vt.autograd.gradcheck(mixed, (z, x))
