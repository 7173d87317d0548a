"""Arrays with a margin."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_in_layouts import Call, check_calls, compare_calls
from tests.numpy.support import DTYPES, array, assert_same
from vtgrad.errors import NotSupportedError


def of_mode(mode: str, **options: Any) -> list[Call]:
    widths: tuple[Any, ...] = (1, (2, 1), ((0, 3), (7, 0)), [[1], [2]])

    def call(f: Any, x: Any, width: Any) -> Any:
        return f(x, width, mode, **options)

    return [partial(call, width=width) for width in widths]


CALLS: dict[str, list[Call]] = {
    "constant": [
        *of_mode("constant"),
        *of_mode("constant", constant_values=3),
        *of_mode("constant", constant_values=((1, 2), (3, 4))),
        lambda f, x: f(x, 1),
        lambda f, x: f(x, 0),
        lambda f, x: f(x, {1: 2, 0: (1, 0)}),
        lambda f, x: f(x, {-1: (0, 2)}),
        lambda f, x: f(x, np.array([1, 2]), constant_values=np.array([5, 6])),
        lambda f, x: f(x, -1),
        lambda f, x: f(x, 1.5),
        lambda f, x: f(x, ((1, 1),) * 3),
        lambda f, x: f(x, 1, end_values=3),
        lambda f, x: f(x, 1, nothing=3),
        lambda f, x: f(x, 1, "unknown"),
    ],
    "edge": of_mode("edge"),
    "wrap": of_mode("wrap"),
    "reflect": of_mode("reflect"),
    "symmetric": of_mode("symmetric"),
    "odd reflect": of_mode("reflect", reflect_type="odd"),
    "odd symmetric": of_mode("symmetric", reflect_type="odd"),
    "linear_ramp": [
        *of_mode("linear_ramp"),
        *of_mode("linear_ramp", end_values=((1, 2), (3, 4))),
    ],
    "maximum": [*of_mode("maximum"), *of_mode("maximum", stat_length=2)],
    "minimum": [
        *of_mode("minimum"),
        *of_mode("minimum", stat_length=((1, 2), (2, 1))),
        lambda f, x: f(x, 1, "minimum", stat_length=0),
    ],
    "mean": [*of_mode("mean"), *of_mode("mean", stat_length=(1, 2))],
    "median": [*of_mode("median"), *of_mode("median", stat_length=(2, 1))],
}

# Integers have no derivative, so NumPy pads them.
REAL = [dtype for dtype in DTYPES if dtype not in "FD"]


@pytest.mark.parametrize("mode", CALLS)
def test_calls(mode: str) -> None:
    ordered = mode in ("maximum", "minimum", "median")  # complex numbers are not
    compare_calls("pad", CALLS[mode], [(2, 3)], REAL if ordered else DTYPES)
    compare_calls("pad", CALLS[mode], [(), (0,), (0, 3), (3,), (1, 1), (4, 2)], ["d"])


@pytest.mark.parametrize("mode", CALLS)
def test_derivatives(mode: str) -> None:
    x = np.array([[0.5, 1.25, 3.0], [2.0, 0.875, 1.5]])
    check_calls("pad", CALLS[mode][1:2], x)
    check_calls("pad", CALLS[mode][5:6], x)


def test_constants_are_differentiated() -> None:
    for mode, name in (("constant", "constant_values"), ("linear_ramp", "end_values")):

        def calls(f: Any, c: Any, mode: str = mode, name: str = name) -> Any:
            return [
                f(np.ones((2, 2)), 1, mode, **{name: c}),
                f(np.ones(2), 2, mode, **{name: (c, 2 * c)}),
                f(c * np.ones(2), 1, mode, **{name: c}),
            ]

        check_calls("pad", [calls], np.array(0.75))
    with pytest.raises(NotSupportedError):
        vnp.pad(np.ones(2, int), 1, constant_values=array(0.5, grad=True))


def test_functions() -> None:
    def fill(vector: Any, width: Any, axis: int, options: Any) -> None:
        vector[: width[0]] = options["value"]

    x = np.ones((2, 2))
    assert_same(vnp.pad(array(x), 1, fill, value=7), np.pad(x, 1, fill, value=7))
    with pytest.raises(NotSupportedError, match="function"):
        vnp.pad(array(x, grad=True), 1, fill, value=7)


def test_empty_margins() -> None:
    for grad in (False, True):
        found = vnp.pad(array([1.0, 2.0], grad), 1, "empty")
        assert found[1:-1].tolist() == [1, 2]
        assert found.shape == (4,)


@pytest.mark.parametrize("mode", [mode for mode in CALLS if "odd" not in mode])
def test_special_values(mode: str) -> None:
    rows = np.array([[np.nan, 1.0, 2.0], [0.0, np.inf, -np.inf]])
    compare_calls("pad", CALLS[mode][:1], [(2, 3)], ["d"], numbers=lambda *_: rows)


def test_odd_reflections_of_infinities_stay_where_they_are() -> None:
    x = np.array([1.0, np.inf, 2.0, 3.0])
    for mode in ("reflect", "symmetric"):
        found = vnp.pad(array(x, grad=True), 1, mode, reflect_type="odd")
        assert_same(found, np.pad(x, 1, mode, reflect_type="odd"))


def test_ties_and_zero_gradients() -> None:
    x = array([2.0, 2.0, 1.0], grad=True)
    (grad,) = vt.autograd.grad(vnp.pad(x, (1, 0), "maximum")[0], x)
    assert grad.tolist() == [0.5, 0.5, 0]
    (grad,) = vt.autograd.grad(vnp.pad(x, 1)[0], x)
    assert grad.tolist() == [0, 0, 0]


def test_samples_of_integers() -> None:
    rows = array(np.arange(6).reshape(2, 3))
    for mode in ("constant", "reflect", "maximum"):
        found = vt.vmap(lambda row, mode=mode: vnp.pad(row, 1, mode))(rows)
        assert found.tolist() == [np.pad(row, 1, mode).tolist() for row in rows.numpy()]
    with pytest.raises(NotSupportedError, match="integers"):
        vt.vmap(lambda row: vnp.pad(row, 1, "mean"))(rows)
