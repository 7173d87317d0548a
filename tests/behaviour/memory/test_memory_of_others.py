"""Memory that comes from NumPy and Python's buffers, or goes there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support import differs_from_torch, grad_list, ones_leaf, ramp, vt


def test_dlpack_shares_memory_both_ways() -> None:
    x = ramp(2, 3)
    a = np.from_dlpack(x.t())
    assert a.shape == (3, 2)
    y = vt.from_dlpack(x.t())
    y[2, 1] = 9
    assert x[1, 2].item() == a[2, 1] == 9
    assert y._version == 1
    assert x._version == 0


def test_dlpack_refuses_what_requires_grad_also_without_recording() -> None:
    x = ones_leaf(2)
    with pytest.raises(BufferError):
        np.from_dlpack(x)
    with vt.no_grad(), pytest.raises(BufferError):
        vt.from_dlpack(x)
    assert np.from_dlpack(x.detach()).tolist() == [1, 1]


def test_dlpack_refuses_lazy_conjugates() -> None:
    z = vt.tensor([1 + 2j], dtype=vt.complex128)
    with pytest.raises(BufferError):
        np.from_dlpack(z.conj())
    assert np.from_dlpack(z.conj().resolve_conj()).tolist() == [1 - 2j]


def test_dlpack_makes_copies() -> None:
    a = np.ones(2)
    x = vt.from_dlpack(a, copy=True)
    x += 1
    assert a.tolist() == [1, 1]
    assert vt.from_dlpack(a, copy=False).data_ptr() == a.ctypes.data


@differs_from_torch("it takes no negative strides")
def test_dlpack_takes_arrays_that_walk_backwards() -> None:
    a = np.arange(3.0)
    assert vt.from_dlpack(a[::-1]).tolist() == [2, 1, 0]


@differs_from_torch("it writes to memory that is read-only, or refuses it")
def test_a_tensor_on_read_only_memory_is_read_only() -> None:
    a = np.ones(2)
    a.flags.writeable = False
    for x in (vt.from_numpy(a), vt.from_dlpack(a), vt.frombuffer(a.data, dtype=vt.float64)):
        assert (x + 1).tolist() == [2, 2]
        with pytest.raises(ValueError, match="read-only"):
            x.add_(1)
        assert (x.tolist(), x._version) == ([1, 1], 0)


def test_a_buffer_is_shared() -> None:
    buffer = bytearray(np.arange(4.0).tobytes())
    x = vt.frombuffer(buffer, dtype=vt.float64, count=2, offset=8)
    assert x.tolist() == [1, 2]
    x.zero_()
    assert np.frombuffer(buffer).tolist() == [0, 0, 0, 3]


def test_a_buffer_becomes_a_leaf() -> None:
    x = vt.frombuffer(bytearray(16), dtype=vt.float64, requires_grad=True)
    (x * 3).sum().backward()
    assert grad_list(x) == [3, 3]


@pytest.mark.parametrize(
    "options", [{"count": 0}, {"count": 3}, {"offset": 8}, {"offset": -1}, {"offset": 1}]
)
def test_what_is_outside_of_a_buffer_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"buffer|bytes|length"):
        vt.frombuffer(bytearray(8), dtype=vt.float32, **options)


def test_an_empty_buffer_is_refused() -> None:
    with pytest.raises(ValueError, match="buffer"):
        vt.frombuffer(bytearray(), dtype=vt.float32)
