"""Histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

import vtgrad.numpy as vnp
from tests.numpy.calls_with_options import Call, call, check
from tests.numpy.derivatives import check_derivatives, check_samples
from tests.numpy.support import DTYPES, array, values

X = np.array([1.0, 2.0, 2.0, 4.0, 0.5, 3.25, 2.75])
Y = np.array([0.0, 2.0, 1.0, 4.0, 2.5, 3.0, 3.0])
W = np.array([1.0, 0.5, 2.0, 3.0, 0.25, 1.0, 4.0])

CALLS: list[Call] = [
    call(X),
    call(X, 3),
    call(X.reshape(7, 1), 3),
    call(X, [0.0, 1.0, 2.0, 2.5]),
    call(X, np.array([0, 2, 4])),
    call(X, "auto"),
    call(X, 4, (1.0, 3.0)),
    call(X, 3, weights=W),
    call(X, 3, density=True),
    call(X, 4, (1.0, 3.0), True, W),
    call(X, np.array([0.0, 1.0, 3.0]), None, True),
    call(X, 3, weights=W * 1j),
    call(X, 3, weights=W[:2]),
    call(X, "auto", weights=W),
    call(X, [3.0, 2.0]),
    call(X, 0),
    call(np.array([1.0, 1.0]), 2),
    call(np.array([]), 2),
    call(np.array([1.0, np.nan]), 2),
    call(np.array([1.0, np.nan, 2.0]), 2, (0, 2), weights=np.ones(3)),
    call([np.array(1.0), 3.0], 2),
]


def test_histogram() -> None:
    for args, options in CALLS:
        check("histogram", args, options)
        if not options.get("density"):
            check("histogram_bin_edges", args[:3], {})
    for dtype in DTYPES:
        if dtype not in "FD":
            check("histogram", (values(dtype, (6,)), 3), {})
        check(
            "histogram",
            (values("d", (6,)), 3),
            {"weights": values(dtype, (6,), 1)},
            grad=dtype != "e",
        )


def test_grids() -> None:
    points = np.stack([X, Y], 1)
    for options in (
        {},
        {"bins": 3},
        {"bins": (2, [0.0, 1.0, 4.0])},
        {"bins": 2, "range": [(0, 3), None]},
        {"bins": 3, "weights": W},
        {"bins": (2, 3), "density": True},
        {"bins": (2, 3), "density": True, "weights": W, "range": [(1, 3), (0, 2)]},
        {"bins": (2, 3, 4)},
        {"bins": 3, "weights": W[:3]},
    ):
        given: dict[str, Any] = options
        for sample in (points, [X, Y]):
            for grad in (False, True):
                mine = (
                    [array(x, grad) for x in sample]
                    if isinstance(sample, list)
                    else array(sample, grad)
                )
                try:
                    wanted = np.histogramdd(sample, **given)
                except ValueError:
                    try:
                        vnp.histogramdd(mine, **given)
                    except ValueError:
                        continue
                    raise
                found = vnp.histogramdd(mine, **given)
                np.testing.assert_allclose(found[0].tolist(), wanted[0], rtol=1e-12)
                for a, b in zip(found[1], wanted[1], strict=True):
                    np.testing.assert_allclose(a.tolist(), b, rtol=1e-12)
        if given.get("range") != [(0, 3), None]:
            check("histogram2d", (X, Y), given)
    check("histogram2d", (X, Y[:3]), {})
    check("histogram2d", (X, Y, np.array([0.0, 1.0, 2.0, 4.0])), {})


def test_derivatives() -> None:
    check_derivatives(lambda w: vnp.histogram(X, 3, weights=w)[0] ** 2, W)
    check_derivatives(lambda x: vnp.histogram(x, 3)[1] ** 2, X)
    check_derivatives(lambda x, w: vnp.histogram(x, 3, density=True, weights=w)[0], X + Y / 8, W)
    check_derivatives(lambda e: vnp.histogram(X, e, density=True)[0], [0.0, 1.5, 3.0, 4.5])
    check_derivatives(lambda e: vnp.histogram_bin_edges(X, 3, e) ** 2, [0.25, 3.5])
    check_derivatives(lambda w: vnp.histogram2d(X, Y, 2, weights=w)[0] ** 2, W)
    check_derivatives(lambda w: vnp.histogram2d(X, Y, 2, density=True, weights=w)[0], W)
    points = np.stack([X**1.3, Y**1.1 + W / 7], 1)
    check_derivatives(lambda p: vnp.histogramdd(p, 2, density=True)[0], points)


def test_counts_are_constants() -> None:
    counts, edges = vnp.histogram(array(X, grad=True), 3)
    assert not counts.requires_grad
    assert edges.requires_grad


def test_samples() -> None:
    check_samples(lambda w: vnp.histogram(X, 3, weights=w)[0], np.stack([W, W[::-1]]))
    check_samples(lambda w: vnp.histogram2d(X, Y, 3, weights=w)[0], np.stack([W, W[::-1]]))


def test_edges_share_no_memory() -> None:
    bins = np.array([0.0, 1.0, 4.0])
    for given in (bins, array(bins)):
        edges = vnp.histogram(array(X), given)[1]
        edges[0] = -9.0
        assert given[0] == 0
