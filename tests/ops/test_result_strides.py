"""The memory order of elementwise results."""

import numpy as np
import pytest

from tests.ops.pointwise import strides
from vtgrad.errors import ShapeError
from vtgrad.ops.kernels.arithmetic.basic import add, mul, neg
from vtgrad.ops.kernels.arithmetic.power import pow
from vtgrad.ops.kernels.comparison import isnan, lt, where
from vtgrad.ops.kernels.elementary.rounding import trunc
from vtgrad.ops.kernels.elementary.transcendental import exp
from vtgrad.ops.kernels.logic import logical_or
from vtgrad.ops.kernels.support.result_strides import (
    broadcast_shapes,
    empty_like_elementwise,
    empty_like_preserving,
    empty_strided,
)
from vtgrad.storage.arrays import Array

F = np.dtype(np.float64)


def transposed() -> Array:
    """Shape (3, 2), strides (1, 3)."""
    return np.arange(6.0).reshape(2, 3).T


def test_a_transposed_operand_gives_a_transposed_result() -> None:
    assert strides(neg(transposed())) == (1, 3)
    assert strides(add(transposed(), 2.0)) == (1, 3)


def test_the_first_operand_decides_when_orders_disagree() -> None:
    assert strides(add(transposed(), np.ones((3, 2)))) == (1, 3)
    assert strides(add(np.ones((3, 2)), transposed())) == (2, 1)


def test_a_broadcast_operand_has_no_say_about_its_broadcast_dimension() -> None:
    assert strides(add(np.ones((3, 1)), transposed())) == (1, 3)
    assert strides(add(np.float64(1.0) * np.ones(()), transposed())) == (1, 3)


def test_the_condition_is_the_first_operand_of_where() -> None:
    condition = transposed() > 2
    assert condition.strides == (1, 3)
    assert strides(where(condition, np.ones((3, 2)), np.zeros((3, 2)))) == (1, 3)


def test_a_stepped_operand_gives_a_dense_result() -> None:
    assert strides(neg(np.arange(6.0)[::2])) == (1,)
    assert strides(neg(np.zeros((4, 6))[::2, ::3])) == (2, 1)


def test_an_expanded_operand_gives_a_dense_result() -> None:
    wide = np.broadcast_to(np.zeros((1, 3)), (2, 3))
    assert strides(neg(wide)) == (3, 1)
    assert strides(neg(wide.T)) == (2, 1)


def test_one_value_expanded_decides_nothing() -> None:
    expanded = np.broadcast_to(np.float64(2.0) * np.ones(()), (3, 2))
    assert expanded.strides == (0, 0)
    for result in (mul(expanded, np.ones((3, 2))), mul(expanded, 2.0), add(expanded, expanded)):
        assert strides(result) == (2, 1)
        assert result.flags.owndata
    assert strides(mul(expanded, transposed())) == (1, 3)
    assert strides(where(transposed() > 2, expanded, 0.0)) == (1, 3)


def test_an_operand_that_is_converted_counts_as_its_conversion() -> None:
    whole = np.broadcast_to(np.arange(3), (2, 3))
    column = np.ones((3, 2)).T
    # As an integer it decides nothing about its rows; as a floating value it is row-major.
    assert strides(add(np.broadcast_to(np.arange(3.0), (2, 3)), column)) == (1, 2)
    assert strides(add(whole, column)) == strides(lt(whole, column)) == (3, 1)
    assert strides(logical_or(whole, column)) == (3, 1)
    gaps: Array = np.ndarray((1, 2, 5), np.int64, np.arange(16), 0, (40, 48, 8))
    assert strides(neg(gaps)) == (5, 5, 1)
    assert strides(exp(gaps)) == (10, 5, 1)


@pytest.mark.parametrize("shape", [(3, 2), (3, 1), (1, 2), (1, 1), (2,), (1,), ()], ids=str)
@pytest.mark.parametrize("other", [(3, 2), (3, 1), (1, 2)], ids=str)
def test_quick_results_lie_in_memory_as_the_rules_have_it(
    shape: tuple[int, ...], other: tuple[int, ...]
) -> None:
    value: Array = np.ndarray(shape, F, np.full(1, 2.0), 0, (0,) * len(shape))
    whole = np.arange(1.0, 1.0 + np.prod(other)).reshape(other)
    result_shape = broadcast_shapes(shape, other)
    for y in (whole, np.asfortranarray(whole), np.broadcast_to(whole[:1, :1], other)):
        for operands in ((value, y), (y, value), (value + 0, y)):
            expected = empty_like_elementwise(F, result_shape, *operands)
            result = mul(*operands)
            assert result.strides == expected.strides
            np.testing.assert_array_equal(result, 2 * np.broadcast_to(y, result_shape))


def test_strides_of_dimensions_of_size_one_count_only_in_the_sorted_case() -> None:
    column = np.zeros((3, 1)).T
    assert strides(column) == (1, 1)
    assert strides(neg(column)) == (3, 1)
    assert strides(mul(column, 2.0)) == (1, 1)


def test_unary_results_get_plain_strides_where_a_copy_would_keep_odd_ones() -> None:
    column = np.zeros((3, 1), np.int64).T
    for kernel in (trunc, exp, isnan, lambda x: pow(x, 1), lambda x: pow(x, 0)):
        assert strides(kernel(column)) == (3, 1)
    assert strides(empty_like_preserving(F, column)) == (1, 1)


def test_a_number_in_where_counts_as_a_0d_operand() -> None:
    column = np.zeros((3, 1)).T
    condition = np.ones((3, 1), np.bool_).T
    assert strides(where(condition, column, -3)) == (1, 1)
    assert strides(where(condition, column, column)) == (3, 1)


def test_a_number_to_the_power_of_an_array_is_row_major() -> None:
    assert strides(pow(2.0, transposed())) == (2, 1)
    assert strides(pow(transposed(), transposed())) == (1, 3)


def test_three_operands_of_one_permuted_order_keep_it() -> None:
    a = np.zeros((2, 3, 4)).transpose(2, 0, 1)
    assert strides(empty_like_elementwise(F, a.shape, a, a, a)) == (1, 12, 4)


def test_four_dimensions_with_channels_last_stay_so() -> None:
    a = np.zeros((2, 4, 5, 3)).transpose(0, 3, 1, 2)
    assert strides(empty_like_elementwise(F, a.shape, a, a)) == (60, 1, 15, 3)


def test_preserving_keeps_dense_strides_and_closes_gaps() -> None:
    assert strides(empty_like_preserving(F, transposed())) == (1, 3)
    assert strides(empty_like_preserving(F, np.zeros((4, 6)).T[::2])) == (1, 3)


def test_allocated_arrays_own_their_memory() -> None:
    a = empty_strided(F, (2, 3), (1, 2))
    assert a.flags.owndata
    assert a.flags.writeable
    assert strides(a) == (1, 2)


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    assert broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    with pytest.raises(ShapeError, match=r"\(2, 3\)"):
        add(np.zeros((2, 3)), np.zeros(4))
    with pytest.raises(ShapeError):
        where(np.zeros((2, 3), bool), np.zeros(4), 1.0)
