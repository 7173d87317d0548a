"""Operators whose ufunc is quick for some dtypes and something else for the others."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import ArgumentValueError, DTypeError, ResultTypeError
from vtgrad.storage.dtypes import DType


@pytest.mark.parametrize("dtype", [vt.float16, vt.float32, vt.float64, vt.complex64, vt.complex128])
def test_floating_and_complex_values_keep_their_dtype(dtype: DType) -> None:
    x, y = vt.tensor([[6.0, 1.5]], dtype=dtype), vt.tensor([[2.0, 3.0]], dtype=dtype)
    assert (x - y).dtype is dtype
    assert (x - y).tolist() == [[4.0, -1.5]]
    assert (x / y).dtype is dtype
    assert (x / y).tolist() == [[3.0, 0.5]]
    assert x.sub_(y).tolist() == [[4.0, -1.5]]
    assert x.div_(y).tolist() == [[2.0, -0.5]]
    assert x._version == 2


def test_quotients_of_integers_are_floating_and_cannot_replace_them() -> None:
    x, y = vt.tensor([7, 8]), vt.tensor([2, 2])
    assert (x / y).dtype is vt.float32
    assert (x / y).tolist() == [3.5, 4.0]
    assert (x - y).tolist() == [5, 6]
    with pytest.raises(ResultTypeError):
        x.div_(y)
    assert x.tolist() == [7, 8]
    assert x._version == 0


def test_bools_are_divided_but_not_subtracted() -> None:
    x, y = vt.tensor([True, False]), vt.tensor([True, True])
    assert (x / y).tolist() == [1.0, 0.0]
    with pytest.raises(DTypeError):
        x - y
    with pytest.raises(DTypeError):
        x.sub_(y)
    assert x._version == 0


def test_a_factor_takes_the_general_way() -> None:
    x, y = vt.tensor([7.0, 8.0]), vt.tensor([2.0, 2.0])
    assert vt.sub(x, y, alpha=2).tolist() == [3.0, 4.0]
    assert x.sub_(y, alpha=0.5).tolist() == [6.0, 7.0]


def test_what_is_written_in_place_is_recorded() -> None:
    a = vt.tensor([6.0, 1.5], requires_grad=True)
    b = vt.tensor([2.0, 3.0], requires_grad=True)
    x = a.clone()
    x.div_(b).sub_(b)
    assert type(x.grad_fn).__name__ == "SubBackward0"
    x.sum().backward()
    assert a.grad is not None
    assert b.grad is not None
    assert a.grad.tolist() == pytest.approx([1 / 2, 1 / 3])
    assert b.grad.tolist() == pytest.approx([-6 / 4 - 1, -1.5 / 9 - 1])


# -- numbers, see Note [Numbers that were met before] -------------------------------------------

NUMBERS = [
    *(0.0, -0.0, 0, 1, 1.0, -1, 0.1, 2.0, 2**24 + 1, 2**53 + 1, -(2**63), 10**38, 5e-324, 1e-310),
    *(1e300, -1e300, math.inf, -math.inf, math.nan),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["dense", "column"])
def test_a_number_gives_what_numpy_gives_the_first_time_and_again(
    dtype: type[np.floating], order: str
) -> None:
    values = np.array([[1.5, -0.0], [0.0, 3.0]], dtype)
    x = vt.from_numpy(values)
    if order == "column":
        values, x = values[:, 0], x[:, 0]
    # Three times, in an order that puts each number after others that are equal to it.
    for number in NUMBERS + NUMBERS[::-1] + NUMBERS:
        with np.errstate(all="ignore"):
            expected = [values + number, values - number, values * number, values / number]
        y = x.clone()
        y += number
        for found, right in zip(
            [x + number, x - number, x * number, x / number, y],
            [*expected, expected[0]],
            strict=True,
        ):
            assert found.numpy().dtype == right.dtype
            # Bit by bit, so that the sign of zero counts; NaNs have several patterns.
            assert np.array_equal(found.numpy(), right, equal_nan=True)
            assert np.array_equal(np.signbit(found.numpy()), np.signbit(right)) or number != number


def test_bools_and_complex_numbers_are_not_taken_for_equal_numbers() -> None:
    x, n = vt.tensor([2.0, 3.0]), vt.tensor([2, 3])
    assert (x * 1).tolist() == (x * True).tolist() == (x * 1.0).tolist() == [2.0, 3.0]
    assert (x * (1 + 0j)).dtype is vt.complex64
    assert (n * 1).dtype is (n * True).dtype is vt.int64
    assert (n * 1.0).dtype is vt.float32


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_an_integer_beyond_all_floats_is_refused(number: int) -> None:
    x = vt.tensor([2.0, 3.0])
    operators: list[Callable[[], object]] = [lambda: x * number, lambda: x.mul_(number)]
    for operator in operators:
        with pytest.raises(ArgumentValueError):
            operator()
    assert x.tolist() == [2.0, 3.0]
    assert x._version == 0


def test_more_numbers_than_are_kept() -> None:
    x = vt.ones(2)
    for number in range(-1000, 1000):
        assert (x * number).tolist() == [number, number]
        assert (x + number / 4).tolist() == [1 + number / 4] * 2


def test_a_result_never_is_the_array_of_a_number() -> None:
    for x in (vt.tensor([2.0, 3.0]), vt.tensor(2.0)):
        y = x * 7
        y += 1
        y.zero_()
        assert (x * 7).tolist() == ([14.0, 21.0] if x.ndim else 14.0)
