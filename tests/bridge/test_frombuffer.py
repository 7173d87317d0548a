"""Tensors on Python's buffers, and the buffer of a tensor."""

import mmap
import sys
from array import array
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import ArgumentTypeError, ArgumentValueError, ReadOnlyError, RequiresGradError


def test_memory_is_shared() -> None:
    buffer = bytearray(np.arange(4.0).tobytes())
    x = vt.frombuffer(buffer, dtype=vt.float64)
    assert x.tolist() == [0, 1, 2, 3]
    assert x.is_leaf
    x.mul_(2)
    assert np.frombuffer(buffer).tolist() == [0, 2, 4, 6]
    buffer[:8] = np.float64(7).tobytes()
    assert x[0].item() == 7
    with pytest.raises(BufferError):
        buffer.clear()


@pytest.mark.parametrize(
    "dtype", [vt.bool, vt.uint8, vt.int16, vt.int64, vt.float16, vt.float32, vt.complex128]
)
def test_bytes_are_what_the_dtype_says(dtype: vt.dtype) -> None:
    elements = np.array([0, 1, 1]).astype(dtype.numpy)
    x = vt.frombuffer(bytearray(elements.tobytes()), dtype=dtype)
    assert x.dtype is dtype
    assert x.numpy().tobytes() == elements.tobytes()


@pytest.mark.parametrize("name", ["array", "mmap", "ndarray", "memoryview"])
def test_any_buffer_that_may_be_written_is_taken(name: str) -> None:
    buffers: dict[str, Any] = {
        "array": array("i", [0] * 4),
        "mmap": mmap.mmap(-1, 16),
        "ndarray": np.zeros((2, 2), np.int32),
        "memoryview": memoryview(bytearray(24))[4:20],
    }
    buffer = buffers[name]
    x = vt.frombuffer(buffer, dtype=vt.int32)
    assert x.shape == (4,)
    x += 3
    assert memoryview(buffer).tobytes() == np.full(4, 3, np.int32).tobytes()


def test_a_part_of_the_buffer() -> None:
    buffer = bytearray(np.arange(5, dtype=np.int16).tobytes())
    part: list[tuple[dict[str, Any], list[int]]] = [
        ({"count": 2}, [0, 1]),
        ({"offset": 6}, [3, 4]),
        ({"count": 1, "offset": 2}, [1]),
        ({"count": -5, "offset": 4}, [2, 3, 4]),
        ({"count": np.int64(5), "offset": vt.tensor(0)}, [0, 1, 2, 3, 4]),
    ]
    for options, expected in part:
        assert vt.frombuffer(buffer, dtype=vt.int16, **options).tolist() == expected
    # Elements may begin at any byte.
    buffer = bytearray(5)
    unaligned = vt.frombuffer(buffer, dtype=vt.int32, offset=1)
    unaligned += 258
    assert unaligned.tolist() == [258]
    assert int.from_bytes(buffer[1:], sys.byteorder) == 258


@pytest.mark.parametrize(
    "options",
    [
        {"count": 0},
        {"count": 3},
        {"offset": 8},
        {"offset": -1},
        {"offset": 1},
        {"offset": 4, "count": 2},
        {"count": 2**62},
    ],
)
def test_what_is_not_in_the_buffer_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentValueError, match=r"buffer|bytes"):
        vt.frombuffer(bytearray(8), dtype=vt.float32, **options)


def test_other_arguments_are_refused() -> None:
    wrong: Any
    for wrong in (3, [1, 2], None, "text"):
        with pytest.raises(ArgumentTypeError, match="buffer"):
            vt.frombuffer(wrong, dtype=vt.uint8)
    for wrong in (bytearray(), np.zeros((4, 4), np.uint8)[::2, ::2], np.zeros((2, 3)).T):
        with pytest.raises(ArgumentValueError):
            vt.frombuffer(wrong, dtype=vt.uint8)
    for wrong in ("nothing", 8, None):
        with pytest.raises(ArgumentTypeError, match="dtype"):
            vt.frombuffer(bytearray(8), dtype=wrong)
    for wrong in (1.5, True, "1"):
        with pytest.raises(ArgumentTypeError, match="count"):
            vt.frombuffer(bytearray(8), dtype=vt.uint8, count=wrong)


def test_read_only_buffers_make_read_only_tensors() -> None:
    for buffer in (b"12345678", memoryview(bytearray(b"12345678")).toreadonly()):
        x = vt.frombuffer(buffer, dtype=vt.uint8, offset=1)
        with pytest.raises(ReadOnlyError):
            x[0] = 1
        assert bytes(x.tolist()) == bytes(buffer)[1:]
        assert vt.frombuffer(bytearray(buffer), dtype=vt.uint8).add_(1).shape == (8,)
    weights = vt.frombuffer(np.ones(2).tobytes(), dtype=vt.float64, requires_grad=True)
    (weights * 3).sum().backward()
    assert weights.grad is not None
    assert weights.grad.tolist() == [3, 3]
    with vt.no_grad(), pytest.raises(ReadOnlyError):
        weights -= weights.grad


def test_a_leaf_that_requires_grad() -> None:
    x = vt.frombuffer(bytearray(16), dtype=vt.float64, requires_grad=True)
    (x + 1).prod().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1, 1]
    with pytest.raises(RequiresGradError):
        vt.frombuffer(bytearray(16), dtype=vt.int64, requires_grad=True)


def test_a_tensor_as_a_buffer() -> None:
    x = vt.arange(6, dtype=vt.int16).reshape(2, 3)
    values: Any = x.numpy()
    view = memoryview(values)
    assert (view.format, view.shape, view.readonly) == ("h", (2, 3), False)
    view[1, 2] = 9
    assert x[1, 2].item() == 9
    values = x.T.numpy()
    assert memoryview(values).tobytes() == values.tobytes()
    again = vt.frombuffer(view, dtype=vt.int16)
    again.zero_()
    assert not x.any()
    # A tensor is no buffer itself, so that nothing that requires grad becomes one unseen.
    wrong: Any = x
    with pytest.raises(TypeError):
        memoryview(wrong)
