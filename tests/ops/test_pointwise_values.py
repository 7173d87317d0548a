"""Values of elementwise kernels, worked by hand, the odd cases above all."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.pointwise import arr, quiet
from vtgrad.errors import DTypeError, NotSupportedError, ShapeError
from vtgrad.ops.kernels import (
    arithmetic,
    comparison,
    complex_numbers,
    copying,
    creation,
    elementary,
    logic,
)
from vtgrad.ops.kernels.elementary.transcendental import log1p
from vtgrad.storage.arrays import Array, Number

INF, NAN = math.inf, math.nan

UNARY: list[tuple[Callable[..., Array], float, float]] = [
    (elementary.exp, 0.5, math.exp(0.5)),
    (elementary.exp2, 3.0, 8.0),
    (elementary.expm1, 1e-12, 1.0000000000005e-12),
    (elementary.log, math.e, 1.0),
    (elementary.log2, 8.0, 3.0),
    (elementary.log10, 1000.0, 3.0),
    (elementary.log1p, 1e-12, 9.999999999995e-13),
    (elementary.sin, math.pi / 6, 0.5),
    (elementary.cos, math.pi / 3, 0.5),
    (elementary.tan, math.pi / 4, 1.0),
    (elementary.asin, 0.5, math.pi / 6),
    (elementary.acos, 0.5, math.pi / 3),
    (elementary.atan, 1.0, math.pi / 4),
    (elementary.sinh, 1.0, math.sinh(1.0)),
    (elementary.cosh, 1.0, math.cosh(1.0)),
    (elementary.tanh, 1.0, math.tanh(1.0)),
    (elementary.sigmoid, 0.0, 0.5),
    (elementary.sigmoid, math.log(3.0), 0.75),
    (arithmetic.sqrt, 6.25, 2.5),
    (arithmetic.rsqrt, 6.25, 0.4),
    (arithmetic.reciprocal, 8.0, 0.125),
    (arithmetic.square, -3.0, 9.0),
    (arithmetic.abs, -2.5, 2.5),
    (arithmetic.neg, 2.5, -2.5),
    (arithmetic.sign, -2.5, -1.0),
    (elementary.floor, -1.5, -2.0),
    (elementary.ceil, -1.5, -1.0),
    (elementary.trunc, -1.5, -1.0),
    (elementary.frac, -1.5, -0.5),
    (elementary.round, 2.5, 2.0),
    (comparison.relu, -2.5, 0.0),
    (comparison.relu, 2.5, 2.5),
]


@pytest.mark.parametrize(
    ("kernel", "x", "y"), UNARY, ids=[f"{k.__name__}({x:.3g})" for k, x, _ in UNARY]
)
def test_functions_of_one_value(kernel: Callable[..., Array], x: float, y: float) -> None:
    source = arr([[x, x]])
    result = kernel(source)
    np.testing.assert_allclose(result, [[y, y]], rtol=1e-14)
    assert not np.shares_memory(result, source)
    # The strided way and the way into a given array.
    np.testing.assert_allclose(kernel(np.full((2, 4), x).T[::2]), np.full((2, 2), y), rtol=1e-14)
    target = arr([[0.0, 0.0]])
    assert kernel(source, out=target) is target
    np.testing.assert_allclose(target, [[y, y]], rtol=1e-14)
    np.testing.assert_allclose(kernel(arr([x], "float32")), [y], rtol=3e-6)
    assert source.tolist() == [[x, x]]


def test_sigmoid_reaches_its_limits_without_nan() -> None:
    x = arr([-1000.0, 1000.0, -INF, INF, NAN])
    np.testing.assert_array_equal(quiet(elementary.sigmoid, x), [0.0, 1.0, 0.0, 1.0, NAN])


def test_sign_of_nan_is_zero() -> None:
    assert quiet(arithmetic.sign, arr([NAN, -0.0, INF])).tolist() == [0.0, 0.0, 1.0]
    assert arithmetic.sign(arr([True, False], "bool")).tolist() == [True, False]


def test_sgn_of_complex_has_length_one() -> None:
    z = arr([3 + 4j, 0, -2j], "complex128")
    np.testing.assert_allclose(arithmetic.sgn(z), [0.6 + 0.8j, 0, -1j], rtol=1e-15)
    assert arithmetic.sgn(arr([-3.0, 0.0])).tolist() == [-1.0, 0.0]


def test_absolute_value_of_complex_is_real() -> None:
    result = arithmetic.abs(arr([3 + 4j], "complex64"))
    assert result.dtype == np.float32
    assert result.tolist() == [5.0]


def test_logarithms_beside_one_are_exact_for_complex_values_too() -> None:
    z = np.array([1e-19 + 1e-18j, 1e-8 + 1e-8j, -1e-17 + 3e-9j, 0.3 - 0.2j, 2 + 1j, -1, 0, np.inf])
    with np.errstate(all="ignore"):
        found, plain = log1p(z), np.log1p(z)
    # The first terms of the series.
    assert found[:3].real.tolist() == pytest.approx([1e-19, 1e-8, -5.5e-18], rel=1e-7)
    np.testing.assert_allclose(found[3:], plain[3:], rtol=1e-14)
    np.testing.assert_array_equal(found.imag, plain.imag)
    with np.errstate(all="ignore"):
        assert log1p(z, out=z) is z
    np.testing.assert_array_equal(z, found)


def test_integers_are_rounded_already() -> None:
    x = arr([3, -4], "int8")
    for kernel in (elementary.floor, elementary.ceil, elementary.trunc, elementary.round):
        result = kernel(x)
        assert result.dtype == np.int8
        assert result.tolist() == [3, -4]
        assert not np.shares_memory(result, x)


def test_round_keeps_decimals() -> None:
    x = arr([1234.5678])
    assert elementary.round(x, decimals=2).tolist() == [1234.57]
    assert elementary.round(x, decimals=-2).tolist() == [1200.0]


# -- division -------------------------------------------------------------------------------


def test_the_two_roundings_of_integer_quotients() -> None:
    a, b = arr([7, -7, 7, -7, 6], "int64"), arr([2, 2, -2, -2, -3], "int64")
    assert arithmetic.div(a, b, rounding_mode="floor").tolist() == [3, -4, -4, 3, -2]
    assert arithmetic.floor_divide(a, b).tolist() == [3, -4, -4, 3, -2]
    assert arithmetic.div(a, b, rounding_mode="trunc").tolist() == [3, -3, -3, 3, -2]
    assert arithmetic.remainder(a, b).tolist() == [1, 1, -1, -1, 0]
    assert arithmetic.fmod(a, b).tolist() == [1, -1, 1, -1, 0]
    unsigned = arithmetic.div(arr([255], "uint8"), 10, rounding_mode="trunc")
    assert unsigned.dtype == np.uint8
    assert unsigned.tolist() == [25]


def test_the_two_roundings_of_floating_quotients() -> None:
    a, b = arr([7.0, -7.0, 7.0]), arr([2.0, 2.0, -2.0])
    assert arithmetic.div(a, b, rounding_mode="floor").tolist() == [3.0, -4.0, -4.0]
    assert arithmetic.div(a, b, rounding_mode="trunc").tolist() == [3.0, -3.0, -3.0]
    assert arithmetic.remainder(a, b).tolist() == [1.0, 1.0, -1.0]
    assert arithmetic.fmod(a, b).tolist() == [1.0, -1.0, 1.0]


def test_what_remains_of_an_exact_division_has_the_sign_of_the_dividend() -> None:
    signs = np.signbit(arithmetic.remainder(arr([-3.0, 3.0]), arr([3.0, -3.0])))
    assert signs.tolist() == [True, False]


def test_floating_division_by_zero() -> None:
    x = arr([1.0, -1.0, 0.0])
    np.testing.assert_array_equal(quiet(arithmetic.div, x, 0.0), [INF, -INF, NAN])
    np.testing.assert_array_equal(quiet(arithmetic.floor_divide, x, 0.0), [INF, -INF, NAN])
    np.testing.assert_array_equal(quiet(arithmetic.div, arr([1], "int64"), 0), [INF])


@pytest.mark.parametrize("divisor", [0, arr(0, "int64"), arr([3, 0], "int64")])
def test_integer_division_by_zero_raises(divisor: Array | Number) -> None:
    x = arr([4, 5], "int64")
    for kernel in (arithmetic.floor_divide, arithmetic.remainder, arithmetic.fmod):
        with pytest.raises(DTypeError, match="zero"):
            kernel(x, divisor)
    with pytest.raises(DTypeError, match="zero"):
        arithmetic.div(x, divisor, rounding_mode="trunc")


def test_without_elements_nothing_is_divided_by_zero() -> None:
    assert arithmetic.floor_divide(np.zeros(0, np.int64), 0).shape == (0,)


def test_an_unknown_rounding_mode_is_refused() -> None:
    with pytest.raises(DTypeError, match="rounding_mode"):
        arithmetic.div(arr([1.0]), 2.0, rounding_mode="up")


# -- powers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exponent", "expected"),
    [
        (0, [1.0, 1.0]),
        (1, [4.0, 0.25]),
        (2, [16.0, 0.0625]),
        (3, [64.0, 0.015625]),
        (4, [256.0, 0.00390625]),
        (-1, [0.25, 4.0]),
        (-2, [0.0625, 16.0]),
        (0.5, [2.0, 0.5]),
        (-0.5, [0.5, 2.0]),
        (1.5, [8.0, 0.125]),
    ],
)
def test_powers_by_a_number(exponent: float, expected: list[float]) -> None:
    x = arr([4.0, 0.25])
    result = arithmetic.pow(x, exponent)
    assert result.tolist() == expected
    assert not np.shares_memory(result, x)
    assert arithmetic.pow(x, arr(exponent)).tolist() == expected


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_repeated_exponent_of_one_half_is_no_root(dtype: str) -> None:
    x, half = arr([[-0.0, -math.inf], [0.0, 4.0]], dtype), arr(0.5, dtype)
    for shape in [(), (2, 1), (2, 2)]:
        found = quiet(arithmetic.pow, x, np.broadcast_to(half, shape))
        assert found.tolist() == [[0.0, math.inf], [0.0, 2.0]]
        assert not np.signbit(found).any()
    # A number is one, but for float16.
    assert bool(np.signbit(quiet(arithmetic.pow, x, 0.5))[0, 0]) is (dtype != "float16")


def test_integer_powers() -> None:
    x = arr([3, -2], "int64")
    assert arithmetic.pow(x, 3).tolist() == [27, -8]
    assert arithmetic.pow(2, arr([0, 5], "int64")).tolist() == [1, 32]
    assert arithmetic.pow(arr([3], "int8"), arr([10], "int8")).tolist() == [-87]
    with pytest.raises(DTypeError, match="-1"):
        arithmetic.pow(x, -1)


def test_negative_integer_powers_in_an_array_are_cut_off() -> None:
    base, exponent = arr([1, -1, -1, 2, 0], "int64"), arr([-1, -1, -2, -1, -1], "int64")
    assert arithmetic.pow(base, exponent).tolist() == [1, -1, 1, 0, 0]
    assert arithmetic.pow(2, arr([-1, 2], "int64")).tolist() == [0, 4]


def test_roots_of_negative_values_are_nan() -> None:
    assert np.isnan(quiet(arithmetic.pow, arr([-8.0]), 1 / 3)).tolist() == [True]
    assert np.isnan(quiet(arithmetic.sqrt, arr([-1.0]))).tolist() == [True]
    assert np.isnan(quiet(arithmetic.pow, arr([-INF]), 0.5)).tolist() == [True]


# -- comparison and choice ------------------------------------------------------------------


def test_comparisons() -> None:
    a, b = arr([1.0, 2.0, 3.0, NAN]), arr([2.0, 2.0, 2.0, NAN])
    assert comparison.eq(a, b).tolist() == [False, True, False, False]
    assert comparison.ne(a, b).tolist() == [True, False, True, True]
    assert comparison.lt(a, b).tolist() == [True, False, False, False]
    assert comparison.le(a, b).tolist() == [True, True, False, False]
    assert comparison.gt(a, b).tolist() == [False, False, True, False]
    assert comparison.ge(a, 2).tolist() == [False, True, True, False]
    written = np.full(4, 7.0)
    assert comparison.ge(a, 2, out=written) is written
    assert written.tolist() == [0.0, 1.0, 1.0, 0.0]


def test_nan_wins_among_extremes() -> None:
    a, b = arr([1.0, NAN, 3.0]), arr([2.0, 2.0, NAN])
    np.testing.assert_array_equal(comparison.maximum(a, b), [2.0, NAN, NAN])
    np.testing.assert_array_equal(comparison.minimum(a, b), [1.0, NAN, NAN])
    assert comparison.maximum(arr([True], "bool"), arr([False], "bool")).tolist() == [True]


def test_clamp_by_numbers_arrays_and_one_bound() -> None:
    x = arr([-2.0, 0.5, 3.0])
    assert comparison.clamp(x, 0, 1).tolist() == [0.0, 0.5, 1.0]
    assert comparison.clamp(x, min=0.0).tolist() == [0.0, 0.5, 3.0]
    assert comparison.clamp(x, max=1).tolist() == [-2.0, 0.5, 1.0]
    assert comparison.clamp(x, arr([-1.0, 1.0, 0.0]), arr(2.0)).tolist() == [-1.0, 1.0, 2.0]
    assert comparison.clamp(x, 3, 1).tolist() == [1.0, 1.0, 1.0]
    np.testing.assert_array_equal(comparison.clamp(arr([NAN]), 0, 1), [NAN])
    np.testing.assert_array_equal(comparison.clamp(x, NAN), [NAN] * 3)
    assert comparison.clamp(arr([0, 5], "int64"), 1, 2.5).tolist() == [1.0, 2.5]
    with pytest.raises(DTypeError, match="min"):
        comparison.clamp(x)


def test_clamp_takes_bool_values_with_one_array_only() -> None:
    x = arr([True, False], "bool")
    assert comparison.clamp(x, max=arr([False, False], "bool")).tolist() == [False, False]
    with pytest.raises(NotSupportedError):
        comparison.clamp(x, x, x)
    with pytest.raises(NotSupportedError):
        comparison.clamp(x, False, True)


def test_where_chooses_and_broadcasts() -> None:
    condition = arr([[True], [False]], "bool")
    result = comparison.where(condition, arr([1.0, 2.0]), 0)
    assert result.tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert comparison.where(arr([True, False], "bool"), 1, 2).dtype == np.int64
    with pytest.raises(DTypeError, match="bool"):
        comparison.where(arr([1], "int64"), 1, 2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_where_beside_zero_is_exact_for_large_arrays_too(dtype: str) -> None:
    # Large enough for the way without branches, which works on the bits of the values.
    x = np.tile(arr([1.5, NAN, INF, -2.0], dtype), 5000)
    keep = np.tile(arr([True, False, False, False], "bool"), 5000)
    for result, value in (
        (comparison.where(keep, x, 0), 1.5),
        (comparison.where(~keep, 0, x), 1.5),
    ):
        assert result.dtype == dtype
        assert result[keep].tolist() == [value] * 5000
        assert result[~keep].tolist() == [0.0] * 15000
        assert not np.signbit(result).any()
    one = np.broadcast_to(arr(INF, dtype), x.shape)
    assert comparison.where(keep, one, 0).tolist() == [INF, 0.0, 0.0, 0.0] * 5000
    np.testing.assert_array_equal(comparison.where(~keep, x, 0)[:4], [0.0, NAN, INF, -2.0])


def test_tests_of_values() -> None:
    x = arr([1.0, NAN, -INF])
    assert comparison.isnan(x).tolist() == [False, True, False]
    assert comparison.isinf(x).tolist() == [False, False, True]
    assert comparison.isfinite(x).tolist() == [True, False, False]
    assert comparison.isnan(arr([1], "int64")).tolist() == [False]
    assert comparison.isinf(arr([complex(1, INF)], "complex128")).tolist() == [True]


# -- bits and truth -------------------------------------------------------------------------


def test_bit_operators() -> None:
    a = arr([0b1100, -1], "int64")
    assert logic.bitwise_and(a, 0b1010).tolist() == [0b1000, 0b1010]
    assert logic.bitwise_or(a, 0b1010).tolist() == [0b1110, -1]
    assert logic.bitwise_xor(a, 0b1010).tolist() == [0b0110, -11]
    assert logic.bitwise_not(a).tolist() == [-13, 0]
    assert logic.bitwise_not(arr([True], "bool")).tolist() == [False]


def test_shifts_past_the_last_bit() -> None:
    x = arr([1, -5], "int8")
    assert logic.bitwise_left_shift(x, 2).tolist() == [4, -20]
    assert logic.bitwise_left_shift(x, 9).tolist() == [0, 0]
    assert logic.bitwise_left_shift(x, -1).tolist() == [0, 0]
    assert logic.bitwise_right_shift(x, 1).tolist() == [0, -3]
    assert logic.bitwise_right_shift(x, 9).tolist() == [0, -1]


def test_every_value_but_zero_is_true() -> None:
    a, b = arr([0.0, 1e-300, NAN]), arr([1 + 0j, 1j, 0], "complex64")
    assert logic.logical_and(a, b).tolist() == [False, True, False]
    assert logic.logical_or(a, b).tolist() == [True, True, True]
    assert logic.logical_xor(a, b).tolist() == [True, False, True]
    assert logic.logical_not(a).tolist() == [True, False, False]


# -- combinations and casts -----------------------------------------------------------------


def test_lerp_meets_both_ends() -> None:
    a, b = arr([0.1, 1.0]), arr([0.3, 3.0])
    assert arithmetic.lerp(a, b, 0.0).tolist() == [0.1, 1.0]
    assert arithmetic.lerp(a, b, 1.0).tolist() == [0.3, 3.0]
    assert arithmetic.lerp(a, b, 0.25)[1] == 1.5
    assert arithmetic.lerp(a, b, arr([0.0, 0.5])).tolist() == [0.1, 2.0]
    assert arithmetic.lerp(a, b, arr([[0.0], [1.0]])).tolist() == [[0.1, 1.0], [0.3, 3.0]]


def test_scaled_products_and_quotients() -> None:
    a, b, c = arr([1.0, 2.0]), arr([3.0, 4.0]), arr([2.0, 8.0])
    assert arithmetic.addcmul(a, b, c, value=2).tolist() == [13.0, 66.0]
    assert arithmetic.addcdiv(a, b, c, value=2).tolist() == [4.0, 3.0]
    assert arithmetic.addcmul(a, b, arr([[1.0], [0.0]])).shape == (2, 2)
    target = arr([1.0, 2.0])
    arithmetic.addcmul(target, b, target, out=target)
    assert target.tolist() == [4.0, 10.0]


def test_conj_of_real_values_is_the_same_array() -> None:
    x, z = arr([1.0]), arr([1 + 2j], "complex128")
    assert complex_numbers.conj(x) is x
    assert complex_numbers.conj(z).tolist() == [1 - 2j]
    copied = complex_numbers.conj_physical(x)
    assert copied.tolist() == [1.0]
    assert not np.shares_memory(copied, x)


@pytest.mark.parametrize(
    "function", [vt.add, vt.mul, vt.div, vt.pow, vt.float_power, vt.maximum, vt.gt, vt.atan2]
)
def test_shapes_that_do_not_broadcast_are_named(function: Callable[..., object]) -> None:
    for first, second in ((vt.ones(2, 3), vt.ones(2)), (vt.ones(3, 2).t(), vt.ones(2, 1, 2))):
        with pytest.raises(ShapeError, match=r"do not broadcast: sizes [23] and [23] meet"):
            function(first, second)


def test_sum_to_size_undoes_broadcasting() -> None:
    g = arr([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert copying.sum_to_size(g, (2, 3)) is g
    assert copying.sum_to_size(g, (3,)).tolist() == [5.0, 7.0, 9.0]
    assert copying.sum_to_size(g, (2, 1)).tolist() == [[6.0], [15.0]]
    assert copying.sum_to_size(g, (1, 3)).tolist() == [[5.0, 7.0, 9.0]]
    assert copying.sum_to_size(g, ()).tolist() == 21.0
    half = copying.sum_to_size(np.ones((3000, 1), np.float16), (1,))
    assert half.dtype == np.float16
    assert half.tolist() == [3000.0]
    for size in ((2,), (4,), (1, 2, 3)):
        with pytest.raises(ShapeError, match="summed"):
            copying.sum_to_size(g, size)


def test_long_sums_of_broadcast_gradients_do_not_stall() -> None:
    ones = np.ones((2**25, 1), np.float32)
    assert copying.sum_to_size(ones, (1,)).tolist() == [2.0**25]
    assert copying.sum_to_size(np.ones((5000, 2)), (1, 2)).tolist() == [[5000.0, 5000.0]]


def test_constant_arrays_keep_memory_order() -> None:
    x = np.zeros((2, 3), np.float32).T
    zeros, ones = creation.zeros_like(x), creation.ones_like(x, dtype=np.dtype(np.int64))
    assert zeros.strides == (4, 12)
    assert zeros.tolist() == [[0.0, 0.0]] * 3
    assert ones.strides == (8, 24)
    assert ones.tolist() == [[1, 1]] * 3


def test_results_may_overwrite_an_operand() -> None:
    x = arr([1.0, 2.0, 3.0])
    arithmetic.mul(x, x, out=x)
    assert x.tolist() == [1.0, 4.0, 9.0]
    arithmetic.add(x, 1, out=x)
    assert x.tolist() == [2.0, 5.0, 10.0]
    arithmetic.remainder(x, 3, out=x)
    assert x.tolist() == [2.0, 2.0, 1.0]
    single = arr([0.0, 0.0, 0.0], "float32")
    arithmetic.add(x, arr([0.5, 0.5, 0.5]), out=single)
    assert single.tolist() == [2.5, 2.5, 1.5]
    comparison.where(arr([True, False, True], "bool"), x, 9.0, out=x)
    assert x.tolist() == [2.0, 9.0, 1.0]
