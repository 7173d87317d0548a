"""Medians, percentiles and quantiles."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_with_options import Call, call, check
from tests.numpy.derivatives import check_derivatives, check_samples
from tests.numpy.support import DTYPES, array, compare, values

NAN, INF = np.nan, np.inf
METHODS: list[Any] = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen "
    "weibull linear median_unbiased normal_unbiased lower higher midpoint nearest"
).split()
ARRAYS = [
    np.array([3.0, 1.0, 2.0, 2.0, 7.5]),
    np.array([[3.0, 1.0, 2.0, 5.5], [0.0, -1.0, 2.0, 2.0], [4.0, 4.0, 4.0, 4.0]]),
    np.array([[3.0, NAN, 2.0, 5.5], [NAN, NAN, NAN, NAN], [4.0, INF, 1.0, -INF]]),
    np.array([1.0, INF, INF]),
    np.arange(24.0).reshape(2, 3, 4)[:, ::2, ::-1].T,
    np.array(2.5),
    np.zeros((0,)),
    np.zeros((0, 2)),
]
MEDIANS: list[Call] = [
    call(),
    call(axis=0),
    call(axis=-1, keepdims=True),
    call(axis=(0, 1)),
    call(axis=()),
    call(keepdims=True),
    call(axis=5),
]


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_medians(name: str) -> None:
    for x in ARRAYS:
        for args, options in MEDIANS:
            if name == "nanmedian" and options.get("axis") == ():
                continue
            check(name, (x, *args), options)
    for dtype in DTYPES:
        for shape in ((4,), (3, 3)):
            check(name, (values(dtype, shape),), {"axis": 0}, grad=dtype not in "FD")
    check(name, ([np.array([1.0, 2.0]), np.array([3.0, 0.5])],), {"axis": 1})
    check(name, ([[1.0, 2.0], [NAN, 3]],), {"axis": 1})


QUANTILES: list[Call] = [
    call(0.3),
    call(0.5, axis=0),
    call([0.0, 0.25, 0.5, 1.0], axis=-1),
    call(np.array([[0.1], [0.9]]), axis=-1, keepdims=True),
    call(0.75, axis=(0, 1)),
    call(1),
    call([0, 1], axis=0),
    call(1.5),
    call(0.5, axis=7),
    call([]),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles(name: str, method: Any) -> None:
    for x in ARRAYS:
        for (q, *args), options in QUANTILES:
            for grad in (False, True):
                # NumPy's own name is checked once, where the part is no array.
                mine = array(x, grad)

                compare(
                    partial(getattr(vnp, name), mine, q, *args, method=method, **options),
                    partial(getattr(np, name), x, q, *args, method=method, **options),
                    f"{name} {method} {x} {q} {options} {grad}",
                )


@pytest.mark.parametrize("name", ["percentile", "nanpercentile"])
def test_percentiles(name: str) -> None:
    for dtype in "bBhilefdFD":
        x = values(dtype, (4, 3))
        for q in (30, 30.0, [10, 70], np.float32(25), np.array([0.0, 100.0])):
            for method in ("linear", "lower", "midpoint", "hazen"):
                given = q.tolist() if isinstance(q, np.ndarray) else q
                check(name, (x, given), {"axis": 0, "method": method}, grad=dtype not in "FD")
    check(name, (np.array([1.0, 2.0]), 101), {})
    check(name, (np.array([1.0, 2.0]), 10), {"method": "no"})
    check(name, ([np.array([1.0, 4.0]), np.array([3.0, 0.5])], 40), {"axis": 1})


@pytest.mark.parametrize("name", ["quantile", "nanquantile", "percentile"])
def test_weights(name: str) -> None:
    x = np.array([[3.0, 1.0, 2.0, 5.5], [0.0, NAN, 2.0, 2.0]])
    scale = 100 if name == "percentile" else 1
    tables: list[dict[str, Any]] = [
        {"axis": 1, "weights": np.array([1.0, 2.0, 0.0, 1.0])},
        {"axis": 1, "weights": np.array([0.0, 1.0, 0.0, 1.0]), "keepdims": True},
        {"weights": np.array([[1.0, 2.0, 3.0, 1.0], [0.5, 2.0, 1.0, 0.25]])},
        {"axis": (1, 0), "weights": np.ones((4, 2))},
        {"axis": 0, "weights": np.array([1.0, 3.0])},
        {"axis": 0, "weights": np.array([1.0, -3.0])},
        {"axis": 0, "weights": np.array([1.0, 3.0, 4.0])},
        {"weights": np.array([1.0, 3.0])},
    ]
    for options in tables:
        for q in (0.5, 0, [0.0, 0.3, 1.0]):
            given = np.multiply(q, scale).tolist()
            check(name, (x, given), {"method": "inverted_cdf", **options})
    check(name, (x, 0.5), {"weights": x})


def test_out() -> None:
    for grad in (False, True):
        x = array([[3.0, 1.0], [2.0, 4.0]], grad)
        calls: list[Any] = [
            partial(vnp.median, x, 0),
            partial(vnp.quantile, x, 0.5, 0),
            partial(vnp.nanpercentile, x, 50, 0),
        ]
        for one in calls:
            out = vnp.zeros(2)
            assert one(out) is out
            assert out.tolist() == [2.5, 2.5]
            assert out.requires_grad == grad


@pytest.mark.parametrize("method", METHODS)
def test_derivatives_of_quantiles(method: Any) -> None:
    x = np.array([[3.0, 1.0, 2.0, 5.5], [0.25, -1.0, 2.125, 4.0]])
    check_derivatives(lambda x: vnp.quantile(x, [0.2, 0.77], axis=1, method=method) ** 2, x)
    check_derivatives(lambda x: vnp.nanpercentile(x, 41, method=method) ** 2, x)
    # The position is recorded too.
    check_derivatives(lambda q: vnp.quantile(x, q, axis=1, method=method), [0.23, 0.78])
    check_derivatives(lambda x, q: vnp.percentile(x, q * 10, method=method), x, 4.37)


def test_derivatives_of_medians() -> None:
    x = np.array([[3.0, 1.0, 2.0, 5.5], [0.25, -1.0, 2.125, 4.0]])
    for f in (
        lambda x: vnp.median(x) ** 2,
        lambda x: vnp.median(x, axis=0) ** 2,
        lambda x: vnp.nanmedian(x, axis=1, keepdims=True) ** 2,
        lambda x: vnp.quantile(x, 0.4, axis=1, method="inverted_cdf", weights=[1, 2, 1, 1]) ** 2,
    ):
        check_derivatives(f, x)


def test_gradients_at_nan_and_infinity_are_no_nan() -> None:
    rows = np.array([[3.0, NAN, 2.0, 5.5], [NAN, NAN, NAN, NAN], [4.0, INF, 1.0, -INF]])
    x = array(rows, grad=True)
    for found in (
        vnp.nanmedian(x, axis=1),
        vnp.nanquantile(x, [0.25, 0.6], axis=1),
        vnp.nanquantile(x, 0.5, axis=1, method="inverted_cdf", weights=vnp.ones((3, 4))),
        vnp.nanpercentile(x, 30, method="hazen"),
    ):
        x.grad = None
        found.sum().backward()
        assert x.grad is not None
        gradient = np.array(x.grad.tolist())
        assert np.isfinite(gradient).all()
        assert not gradient[np.isnan(rows)].any()


def test_gradient_in_q_beside_a_lane_with_nan() -> None:
    x = array([[1.0, 2.0, 5.0], [NAN, 1.0, 2.0]])
    for f in (vnp.quantile, vnp.nanquantile):
        q = array(0.25, grad=True)
        vnp.nansum(f(x, q, axis=1)).backward()
        assert q.grad is not None
        assert float(q.grad) == (2 if f is vnp.quantile else 3)


def test_samples() -> None:
    rows = np.array([[[3.0, 1.0, 2.0], [2.0, NAN, 0.5]], [[NAN, 4.0, 1.0], [1.0, 1.0, 5.0]]])
    for f in (vnp.median, vnp.nanmedian):
        check_samples(f, rows, axis=0)
        check_samples(f, rows, axis=1)
    for g in (vnp.quantile, vnp.nanquantile):
        for method in METHODS:
            check_samples(g, rows, q=[0.3, 0.75], axis=1, method=method)
        weights = [[1.0, 2.0, 3.0], [0.0, 1.0, 1.0]]
        check_samples(g, rows, q=0.3, axis=1, method="inverted_cdf", weights=weights)


def test_tangents() -> None:
    x = array([3.0, 1.0, 2.0])
    value, tangent = vt.func.jvp(vnp.median, (x,), (array([1.0, 10.0, 100.0]),))
    assert (float(value), float(tangent)) == (2, 100)
