"""Colours of the columns of sparse matrices."""

import numpy as np
import pytest

from vtgrad.func.sparsity.coloring import color_count, column_colors, transposed
from vtgrad.storage.arrays import Array


def rows_of(matrix: Array) -> tuple[Array, Array]:
    """The pattern of a matrix, by rows."""
    lengths = (matrix != 0).sum(1)
    return np.concatenate([[0], np.cumsum(lengths)]), np.nonzero(matrix)[1]


def colors_of(matrix: Array) -> Array:
    return column_colors(*rows_of(matrix), matrix.shape[1])


def check(matrix: Array, colors: Array) -> None:
    """Columns of one colour have no row in common, and no column without entries has a colour."""
    for color in range(color_count(colors)):
        assert ((matrix[:, colors == color] != 0).sum(1) <= 1).all()
    assert ((colors < 0) == (matrix == 0).all(0)).all()


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_banded_matrix_needs_its_width(width: int) -> None:
    matrix = np.triu(np.tril(np.ones((20, 20)), width - 1))
    colors = colors_of(matrix)
    check(matrix, colors)
    assert colors.tolist() == [column % width for column in range(20)]


def test_full_row_needs_a_colour_for_each_column() -> None:
    matrix = np.eye(6)
    matrix[2] = 1
    assert colors_of(matrix).tolist() == list(range(6))


def test_empty_columns_have_no_colour() -> None:
    matrix = np.zeros((3, 5))
    matrix[:, 1] = 1
    assert colors_of(matrix).tolist() == [-1, 0, -1, -1, -1]
    assert color_count(colors_of(np.zeros((3, 0)))) == 0
    assert color_count(colors_of(np.zeros((0, 3)))) == 0


def test_falling_numbers_of_entries_can_be_better() -> None:
    """In the order of the columns 0 and 3 get one colour, and the path between needs a third."""
    matrix = np.zeros((3, 4))
    matrix[0, [0, 2]] = matrix[1, [2, 3]] = matrix[2, [3, 1]] = 1
    colors = colors_of(matrix)
    check(matrix, colors)
    assert color_count(colors) == 2


@pytest.mark.parametrize("seed", range(20))
def test_random_matrices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 30, 2)
    matrix = (rng.random(shape) < rng.random() / 2).astype(float)
    colors = colors_of(matrix)
    check(matrix, colors)
    assert color_count(colors) >= (matrix != 0).sum(1).max()


def test_transposed_pattern() -> None:
    matrix = (np.random.default_rng(3).random((7, 5)) < 0.4).astype(float)
    indptr, indices = rows_of(matrix)
    starts, rows, order = transposed(indptr, indices, 5)
    wanted = rows_of(matrix.T)
    assert starts.tolist() == wanted[0].tolist()
    assert rows.tolist() == wanted[1].tolist()
    assert indices[order].tolist() == np.sort(indices).tolist()
