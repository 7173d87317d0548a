"""Axes added, moved, read backward, rolled and cut."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import vtgrad.numpy as vnp
from tests.numpy.calls_in_layouts import Call, check_calls, compare_calls
from tests.numpy.support import DTYPES, array, compare

CALLS: dict[str, list[Call]] = {
    "expand_dims": [
        lambda f, x: f(x, 0),
        lambda f, x: f(x, -1),
        lambda f, x: f(x, (0, 3)),
        lambda f, x: f(x, [1, -1]),
        lambda f, x: f(x, ()),
        lambda f, x: f(x, 4),
        lambda f, x: f(x, (0, 0)),
    ],
    "moveaxis": [
        lambda f, x: f(x, 0, -1),
        lambda f, x: f(x, [0, 1], [-1, -2]),
        lambda f, x: f(x, (1,), (0,)),
        lambda f, x: f(x, 0, 5),
        lambda f, x: f(x, [0, 1], [0]),
        lambda f, x: f(x, [0, 0], [0, 1]),
    ],
    "rollaxis": [
        lambda f, x: f(x, 1),
        lambda f, x: f(x, -1, 1),
        lambda f, x: f(x, 0, 2),
        lambda f, x: f(x, 0, -1),
        lambda f, x: f(x, 0, 4),
        lambda f, x: f(x, 3),
    ],
    "permute_dims": [lambda f, x: f(x), lambda f, x: f(x, (1, 0)), lambda f, x: f(x, (0,))],
    "matrix_transpose": [lambda f, x: f(x), lambda f, x: f(x[None])],
    "atleast_1d": [lambda f, x: f(x), lambda f, x: f(x, x[..., None]), lambda f, x: f()],
    "atleast_2d": [lambda f, x: f(x), lambda f, x: f(x, x[..., None])],
    "atleast_3d": [lambda f, x: f(x), lambda f, x: f(x, x[..., None])],
    "flip": [
        lambda f, x: f(x),
        lambda f, x: f(x, 0),
        lambda f, x: f(x, -1),
        lambda f, x: f(x, (0, 1)),
        lambda f, x: f(x, ()),
        lambda f, x: f(x, axis=2),
    ],
    "fliplr": [lambda f, x: f(x)],
    "flipud": [lambda f, x: f(x)],
    "rot90": [
        lambda f, x: f(x),
        lambda f, x: f(x, 2),
        lambda f, x: f(x, 3),
        lambda f, x: f(x, -4),
        lambda f, x: f(x, 1, (1, 0)),
        lambda f, x: f(x, axes=(0, -1)),
        lambda f, x: f(x, axes=(1, -1)),
        lambda f, x: f(x, axes=(0, 2)),
        lambda f, x: f(x, axes=(0,)),
    ],
    "roll": [
        lambda f, x: f(x, [0.6, 0.6, 0.6]),
        lambda f, x: f(x, 1),
        lambda f, x: f(x, -7),
        lambda f, x: f(x, 1, 0),
        lambda f, x: f(x, (1, 2), (0, 1)),
        lambda f, x: f(x, 2, (0, -1)),
        lambda f, x: f(x, (1, 1), 1),
        lambda f, x: f(x, (1, 2)),
        lambda f, x: f(x, np.array([1, 2]), axis=(0, 1)),
        lambda f, x: f(x, 1, 2),
        lambda f, x: f(x, (1, 2, 3), (0, 1)),
    ],
    "resize": [
        lambda f, x: f(x, (3, 3)),
        lambda f, x: f(x, 4),
        lambda f, x: f(x, (2, 0)),
        lambda f, x: f(x, ()),
        lambda f, x: f(x, (-1, 2)),
    ],
    "trim_zeros": [
        lambda f, x: f(x),
        lambda f, x: f(x, "f"),
        lambda f, x: f(x, "B"),
        lambda f, x: f(x * [[0, 1, 0], [0, 1, 1]]),
        lambda f, x: f(x * [[0, 1, 0], [0, 1, 1]], axis=0),
        lambda f, x: f(x * [[0, 1, 0], [0, 1, 1]], "f", axis=(1,)),
        lambda f, x: f(x * 0),
        lambda f, x: f((x * [[0, 1, 0], [0, 1, 1]])[0]),
        lambda f, x: f(x, axis=()),
        lambda f, x: f(x, "x"),
        lambda f, x: f(x, axis=3),
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    compare_calls(name, CALLS[name], [(2, 3)], DTYPES)
    compare_calls(name, CALLS[name], [(), (0,), (0, 3), (3,), (1, 1), (2, 1, 3)], ["d"])


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(name: str) -> None:
    x = np.array([[0.5, 1.25, 3.0], [2.0, 0.875, 1.5]])
    mapped = name != "trim_zeros"  # how much is cut may differ from sample to sample
    check_calls(name, CALLS[name][:2], x, mapped=mapped)
    if name in ("roll", "rot90", "flip"):
        check_calls(name, CALLS[name][2:5], x)


def test_views_are_views() -> None:
    for grad in (False, True):
        x = array(np.arange(1.0, 7).reshape(2, 3), grad) * 1
        views = (
            vnp.expand_dims(x, 1),
            vnp.moveaxis(x, 0, 1),
            vnp.rollaxis(x, 1),
            vnp.matrix_transpose(x),
            vnp.atleast_3d(x),
            vnp.atleast_1d(x),
            vnp.rot90(x, 4),
            vnp.trim_zeros(x),
        )
        for view in views:
            view[...] = view * 2
        assert x.tolist() == (np.arange(1.0, 7).reshape(2, 3) * 256).tolist()


def test_what_is_read_backward_is_a_view() -> None:
    for grad in (False, True):
        x = array(np.arange(1.0, 7).reshape(2, 3), grad) * 1
        for view in (vnp.flip(x), vnp.fliplr(x), vnp.flipud(x), vnp.rot90(x), vnp.rot90(x, 3)):
            view[0] += 1
            x[1, 2] *= 2
            assert vnp.shares_memory(view, x)
        theirs = np.arange(1.0, 7).reshape(2, 3)
        for other in (np.flip(theirs), np.fliplr(theirs), np.flipud(theirs)):
            other[0] += 1
            theirs[1, 2] *= 2
        for k in (1, 3):
            np.rot90(theirs, k)[0] += 1
            theirs[1, 2] *= 2
        assert x.tolist() == theirs.tolist()


def test_numbers_stay_what_they_are() -> None:
    x = array([1.0, 2.0], grad=True)
    view = vnp.atleast_1d(x[0])
    view[...] = 7
    assert x.tolist() == [1, 2]
    assert vnp.trim_zeros([0, 1, 2, 0]) == [1, 2]
    assert vnp.trim_zeros((0, 0)) == ()
    found: Any = vnp.trim_zeros([0.0, x[1], 0.0])
    assert type(found) is list
    assert found[0].requires_grad


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.0])
def test_special_values(value: float) -> None:
    rows = np.array([[value, 1.0], [2.0, value]])
    for name in ("flip", "roll", "resize", "trim_zeros"):
        compare_calls(name, CALLS[name][:2], [(2, 2)], ["d"], numbers=lambda *_: rows)


def test_one_axis_may_be_a_number() -> None:
    for grad in (False, True):
        x, plain = array([1.0, 2.0], grad), np.array([1.0, 2.0])
        for axes in (0, -1, np.int64(0), 1):
            for name in ("transpose", "permute_dims"):
                mine: Any = getattr(vnp, name)
                theirs: Any = getattr(np, name)
                compare(partial(mine, x, axes), partial(theirs, plain, axes), f"{name} {axes}")
        # Not the shape of no dimension, which one element has.
        with pytest.raises(TypeError, match="reshape"):
            x[:1].reshape()
