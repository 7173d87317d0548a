"""Comparisons of whole arrays, and questions about the kinds of elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_that_write import check
from tests.numpy.support import DTYPES, array, compare, values

ODD = np.array([[0.0, -0.0, np.nan], [np.inf, -np.inf, 1.0]])


@pytest.mark.parametrize("name", ["isclose", "allclose"])
def test_tolerances(name: str) -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3))
        for other in ("?", "l", "f", "d", "D"):
            check(name, x, values(other, (3,), 1))
        check(name, x, x)
        check(name, x.T, x.T, 0.0)
    check(name, ODD, ODD)
    check(name, ODD, ODD[::-1], equal_nan=True)
    check(name, ODD, ODD + 1e-9, equal_nan=True)
    check(name, ODD[1], [1.0, np.array(-np.inf), 1 + 1e-6], 0, 1e-5)
    check(name, ODD[1, 2], 1.00001, rtol=np.array([1e-5, 1e-7]))
    check(name, np.array(1.0), 1)
    check(name, ODD, np.zeros(2))
    check(name, np.zeros(0), np.zeros(0))


@pytest.mark.parametrize("name", ["array_equal", "array_equiv"])
def test_equality(name: str) -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3))
        check(name, x, x)
        check(name, x, x + x)
        check(name, x, x[0])
        check(name, x, values(dtype, (2,)))
        check(name, x, x.tolist())
    check(name, ODD, ODD)
    check(name, ODD, "text")
    check(name, [1.0, np.array(2.0)], np.array([1, 2]))
    if name == "array_equal":
        check(name, ODD, ODD, equal_nan=True)
        check(name, ODD, ODD * 1.0, True)


@pytest.mark.parametrize(
    "name", ["isposinf", "isneginf", "iscomplex", "isreal", "iscomplexobj", "isrealobj"]
)
def test_kinds_of_elements(name: str) -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3))
        check(name, x)
        check(name, x.T[::2])
        check(name, x[0, 0])
        check(name, np.array(x[0, 0]))
        check(name, x[:0])
    check(name, ODD)
    check(name, ODD + 1j)
    check(name, [1.0, np.array(np.inf)])
    check(name, [1.0, 2j])
    check(name, 3)
    check(name, None)
    if "inf" in name:
        out: Any = np.zeros((2, 3), bool)
        mine = array(out)
        compare(
            lambda: getattr(vnp, name)(array(ODD), mine), lambda: getattr(np, name)(ODD, out), name
        )
        assert mine.tolist() == out.tolist()


def test_samples() -> None:
    rows = array(ODD)
    for f in (
        lambda x: vnp.isclose(x, [0.0, 1.0, np.nan], equal_nan=True),
        vnp.isposinf,
        vnp.isneginf,
        vnp.iscomplex,
        vnp.isreal,
    ):
        found: Any = vt.vmap(f)(rows)
        assert found.tolist() == [f(row).tolist() for row in rows]
    assert vt.vmap(lambda x: x if vnp.iscomplexobj(x) else x * 2)(rows[1:] + 1).shape == (1, 3)
    assert vt.func.jvp(lambda x: x * vnp.allclose(x, 2.0), (rows[1],), (rows[1],))
    assert vt.func.grad(lambda x: x * vnp.array_equal(x, 2.0))(array(2.0)) == 1
