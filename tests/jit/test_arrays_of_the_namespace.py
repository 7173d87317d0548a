"""Arrays of `vtgrad.numpy` as arguments of recordings, and the index arrays that it makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

import vtgrad as vt
import vtgrad.numpy as np
from vtgrad.errors import RecordingError

VIEWS: Final[list[Callable[[], np.ndarray]]] = [
    lambda: np.arange(16.0).reshape(4, 4),
    lambda: np.arange(25.0).reshape(5, 5)[1:, ::-1][:, 1:],
    lambda: np.arange(16.0).reshape(4, 4).T,
]


@pytest.mark.parametrize("make", VIEWS)
def test_a_view_of_an_array_is_an_argument(make: Callable[[], np.ndarray]) -> None:
    def slopes(x: np.ndarray) -> np.ndarray:
        assert type(x) is np.ndarray
        found: np.ndarray = vt.func.grad(lambda a: np.sum(a * a * a))(x)
        return found

    fast = vt.jit.replay(slopes)
    for factor in (1.0, 2.0, 3.0):
        x = make()
        x *= factor
        assert fast(x).tolist() == (3 * x * x).tolist()
    assert fast.recordings == 1


@pytest.mark.parametrize("whole", [True, False])
def test_an_array_of_the_closure_that_is_passed_is_refused(whole: bool) -> None:
    weights = np.arange(3.0) if whole else np.arange(5.0)[1:4]

    def program(x: np.ndarray) -> np.ndarray:
        return x * weights

    with pytest.raises(RecordingError, match="its run on other tensors"):
        vt.jit.replay(program)(weights)


INDICES: Final[dict[str, Callable[[np.ndarray], tuple[np.ndarray, ...]]]] = {
    "diag_indices": lambda x: np.diag_indices(4),
    "diag_indices_from": lambda x: np.diag_indices_from(x),
    "unravel_index": lambda x: np.unravel_index([1, 6, 8], (4, 4)),
    "unravel_index of three": lambda x: np.unravel_index([1, 6, 8], (2, 2, 4))[1:],
    "triu_indices": lambda x: np.triu_indices(4, 1),
    "tril_indices_from": lambda x: np.tril_indices_from(x),
    "mask_indices": lambda x: np.mask_indices(4, np.triu),
    "ix_": lambda x: np.ix_([0, 2], [1, 3]),
    "nonzero": lambda x: np.nonzero(np.eye(4)),
}


@pytest.mark.parametrize("name", INDICES)
def test_index_arrays_are_recorded(name: str) -> None:
    def program(x: np.ndarray) -> tuple[np.ndarray, ...]:
        places = INDICES[name](x)
        y = x.copy()
        y[places] *= 10.0
        return y, x[places], *[place + 0 for place in places]

    fast = vt.jit.replay(program)
    fast(np.ones((4, 4)))
    x = np.arange(16.0).reshape(4, 4)
    for found, expected in zip(fast(x), program(x), strict=True):
        assert found.tolist() == expected.tolist()
    assert fast.recordings == 1


def test_an_index_array_that_is_there_twice_is_written_once() -> None:
    def program(x: np.ndarray) -> tuple[np.ndarray, ...]:
        rows, columns = np.diag_indices(3)
        rows += 1
        return rows.copy(), columns.copy(), x[rows, columns]

    fast = vt.jit.replay(program)
    fast(np.ones((4, 4)))
    x = np.arange(16.0).reshape(4, 4)
    rows, columns, values = fast(x)
    assert rows.tolist() == columns.tolist() == [1, 2, 3]
    assert values.tolist() == [5, 10, 15]
