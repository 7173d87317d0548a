"""Elements at places along an axis, written, left out and added."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_that_write import TABLE, check, check_rows
from tests.numpy.derivatives import check_derivatives
from tests.numpy.support import DTYPES, array, values

PLACES = np.array([[0, -1], [2, 2]])


def test_take_along_axis() -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3))
        check("take_along_axis", x, PLACES, axis=1)
        check("take_along_axis", x, PLACES)
        check("take_along_axis", x.T, np.array([[2, 0]]), 0)
        check("take_along_axis", x, np.array([5, 0]), None)
        check("take_along_axis", x, np.array([[1], [0]], np.int8), -1)
    x = values("d", (2, 3))
    check("take_along_axis", x, PLACES, 0)
    check("take_along_axis", x, PLACES, 2)
    check("take_along_axis", x, PLACES * 1.0, 1)
    check("take_along_axis", x, np.array([0, 1]), 1)
    check("take_along_axis", x, PLACES, None)
    check("take_along_axis", np.array(1.0), np.array([0]), None)
    check("take_along_axis", x, np.zeros((2, 0), int), 1)
    check("take_along_axis", np.zeros((0, 3)), np.zeros((0, 1), int), 1)


def test_put_along_axis() -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3))
        for given in (values(dtype, (2, 2), 1), 1.5, values("d", (2,), 1)):
            check("put_along_axis", x, np.array([[0, -1], [2, 1]]), given, 1, written=True)
        check("put_along_axis", x.T, np.array([[2, 0]]), 1, 0, written=True)
        check("put_along_axis", x, np.array([5, 0]), [1.0, 2.0], None, written=True)
    x = values("d", (2, 3))
    check("put_along_axis", x, PLACES, np.zeros(3), 1, written=True)
    check("put_along_axis", x, PLACES * 1.0, 0.0, 1, written=True)
    check("put_along_axis", x, PLACES + 9, 0.0, 1, written=True)
    check("put_along_axis", x, np.array([0]), 0.0, 1, written=True)
    table = np.zeros((2, 3))
    vnp.put_along_axis(table, array(PLACES), array([[1.0], [2.0]]), 1)
    assert table.tolist() == [[1, 0, 1], [0, 0, 2]]
    with pytest.raises(TypeError, match=r"vtgrad\.numpy"):
        vnp.put_along_axis(table, PLACES, array([[1.0], [2.0]], grad=True), 1)


def test_fill_diagonal() -> None:
    for dtype in ("?", "l", "f", "D"):
        for shape in ((3, 3), (2, 4), (4, 2), (7, 2), (2, 2, 2)):
            x = values(dtype, shape)
            for given in (1, 0.5, [1, 0], values("d", (2, 3), 1)):
                check("fill_diagonal", x, given, written=True)
                check("fill_diagonal", x, given, True, written=True)
                check("fill_diagonal", x.T, given, written=True)
    for x in (np.zeros(()), np.zeros(3), np.zeros((2, 2, 3)), np.zeros((0, 3))):
        check("fill_diagonal", x, 1.0, written=True)
    check("fill_diagonal", np.zeros((2, 2)), [], written=True)
    table = np.zeros((2, 2))
    vnp.fill_diagonal(table, array([1.0, 2.0]))
    assert table.tolist() == [[1, 0], [0, 2]]
    with pytest.raises(TypeError, match=r"vtgrad\.numpy"):
        vnp.fill_diagonal(table, array([1.0, 2.0], grad=True))


def test_scalars_are_not_written() -> None:
    s = array([1.0, 2.0], grad=True)[0]
    with pytest.raises(TypeError):
        vnp.put_along_axis(s, [0], 3.0, None)
    with pytest.raises(TypeError):
        vnp.put(s, 0, 3.0)
    for name in ("place", "putmask"):
        with pytest.raises(TypeError):
            getattr(vnp, name)(s, True, 3.0)
    with pytest.raises(TypeError):
        vnp.copyto(s, 3.0)
    with pytest.raises(ValueError, match="2-d"):
        vnp.fill_diagonal(s, 3.0)
    assert s == 1


def test_insert() -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3))
        check("insert", x, 1, 2)
        check("insert", x, [1, 1, -1], [1.0, 0.5, 2.0])
        check("insert", x, 1, values(dtype, (3,), 1), 0)
        check("insert", x, [1], values(dtype, (2, 1), 1), 1)
        check("insert", x, -1, values("d", (2,), 1), axis=1)
        check("insert", x.T, slice(0, 2), values("f", (2,), 1), -1)
        check("insert", x, np.array([True, False, True]), 3, 1)
    x = values("d", (2, 3))
    check("insert", x, np.array([0, 2]), [[5.0, 6.0]], 1)
    check("insert", x, 9, 1.0, 1)
    check("insert", x, 1, 1.0, 2)
    check("insert", x, 1, np.zeros(5), 0)
    check("insert", np.array(1.0), 0, 2.0)
    check("insert", np.array(1.0), 0, 2.0, 0)
    check("insert", [1.0, np.array(2.0)], [], 2.0)
    check("insert", np.zeros(0), 0, np.array([1.0, 2.0]))


def test_delete() -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3))
        check("delete", x, 1)
        check("delete", x, [1, 1, -1])
        check("delete", x, 0, 0)
        check("delete", x, slice(None, None, 2), 1)
        check("delete", x.T, np.array([True, False, True]), 0)
    x = values("d", (2, 3))
    check("delete", x, 9, 1)
    check("delete", x, 1, 2)
    check("delete", x, [], 1)
    check("delete", x, np.array([0.5]), 1)
    check("delete", x, np.array([True]), 1)
    check("delete", [1.0, np.array(2.0)], 0)
    check("delete", np.array(1.0), 0)
    check("delete", np.array(1.0), 0, 0)


def test_where_elements_are_not_zero() -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3)) * (np.arange(6).reshape(2, 3) % 2 == 0)
        for y in (x, x.T, x[:, ::2], x[:0], x[0, 0]):
            check("flatnonzero", y)
            check("argwhere", y)
            check("count_nonzero", y)
            check("count_nonzero", y, 0)
            check("count_nonzero", y, axis=(-1,), keepdims=True)
    x = np.array([[0.0, -0.0, np.nan], [np.inf, 1, 0]])
    for name in ("flatnonzero", "argwhere", "count_nonzero"):
        check(name, x)
    check("count_nonzero", x, (0, 1))
    check("count_nonzero", x, keepdims=True)
    check("count_nonzero", x, 5)
    check("count_nonzero", [1, np.array(0.0)])


def written(name: str, x: Any, *args: Any) -> Any:
    """What a function leaves in a copy of an array."""
    target = x * 1
    getattr(vnp, name)(target, *args)
    return target


FUNCTIONS: dict[str, Any] = {
    "take_along_axis": lambda x: vnp.take_along_axis(x * x, PLACES, 1) * x[:, :2],
    "put_along_axis": lambda x: written("put_along_axis", x, PLACES[:, :1], x[:, :1] ** 2, 1),
    "fill_diagonal": lambda x: written("fill_diagonal", x, x[0, 1] * x[1]) ** 2,
    "insert": lambda x: vnp.insert(x, [0, 2], x[:, 1:] ** 2, 1) ** 2,
    "insert numbers": lambda x: vnp.insert(x, 1, 3.0) ** 2,
    "insert into numbers": lambda x: vnp.insert([1.0, 2.0], 1, x[0]) ** 2,
    "delete": lambda x: vnp.delete(x, 1, 1) ** 2,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    check_derivatives(FUNCTIONS[name], TABLE)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_samples(name: str) -> None:
    check_rows(FUNCTIONS[name])


def test_counts_of_samples() -> None:
    rows = array([[[0.0, 1.0], [2.0, 3.0]], [[0.0, 0.0], [0.0, 4.0]]])
    for options in ({}, {"axis": 0}, {"axis": (-1,), "keepdims": True}):
        found = vt.vmap(lambda x, o=options: vnp.count_nonzero(x, **o))(rows)
        wanted = [np.count_nonzero(x, **options).tolist() for x in rows.numpy()]
        assert found.tolist() == wanted


def test_places_of_samples() -> None:
    rows = array([[[0.5, 1.0], [3.0, 2.0]], [[5.0, 0.0], [1.0, 4.0]]])

    def f(x: Any) -> Any:
        return vnp.take_along_axis(x, vnp.argsort(x, 1), 1)

    assert vt.vmap(f)(rows).tolist() == np.sort(rows.numpy(), -1).tolist()


def test_a_number_of_a_sample_has_axes_in_what_counts() -> None:
    x = vnp.array([[2.0, 0.0], [0.0, 3.0]])
    for name in ("count_nonzero", "all", "any"):
        count = getattr(vnp, name)
        assert vt.vmap(lambda row, f=count: f(row[0], axis=0) * 1.0)(x).tolist() == [1.0, 0.0]
