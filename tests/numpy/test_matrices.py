"""Matrices with a pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad.numpy as vnp
from tests.numpy.calls_by_namespace import Call, by_numpys_name, compare_call
from tests.numpy.derivatives import check_derivatives
from tests.numpy.support import DTYPES, array, compare, values

OF_SIZES: dict[str, Call] = {
    "eye": lambda np, a: np.eye(3),
    "eye of": lambda np, a: np.eye(2, 3, 1, int, order="F"),
    "eye below": lambda np, a: np.eye(3, k=-1, dtype="D"),
    "eye none": lambda np, a: np.eye(0),
    "eye unsigned": lambda np, a: np.eye(2, dtype=np.uint16),
    "eye error": lambda np, a: np.eye(2.5),
    "eye negative": lambda np, a: np.eye(-1),
    "identity": lambda np, a: np.identity(2),
    "identity of": lambda np, a: np.identity(2, dtype="f"),
    "tri": lambda np, a: np.tri(2, 3),
    "tri of": lambda np, a: np.tri(3, k=-1, dtype=bool),
    "tri error": lambda np, a: np.tri("a"),
}

OF_ARRAYS: dict[str, Any] = {
    "diag": lambda np, x: np.diag(x),
    "diag above": lambda np, x: np.diag(x, 1),
    "diag below": lambda np, x: np.diag(x, -2),
    "diagflat": lambda np, x: np.diagflat(x),
    "diagflat above": lambda np, x: np.diagflat(x, k=1),
    "tril": lambda np, x: np.tril(x),
    "tril above": lambda np, x: np.tril(x, 1),
    "triu": lambda np, x: np.triu(x),
    "triu below": lambda np, x: np.triu(x, k=-1),
    "triu far": lambda np, x: np.triu(x, 5),
    "vander": lambda np, x: np.vander(x),
    "vander of": lambda np, x: np.vander(x, 2),
    "vander up": lambda np, x: np.vander(x, 5, increasing=True),
    "vander one": lambda np, x: np.vander(x, 1),
    "vander none": lambda np, x: np.vander(x, 0),
    "vander fewer": lambda np, x: np.vander(x, -1),
}


@pytest.mark.parametrize("name", OF_SIZES)
def test_of_sizes(name: str) -> None:
    compare_call(OF_SIZES[name], name)


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_of_arrays(name: str) -> None:
    function = OF_ARRAYS[name]
    for dtype in DTYPES:
        tables = [values(dtype, shape) for shape in ((3,), (2, 3), (3, 2, 2), (), (0,), (0, 2))]
        for x in (*tables, tables[1].T, tables[0][::2]):
            what = f"{name} {dtype} {x.shape}"
            for grad in (False, True):
                mine = array(x, grad)
                compare(lambda m=mine: function(vnp, m), lambda x=x: function(np, x), what)  # type: ignore[misc]  # of any kind
            compare(lambda m=mine: function(np, m), lambda x=x: function(np, x), what)  # type: ignore[misc]  # the same


def test_lists_of_tensors() -> None:
    for call in (
        lambda np, a: np.diag([a(1.5), 2]),
        lambda np, a: np.tril([[a(1.5), 2], [3, a(4.0)]]),
        lambda np, a: np.vander([a(1.5), 2]),
        lambda np, a: np.diagflat([[a(1.5)]]),
    ):
        compare_call(call, "")


def test_zeros_in_place_of_what_is_not_finite() -> None:
    for call in (lambda np, a: np.tril(a([[1, np.inf], [np.nan, 2]])),):
        by_numpys_name(call, "tril")
    x = array([[1.0, np.inf], [2.0, np.nan]], grad=True)
    vnp.tril(x, -1).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 0], [1, 0]]


def test_the_diagonal_is_a_view() -> None:
    x = array([[1.0, 2.0], [3.0, 4.0]], grad=True) * 1
    vnp.diag(x)[...] = 7
    assert x.tolist() == [[7, 2], [3, 7]]


@pytest.mark.parametrize("name", [n for n in OF_ARRAYS if n[:6] not in ("diag", "vander")])
def test_derivatives(name: str) -> None:
    if name == "vander fewer":
        return
    x = np.array([[0.5, 1.25, 3.0], [2.0, 0.875, 1.5]])
    check_derivatives(lambda x: OF_ARRAYS[name](vnp, x) ** 2, x)


@pytest.mark.parametrize("function", [vnp.diag, vnp.vander, lambda x: vnp.vander(x, 5, True)])
def test_derivatives_of_vectors(function: Any) -> None:
    for x in ([0.5, 1.25, 3.0], [0.0, 0.0, -2.0]):
        check_derivatives(lambda x: function(x) * function(x), x)
