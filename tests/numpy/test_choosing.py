"""Choosing by conditions, and writing where a condition is true."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_that_write import TABLE, check, check_rows
from tests.numpy.derivatives import check_derivatives
from tests.numpy.support import DTYPES, array, values

MASK = np.array([[True, False, True], [False, False, True]])


def test_where() -> None:
    for dtype in DTYPES:
        x, y = values(dtype, (2, 3)), values(dtype, (3,), 1)
        for condition in (MASK, MASK[0], x, True, [True, False, False], np.array([[1.0], [0.0]])):
            check("where", condition, x, y)
            check("where", condition, x, 2)
            check("where", condition, 1.5, x)
            check("where", condition, x.T[::2], 1j)
        for other in ("?", "b", "f", "D"):
            check("where", MASK, x, values(other, (2, 3)))
            check("where", x[0, 0] > 2, x[0, 0], values(other, ()))
        check("where", x)
        check("where", MASK, x)
    check("where", MASK, 1, 2.5)
    check("where", np.array(True), 1.0, 2.0)
    check("where", np.array(3.0))
    check("where", np.zeros((2, 0)), np.zeros((1, 0)), 1.0)
    check("where", np.array([np.nan, 0.0, -0.0]), np.array([1.0, 2, 3]), [4.0, 5, 6])
    check("where", MASK, np.zeros(2), np.zeros(3))
    check("where", [[np.array(1.0), np.array(0.0)]], np.array([1.0, 2.0]), 0)


def test_select() -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3))
        check("select", [MASK, ~MASK], [x, x * 2])
        check("select", [MASK, MASK[0]], [x, 2], 7)
        check("select", [MASK], [x[0]], 1.5)
        check("select", [np.array(True)], [x[0, 0]], x[0, 1])
    x = values("d", (2, 3))
    check("select", [], [])
    check("select", [MASK], [x, x])
    check("select", [x], [x])
    check("select", [MASK], [np.zeros(4)])
    check("select", MASK, x, 2)
    check("select", [MASK, True], [1, x])
    check("select", [MASK], [np.array(1.0)], x)


def test_piecewise() -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3))
        check("piecewise", x, [MASK, ~MASK], [1, lambda v: v * 2])
        check("piecewise", x, [MASK], [lambda v: v, lambda v: v + v])
        check("piecewise", x, MASK, [1])
        check("piecewise", x, [MASK], [lambda v, a, b=0: v * a + b, 0], 2, b=1)
        check("piecewise", x[0, 0], [x[0, 0] > 1], [lambda v: v, -1])
        check("piecewise", x[0], [[1, 0, 1], [0, 1, 0]], [2, lambda v: v])
        check("piecewise", x[0], [True, False, True], [2, lambda v: v])
    x = values("d", (3,))
    check("piecewise", x, [x > 1, x < 1], [1])
    check("piecewise", x, [x > 99], [lambda v: v / v[0], 3])
    check("piecewise", x, True, [lambda v: v, 3])
    check("piecewise", np.float64(2), True, [3])
    check("piecewise", np.array(2.0), [True, False], [lambda v: -v, 3])


def test_extract() -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3))
        check("extract", MASK, x)
        check("extract", x, x.T)
        check("extract", [True], x)
    check("extract", [False, True], np.zeros(1))
    check("extract", np.array(1.0), np.array(2.0))


def test_writes_by_masks() -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3))
        for name in ("place", "putmask"):
            for given in (x[0], [1.0, 0.0], 1, values("d", (2, 3), 1), values("l", (9,), 1)):
                check(name, x, MASK, given, written=True)
                check(name, x.T, MASK.ravel(), given, written=True)
    x = values("d", (2, 3))
    for name in ("place", "putmask"):
        check(name, x, MASK[0], 1.0, written=True)
        check(name, x, MASK, [], written=True)
        check(name, x, MASK & False, [], written=True)
        check(name, x, np.array([[0.0, 1, np.nan], [0, 0, 2]]), x + 1, written=True)
        check(name, [1.0], [True], [2.0], written=True)
        check(name, np.array(1.0), np.array(True), [2.0, 3.0], written=True)


def test_copyto() -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3))
        for other in DTYPES:
            check("copyto", x, values(other, (3,), 1), written=True)
            check("copyto", x, values(other, (2, 1), 1), written=True, casting="unsafe", where=MASK)
        for number in (1, 2.5, 1j, True, 300):
            check("copyto", x, number, written=True)
        check("copyto", x, np.ones((1, 1, 3), dtype), written=True)
    x = values("d", (2, 3))
    check("copyto", x, np.zeros(2), written=True)
    check("copyto", x, x, written=True, where=np.array([1, 0, 1]))
    check("copyto", x, x + 1, written=True, where=np.ones((4, 2, 3), bool))
    check("copyto", x, [1, 2, 3], written=True, where=[True, False, True])
    check("copyto", [1.0], 2.0, written=True)
    check("copyto", x, 2.0, written=True, casting="wrong")
    z = array([1.0, 2.0, 3.0], grad=True) * 1
    vnp.copyto(z[1:], z[:-1])
    assert z.tolist() == [1, 1, 2]


def test_numpys_arrays_are_written_without_derivatives() -> None:
    for name in ("place", "putmask"):
        table = np.zeros(2)
        getattr(vnp, name)(table, [True, False], array([3.0]))
        assert table.tolist() == [3, 0]
        with pytest.raises(TypeError, match=r"vtgrad\.numpy"):
            getattr(vnp, name)(table, [True, False], array([3.0], grad=True))
    vnp.copyto(table, array([1.0]))
    assert table.tolist() == [1, 1]
    with pytest.raises(TypeError, match=r"vtgrad\.numpy"):
        vnp.copyto(table, array([3.0], grad=True))


def written(name: str, *args: Any) -> Any:
    """What a function leaves in its first argument, which is copied."""
    target = args[0] * 1
    getattr(vnp, name)(target, *args[1:])
    return target


FUNCTIONS: dict[str, Any] = {
    "where": lambda x: vnp.where(x > 1, x * x, vnp.sin(x)) * vnp.where(MASK, 2, x),
    "where of lists": lambda x: vnp.where(MASK, [x[0], x[1] * 2], x[0]),
    "select": lambda x: vnp.select([x > 1.4, x > 0.9], [x * x, 3 * x[0]], x**3),
    "piecewise": lambda x: vnp.piecewise(x, [x < 1, x > 1.4], [lambda v: v * v, vnp.exp, vnp.sin]),
    "extract": lambda x: vnp.extract(MASK, x * x),
    "place": lambda x: written("place", x, MASK, x[0, :2] * x[1, :2]),
    "putmask": lambda x: written("putmask", x, MASK, x[0, :2] * x[1, :2]),
    "copyto": lambda x: written("copyto", x, x[0] * x[1], "same_kind", MASK),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    check_derivatives(FUNCTIONS[name], TABLE)


SAMPLES: dict[str, Any] = {
    "where": FUNCTIONS["where"],
    "select": FUNCTIONS["select"],
    "piecewise": FUNCTIONS["piecewise"],
    "extract": FUNCTIONS["extract"],
    "place": FUNCTIONS["place"],
    "putmask": lambda x: written("putmask", x, x > 1, x[0, :2] * x[1, :2]),
    "copyto": lambda x: written("copyto", x, x[0] * x[1], "same_kind", x > 1),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_samples(name: str) -> None:
    check_rows(SAMPLES[name])


def test_gradients_of_what_is_not_chosen_are_zero() -> None:
    x = array([np.inf, np.nan, 2.0], grad=True)
    vnp.where([False, False, True], x, 0.0).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 0, 1]
    # Each function of `piecewise` is called with its own elements; with samples it is, too.
    rows = array([[0.0, 4.0], [9.0, 0.0]])

    def f(x: Any) -> Any:
        return vnp.piecewise(x, [x > 0], [vnp.sqrt, 0.0]).sum()

    assert vt.vmap(vt.func.grad(f))(rows).tolist() == [[0, 0.25], [1 / 6, 0]]


@pytest.mark.parametrize("where", [0, 4, 3.2, 1j, False, np.int64(1), np.float64(0.0)])
def test_copyto_takes_a_number_for_where(where: complex) -> None:
    expected = np.zeros((2, 3))
    np.copyto(expected, 5.0, where=where)
    x = vnp.zeros((2, 3))
    vnp.copyto(x, 5.0, where=where)
    assert x.tolist() == expected.tolist()
