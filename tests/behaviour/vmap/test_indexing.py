"""Indices of samples, and indices that are the same for all."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import ramp, vt

vmap: Any = vt.vmap

C = ramp(4, 3)
I = vt.tensor([0, 2])  # noqa: E741
J = vt.tensor([[0, 1], [2, 2]])

BY_BOTH: list[Any] = [
    lambda a, i, j: a[i],
    lambda a, i, j: a[j],
    lambda a, i, j: a[i, 1:],
    lambda a, i, j: a[1:, i],
    lambda a, i, j: a[:, j],
    lambda a, i, j: a[i, i],
    lambda a, i, j: a[j, i],
    lambda a, i, j: a[j, :, None],
    lambda a, i, j: a[..., j],
    lambda a, i, j: a[None, j],
    lambda a, i, j: a[i, [0, 2]],
    lambda a, i, j: a[vt.tensor([0, 1]), j],
    lambda a, i, j: a[0, j],
    lambda a, i, j: a[-1:, j],
    lambda a, i, j: a.take(j),
    lambda a, i, j: a.gather(1, j.expand(3, 2)),
    lambda a, i, j: a.index_select(1, j),
    lambda a, i, j: vt.take_along_dim(a, j[None], 1),
    lambda a, i, j: a[j - 3],
    lambda a, i, j: C[i],
    lambda a, i, j: C[j],
    lambda a, i, j: C[i, 1],
    lambda a, i, j: C[:, i],
    lambda a, i, j: C[0, i],
    lambda a, i, j: C[i, i],
    lambda a, i, j: C[j, j],
    lambda a, i, j: C[i, :, None],
    lambda a, i, j: C[1:, [0, 2]][i],
    lambda a, i, j: C.index_select(0, j),
    lambda a, i, j: C.take(j),
]


@pytest.mark.parametrize("function", BY_BOTH)
def test_an_index_of_samples_picks_in_each(function: Any) -> None:
    a = ramp(2, 3, 3)
    expected = vt.stack([function(a[nr], I[nr], J[nr]) for nr in range(2)])
    assert vmap(function)(a, I, J).tolist() == expected.tolist()


def test_literal_numbers() -> None:
    x = ramp(2, 3)
    assert vmap(lambda a, i: a[i])(x, I).tolist() == [1, 6]
    assert vmap(lambda a, i: a[i])(x, J).tolist() == [[1, 2], [6, 6]]
    assert vmap(lambda i: C[i])(I).tolist() == [[1, 2, 3], [7, 8, 9]]
    assert vmap(lambda a: a[[0, 2]])(x).tolist() == [[1, 3], [4, 6]]
    assert vmap(lambda a: a[1:])(x).tolist() == [[2, 3], [5, 6]]


@pytest.mark.filterwarnings("ignore")
def test_a_list_that_holds_samples_is_read_as_always() -> None:
    assert vmap(lambda i: C[[i]])(I).tolist() == [[1, 2, 3], [7, 8, 9]]
    assert vmap(lambda i: C[[i[0], i[1]]])(J).tolist() == [2, 9]


def test_levels_of_an_index_and_of_what_is_indexed() -> None:
    found = vmap(lambda i: vmap(lambda a: a[i])(ramp(2, 3)))(I)
    assert found.tolist() == [[1, 4], [3, 6]]
    found = vmap(lambda a: vmap(lambda i: a[i])(I))(ramp(2, 3))
    assert found.tolist() == [[1, 3], [4, 6]]
