"""The loops in C along a dimension: the bits, the last of several values, no foreign memory.

`make sanitize` runs this file on a module that was built with gcc's sanitizers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

import vtgrad as vt
from tests.loops_in_c import IN_C, in_c
from vtgrad.ops.kernels.indexing import gather_scatter, index_vectors

STORED: Final = "?bBhHiIlLqQefdFD"
ADDED: Final = "bBhHiIlLqQfd"
SHAPES: Final = [(7,), (1,), (4, 5), (5, 1), (1, 6), (3, 4, 5), (2, 0, 3), (600,)]

Values = NDArray[Any]


def some(rng: np.random.Generator, char: str, shape: tuple[int, ...]) -> Values:
    """Numbers that fit every dtype, with fractions, so that the order of additions shows."""
    found = rng.normal(size=shape) * 10.0 ** rng.integers(0, 3, shape)
    return (np.abs(found) if np.dtype(char).kind in "bu" else found).astype(char)


def cases(of_slices: bool) -> list[tuple[tuple[int, ...], int, Values, tuple[int, ...]]]:
    """Shape of the whole, dimension, indices with repetitions, shape of the part."""
    rng = np.random.default_rng(0)
    found = []
    for shape in SHAPES:
        for dim in range(len(shape)):
            for count in (0, 1, shape[dim], 2 * shape[dim] + 1) if shape[dim] else (0,):
                part = (*shape[:dim], count, *shape[dim + 1 :])
                sizes = (count,) if of_slices else part
                found.append((shape, dim, rng.integers(0, max(shape[dim], 1), sizes), part))
    return found


def loop_by_loop(
    whole: Values, dim: int, index: Values, part: Values, of_slices: bool, adds: bool
) -> None:
    """The same in Python, element by element."""
    for place in np.ndindex(part.shape):
        at = list(place)
        at[dim] = int(index[place[dim]] if of_slices else index[place])
        target = tuple(at)
        whole[target] = whole[target] + part[place] if adds else part[place]


@in_c
@pytest.mark.parametrize("char", STORED)
def test_elements_are_taken_as_by_numpy(char: str) -> None:
    assert IN_C is not None
    rng = np.random.default_rng(1)
    for shape, dim, index, part in cases(of_slices=False):
        whole = some(rng, char, shape)
        for given in (dim, dim - len(shape)):
            found = IN_C.take_along(whole, given, index)
            assert found.dtype == whole.dtype
            assert (found.shape, found.flags.c_contiguous) == (part, True)
            assert found.tobytes() == np.take_along_axis(whole, index, dim).tobytes()


@in_c
def test_indices_may_be_expanded_or_have_gaps() -> None:
    assert IN_C is not None
    rng = np.random.default_rng(4)
    x = rng.normal(size=(2, 3, 4, 5))
    served = []
    for dim, size in enumerate(x.shape):
        for narrow in np.ndindex(2, 2, 2, 2):
            sizes = [2 * n if at == dim else n for at, n in enumerate(x.shape)]
            some_of = [1 if one else n for one, n in zip(narrow, sizes, strict=True)]
            index = np.broadcast_to(rng.integers(0, size, some_of), sizes)
            layouts = [index, np.asarray(index, order="F"), np.repeat(index, 2, dim)]
            layouts[2] = layouts[2][(slice(None),) * dim + (slice(None, None, 2),)]
            values = rng.normal(size=sizes)
            for given in layouts:
                found = IN_C.take_along(x, dim, given)
                served.append(found is not None)
                if found is not None:
                    assert np.array_equal(found, np.take_along_axis(x, given, dim))
                whole, expected = x.copy(), x.copy()
                loop_by_loop(expected, dim, given, values, False, True)
                fits = IN_C.fits_along(whole, dim, given, values, False, True)
                assert fits is (found is not None)
                if fits:
                    IN_C.add_along(whole, dim, given, values, False)
                    assert np.array_equal(whole, expected)
    # The others have several last dimensions that are expanded in part, or in another order.
    assert 0.6 < np.mean(served) < 1


@in_c
@pytest.mark.parametrize("of_slices", [False, True])
@pytest.mark.parametrize("adds", [False, True])
def test_writes_are_those_of_one_element_after_the_other(adds: bool, of_slices: bool) -> None:
    assert IN_C is not None
    rng = np.random.default_rng(2)
    function = IN_C.add_along if adds else IN_C.put_along
    for shape, dim, index, part in cases(of_slices):
        for char in ADDED if adds else STORED:
            whole, values = some(rng, char, shape), some(rng, char, part)
            expected = whole.copy()
            with np.errstate(all="ignore"):
                loop_by_loop(expected, dim, index, values, of_slices, adds)
            assert IN_C.fits_along(whole, dim, index, values, of_slices, adds)
            assert function(whole, dim, index, values, of_slices) is None
            assert whole.tobytes() == expected.tobytes()


@in_c
def test_one_number_is_stored_at_all_indices() -> None:
    assert IN_C is not None
    whole, index = np.zeros((2, 3)), np.array([[0, 2], [1, 1]])
    number = np.array(5.0)
    assert IN_C.fits_along(whole, 1, index, number, False, False)
    IN_C.put_along(whole, 1, index, number, False)
    IN_C.add_along(whole, 1, index, number, False)
    assert whole.tolist() == [[10, 0, 10], [0, 15, 0]]
    # Of slices each has values of its own.
    assert not IN_C.fits_along(whole, 0, np.array([0]), number, True, False)


class _Other(np.ndarray[Any, Any]):
    pass


_SIX: Final = np.arange(6.0).reshape(2, 3)
_AT: Final = np.array([[0, 1, 0]])
_ONE: Final = np.ones((1, 3))
_FROZEN: Final = np.arange(6.0).reshape(2, 3)
_FROZEN.flags.writeable = False


@in_c
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((_SIX.T, 1, _AT.T, _ONE.T), id="a whole that is not row-major"),
        pytest.param((_SIX.astype(">f8"), 0, _AT, _ONE.astype(">f8")), id="another byte order"),
        pytest.param((_SIX.view(_Other), 0, _AT, _ONE), id="a class of its own"),
        pytest.param((_FROZEN, 0, _AT, _ONE), id="read-only"),
        pytest.param((_SIX, 0, _AT.astype(np.int32), _ONE), id="int32"),
        pytest.param((_SIX, 0, np.array([[0, 1, 2]]), _ONE), id="past the end"),
        pytest.param((_SIX, 0, np.array([[0, 1, -1]]), _ONE), id="negative"),
        pytest.param((_SIX, 0, _AT, _ONE.astype(np.float32)), id="values of another dtype"),
        pytest.param((_SIX, 0, _AT, np.ones((1, 2))), id="values of another shape"),
        pytest.param((_SIX, 0, _AT[:, :2].copy(), np.ones((1, 2))), id="fewer columns"),
        pytest.param((_SIX, 0, _AT[0], _ONE), id="indices without a dimension"),
        pytest.param((_SIX, 0, _AT, _SIX[:1]), id="values in the memory that is written"),
        pytest.param((_SIX, 0, _SIX[:1].view(np.int64), _ONE), id="indices in it"),
        pytest.param((_SIX, 2, _AT, _ONE), id="no such dimension"),
        pytest.param((_SIX, 2**70, _AT, _ONE), id="no dimension at all"),
        pytest.param((_SIX, 0.0, _AT, _ONE), id="a dimension that is no int"),
        pytest.param((_SIX, np.int64(0), _AT, _ONE), id="a dimension of NumPy"),
        pytest.param((_SIX, 0, _AT, 1.0), id="a number of Python"),
        pytest.param((np.array(1.0), 0, np.array(0), np.array(2.0)), id="no dimensions"),
        pytest.param((_SIX.astype("M8[s]"), 0, _AT, _ONE.astype("M8[s]")), id="dates"),
        pytest.param((_SIX.astype("g"), 0, _AT, _ONE.astype("g")), id="long doubles added"),
        pytest.param((_SIX.astype("e"), 0, _AT, _ONE.astype("e")), id="halves added"),
        pytest.param((_SIX.astype("?"), 0, _AT, _ONE.astype("?")), id="bools added"),
    ],
)
def test_what_does_not_fit_is_left_to_numpy_and_not_written(arguments: tuple[Any, ...]) -> None:
    assert IN_C is not None
    before = arguments[0].tobytes()
    assert not IN_C.fits_along(*arguments, False, True)
    assert arguments[0].tobytes() == before
    if arguments[0].dtype.char not in "ge?":
        # Without that look a store refuses too.
        with pytest.raises(IndexError, match="changed by another thread"):
            IN_C.add_along(*arguments, False)


@in_c
def test_a_wrong_index_is_never_used() -> None:
    assert IN_C is not None
    room = np.zeros(9)
    whole = room[3:6]
    for wrong in (-1, 3, 2**62, -(2**63)):
        index = np.array([0, wrong, 1])
        assert IN_C.take_along(whole, 0, index) is None
        for function in (IN_C.put_along, IN_C.add_along):
            for of_slices in (False, True):
                with pytest.raises(IndexError, match="changed by another thread"):
                    function(whole, 0, index, np.ones(3), of_slices)
    assert room[:3].tolist() == room[6:].tolist() == [0, 0, 0]
    assert room[4] == 0


@in_c
def test_the_number_of_arguments_is_looked_at() -> None:
    assert IN_C is not None
    for name, count in (("take", 3), ("fits", 6), ("put", 5), ("add", 5)):
        with pytest.raises(TypeError, match=f"takes {count} arguments"):
            getattr(IN_C, f"{name}_along")(*[_SIX] * (count - 1))


def _results() -> list[Values]:
    rng = np.random.default_rng(3)
    found = []
    for shape in [(40,), (7, 5), (3, 4, 6)]:
        for dim in range(len(shape)):
            x = vt.tensor(rng.normal(size=shape))
            index = vt.tensor(rng.integers(0, shape[dim], shape))
            found += [x.gather(dim, index), x.scatter_add(dim, index, x.exp())]
            found += [x.scatter(dim, index, x.exp()), x.scatter(dim, index, 2.5)]
            found += [x.scatter(dim, index.int(), x.exp()), x.gather(dim, index.int())]
            row = vt.tensor(rng.integers(0, shape[dim], 1)).expand(shape)
            found += [x.gather(dim, row), x.scatter_add(dim, row, x.exp())]
            vector = vt.tensor(rng.integers(0, shape[dim], shape[dim]))
            found += [x.index_add(dim, vector, x.exp()), x.index_copy(dim, vector, x.exp())]
            few = vt.tensor([0, 1, 0])
            found.append(x.index_add(dim, few, x.exp().narrow(dim, 0, 3)))
    rows = vt.tensor(rng.normal(size=(5, 30)))
    many = vt.tensor(rng.integers(0, 30, 64))
    found.append(rows.index_add(1, many, rows.exp().repeat(1, 3)[:, :64]))
    return [x.numpy() for x in found]


@in_c
def test_the_operators_have_the_same_bits_without_the_loops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_loops = _results()
    for module in (gather_scatter, index_vectors):
        monkeypatch.setattr(module, "NATIVE", False)
    for one, other in zip(with_loops, _results(), strict=True):
        assert one.tobytes() == other.tobytes()
        assert (one.dtype, one.shape, one.strides) == (other.dtype, other.shape, other.strides)


@pytest.mark.parametrize("method", ["scatter", "scatter_", "scatter_add", "scatter_add_"])
@pytest.mark.parametrize("index", [[0, 1], [[0, 1]]])
def test_a_source_without_dimensions_is_not_repeated(method: str, index: list[Any]) -> None:
    at = vt.tensor(index)
    x = vt.zeros((3,) * at.ndim)
    with pytest.raises(vt.errors.ShapeError, match=r"does not fit its source of shape \(\)"):
        getattr(x, method)(0, at, vt.tensor(5.0))
    assert not x.any()
    # One index of a vector takes one element.
    found = getattr(vt.zeros(3), method)(0, vt.tensor([1]), vt.tensor(5.0))
    assert found.tolist() == [0, 5, 0]


@pytest.mark.parametrize("method", ["index_add_", "index_copy_"])
@pytest.mark.parametrize("wrong", [-1, 3])
def test_wrong_indices_of_slices_without_elements_are_refused(method: str, wrong: int) -> None:
    for given in (vt.tensor([0, wrong]), vt.tensor([0, 7, wrong, 7])[::2]):
        for dim, shape, part in (
            (0, (3, 0), (2, 0)),
            (1, (0, 3), (0, 2)),
            (-2, (2, 3, 0), (2, 2, 0)),
        ):
            with pytest.raises(IndexError, match=f"index {wrong} is outside dimension"):
                getattr(vt.zeros(shape), method)(dim, given, vt.zeros(part))


def test_only_elements_at_the_indices_become_stale() -> None:
    writes: list[Callable[[vt.Tensor, vt.Tensor], vt.Tensor]] = [
        lambda y, i: y.scatter_(1, i, vt.ones(2, 2)),
        lambda y, i: y.scatter_(1, i, 1.0),
        lambda y, i: y.scatter_add_(1, i, vt.ones(2, 2)),
    ]
    for write in writes:
        x = vt.ones(2, 3, requires_grad=True)
        y = x * 2
        loss = (y[:, 2].exp() * y[:, 2]).sum() + (y[:, 0] ** 2).sum()
        write(y, vt.tensor([[1, 1], [1, 1]]))
        loss.backward()
        assert x.grad is not None
        assert math.isclose(float(x.grad[0, 2]), 2 * 3 * math.exp(2), rel_tol=1e-6)
        x = vt.ones(2, 3, requires_grad=True)
        y = x * 2
        loss = (y[:, 1] ** 2).sum()
        write(y, vt.tensor([[1, 1], [1, 1]]))
        with pytest.raises(RuntimeError, match="scatter"):
            loss.backward()
