"""Orders of several keys, bins, counts and bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_that_write import TABLE, check, check_rows
from tests.numpy.derivatives import check_derivatives
from tests.numpy.support import DTYPES, array, assert_same, compare, values

ODD = np.array([[np.nan, 0.0, np.inf], [-np.inf, np.nan, 0.0]])
NUMBERS = np.array([0, 3, 3])


def test_bincount() -> None:
    for dtype in DTYPES:
        x = values(dtype, (5,))
        check("bincount", x)
        check("bincount", np.array([0, 2, 2, 1, 0]), x)
        check("bincount", [0, 2, 2, 1, 0], x[::-1], minlength=5)
        check("bincount", np.array([0, 2, 2], "B"), [1.0, np.array(2.0), 0])
    for weights in (None, np.zeros(0), np.zeros(3), np.zeros((2, 2))):
        check("bincount", np.array([], int), weights)
        check("bincount", np.array([0, 1]), weights, 1)
        check("bincount", np.array([-1, 1, 2]), weights)
    check("bincount", [], np.zeros(0), -1)
    check("bincount", np.array([0, 1]), np.array([np.nan, np.inf]))


def test_digitize() -> None:
    x = np.array([[0.0, 1.0, -1.0], [5.0, 2.0, np.nan]])
    for bins in ([0.0, 1.0, 2.0], np.array([2.0, 1.0, 0.0]), [1.0], [], [0, 1, 1, 3]):
        for right in (False, True):
            check("digitize", x, bins, right)
            check("digitize", x[0, 0], np.asarray(bins), right)
            mine = vt.vmap(lambda row, b=bins, r=right: vnp.digitize(row, b, r))(array(x))
            assert_same(mine, np.digitize(x, bins, right))
    check("digitize", x, [0.0, 2.0, 1.0])
    check("digitize", x, np.zeros((2, 2)))
    check("digitize", x + 1j, [0.0, 1.0])
    for dtype in DTYPES:
        check("digitize", values(dtype, (3,)), [1, 2])
        check("digitize", [1.0, 2.0], np.sort(values(dtype, (3,))))


def test_lexsort() -> None:
    for dtype in DTYPES:
        x, y = values(dtype, (5,)), values("l", (5,), 1)
        check("lexsort", (x, y))
        check("lexsort", [y, x, y])
        check("lexsort", np.array([x, x[::-1]]))
    check("lexsort", (np.ones((2, 3)), values("d", (2, 3))), axis=0)
    check("lexsort", (np.ones(2), np.ones(3)))
    check("lexsort", ([1.0, np.array(0.0)], [1, 1]))
    x = array([3.0, 1.0, 2.0], grad=True)
    assert vnp.lexsort((x,)).tolist() == [1, 2, 0]


def test_sort_complex() -> None:
    for dtype in DTYPES:
        x = values(dtype, (3, 4))
        check("sort_complex", x)
        check("sort_complex", x.T)
        check("sort_complex", x[0, 0])
    check("sort_complex", [2.0, np.array(1.0)])


@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
def test_places_of_extremes(name: str) -> None:
    for dtype in DTYPES:
        x = values(dtype, (3, 4))
        check(name, x)
        check(name, x, 0)
        check(name, x.T, -1, keepdims=True)
    check(name, ODD)
    check(name, ODD, 1)
    check(name, ODD[:, :1], 1)
    check(name, ODD[0, :1])
    check(name, ODD[:0])
    check(name, ODD, 2)
    check(name, [np.nan, np.array(1.0)])
    f, theirs = getattr(vnp, name), getattr(np, name)
    out, other = array([0, 0]), np.array([0, 0])
    compare(lambda: f(array(ODD, grad=True), 1, out), lambda: theirs(ODD, 1, other), name)
    assert out.tolist() == other.tolist()
    assert vt.vmap(f)(array(ODD)).tolist() == theirs(ODD, 1).tolist()


def test_bits() -> None:
    bits = values("l", (3, 9)) % 2
    for dtype in DTYPES:
        check("packbits", bits.astype(dtype))
        check("packbits", bits.astype(dtype), 1, "little")
        check("unpackbits", (bits * 77).astype(dtype))
    numbers = (bits * 77).astype("B")
    check("unpackbits", numbers, 0, 5)
    check("unpackbits", numbers, axis=-1, count=-3, bitorder="little")
    check("packbits", bits, 2)
    check("packbits", [1, np.array(0)])


FUNCTIONS: dict[str, Any] = {
    "bincount": lambda x: vnp.bincount(NUMBERS, x[0] ** 2, 5) * x[1, 0],
    "sort_complex": lambda x: vnp.sort_complex(x**2).real ** 2,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    check_derivatives(FUNCTIONS[name], TABLE)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_samples(name: str) -> None:
    check_rows(FUNCTIONS[name])


def test_complex_numbers_are_sorted_with_derivatives() -> None:
    z = array([3 + 1j, 1 - 1j, 2 - 2j], grad=True)
    assert vt.autograd.gradcheck(lambda z: vnp.sort_complex(z) * [1.0, 2.0, 3.0], (z,))
