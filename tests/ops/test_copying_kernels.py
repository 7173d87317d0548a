"""Copies: values, dtypes and memory order of results; arguments that are refused."""

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DimensionError,
    ResultTypeError,
    ShapeError,
)
from vtgrad.ops.kernels import copying, joining, structure
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.storage.arrays import Array

X: Array = np.arange(6.0).reshape(2, 3)


def steps(a: Array) -> tuple[int, ...]:
    return tuple(s // a.itemsize for s in a.strides)


def test_a_clone_of_a_transposed_array_is_transposed_and_contiguous_is_not() -> None:
    assert steps(copying.clone(X.T)) == (1, 3)
    assert steps(copying.contiguous(X.T)) == (2, 1)
    assert copying.clone(X.T).tolist() == X.T.tolist() == copying.contiguous(X.T).tolist()


def test_a_clone_of_a_repeated_row_is_writable_and_dense() -> None:
    copy = copying.clone(np.broadcast_to(X[0], (2, 3)))
    copy[0, 0] = 9.0
    assert steps(copy) == (3, 1)
    assert copy.tolist() == [[9, 1, 2], [0, 1, 2]]


def test_cat_promotes_and_skips_empty_vectors_except_for_their_dtype() -> None:
    joined = joining.cat([np.array([], np.float64), np.ones((1, 3), np.int32)], -2)
    assert joined.tolist() == [[1, 1, 1]]
    assert joined.dtype == np.float64
    assert joining.cat([X, X[:, :1]], 1).tolist() == [[0, 1, 2, 0], [3, 4, 5, 3]]
    assert joining.cat([np.ones(2, np.float32), np.ones(1, np.int64)]).dtype == np.float32


def test_cat_refuses_what_does_not_fit() -> None:
    with pytest.raises(ArgumentValueError):
        joining.cat([])
    with pytest.raises(ShapeError):
        joining.cat([np.array(1.0), np.ones(1)])
    with pytest.raises(ShapeError):
        joining.cat([X, X[:, :2]])
    with pytest.raises(ShapeError):
        joining.cat([X, X[0]])
    with pytest.raises(DimensionError):
        joining.cat([X, X], 2)


def test_stack_puts_the_new_dimension_anywhere() -> None:
    assert joining.stack([X[0], X[1]], -1).tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(ShapeError):
        joining.stack([X, X[0]])
    with pytest.raises(ShapeError):
        joining.stack([])
    with pytest.raises(DimensionError):
        joining.stack([X], 3)


def test_repeat_tiles_and_adds_dimensions_in_front() -> None:
    assert structure.repeat(np.array([1, 2]), (2, 2)).tolist() == [[1, 2, 1, 2], [1, 2, 1, 2]]
    assert structure.repeat(X, (0, 1)).shape == (0, 3)
    assert structure.repeat(np.array(3.0), ()).tolist() == 3.0
    with pytest.raises(ShapeError):
        structure.repeat(X, (2,))
    with pytest.raises(ShapeError):
        structure.repeat(X, (2, -1))


def test_roll_goes_round_in_dimensions_or_in_row_major_order() -> None:
    assert structure.roll(X, 1).tolist() == [[5, 0, 1], [2, 3, 4]]
    assert structure.roll(X, -1, 1).tolist() == [[1, 2, 0], [4, 5, 3]]
    assert structure.roll(X, (1, 1), (0, 1)).tolist() == [[5, 3, 4], [2, 0, 1]]
    assert steps(structure.roll(X.T, 1, 0)) == (2, 1)
    with pytest.raises(ShapeError):
        structure.roll(X, (1, 2))
    with pytest.raises(ShapeError):
        structure.roll(X, ())
    with pytest.raises(DimensionError):
        structure.roll(X, 1, 2)


def test_flip_reverses_each_named_dimension() -> None:
    assert structure.flip(X, (0, -1)).tolist() == [[5, 4, 3], [2, 1, 0]]
    assert structure.flip(X, ()).tolist() == X.tolist()
    assert steps(structure.flip(X.T, 0)) == (1, 3)
    with pytest.raises(ShapeError):
        structure.flip(X, (0, -2))


def test_triangles_are_taken_in_the_last_two_dimensions() -> None:
    assert structure.tril(X, -1).tolist() == [[0, 0, 0], [3, 0, 0]]
    assert structure.triu(X, 1).tolist() == [[0, 1, 2], [0, 0, 5]]
    assert structure.tril(np.ones((2, 2, 2))).tolist() == [[[1, 0], [1, 1]]] * 2
    with pytest.raises(ShapeError):
        structure.triu(X[0])


@pytest.mark.parametrize(
    "result",
    [
        copying.clone(X),
        copying.contiguous(X),
        joining.cat([X]),
        joining.stack([X]),
        structure.repeat(X, (1, 1)),
        structure.roll(X, 0, 0),
        structure.flip(X, ()),
        structure.tril(X, 5),
    ],
)
def test_results_share_no_memory_with_the_input(result: Array) -> None:
    assert not np.shares_memory(result, X)
    assert result.flags.owndata
    assert result.flags.writeable


@pytest.mark.parametrize(
    ("value", "dtype", "stored"),
    [
        (2.9, "int64", 2),
        (-2.9, "int8", -2),
        (-1, "uint8", 255),
        (3, "bool", True),
        (1.5, "complex64", 1.5 + 0j),
        (float("inf"), "float16", float("inf")),
        (2 + 0j, "float32", 2.0),
    ],
)
def test_numbers_are_converted_as_they_are_stored(
    value: complex, dtype: str, stored: complex
) -> None:
    element = as_element(value, np.dtype(dtype))
    assert element.dtype == np.dtype(dtype)
    assert element.item() == stored


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (300, "uint8"),
        (-256, "uint8"),
        (-1.0, "uint8"),
        (200, "int8"),
        (1e30, "int64"),
        (float("nan"), "int32"),
        (1e6, "float16"),
        (1e300, "float32"),
        (1j, "float64"),
        (1e300j, "complex64"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(value: complex, dtype: str) -> None:
    with pytest.raises(ResultTypeError):
        as_element(value, np.dtype(dtype))


def test_the_number_of_a_diagonal_must_be_an_integer() -> None:
    with pytest.raises(ArgumentTypeError):
        structure.tril(X, np.array(True))  # type: ignore[arg-type]  # that is the test
    with pytest.raises(ArgumentTypeError):
        vt.ones(2, 2).tril_(vt.tensor(True))  # type: ignore[arg-type]  # that is the test


def test_counts_may_not_add_up_to_more_than_memory_has() -> None:
    with pytest.raises(ShapeError):
        vt.ones(2).repeat_interleave(vt.tensor(2**62))
    with pytest.raises(ShapeError):
        vt.repeat_interleave(vt.tensor([2**62] * 4))
