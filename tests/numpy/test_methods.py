"""The methods of arrays, with NumPy's arguments."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.numpy.support import DTYPES, array, compare, values

# By name, the arguments of calls.
METHODS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "sum": [
        ((), {}),
        ((0,), {}),
        (((0, 1),), {}),
        (((),), {}),
        ((-1,), {"keepdims": True}),
        ((), {"dtype": "f"}),
        ((0,), {"initial": 3}),
        ((1,), {"where": np.array([True, False, True])}),
        ((5,), {}),
    ],
    "prod": [((), {}), ((0,), {}), (((0, 1),), {"keepdims": True}), ((1,), {"initial": 2})],
    "mean": [((), {}), ((0,), {}), ((1,), {"keepdims": True}), ((), {"dtype": "f"})],
    "std": [((), {}), ((0,), {}), ((1,), {"ddof": 1}), ((None,), {"keepdims": True})],
    "var": [((), {}), ((0,), {"ddof": 1}), ((1,), {"keepdims": True}), (((0, 1),), {})],
    "max": [((), {}), ((0,), {}), ((1,), {"keepdims": True}), ((0,), {"initial": 2})],
    "min": [((), {}), ((0,), {}), (((0, 1),), {}), ((7,), {})],
    "all": [((), {}), ((0,), {}), ((1,), {"keepdims": True})],
    "any": [((), {}), ((0,), {}), ((1,), {"keepdims": True})],
    "argmax": [((), {}), ((0,), {}), ((1,), {"keepdims": True})],
    "argmin": [((), {}), ((0,), {}), ((1,), {"keepdims": True})],
    "cumsum": [((), {}), ((0,), {}), ((1,), {"dtype": "d"})],
    "cumprod": [((), {}), ((0,), {}), ((1,), {"dtype": "d"})],
    "reshape": [
        ((6,), {}),
        ((3, 2), {}),
        (((3, -1),), {}),
        ((3, 2), {"order": "F"}),
        ((-1,), {"order": "A"}),
        ((4,), {}),
        ((6,), {"order": "K"}),
    ],
    "ravel": [((), {}), (("F",), {}), (("K",), {}), (("A",), {})],
    "flatten": [((), {}), (("F",), {}), (("K",), {})],
    "transpose": [((), {}), ((1, 0), {}), (((1, 0),), {}), ((None,), {}), ((0,), {})],
    "swapaxes": [((0, 1), {}), ((0, -1), {}), ((0, 2), {})],
    "squeeze": [((), {}), ((0,), {})],
    "repeat": [((2,), {}), ((2, 0), {}), (([1, 0, 2], 1), {}), (([1, 2], 1), {})],
    "diagonal": [((), {}), ((1,), {}), ((-1, 1, 0), {})],
    "trace": [((), {}), ((1,), {}), ((), {"dtype": "d"})],
    "argsort": [((), {}), ((0,), {"kind": "stable"}), ((None,), {"kind": "stable"})],
    "argpartition": [((1,), {}), ((0, 0), {})],
    "take": [(([0, 5, -1],), {}), (([[0], [1]], 1), {}), ((1, 0), {}), (([9],), {"mode": "wrap"})],
    "compress": [(([True, False], 0), {}), (([False, True, True],), {})],
    "nonzero": [((), {})],
    "clip": [((1, 2), {}), ((None, 1.5), {}), ((np.array([0.5, 1, 2]), 3), {}), ((), {"max": 2})],
    "round": [((), {}), ((1,), {}), ((-1,), {})],
    "conj": [((), {})],
    "conjugate": [((), {})],
    "dot": [
        ((np.array([1.0, 2, 3]),), {}),
        ((2,), {}),
        ((np.ones((3, 2)),), {}),
        ((np.ones(2),), {}),
    ],
    "copy": [((), {}), (("F",), {})],
    "astype": [
        (("f",), {}),
        ((int,), {}),
        (("D",), {}),
        ((bool,), {}),
        (("i",), {"casting": "safe"}),
    ],
    "tolist": [((), {})],
    "tobytes": [((), {}), (("F",), {})],
    "item": [((0,), {}), ((1, 2), {}), (((1, 2),), {}), ((), {}), ((9,), {})],
}
# What gives places in an order that is not stated for equal elements.
DISTINCT = {"argsort", "argpartition", "argmax", "argmin"}


def table(dtype: str, name: str) -> np.ndarray[Any, Any]:
    if name in DISTINCT and dtype != "?":
        return np.array([[3, 1, 2], [6, 5, 4]], dtype)
    return values(dtype, (2, 3))


@pytest.mark.parametrize("grad", [False, True], ids=["constant", "recorded"])
@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str, grad: bool) -> None:
    for dtype in DTYPES:
        if name in DISTINCT and dtype == "?":
            continue
        if grad and dtype in "FD" and name in ("max", "min", "clip"):
            continue  # refused: the order of complex numbers is no function with a derivative
        plain = table(dtype, name)
        for args, options in METHODS[name]:
            what = f"{dtype}.{name}{args}{options}"
            for x in (plain, np.asfortranarray(plain)):
                mine, theirs = getattr(array(x, grad), name), getattr(x, name)
                compare(partial(mine, *args, **options), partial(theirs, *args, **options), what)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1, 3)])
@pytest.mark.parametrize("name", METHODS)
def test_methods_of_numbers_and_of_nothing(name: str, shape: tuple[int, ...]) -> None:
    x = values("d", shape)
    for args, options in METHODS[name]:
        for grad in (False, True):
            mine, theirs = getattr(array(x, grad), name), getattr(x, name)
            what = f"{shape}.{name}{args}{options}"
            compare(partial(mine, *args, **options), partial(theirs, *args, **options), what)


REDUCTIONS = "sum prod mean std var max min all any argmax argmin cumsum cumprod trace".split()


@pytest.mark.parametrize("name", REDUCTIONS)
def test_out(name: str) -> None:
    x = values("d", (2, 3))
    shape = np.shape(getattr(x, name)(axis=0)) if name != "trace" else ()
    for kind in ("d", "f", "l", "?"):
        # What would lose the derivative is refused.
        for grad in (False, True) if kind in "df" else (False,):

            def call(given: Any, target: Any) -> Any:
                options = {} if name == "trace" else {"axis": 0}
                assert getattr(given, name)(**options, out=target) is target
                return target

            out = np.zeros(shape, kind)
            compare(
                partial(call, array(x, grad), array(out)), partial(call, x, out), f"{name} {kind}"
            )


def test_methods_that_write() -> None:
    for make in (array, np.array):
        x: Any = make([3.0, 1.0, 2.0])
        assert x.sort() is None
        assert x.tolist() == [1, 2, 3]
        x.put([0, -1], [7, 8])
        assert x.tolist() == [7, 2, 8]
        x.fill(4)
        assert x.tolist() == [4, 4, 4]
        y: Any = make([[3, 1, 2], [6, 5, 4]])
        y.sort(0)
        y.partition(1)
        assert y[:, 1].tolist() == [2, 5]
        y.resize((3, 2))
        assert y.shape == (3, 2)


def test_whole_numbers() -> None:
    for grad in (False, True):
        for dtype in ("d", "f", "e"):
            x = array(np.array([1.5, 2.0, -3.0, np.inf, np.nan], dtype), grad=grad)
            assert [s.is_integer() for s in x] == [False, True, True, False, False]
    with pytest.raises(AttributeError):
        array([1j], grad=True)[0].is_integer()


def test_views() -> None:
    x = array([1.0, 2.0], grad=True) * 1
    for view in (x.view(), x.ravel(), x.reshape(2, 1), x[None], x.T, x.squeeze()):
        view[...] = view * 2
    assert x.tolist() == [64, 128]
    assert array(np.zeros(2)).view("l").tolist() == [0, 0]
    with pytest.raises(TypeError, match="detach"):
        array([1.0], grad=True).view("l")


def test_complex_parts() -> None:
    for make in (array, np.array):
        z: Any = make([1 + 2j, 3 - 1j])
        z.real = [5, 6]
        z.imag[0] = 7
        assert z.tolist() == [5 + 7j, 6 - 1j]
        r: Any = make([1.0, 2.0])
        assert r.imag.tolist() == [0, 0]
        r.real = 3
        assert r.tolist() == [3, 3]
        with pytest.raises(TypeError):
            r.imag = 1


FUNCTIONS: dict[str, Any] = {
    "sum": lambda x: x.sum(1) * x.sum((0, 1)),
    "prod": lambda x: x.prod(0) + x.prod(),
    "mean": lambda x: x.mean(0) * x.mean(where=[True, False, True]),
    "std": lambda x: x.std(0) + x.std(ddof=1),
    "var": lambda x: x.var(1, ddof=1) * x.var(where=[True, True, False]),
    "max": lambda x: x.max(0) * x.min(1).sum() + x.max(initial=2.2),
    "cumsum": lambda x: x.cumsum() * x.cumsum(1).ravel(),
    "cumprod": lambda x: x.cumprod(0),
    "shape": lambda x: x.reshape(3, 2, order="F") @ x.T.ravel("K").reshape(2, 3),
    "repeat": lambda x: x.repeat([1, 0, 2], 1) * x.repeat(2)[:6].reshape(2, 3),
    "trace": lambda x: x.trace() * x.diagonal(1),
    "take": lambda x: x.take([0, 0, 4]) * x.take(1, 0),
    "clip": lambda x: x.clip(0.7, 2.1) * x.clip(x.min(), None),
    "dot": lambda x: x.dot(x.T) + x[0].dot(x[1]),
    "astype": lambda x: x.astype("D") * x.astype("d", order="F"),
    "choose": lambda x: array([[0, 1, 0], [1, 1, 0]]).choose([x, x * x]),
    "std of complex": lambda x: (x + 1j * x * x).std(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    x = array([[0.5, 1.25, 3.0], [2.0, 0.875, 1.5]], grad=True)
    assert vt.autograd.gradcheck(FUNCTIONS[name], (x,))
    assert vt.autograd.gradgradcheck(FUNCTIONS[name], (x,), fast_mode=True)
    found = vt.func.jacfwd(FUNCTIONS[name])(x.detach()) if name[:6] != "astype" else None
    if found is not None and found.dtype.kind == "f":
        wanted = vt.func.jacrev(FUNCTIONS[name])(x.detach())
        np.testing.assert_allclose(found.tolist(), wanted.tolist(), rtol=1e-12, atol=1e-12)


def test_sorting_is_differentiated() -> None:
    x = array([3.0, 1.0, 2.0], grad=True)
    y = x * 1
    y.sort()
    (y * [1.0, 10.0, 100.0]).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [100, 1, 10]


def test_reductions_of_samples() -> None:
    rows = array([[0.5, 1.25, 3.0], [2.0, 0.875, 1.5]])
    for f in FUNCTIONS.values():

        def one(row: Any, f: Any = f) -> Any:
            return f(row.reshape(1, 3) * [[1.0], [2.0]]).sum()

        try:
            wanted = [one(row) for row in rows]
        except ValueError:
            continue
        found = vt.vmap(one)(rows)
        np.testing.assert_allclose(found.tolist(), np.asarray(wanted).tolist(), rtol=1e-12)
