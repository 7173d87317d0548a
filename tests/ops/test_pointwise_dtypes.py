"""The dtype of elementwise results, and what numbers become beside arrays."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.ops.pointwise import arr, quiet
from vtgrad.errors import DTypeError, NotSupportedError
from vtgrad.ops.kernels import arithmetic, comparison, elementary, logic
from vtgrad.ops.kernels.arithmetic.basic import add, addcdiv, addcmul, lerp, mul, neg, rsub, sub
from vtgrad.ops.kernels.arithmetic.division import div
from vtgrad.ops.kernels.arithmetic.power import pow
from vtgrad.ops.kernels.comparison import clamp, eq, gt, lt, maximum, where
from vtgrad.ops.kernels.copying.casts import to_dtype
from vtgrad.ops.kernels.elementary.transcendental import atan2, exp
from vtgrad.storage.arrays import Array, Number
from vtgrad.storage.dtypes import dtype_of, get_default_dtype, set_default_dtype

BOTH = [
    ("bool", "bool", "bool"),
    ("bool", "uint8", "uint8"),
    ("uint8", "int8", "int16"),
    ("int32", "int64", "int64"),
    ("int64", "float16", "float16"),
    ("int64", "float32", "float32"),
    ("float16", "float32", "float32"),
    ("float64", "complex64", "complex128"),
    ("float32", "complex64", "complex64"),
    ("int64", "complex64", "complex64"),
]


@pytest.mark.parametrize(("a", "b", "result"), BOTH)
def test_arrays_agree_on_a_dtype_in_either_order(a: str, b: str, result: str) -> None:
    x, y = arr([1, 1], a), arr([1, 1], b)
    assert mul(x, y).dtype == result
    assert mul(y, x).dtype == result
    assert where(arr([True, False], "bool"), x, y).dtype == result


def test_a_0d_array_brings_at_most_its_category() -> None:
    assert mul(arr([1.0], "float32"), arr(2.0, "float64")).dtype == np.float32
    assert mul(arr([1], "int64"), arr(2.5, "float64")).dtype == np.float64
    assert mul(arr([1.0], "float32"), arr(1j, "complex128")).dtype == np.complex64


NUMBERS: list[tuple[str, Number, str]] = [
    ("int8", 2, "int8"),
    ("bool", 2, "int64"),
    ("bool", True, "bool"),
    ("int8", 2.5, "float32"),
    ("float16", 2.5, "float16"),
    ("float64", 2.5, "float64"),
    ("float64", 1j, "complex128"),
    ("int64", 1j, "complex64"),
]


@pytest.mark.parametrize(("dtype", "value", "result"), NUMBERS)
def test_a_number_brings_its_category_in_the_default_dtype(
    dtype: str, value: Number, result: str
) -> None:
    assert mul(arr([1], dtype), value).dtype == result
    assert mul(value, arr([1], dtype)).dtype == result
    assert mul(arr(1, dtype), value).dtype == result


def test_functions_of_integers_are_computed_in_the_default_dtype() -> None:
    assert exp(arr([0, 1], "int64")).dtype == np.float32
    assert div(arr([1], "int64"), arr([4], "int64")).dtype == np.float32
    assert atan2(arr([1], "uint8"), arr([4], "uint8")).dtype == np.float32
    assert exp(arr([0.0], "float16")).dtype == np.float16
    before = get_default_dtype()
    set_default_dtype(dtype_of(np.dtype(np.float64)))
    try:
        assert exp(arr([0, 1], "int64")).dtype == np.float64
        assert div(arr([1], "int64"), 4).tolist() == [0.25]
        assert mul(arr([1], "int64"), 0.5).dtype == np.float64
    finally:
        set_default_dtype(before)


def test_integers_too_large_for_the_dtype_wrap_around() -> None:
    assert add(arr([1], "uint8"), 300).tolist() == [45]
    assert sub(arr([1], "uint8"), 300).tolist() == [213]
    assert mul(arr([1], "uint8"), 300).tolist() == [44]
    assert eq(arr([1], "uint8"), 257).tolist() == [True]
    assert lt(arr([1], "uint8"), -1).tolist() == [True]
    assert add(arr([100], "int8"), arr([100], "int8")).tolist() == [-56]
    with pytest.raises(OverflowError):
        add(arr([1], "int64"), 2**70)


def test_where_a_number_is_a_setting_it_must_be_in_range() -> None:
    x = arr([1], "uint8")
    calls: list[Callable[[], Array]] = [
        lambda: add(x, x, alpha=300),
        lambda: clamp(x, max=300),
        lambda: pow(x, 300),
        lambda: where(arr([True], "bool"), x, 300),
        lambda: where(arr([True], "bool"), arr([1.0], "float32"), 1e300),
    ]
    for refused in calls:
        with pytest.raises(DTypeError, match="range"):
            quiet(refused)
    assert clamp(x, -5).tolist() == [251]


def test_floats_too_large_for_the_dtype_become_infinite() -> None:
    assert quiet(mul, arr([2.0, -2.0], "float32"), 1e300).tolist() == [np.inf, -np.inf]


def test_alpha_must_fit_the_category_of_the_result() -> None:
    i, f, b = arr([3], "int64"), arr([2.5]), arr([True], "bool")
    assert add(f, f, alpha=1.5).tolist() == [6.25]
    assert add(b, b, alpha=2).tolist() == [True]
    assert rsub(f, arr([10.0]), alpha=2).tolist() == [5.0]
    calls: list[Callable[[], Array]] = [
        lambda: add(i, i, alpha=1.5),
        lambda: add(f, f, alpha=1j),
        lambda: add(i, i, alpha=True),
    ]
    for refused in calls:
        with pytest.raises(DTypeError, match="alpha"):
            refused()


def test_bool_values_are_not_subtracted_or_negated() -> None:
    b = arr([True], "bool")
    calls: list[Callable[[], Array]] = [
        lambda: sub(b, b),
        lambda: sub(b, 1),
        lambda: sub(1, b),
        lambda: rsub(b, arr([1.0])),
        lambda: neg(b),
        lambda: comparison.relu(b),
    ]
    for refused in calls:
        with pytest.raises(DTypeError, match="bool"):
            refused()
    assert add(b, b).tolist() == [True]


def test_complex_values_have_no_order() -> None:
    c = arr([1 + 2j], "complex128")
    calls: list[Callable[[], Array]] = [
        lambda: gt(c, c),
        lambda: lt(arr([1.0]), 1j),
        lambda: clamp(c, 0, 1),
        lambda: arithmetic.floor_divide(c, c),
        lambda: arithmetic.remainder(c, 2),
        lambda: arithmetic.sign(c),
        lambda: elementary.atan2(c, c),
    ]
    for refused in calls:
        with pytest.raises(NotSupportedError):
            refused()
    with pytest.raises(DTypeError):
        maximum(c, c)
    assert eq(c, 1 + 2j).tolist() == [True]


def test_bits_need_integers() -> None:
    with pytest.raises(NotSupportedError, match="float64"):
        logic.bitwise_and(arr([1.0]), 1)
    with pytest.raises(NotSupportedError, match="float"):
        logic.bitwise_or(arr([1], "int64"), 1.0)
    with pytest.raises(NotSupportedError):
        logic.bitwise_left_shift(arr([True], "bool"), arr([True], "bool"))
    with pytest.raises(NotSupportedError):
        arithmetic.pow(arr([True], "bool"), arr([True], "bool"))


def test_lerp_does_not_promote() -> None:
    single, double = arr([1.0], "float32"), arr([3.0])
    with pytest.raises(DTypeError):
        lerp(single, double, 0.5)
    with pytest.raises(DTypeError):
        lerp(double, double, arr([0.5], "float32"))
    assert lerp(single, arr([3.0], "float32"), arr(0.25)).tolist() == [1.5]
    with pytest.raises(NotSupportedError):
        lerp(arr([1], "int64"), arr([3], "int64"), 2)


def test_addcmul_takes_integers_and_addcdiv_does_not() -> None:
    i, f = arr([3], "int64"), arr([2.5])
    assert addcmul(i, i, i, value=2).tolist() == [21]
    assert addcmul(i, i, i, value=2.5).tolist() == [21]
    assert addcmul(f, i, i).tolist() == [11.5]
    assert addcdiv(f, i, arr([2.0])).tolist() == [4.0]
    with pytest.raises(DTypeError, match="addcdiv"):
        addcdiv(f, i, i)


def test_half_precision_is_rounded_once() -> None:
    x = arr([1.0], "float16")
    # In half precision throughout, 1 + 1/2048 is 1, and 1 again after the second addition.
    tiny = arr([2.0**-11], "float16")
    assert addcmul(x, tiny, arr([2.0], "float16")).tolist() == [1 + 2.0**-10]
    assert mul(arr([7.69921875], "float16"), 0.1).tolist() == [0.77001953125]


def test_casts_cut_off_fractions_and_imaginary_parts() -> None:
    assert to_dtype(arr([-1.7, 1.7]), np.dtype(np.int64)).tolist() == [-1, 1]
    assert to_dtype(arr([3 + 4j], "complex128"), np.dtype(np.float32)).tolist() == [3.0]
    assert to_dtype(arr([0.0, 0.1, np.nan]), np.dtype(np.bool_)).tolist() == [False, True, True]
    assert to_dtype(arr([4j], "complex128"), np.dtype(np.bool_)).tolist() == [True]


def test_results_of_0d_arrays_are_0d_arrays() -> None:
    x = arr(4.0)
    for result in (add(x, x), mul(x, 2.0), exp(x), neg(x), gt(x, 1), maximum(x, x), pow(x, 2)):
        assert type(result) is np.ndarray
        assert result.shape == ()
