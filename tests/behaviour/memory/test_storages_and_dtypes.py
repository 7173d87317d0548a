"""Where and how tensors are stored, and how their dtypes are related."""

from __future__ import annotations

import pytest

from tests.support import leaf, ramp, vt


def test_tensors_are_strided_memory_of_the_cpu() -> None:
    x = ramp(2, 3)
    assert x.layout is vt.strided
    assert isinstance(x.layout, vt.layout)
    assert x.is_cpu
    kinds = x.is_cuda, x.is_meta, x.is_sparse, x.is_quantized, x.is_nested
    assert kinds == (False,) * 5
    assert x.get_device() == -1


def test_a_storage_tells_its_bytes() -> None:
    storage = ramp(2, 3)[0].untyped_storage()
    assert storage.nbytes() == storage.size() == len(storage) == 48


def test_real_and_complex_dtypes_belong_together() -> None:
    assert vt.float32.to_complex() is vt.complex64
    assert vt.float64.to_complex() is vt.complex128
    assert vt.complex64.to_complex() is vt.complex64
    assert vt.complex64.to_real() is vt.float32
    assert vt.complex128.to_real() is vt.float64
    assert vt.float32.to_real() is vt.float32


def test_python_types_stand_for_dtypes_in_questions_about_them() -> None:
    assert not vt.can_cast(vt.float32, int)
    assert vt.can_cast(int, vt.float32)
    assert vt.promote_types(vt.float32, vt.int64) is vt.float32
    with pytest.raises(TypeError):
        vt.can_cast(3, vt.float32)  # type: ignore[arg-type]  # that is the test


def test_broadcast_to_takes_integers_too() -> None:
    x = leaf(3, 1)
    assert x.broadcast_to(2, 3, 4).shape == (2, 3, 4)
    assert x.broadcast_to((3, 4)).stride() == (1, 0)
    assert vt.broadcast_to(x, size=(3, 2)).shape == (3, 2)


def test_a_post_accumulate_hook_may_return_the_leaf_that_it_wrote() -> None:
    x = leaf(2)
    x.register_post_accumulate_grad_hook(lambda p: p.add_(1))  # type: ignore[arg-type]  # may be returned
    x.sum().backward()
    assert x.tolist() == [2, 3]
    y = leaf(2)
    y.register_post_accumulate_grad_hook(lambda p: 3)  # type: ignore[arg-type]  # that is the test
    with pytest.raises(TypeError):
        y.sum().backward()
