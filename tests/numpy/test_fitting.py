"""The least squares fit of a polynomial."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import vtgrad.numpy as vnp
from tests.numpy.calls_with_options import Call, call, check
from tests.numpy.derivatives import check_derivatives, check_samples
from tests.numpy.support import array, values
from vtgrad.errors import NotSupportedError

X = np.array([0.0, 1.0, 2.5, 3.0, 4.5])
Y = np.array([1.0, 3.0, 2.0, 5.0, -1.0])
W = np.array([1.0, 0.5, 2.0, 1.0, 3.0])
polyfit: Any = vnp.polyfit

CALLS: list[Call] = [
    call(X, Y, 1),
    call(X, Y, 0),
    call(X, Y, 2, w=W),
    call(X, np.stack([Y, X**2], 1), 2),
    call(X, np.stack([Y, X**2], 1), 2, w=W),
    call(X, Y, -1),
    call(X[:0], Y[:0], 1),
    call(X[:3], Y, 1),
    call(X, Y[:, None, None], 1),
    call(X[:, None], Y, 1),
    call(X, Y, 1, w=W[:2]),
    call(X, Y, 1, w=W[None]),
    call([0, 1, 2, 3, 4], Y, 2),
    call(X.tolist(), [1.0, np.array(2.0), 3.0, 4.0, 7.0], 1),
    call(X[::-2], Y[::-2], 1),
]


def test_polyfit() -> None:
    for args, options in CALLS:
        check("polyfit", args, options)
    for dtype in "?bBhilfdFD":
        check("polyfit", (X, values(dtype, (5,)), 2), {})
        if dtype not in "?FD":
            check("polyfit", (np.arange(5).astype(dtype), Y, 2), {})


def test_more_results() -> None:
    two = np.stack([Y, X**3], 1)
    for y in (Y, two, Y * 1j):
        for options in ({"full": True}, {"cov": True}, {"cov": "unscaled"}):
            for w in (None, W):
                wanted: Any = np.polyfit(X, y, 2, w=w, **options)
                for grad in (False, True):
                    found = polyfit(X, array(y, grad), 2, w=w, **options)
                    assert len(found) == len(wanted)
                    for mine, theirs in zip(found, wanted, strict=True):
                        mine = np.asarray(mine.tolist())
                        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="number of data points"):
        polyfit(X, array(Y, grad=True), 4, cov=True)


def test_points_that_do_not_determine_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = np.polyfit(X[:2], Y[:2], 3)
        found = polyfit(X[:2], array(Y[:2], grad=True), 3)
        np.testing.assert_allclose(found.tolist(), wanted, rtol=1e-10)
        check_derivatives(lambda y: polyfit(X[:2], y, 3), Y[:2])
        with pytest.raises(NotSupportedError, match="do not determine"):
            polyfit(array(X[:2], grad=True), Y[:2], 3)


def test_refused() -> None:
    with pytest.raises(NotSupportedError, match="covariances"):
        polyfit(array(X, grad=True), Y, 1, cov=True)
    with pytest.raises(NotSupportedError, match="complex"):
        polyfit(X * 1j, array(Y, grad=True), 1)


def test_derivatives() -> None:
    check_derivatives(lambda y: polyfit(X, y, 2) ** 2, Y)
    check_derivatives(lambda x, y, w: polyfit(x, y, 2, w=w), X, Y, W)
    check_derivatives(lambda x, y: polyfit(x, y, 1), X, np.stack([Y, X**2], 1))
    check_derivatives(lambda y: polyfit(X, y, 1, cov=True)[1], Y)
    check_derivatives(lambda x, y: polyfit(x, y, 1, full=True)[1], X, Y)
    check_derivatives(lambda y: polyfit(X, y, 1).imag, Y * (1 + 1j))


def test_samples() -> None:
    check_samples(lambda row: polyfit(X, row, 2), np.stack([Y, X**2]))
    check_samples(lambda row: polyfit(X, row, 1, w=W), np.stack([Y, X**2]))
