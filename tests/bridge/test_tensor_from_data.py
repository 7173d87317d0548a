"""`tensor` and `as_tensor`: which dtype data gets, which data is refused."""

import array
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DTypeError,
    NotSupportedError,
    RequiresGradError,
    ResultTypeError,
)


@pytest.mark.parametrize(
    ("data", "dtype", "values"),
    [
        (3, vt.int64, 3),
        (True, vt.bool, True),
        (2.5, vt.float32, 2.5),
        (1 + 2j, vt.complex64, 1 + 2j),
        ([True, 2], vt.int64, [1, 2]),
        ([1, 2.5], vt.float32, [1.0, 2.5]),
        ([1, 2.5, 1j], vt.complex64, [1, 2.5, 1j]),
        (((1, 2), (3, 4)), vt.int64, [[1, 2], [3, 4]]),
        (range(3), vt.int64, [0, 1, 2]),
        (bytearray(b"ab"), vt.int64, [97, 98]),
        (array.array("f", [1, 2]), vt.float32, [1.0, 2.0]),
        ([], vt.float32, []),
        ([[], []], vt.float32, [[], []]),
        (2**63 - 1, vt.int64, 9223372036854775807),
    ],
)
def test_python_data_decides_its_dtype(data: Any, dtype: vt.dtype, values: object) -> None:
    t = vt.tensor(data)
    assert t.dtype is dtype
    assert t.tolist() == values


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (np.float64(1), vt.float64),
        ([np.float64(1)], vt.float64),
        ([np.float32(1), 1.0], vt.float32),
        ([np.int8(1)], vt.int8),
        ([np.int8(1), 2], vt.int64),
        ([np.int32(1), np.float16(2)], vt.float16),
        ([np.array([1, 2], np.int8)], vt.int8),
        (np.arange(3.0), vt.float64),
        ([vt.zeros((), dtype=vt.float64), vt.zeros(1)], vt.float64),
    ],
)
def test_numpy_scalars_arrays_and_tensors_keep_their_dtype(data: Any, dtype: vt.dtype) -> None:
    assert vt.tensor(data).dtype is dtype


def test_the_default_dtype_is_that_of_python_floats() -> None:
    vt.set_default_dtype(vt.float64)
    try:
        assert vt.tensor(1.5).dtype is vt.float64
        assert vt.tensor(1.5j).dtype is vt.complex128
        assert vt.zeros(1).dtype is vt.float64
    finally:
        vt.set_default_dtype(vt.float32)
    assert vt.tensor(1.5).dtype is vt.float32


def test_the_data_is_copied() -> None:
    a = np.zeros(2)
    t = vt.tensor(a)
    a[0] = 1
    assert t.tolist() == [0.0, 0.0]


def test_a_copy_keeps_the_memory_order_of_an_array() -> None:
    assert vt.tensor(np.zeros((2, 3)).T).stride() == (1, 3)
    assert vt.tensor(np.zeros((2, 6))[:, ::2]).stride() == (3, 1)


def test_a_copy_of_a_tensor_leaves_its_history_behind_and_says_so() -> None:
    x = vt.tensor([1.0], requires_grad=True)
    with pytest.warns(UserWarning, match="history"):
        t = vt.tensor(x * 2)
    assert not t.requires_grad
    assert t.tolist() == [2.0]


def test_requires_grad_makes_a_leaf() -> None:
    x = vt.tensor([1.0, 2.0], requires_grad=True)
    assert x.requires_grad
    assert x.is_leaf
    assert vt.tensor([1j], requires_grad=True).requires_grad


def test_integers_cannot_require_grad() -> None:
    with pytest.raises(RequiresGradError):
        vt.tensor([1, 2], requires_grad=True)


