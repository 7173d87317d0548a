"""Grids, ranges by indexing, arrays that broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_by_namespace import Call, by_numpys_name, compare_call
from tests.numpy.derivatives import check_derivatives
from tests.numpy.support import DTYPES, array, compare, values

GRIDS: dict[str, Call] = {
    "meshgrid": lambda np, a: np.meshgrid(a([1.0, 2]), a([3.0, 4, 5])),
    "ij": lambda np, a: np.meshgrid(a([1.0, 2]), [3, 4, 5], indexing="ij"),
    "sparse": lambda np, a: np.meshgrid(a([1.0, 2]), [3, 4, 5], 7, sparse=True),
    "views": lambda np, a: np.meshgrid(a([1.0, 2]), [3, 4], [5], copy=False),
    "one": lambda np, a: np.meshgrid(a([1.0, 2])),
    "no": lambda np, a: np.meshgrid(),
    "of matrices": lambda np, a: np.meshgrid(a([[1.0, 2], [3, 4]]), [5, 6]),
    "of nothing": lambda np, a: np.meshgrid(a(np.zeros(0)), [5, 6]),
    "kind": lambda np, a: np.meshgrid(a([1.0]), indexing="yx"),
    "lists": lambda np, a: np.meshgrid([a(1.0), 2], [3, a(4.0)]),
    "indices": lambda np, a: np.indices((2, 3)),
    "sparse indices": lambda np, a: np.indices((2, 3), dtype="f", sparse=True),
    "no indices": lambda np, a: np.indices(()),
    "fromfunction": lambda np, a: np.fromfunction(lambda i, j: i + a(2.0) * j, (2, 3)),
    "fromfunction of": lambda np, a: np.fromfunction(
        lambda i, by=1: i * by, (3,), dtype=int, by=a(2.5)
    ),
    "ix_": lambda np, a: np.ix_([0, 2], [True, False, True], np.array([1])),
    "ix_ of": lambda np, a: np.ix_(a([0, 2]), a([True, False])),
    "ix_ floats": lambda np, a: np.ix_(a([1.0, 2.0]), [1, 2]),
    "ix_ empties": lambda np, a: np.ix_([1, 2], [], a([3])),
    "ix_ no": lambda np, a: np.ix_(),
    "ix_ matrix": lambda np, a: np.ix_([[0, 2]]),
    "ix_ empty": lambda np, a: np.ix_([], [1]),
    "mgrid": lambda np, a: np.mgrid[0:2, 1:4:2],
    "mgrid of": lambda np, a: np.mgrid[a(0.5)[()] : 2, 1 : a(4.0)[()]],
    "mgrid one": lambda np, a: np.mgrid[a(0.5)[()] : 3],
    "mgrid number": lambda np, a: np.mgrid[a(0.5)[()] : 3 : 4j, 0:1:2j],
    "mgrid single": lambda np, a: np.mgrid[0:3:4j],
    "ogrid": lambda np, a: np.ogrid[0:2, 1:4:2],
    "ogrid of": lambda np, a: np.ogrid[a(0.5)[()] : 2, : a(3)[()]],
    "ogrid one": lambda np, a: np.ogrid[a(0.5)[()] : 2 : 3j],
    "r_": lambda np, a: np.r_[a([1.0, 2]), 3, a([4.0])],
    "r_ range": lambda np, a: np.r_[1:4, a(7.0), 0:1:3j],
    "r_ range of": lambda np, a: np.r_[0 : a(2.0)[()] : 3j, a(0.5)[()] : 3],
    "r_ of numbers": lambda np, a: np.r_[a(np.float32(1))[None], 2.5, 3],
    "r_ of arrays": lambda np, a: np.r_[a([1.0]), np.float64(2), np.ones(1, "f")],
    "r_ scalars": lambda np, a: np.r_[a([1.0])[0], a([2.0])[0], 3],
    "meshgrid scalars": lambda np, a: np.meshgrid(a([1.0])[0], [1, 2]),
    "broadcast scalars": lambda np, a: np.broadcast_to(a([1.0])[0], (2,)),
    "broadcast numbers": lambda np, a: np.broadcast_arrays(a([1.0])[0], 2),
    "r_ complex": lambda np, a: np.r_[a([1.0]), 2j],
    "r_ axis": lambda np, a: np.r_["1", a([[1.0], [2]]), [[3], [4]]],
    "r_ matrices": lambda np, a: np.r_["0,2", a([1.0, 2]), [3, 4]],
    "r_ columns": lambda np, a: np.r_["0,2,0", a([1.0, 2]), [3, 4], 5],
    "r_ place": lambda np, a: np.r_["0,3,1", a([1.0, 2]), [3, 4], 1:3],
    "r_ places": lambda np, a: np.r_["0,3,-1", a([[1.0, 2]]), [[3, 4]]],
    "r_ around": lambda np, a: np.r_["0,4,1", a([[1.0, 2]]), [[3, 4]]],
    "r_ far": lambda np, a: np.r_["0,2,3", a([1.0, 2]), [3, 4]],
    "r_ word": lambda np, a: np.r_["x", a([1.0, 2])],
    "r_ words": lambda np, a: np.r_["0,x", a([1.0, 2])],
    "r_ late": lambda np, a: np.r_[a([1.0, 2]), "0,2"],
    "r_ shapes": lambda np, a: np.r_[a([1.0, 2]), [[1]]],
    "r_ nothing": lambda np, a: np.r_[()],
    "c_": lambda np, a: np.c_[a([1.0, 2]), [3, 4]],
    "c_ matrix": lambda np, a: np.c_[a([[1.0], [2]]), [3, 4], 1:3],
    "c_ shapes": lambda np, a: np.c_[a([1.0, 2]), [3]],
    "c_ numbers": lambda np, a: np.c_[a(1.0)[()], 3],
    "s_": lambda np, a: np.s_[1:2, None],
    "index_exp": lambda np, a: np.index_exp[1],
}


@pytest.mark.parametrize("name", GRIDS)
def test_grids(name: str) -> None:
    compare_call(GRIDS[name], name)


@pytest.mark.parametrize("name", ["meshgrid", "ij", "sparse", "views", "ix_ of"])
def test_numpys_names(name: str) -> None:
    by_numpys_name(GRIDS[name], name)


def test_index_arrays_of_floats_record() -> None:
    assert vnp.ix_([1], array([1.0], grad=True))[1].requires_grad


def test_the_arrays_of_meshgrid() -> None:
    x = array([1.0, 2.0])
    copies = vnp.meshgrid(x, [3.0, 4.0])
    copies[0][0, 0] = 9
    assert x.tolist() == [1, 2]
    assert copies[0].tolist() == [[9, 2], [1, 2]]
    views = vnp.meshgrid(x, [3.0], copy=False, sparse=True)
    views[0][0, 0] = 9
    assert x.tolist() == [9, 2]


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: sum(part**2 for part in vnp.meshgrid(x, y, x)),
        lambda x, y: vnp.meshgrid(x, y, copy=False)[1] ** 2,
        lambda x, y: vnp.c_[x, y * y, 1:3] ** 2,
        lambda x, y: vnp.r_["0,2,0", x, y[0], y] ** 2,
        lambda x, y: vnp.mgrid[x[0] : 3 : 4j, 0 : y[1] : 2j] ** 2,
        lambda x, y: vnp.ogrid[x[0] : y[1] : 4j, 0:2][0] ** 2,
        lambda x, y: vnp.broadcast_to(x, (3, 2)) * vnp.broadcast_to(y[0], (2,)),
        lambda x, y: vnp.broadcast_arrays(x, y[:, None])[1] ** 2 * x,
    ],
)
def test_derivatives(function: Any) -> None:
    check_derivatives(function, [0.5, 1.25], [2.0, 0.875])


SHAPES: list[Any] = [(2, 3), 3, (3,), (4, 2, 3), (2, 2), (), (0,), -1, (2, -3), 1.5, (2, 0, 3), [3]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_broadcast_to(dtype: str) -> None:
    for x in (values(dtype, (3,)), values(dtype, (2, 1)), values(dtype, ())):
        for shape in SHAPES:

            def call(np: Any, a: Any, x: Any = x, shape: Any = shape) -> Any:
                return np.broadcast_to(a(x), shape)

            compare_call(call, f"{shape}")
            by_numpys_name(call, f"{shape}")


def test_broadcast_arrays() -> None:
    for call in (
        lambda np, a: np.broadcast_arrays(a([1.0, 2]), a([[3.0], [4]]), 5),
        lambda np, a: np.broadcast_arrays(a([1.0, 2]), [1, 2, 3]),
        lambda np, a: np.broadcast_arrays(),
        lambda np, a: np.broadcast_arrays(a(1.5)),
        lambda np, a: np.broadcast_arrays(a(np.zeros((0, 1))), [[1, 2]]),
        lambda np, a: np.broadcast_shapes((2, 1), 3, (1,)),
        lambda np, a: np.broadcast_shapes((2, 1), (3, 3)),
    ):
        compare_call(call, "")


def test_views_of_repeated_elements_are_not_written() -> None:
    x = array([1.0, 2.0])
    view = vnp.broadcast_to(x, (2, 2))
    x[0] = 5
    assert view.tolist() == [[5, 2], [5, 2]]
    assert not view.flags.writeable
    for grad in (False, True):
        y = array([1.0, 2.0], grad) * 1
        for view in (vnp.broadcast_to(y, (2, 2)), vnp.broadcast_arrays(y, [[1], [2]])[0]):
            with pytest.raises((ValueError, RuntimeError)):
                view[0] = 3
            with pytest.raises((ValueError, RuntimeError)):
                view += 1
        assert y.tolist() == [1, 2]
    z = array(1.0)
    assert vnp.broadcast_to(z, ()).shape == ()
    z[...] = 2
    assert z.flags.writeable


def test_broadcast_objects() -> None:
    x = array([1.0, 2.0], grad=True)
    made = vnp.broadcast(x, [[3], [4]])
    theirs = np.broadcast(np.array([1.0, 2.0]), [[3], [4]])
    for name in ("shape", "size", "ndim", "nd", "numiter", "index"):
        assert getattr(made, name) == getattr(theirs, name)
    pairs = list(made)
    assert [[v.item() for v in pair] for pair in pairs] == [[1, 3], [2, 3], [1, 4], [2, 4]]
    assert pairs[0][0].requires_grad
    assert made.index == 4
    made.reset()
    assert len(list(made)) == 4
    with pytest.raises(ValueError, match="broadcast"):
        vnp.broadcast(x, [1, 2, 3])


def test_a_matrix_of_numpys_carries_no_derivative() -> None:
    with pytest.warns(PendingDeprecationWarning):
        assert isinstance(vnp.r_["c", [1, 2]], np.matrix)
    with pytest.raises(ValueError, match="derivative"):
        vnp.r_["c", array([1.0], grad=True)]
    with vt.no_grad():
        assert vnp.c_[array([1.0, 2.0]), [3, 4]].shape == (2, 2)


def test_values_of_one_dtype() -> None:
    for dtype in DTYPES:
        compare(
            lambda d=dtype: vnp.c_[array(values(d), True), values(d)],  # type: ignore[misc]  # of any kind
            lambda d=dtype: np.c_[values(d), values(d)],  # type: ignore[misc]  # the same
            dtype,
        )
