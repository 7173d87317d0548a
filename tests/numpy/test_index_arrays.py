"""Indices of triangles and diagonals, positions, iterators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_by_namespace import Call, by_numpys_name, compare_call
from tests.numpy.support import array

CALLS: dict[str, Call] = {
    "tril_indices": lambda np, a: np.tril_indices(3, -1),
    "tril_indices of": lambda np, a: np.tril_indices(2, 1, m=4),
    "triu_indices": lambda np, a: np.triu_indices(3),
    "triu_indices of": lambda np, a: np.triu_indices(3, k=1, m=2),
    "triu_indices error": lambda np, a: np.triu_indices("a"),
    "diag_indices": lambda np, a: np.diag_indices(3, 3),
    "mask_indices": lambda np, a: np.mask_indices(3, np.triu, 1),
    "mask_indices of": lambda np, a: np.mask_indices(2, lambda m, k: m * k, 2),
    "taken": lambda np, a: a([[1.0, 2], [3, 4]])[np.tril_indices(2)],
    "n": lambda np, a: list(np.ndindex(2, 2)),
}
DISPATCHED: dict[str, Call] = {
    "tril_indices_from": lambda np, a: np.tril_indices_from(a([[1.0, 2, 3], [4, 5, 6]]), k=1),
    "tril_indices_from error": lambda np, a: np.tril_indices_from(a([1.0])),
    "triu_indices_from": lambda np, a: np.triu_indices_from(a([[1.0, 2, 3], [4, 5, 6]]), -1),
    "diag_indices_from": lambda np, a: np.diag_indices_from(a([[1.0, 2], [3, 4]])),
    "diag_indices_from error": lambda np, a: np.diag_indices_from(a([[1.0, 2]])),
    "unravel_index": lambda np, a: np.unravel_index(a([1, 5]), (2, 3)),
    "unravel_index one": lambda np, a: np.unravel_index(a(4)[()], (2, 3), order="F"),
    "unravel_index error": lambda np, a: np.unravel_index(a([7]), (2, 3)),
    "unravel_index floats": lambda np, a: np.unravel_index(a([1.0]), (2, 3)),
    "ravel_multi_index": lambda np, a: np.ravel_multi_index((a([0, 1]), a([2, 0])), (2, 3)),
    "ravel_multi_index array": lambda np, a: np.ravel_multi_index(
        a([[0, 1], [2, 4]]), (2, 3), "wrap"
    ),
    "ravel_multi_index one": lambda np, a: np.ravel_multi_index((a(1), 2), (2, 3), order="F"),
    "ravel_multi_index error": lambda np, a: np.ravel_multi_index((a([5]), [2]), (2, 3)),
}


@pytest.mark.parametrize("name", [*CALLS, *DISPATCHED])
def test_calls(name: str) -> None:
    compare_call((CALLS | DISPATCHED)[name], name)


@pytest.mark.parametrize("name", DISPATCHED)
def test_numpys_names(name: str) -> None:
    if "error" not in name:
        by_numpys_name(DISPATCHED[name], name)


def test_elements_with_their_indices() -> None:
    x = array([[1.0, 2.0], [3.0, 4.0]], grad=True)
    total: Any = 0
    for (i, j), element in vnp.ndenumerate(x):
        total = total + (i + 10 * j) * element * element
    total.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 40], [6, 88]]
    for plain in (np.ones((2, 0)), np.array(2.0), np.arange(3)):
        assert [i for i, _ in vnp.ndenumerate(array(plain))] == [
            i for i, _ in np.ndenumerate(plain)
        ]


def test_nditer_is_of_values() -> None:
    x = array([[1.0, 2.0], [3.0, 4.0]])
    elements: Any = vnp.nditer(x, order="F")
    assert [float(v) for v in elements] == [1, 3, 2, 4]
    found = vnp.nditer(x, flags=["multi_index"])
    assert [found.multi_index for _ in found] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [(int(a), int(b)) for a, b in vnp.nditer([x, [1, 2]])][:2] == [(1, 1), (2, 2)]
    with pytest.raises(NotImplementedError, match="ndenumerate"):
        vnp.nditer(array([1.0], grad=True))
    with pytest.raises(NotImplementedError, match="no_grad"):
        vnp.nditer(x, op_flags=["readwrite"])
    with vt.no_grad(), vnp.nditer(x, op_flags=["readwrite"]) as written:
        values: Any = written
        for element in values:
            element[...] = 2 * element
    assert x.tolist() == [[2, 4], [6, 8]]