class Countdown:
    """A sequence by the old protocol, without ``__iter__``."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> int:
        if index >= 3:
            raise IndexError(index)
        return 3 - index


def test_anything_with_a_length_and_items_is_a_sequence() -> None:
    data: Any = [Countdown(), (6, 5, 4)]
    assert vt.tensor(data).tolist() == [[3, 2, 1], [6, 5, 4]]


@pytest.mark.parametrize("data", [[[1, 2], [3]], [[1], []], [[[1]], [[1, 2]]]])
def test_ragged_data_is_a_value_error(data: Any) -> None:
    with pytest.raises(ArgumentValueError, match="length"):
        vt.tensor(data)


@pytest.mark.parametrize("data", [[[1], 2], [1, [2]], [[1, 2], [3, [4]]]])
def test_numbers_beside_sequences_are_a_type_error(data: Any) -> None:
    with pytest.raises(ArgumentTypeError):
        vt.tensor(data)


@pytest.mark.parametrize("data", [None, [None], {1: 2}, {1}, [float], object()])
def test_what_no_tensor_can_hold_is_a_dtype_error(data: Any) -> None:
    with pytest.raises(DTypeError):
        vt.tensor(data)


def test_strings_are_refused() -> None:
    mistakes: list[Any] = ["a", b"a", [1, "a"]]
    for wrong in mistakes:
        with pytest.raises(ArgumentTypeError):
            vt.tensor(wrong)
    with pytest.raises(ValueError, match="str"):
        vt.tensor(["a"])  # type: ignore[list-item]  # what is refused
    with pytest.raises(TypeError):
        vt.tensor(np.array(["a"]))


def test_integers_beyond_64_bits_are_a_value_error() -> None:
    with pytest.raises(ArgumentValueError):
        vt.tensor([2**63])
    assert vt.tensor([2**63], dtype=vt.float32).tolist() == [9.223372036854776e18]


@pytest.mark.parametrize(
    ("data", "dtype", "value"),
    [
        ([300], vt.uint8, 300),
        ([-300], vt.int8, -300),
        ([1, 200], vt.int8, 200),
        ([-256], vt.uint8, -256),
        ([-0.5], vt.uint8, -0.5),
        ([1.0, 127.9], vt.int8, 127.9),
        ([2.0**63], vt.int64, 2.0**63),
        ([1, float("inf")], vt.int64, float("inf")),
    ],
)
def test_numbers_out_of_range_are_refused(data: list[float], dtype: vt.dtype, value: float) -> None:
    with pytest.raises(ResultTypeError) as caught:
        vt.tensor(data, dtype=dtype)
    assert caught.value.facts["value"] == value


def test_conversions_within_the_range() -> None:
    assert vt.tensor([-1], dtype=vt.uint8).tolist() == [255]
    assert vt.tensor([1.9, -1.9], dtype=vt.int64).tolist() == [1, -1]
    assert vt.tensor([2, 0], dtype=vt.bool).tolist() == [True, False]
    assert vt.tensor([1e40], dtype=vt.float32).tolist() == [float("inf")]
    assert vt.tensor([2**62 + 1, 0.5], dtype=vt.int64).tolist() == [2**62 + 1, 0]
    with pytest.raises(ResultTypeError):
        vt.tensor([float("nan")], dtype=vt.int64)
    with pytest.raises(ArgumentTypeError):
        vt.tensor([1j], dtype=vt.float32)


def test_tensors_in_a_list_must_be_single_elements() -> None:
    assert vt.tensor([vt.ones(1, 1), vt.zeros(())]).tolist() == [1.0, 0.0]
    with pytest.raises(ArgumentValueError):
        vt.tensor([vt.ones(2)])


def test_only_one_device_is_known() -> None:
    assert vt.tensor(1, device="cpu").device == vt.device("cpu")
    with pytest.raises(NotSupportedError):
        vt.tensor(1, device="cuda")


def test_as_tensor_copies_only_if_need_be() -> None:
    x = vt.ones(2, requires_grad=True)
    assert vt.as_tensor(x) is x
    assert vt.as_tensor(x, vt.float32) is x
    y = vt.as_tensor(x, dtype=vt.float64)
    assert y.dtype is vt.float64
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 1.0]

    a = np.zeros(2)
    t = vt.as_tensor(a)
    a[1] = 3
    assert t.tolist() == [0.0, 3.0]
    assert vt.as_tensor(a, vt.float64).data_ptr() == t.data_ptr()
    assert vt.as_tensor(a, vt.float32).data_ptr() != t.data_ptr()
    assert vt.as_tensor([1, 2]).tolist() == [1, 2]
