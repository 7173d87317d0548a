"""Gradients of views: zero outside, summed where elements repeat, shared where inputs repeat."""

import numpy as np
import pytest

from vtgrad.errors import OutOfRangeError, ShapeError
from vtgrad.ops.kernels import views
from vtgrad.storage.arrays import Array

X: Array = np.arange(6.0).reshape(2, 3)


def test_parts_of_one_dimension() -> None:
    g = np.array([1.0, 2.0])
    assert views.select_backward(g, (2, 3), 1, -1).tolist() == [[0, 0, 1], [0, 0, 2]]
    assert views.slice_backward(g, (5,), 0, -4, None, 2).tolist() == [0, 1, 0, 2, 0]
    assert views.select_scatter(X, g, 1, 0).tolist() == [[1, 1, 2], [2, 4, 5]]
    assert views.slice_scatter(X, X[:1] * 0, 0, 1).tolist() == [[0, 1, 2], [0, 0, 0]]
    assert views.select_backward(np.array(3.0), (2,), 0, 1).tolist() == [0, 3]


def test_diagonals() -> None:
    g = np.array([1.0, 2.0])
    assert views.diagonal_backward(g, (2, 3), 1, 0, 1).tolist() == [[0, 1, 0], [0, 0, 2]]
    assert views.diagonal_scatter(X, g, 0).tolist() == [[1, 1, 2], [3, 2, 5]]
    assert views.diagonal_backward(g[:0], (2, 2), 5, 0, 1).tolist() == [[0, 0], [0, 0]]


def test_windows_add_where_they_share_elements() -> None:
    g = np.array([[1.0, 2.0], [4.0, 8.0], [16.0, 32.0]])
    assert views.unfold_backward(g, (4,), 0, 2, 1).tolist() == [1, 6, 24, 32]
    assert views.unfold_backward(np.ones((2, 2)), (5,), 0, 2, 3).tolist() == [1, 1, 0, 1, 1]
    assert views.unfold_backward(np.array([3.0]), (), 0, 1, 1).tolist() == 3.0


def test_as_strided_sums_repeated_outputs() -> None:
    g = np.array([[1.0, 2.0], [4.0, 8.0]])
    grad = views.as_strided_backward(g, ((3,), (1,), 0), ((2, 2), (1, 1), 0))
    assert grad.tolist() == [1, 6, 8]


def test_as_strided_shares_among_repeated_inputs() -> None:
    grad = views.as_strided_backward(np.array([6.0]), ((3,), (0,), 0), ((1,), (1,), 0))
    assert grad.tolist() == [2, 2, 2]


def test_as_strided_drops_what_lies_outside_the_input() -> None:
    # The input is every second element from 1 on: positions 1 and 3 of a longer storage.
    g = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    grad = views.as_strided_backward(g, ((2,), (2,), 1), ((5,), (1,), 0))
    assert grad.tolist() == [2, 8]


def test_as_strided_without_elements() -> None:
    grad = views.as_strided_backward(np.zeros((0,)), ((2,), (1,), 7), ((0,), (1,), 90))
    assert grad.tolist() == [0, 0]


def test_as_strided_scatter_writes_positions_that_the_input_has() -> None:
    out = views.as_strided_scatter_at(
        np.array([1.0, 2.0]), np.array([9.0, 8.0]), ((2,), (2,), 1), ((2,), (1,), 2)
    )
    assert out.tolist() == [1, 8]


def test_sources_of_another_shape_are_refused() -> None:
    with pytest.raises(ShapeError):
        views.select_scatter(X, X, 0, 0)
    with pytest.raises(ShapeError):
        views.slice_scatter(X, X, 0, 1)
    with pytest.raises(ShapeError):
        views.diagonal_scatter(X, X)
    with pytest.raises(ShapeError):
        views.as_strided_scatter_at(X, X, ((2, 3), (3, 1), 0), ((2,), (1,), 0))
    with pytest.raises(OutOfRangeError):
        views.select_scatter(X, X[0], 0, 2)
    with pytest.raises(OutOfRangeError):
        views.slice_scatter(X[0, 0, ...], X[0, 0, ...], 0, 0)
