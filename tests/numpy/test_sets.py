"""Sets: elements without repeats, and what several arrays have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_that_write import TABLE, check
from tests.numpy.derivatives import check_derivatives
from tests.numpy.support import DTYPES, array, assert_same, outcome, values

ODD = np.array([[np.nan, 0.0, np.inf], [-np.inf, np.nan, 0.0]])


def test_unique() -> None:
    for dtype in DTYPES:
        x = values(dtype, (3, 4))
        check("unique", x)
        check("unique", x.T[::2], True, True, True)
        check("unique", x, return_inverse=True)
        check("unique", x, return_counts=True)
        check("unique", x, sorted=False)
        check("unique", x, axis=0)
        check("unique", x[:, [0, 1, 0, 1]], True, True, True, axis=-1)
        check("unique", x[:0])
        check("unique", x[0, 0])
    check("unique", ODD)
    check("unique", ODD, True, equal_nan=False)
    check("unique", ODD, True, True, True, axis=0)
    check("unique", [2.0, np.array(1.0), 2])
    check("unique", np.array(1.0), True, True)
    check("unique", ODD, axis=2)


def test_the_array_api() -> None:
    for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
        for dtype in DTYPES:
            check(name, values(dtype, (3, 4)))
        check(name, ODD)
        check(name, [2.0, np.array(1.0), 2])
    found = vnp.unique_all(array([3.0, 1.0, 3.0], grad=True))
    assert found.counts.tolist() == [1, 2]
    assert found.values.requires_grad


@pytest.mark.parametrize("name", ["union1d", "intersect1d", "setdiff1d", "setxor1d"])
def test_pairs(name: str) -> None:
    for dtype in DTYPES:
        x = values(dtype, (3, 4))
        for other in ("?", "l", "f", "d", "D"):
            check(name, x, values(other, (5,), 1))
        check(name, x[0], [])
        check(name, x[:0], x)
        if name != "union1d":
            check(name, np.arange(4).astype(dtype)[:2], np.arange(2, 0, -1).astype(dtype), True)
    check(name, ODD, ODD[0])
    check(name, [1.0, np.array(2.0)], np.array([2, 3]))
    check(name, 1.0, np.array([2.0, 1.0]))
    if name == "intersect1d":
        check(name, TABLE, TABLE[::-1, 1:], return_indices=True)
        check(name, TABLE, TABLE[1], True, True)


def test_isin() -> None:
    for dtype in DTYPES:
        x = values(dtype, (3, 4))
        for other in ("?", "l", "f", "D"):
            check("isin", x, values(other, (5,), 1))
        check("isin", x, x[0, 0], invert=True)
        check("isin", x[0, 0], x, True)
    check("isin", ODD, ODD)
    check("isin", [1, np.array(2)], [2, 3], kind="table")
    check("isin", [1.0, 2.0], [np.array(2.0)], kind="sort")
    rows = array(values("d", (3, 4)))
    for invert in (False, True):
        found = vt.vmap(lambda x, i=invert: vnp.isin(x, [0.5, 1.0], invert=i))(rows)
        assert_same(found, np.isin(rows.numpy(), [0.5, 1.0], invert=invert))


FUNCTIONS: dict[str, Any] = {
    "unique": lambda x: vnp.unique(x) ** 2,
    "unique with repeats": lambda x: vnp.unique(vnp.where(x > 1, x[0, 0] ** 2, x)) ** 2,
    "unique rows": lambda x: vnp.unique(x, axis=0) ** 2,
    "unique places": lambda x: vnp.unique(x, True, True)[0] * x.ravel(),
    "unique_values": lambda x: vnp.unique_values(x * x),
    "unique_inverse": lambda x: vnp.unique_inverse(x * x).values,
    "union1d": lambda x: vnp.union1d(x[0], x[1] ** 2) ** 2,
    "intersect1d": lambda x: vnp.intersect1d(x**2, x[:, 1:] ** 2) ** 2,
    "setdiff1d": lambda x: vnp.setdiff1d(x**2, x[0] ** 2) ** 2,
    "setxor1d": lambda x: vnp.setxor1d(x**2, x[0] ** 2) ** 2,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    check_derivatives(FUNCTIONS[name], TABLE)


def test_the_gradient_goes_to_the_first_of_equal_elements() -> None:
    x = array([3.0, 1.0, 3.0, 1.0], grad=True)
    (vnp.unique(x) * [1.0, 10.0]).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [10, 1, 0, 0]


def test_samples_are_refused() -> None:
    # Their numbers of elements without repeats differ.
    found, error = outcome(lambda: vt.vmap(vnp.unique)(array(TABLE)))
    assert error is vt.errors.BatchedTensorError, found
