"""Reductions of the elements that are not NaN."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_with_options import call, check
from tests.numpy.derivatives import check_derivatives, check_samples
from tests.numpy.support import DTYPES, array, values

NAN, INF = np.nan, np.inf
REDUCTIONS = "nansum nanprod nanmean nanvar nanstd nanmax nanmin".split()
RUNNING = ["nancumsum", "nancumprod"]
PLACES = ["nanargmax", "nanargmin"]
ARRAYS = [
    np.array([[3.0, NAN, 2.0, 5.5], [0.25, -1.0, NAN, 4.0], [1.0, 1.0, 0.0, 0.5]]),
    np.array([[3.0, NAN, 2.0], [NAN, NAN, NAN], [4.0, INF, -INF]]),
    np.arange(24.0).reshape(4, 6)[:, ::2].T,
    np.array([1.0, NAN]),
    np.array([NAN]),
    np.array(NAN),
    np.array(2.5),
    np.zeros((0,)),
    np.zeros((2, 0)),
]
MASK = np.array([[True], [False], [True]])


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str) -> None:
    tables = [call(), call(0), call(-1), call((0, 1)), call(1, keepdims=True), call(4)]
    tables += [call(keepdims=True), call(axis=0, where=MASK)]
    if name in ("nanvar", "nanstd"):
        tables += [call(ddof=1), call(0, ddof=2), call(0, correction=1), call(ddof=1, correction=1)]
        tables += [call(0, mean=np.array(1.5), keepdims=True)]
    if name in ("nansum", "nanprod", "nanmax", "nanmin"):
        tables += [call(initial=2.0), call(axis=0, initial=0.5, where=MASK)]
    if name not in ("nanmax", "nanmin"):
        tables += [call(0, dtype="f"), call(dtype=int)]
    for x in ARRAYS:
        for args, options in tables:
            if options.get("dtype") is int and name in ("nansum", "nanprod"):
                continue
            if "where" in options and x.shape[:1] != (3,):
                continue
            check(name, (x, *args), options)
    for dtype in DTYPES:
        grad = dtype not in "FD" or name not in ("nanmax", "nanmin")
        for options in ({}, {"axis": 0}):
            check(name, (values(dtype, (3, 2)),), options, grad=grad)
    check(name, ([np.array([1.0, NAN]), np.array([3.0, 0.5])],), {"axis": 1})
    check(name, ([[1.0, 2.0], [NAN, 3]],), {"axis": 1})
    if name not in ("nanmax", "nanmin"):
        check(name, (np.array([1 + 1j, NAN, complex(0, NAN), 2]),), {})


@pytest.mark.parametrize("name", RUNNING + PLACES)
def test_running_and_places(name: str) -> None:
    for x in ARRAYS:
        for args, options in (call(), call(0), call(-1), call(axis=3)):
            check(name, (x, *args), options)
        if name in RUNNING:
            check(name, (x,), {"dtype": "f"})
        else:
            check(name, (x, 0), {"keepdims": True})
    for dtype in DTYPES:
        check(name, (values(dtype, (3,)),), {})


def test_out() -> None:
    for name in (*REDUCTIONS, *RUNNING):
        for grad in (False, True):
            x = array([[3.0, NAN], [2.0, 4.0]], grad)
            shape = (2,) if name in REDUCTIONS else (2, 2)
            out = vnp.zeros(shape)
            assert getattr(vnp, name)(x, axis=0, out=out) is out
            wanted = getattr(np, name)(np.array([[3.0, NAN], [2.0, 4.0]]), axis=0)
            np.testing.assert_allclose(out.tolist(), wanted)
            assert out.requires_grad == grad


@pytest.mark.parametrize("name", REDUCTIONS + RUNNING)
def test_derivatives(name: str) -> None:
    function: Any = getattr(vnp, name)
    x = np.array([[3.0, 1.0, 2.0, 5.5], [0.25, -1.0, 2.125, 4.0], [1.5, 1.25, 0.75, 0.5]])
    holes = np.isnan(np.array([[1, 1, NAN, 1], [NAN, NAN, 1, 1], [1, 1, 1, 1]]))

    def with_holes(x: Any) -> Any:
        found = x * 1.0
        found[holes] = NAN
        return found

    for axis in (0, 1, None):
        check_derivatives(lambda x, axis=axis: function(with_holes(x), axis=axis), x)
    if name in REDUCTIONS:
        options: dict[str, Any] = {"where": [[True], [True], [False]], "axis": 0}
        options |= {"initial": 0.0} if name in ("nanmax", "nanmin") else {}
        check_derivatives(lambda x: function(with_holes(x), **options), x)


@pytest.mark.parametrize("name", REDUCTIONS + RUNNING)
def test_gradients_are_no_nan(name: str) -> None:
    rows = np.array([[3.0, NAN, 2.0], [NAN, NAN, NAN], [4.0, 4.0, 4.0], [1.0, NAN, NAN]])
    function: Any = getattr(vnp, name)
    x = array(rows, grad=True)
    options = {"ddof": 1} if name in ("nanvar", "nanstd") else {}
    vnp.nansum(function(x, axis=1, **options)).backward()
    assert x.grad is not None
    gradient = np.array(x.grad.tolist())
    assert np.isfinite(gradient).all()
    assert not gradient[np.isnan(rows)].any()


def test_samples() -> None:
    rows = np.array([[[3.0, 1.0, 2.0], [2.0, NAN, 0.5]], [[NAN, 4.0, 1.0], [1.0, 1.0, 5.0]]])
    for name in REDUCTIONS + RUNNING + PLACES:
        check_samples(getattr(vnp, name), rows, axis=1)


@pytest.mark.parametrize("name", ["std", "nanstd"])
def test_the_deviation_of_what_does_not_vary_has_no_derivative(name: str) -> None:
    std: Callable[..., Any] = getattr(vnp, name)
    for shape, axis in (((), None), ((3,), None), ((2, 3), 1), ((2, 3), (0, 1))):
        x = array(np.full(shape, 2.0), grad=True)
        found = std(x, axis=axis)
        assert not found.any()
        gradient = vt.autograd.grad(found.sum(), x, create_graph=True)[0]
        assert gradient.tolist() == np.zeros(shape).tolist()
        tangent = vt.func.jvp(partial(std, axis=axis), (x,), (array(np.ones(shape)),))[1]
        assert not tangent.any()
    # One row varies, the other does not.
    x = array([[1.0, 3.0], [2.0, 2.0]], grad=True)
    std(x, axis=1).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[-0.5, 0.5], [0, 0]]
