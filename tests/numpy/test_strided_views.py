"""Windows that slide, and views with any strides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad.numpy as vnp
from tests.numpy.calls_by_namespace import Call, by_numpys_name, compare_call
from tests.numpy.derivatives import check_derivatives
from tests.numpy.support import array, values

TABLE = np.arange(12.0).reshape(3, 4)

WINDOWS: dict[str, Call] = {
    "vector": lambda np, a: np.lib.stride_tricks.sliding_window_view(a([1.0, 2, 3, 4]), 2),
    "all axes": lambda np, a: np.lib.stride_tricks.sliding_window_view(a(TABLE), (2, 3)),
    "axis": lambda np, a: np.lib.stride_tricks.sliding_window_view(a(TABLE), 3, axis=1),
    "axes": lambda np, a: np.lib.stride_tricks.sliding_window_view(a(TABLE), (2, 2), (-1, 0)),
    "twice": lambda np, a: np.lib.stride_tricks.sliding_window_view(a(TABLE), (2, 2), (1, 1)),
    "whole": lambda np, a: np.lib.stride_tricks.sliding_window_view(a(TABLE), 3, 0),
    "zero": lambda np, a: np.lib.stride_tricks.sliding_window_view(a(TABLE), 0, 0),
    "turned": lambda np, a: np.lib.stride_tricks.sliding_window_view(a(TABLE).T[::2], 2, 0),
    "large": lambda np, a: np.lib.stride_tricks.sliding_window_view(a(TABLE), 5, 1),
    "negative": lambda np, a: np.lib.stride_tricks.sliding_window_view(a(TABLE), -1, 1),
    "few": lambda np, a: np.lib.stride_tricks.sliding_window_view(a(TABLE), 2),
    "no axis": lambda np, a: np.lib.stride_tricks.sliding_window_view(a(TABLE), 2, 2),
    "list": lambda np, a: np.lib.stride_tricks.sliding_window_view([a(1.0), 2.0], 2),
    "number": lambda np, a: np.lib.stride_tricks.sliding_window_view(a(1.0), ()),
}

STRIDES: dict[str, Call] = {
    "same": lambda np, a: np.lib.stride_tricks.as_strided(a(TABLE)),
    "overlap": lambda np, a: np.lib.stride_tricks.as_strided(a(TABLE)[0], (3, 2), (8, 8)),
    "repeated": lambda np, a: np.lib.stride_tricks.as_strided(a(TABLE)[1], (2, 4), (0, 8)),
    "turned": lambda np, a: np.lib.stride_tricks.as_strided(a(TABLE), (4, 3), (8, 32)),
    "offset": lambda np, a: np.lib.stride_tricks.as_strided(a(TABLE)[1:, 2:], (2, 2), (8, 32)),
    "shape": lambda np, a: np.lib.stride_tricks.as_strided(a(TABLE), (2, 2)),
    "strides": lambda np, a: np.lib.stride_tricks.as_strided(a(TABLE), strides=(8, 8)),
    "none": lambda np, a: np.lib.stride_tricks.as_strided(a(TABLE), (0, 2)),
    "single": lambda np, a: np.lib.stride_tricks.as_strided(a(np.ones(4, "f")), (2,), (8,)),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name: str) -> None:
    compare_call(WINDOWS[name], name)
    if name != "list":
        by_numpys_name(WINDOWS[name], name)


@pytest.mark.parametrize("name", STRIDES)
def test_strides(name: str) -> None:
    compare_call(STRIDES[name], name)


def test_what_is_refused() -> None:
    x: Any = array(TABLE)
    strided = vnp.lib.stride_tricks.as_strided
    for strides in ((-8,), (4,)):
        with pytest.raises(NotImplementedError, match="as_strided"):
            strided(x, (2,), strides)
    with pytest.raises((ValueError, RuntimeError)):
        strided(x, (20,), (8,))
    with pytest.raises(ValueError, match="strides"):
        strided(x, (2,), (8, 8))


def test_writes() -> None:
    x = array(values("d", (4,)))
    window = vnp.lib.stride_tricks.sliding_window_view(x, 2)
    with pytest.raises((ValueError, RuntimeError)):
        window[0] = 1
    x[1] = 9
    assert window[0, 1] == window[1, 0] == 9
    vnp.lib.stride_tricks.sliding_window_view(x, 2, writeable=True)[0, 0] = 7
    vnp.lib.stride_tricks.as_strided(x, (2,), (16,))[1] = 5
    assert x[0] == 7
    assert x[2] == 5
    assert not vnp.lib.stride_tricks.as_strided(x, writeable=False).flags.writeable


@pytest.mark.parametrize(
    "function",
    [
        lambda x: vnp.lib.stride_tricks.sliding_window_view(x, (2, 2)) ** 2,
        lambda x: vnp.lib.stride_tricks.sliding_window_view(x, 3, axis=1).sum(-1) ** 2,
    ],
)
def test_derivatives(function: Any) -> None:
    check_derivatives(function, TABLE[:2, :3])


def test_derivatives_of_strides() -> None:
    x = array(TABLE[:2, :3], grad=True)
    found = vnp.lib.stride_tricks.as_strided(x, (2, 3), (8, 8))
    (found * array([[1.0, 10, 100], [1000, 1e4, 1e5]])).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[1, 1010, 10100], [1e5, 0, 0]]
