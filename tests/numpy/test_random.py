"""Random arrays: NumPy's numbers, and derivatives by location and scale."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array, assert_same
from vtgrad.numpy import ndarray, scalar

# The arguments of methods that both generators have.
DRAWN: dict[str, list[tuple[Any, ...]]] = {
    "normal": [(), (1.0, 2.0), (0, 1, 3), (0, 1, (2, 2)), ([1.0, 2.0],)],
    "uniform": [(), (1, 2, 3)],
    "exponential": [(), (2.0, 3)],
    "laplace": [(1, 2, 3)],
    "logistic": [(1, 2, 3)],
    "gumbel": [(1, 2, 3)],
    "lognormal": [(1, 0.5, 3)],
    "rayleigh": [(2.0, 3)],
    "binomial": [(5, 0.5, 3)],
    "poisson": [(2.0, 3), ()],
    "gamma": [(2.0, 1.0, 3)],
    "beta": [(1, 2, 3)],
    "random": [(), (3,)],
    "standard_normal": [(), ((2, 2),)],
    "standard_t": [(3, 2)],
    "multinomial": [(5, [0.2, 0.8]), (5, [0.2, 0.8], 2)],
    "dirichlet": [([1.0, 2.0],)],
    "permutation": [(5,), ([1, 2, 3],)],
    "choice": [(5,), (5, 3), ([1.0, 2.0], 3), ([1, 2, 3], 2, False), (3, 2, True, [0.2, 0.8, 0])],
    "multivariate_normal": [([0, 0], [[1, 0.5], [0.5, 1]], 2)],
    "triangular": [(0, 1, 2, 3)],
}
LEGACY: dict[str, list[tuple[Any, ...]]] = {
    "rand": [(), (2, 3)],
    "randn": [(), (3,)],
    "randint": [(5,), (1, 5, 3)],
    "random_sample": [(3,)],
}


def generators(kind: str) -> tuple[Any, Any]:
    if kind == "new":
        return vnp.random.default_rng(3), np.random.default_rng(3)
    if kind == "old":
        return vnp.random.RandomState(3), np.random.RandomState(3)
    return vnp.random, np.random


@pytest.mark.parametrize("kind", ["new", "old", "functions"])
@pytest.mark.parametrize("name", [*DRAWN, *LEGACY])
def test_drawn(name: str, kind: str) -> None:
    if name in LEGACY and kind == "new":
        return
    mine, theirs = generators(kind)
    for args in (DRAWN | LEGACY)[name]:
        if kind == "functions":
            vnp.random.seed(5)
        found = getattr(mine, name)(*args)
        if kind == "functions":
            np.random.seed(5)
        assert_same(found, getattr(theirs, name)(*args), what=f"{name}{args}")


def test_integers_and_out() -> None:
    mine, theirs = generators("new")
    for options in ({}, {"size": 3}, {"size": 3, "dtype": np.uint8}, {"dtype": "i4", "size": 2}):
        assert_same(mine.integers(2, 9, **options), theirs.integers(2, 9, **options))
    out, other = array(np.zeros(3)), np.zeros(3)
    assert mine.random(out=out) is out
    theirs.random(out=other)
    assert_same(out, other)
    assert mine.standard_normal(out=other) is other
    assert mine.random(3, dtype="f").dtype == np.float32
    assert type(mine.spawn(2)[1].normal(size=2)) is ndarray
    assert mine.bytes(3) is not None
    assert vnp.random.default_rng(mine) is mine
    assert isinstance(mine, np.random.Generator)


@pytest.mark.parametrize("kind", ["new", "old"])
def test_orders(kind: str) -> None:
    for x in (np.arange(5.0), np.arange(12.0).reshape(4, 3), np.zeros((0, 2))):
        for grad in (False, True):
            mine, theirs = generators(kind)
            given = array(x, grad) * 1
            assert_same(mine.permutation(given), theirs.permutation(x))
            written = x.copy()
            mine.shuffle(given)
            theirs.shuffle(written)
            assert_same(given, written)
            if len(x):
                assert_same(mine.choice(given[:, None].ravel()), theirs.choice(written.ravel()))
                found = mine.choice(given.T.ravel(), 3, False)
                assert_same(found, theirs.choice(written.T.ravel(), 3, False))
                assert found.requires_grad == grad
            if kind == "new" and x.ndim > 1:
                assert_same(mine.permutation(given, axis=1), theirs.permutation(written, axis=1))
                assert_same(mine.permuted(given, axis=0), theirs.permuted(written, axis=0))
                assert_same(mine.permuted(given), theirs.permuted(written))
                mine.shuffle(given, axis=1)
                theirs.shuffle(written, axis=1)
                assert_same(given, written)
                if len(x):
                    assert_same(
                        mine.choice(given, 2, axis=1, shuffle=False),
                        theirs.choice(written, 2, axis=1, shuffle=False),
                    )
    items = [1, 2, 3]
    vnp.random.default_rng(0).shuffle(items)
    wanted = [1, 2, 3]
    np.random.default_rng(0).shuffle(wanted)
    assert items == wanted


WITH_DERIVATIVES = "normal laplace logistic gumbel lognormal uniform exponential rayleigh".split()


@pytest.mark.parametrize("kind", ["new", "old"])
@pytest.mark.parametrize("name", WITH_DERIVATIVES)
def test_derivatives(name: str, kind: str) -> None:
    parameters = [0.5, 2.0] if name not in ("exponential", "rayleigh") else [2.0]
    for size in (None, 3, (2, 2)):
        mine, theirs = generators(kind)
        for shape in ((), (1,)):
            found = getattr(mine, name)(*[array(np.full(shape, p), True) for p in parameters], size)
            right = getattr(theirs, name)(*[np.full(shape, p) for p in parameters], size)
            assert found.requires_grad
            # A single number of NumPy's generators is one of Python's.
            assert_same(found, np.float64(right) if isinstance(right, float) else right)

    def drawn(*parameters: Any) -> Any:
        return getattr(generators(kind)[0], name)(*parameters, size=3)

    leaves = tuple([array(p, True) for p in parameters])
    assert vt.autograd.gradcheck(drawn, leaves)
    assert vt.autograd.gradgradcheck(drawn, leaves)


def test_forward_mode_and_samples() -> None:
    def drawn(scale: Any) -> Any:
        rng = vnp.random.default_rng(0)
        return rng.normal(scale * scale, scale, 3) + rng.permutation(scale * array([1.0, 2.0, 3.0]))

    value, tangent = vt.func.jvp(drawn, (array(2.0),), (array(1.0),))
    steps = drawn(array(2.0 + 1e-6)) - value
    np.testing.assert_allclose(tangent.tolist(), (steps * 1e6).tolist(), rtol=1e-4)
    found = vt.vmap(drawn)(array([1.0, 2.0]))
    np.testing.assert_allclose(found.tolist(), [drawn(array(s)).tolist() for s in (1.0, 2.0)])


def test_what_has_no_derivative_is_refused() -> None:
    x = array(0.5, grad=True)
    rng = vnp.random.default_rng(0)
    refused: list[Callable[[], object]] = [
        lambda: rng.binomial(3, x),
        lambda: rng.gamma(x),
        lambda: vnp.random.poisson(x),
        lambda: rng.choice(2, p=vnp.array([x, 1 - x])),
    ]
    for call in refused:
        with pytest.raises(NotImplementedError, match="derivative"):
            call()
    with pytest.raises(ValueError, match="shape"):
        rng.normal(vnp.array([x, x]), size=3)
    for generator in (rng, vnp.random):
        with pytest.raises(ValueError, match="scale < 0"):
            generator.normal(0, -x, 3)
    with pytest.raises(ValueError, match="low"):
        rng.uniform(x, 0)
    assert type(rng.normal(x)) is scalar
    assert rng.normal(scale=x, size=2, loc=1).requires_grad
    assert rng.binomial(3, x.detach()) <= 3


@pytest.mark.parametrize("kind", ["new", "old"])
def test_copies_go_on_from_where_they_are(kind: str) -> None:
    mine, _ = generators(kind)
    mine.standard_normal(3)
    copies = [copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))]
    wanted = mine.standard_normal(3).tolist()
    for found in copies:
        assert type(found) is type(mine)
        assert found.standard_normal(3).tolist() == wanted


def test_states() -> None:
    mine, theirs = generators("old")
    state = mine.get_state()
    first = mine.rand(2).tolist()
    mine.set_state(state)
    assert mine.rand(2).tolist() == first == theirs.rand(2).tolist()
    mine.seed(7)
    theirs.seed(7)
    assert_same(mine.tomaxint(2), theirs.tomaxint(2))
    vnp.random.seed(1)
    saved = vnp.random.get_state()
    value = vnp.random.random()
    vnp.random.set_state(saved)
    assert np.random.random() == value
