"""What `out=` takes: dtypes and shapes that are not those of the result."""

from __future__ import annotations

import pytest

from .support import ramp, refused, vt


def test_values_in_a_row_keep_the_shape_of_out_if_they_are_as_many() -> None:
    x = vt.zeros(2, 3)
    assert vt.arange(6, out=x) is x
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    turned = vt.zeros(2, 3).t()
    assert vt.linspace(0, 5, 6, out=turned).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert tuple(turned.stride()) == (1, 3)


@pytest.mark.filterwarnings("ignore:out= has shape")
@pytest.mark.filterwarnings("ignore:The number of elements in the out tensor")
def test_values_in_a_row_change_the_shape_of_out_if_they_are_not_as_many() -> None:
    x = vt.zeros(2, 3)
    assert tuple(vt.arange(5, out=x).shape) == (5,)
    assert tuple(vt.linspace(0, 1, 2, out=x).shape) == (2,)


@pytest.mark.parametrize("source", [vt.bool, vt.uint8, vt.float64])
@pytest.mark.parametrize("target", [vt.bool, vt.uint8])
def test_truth_is_stored_as_bool_or_as_uint8(source: vt.dtype, target: vt.dtype) -> None:
    x = vt.tensor([0, 1]).to(source)
    out = vt.zeros((), dtype=target)
    assert vt.any(x, out=out).tolist() == 1
    assert vt.all(x, 0, out=out).tolist() == 0
    assert out.dtype == target


def test_truth_is_stored_as_nothing_else() -> None:
    out = vt.zeros(())
    with refused(RuntimeError, "result-type", [out]):
        vt.any(ramp(2), out=out)


def test_lerp_by_a_number_is_cast_to_out_and_by_a_tensor_is_not() -> None:
    x, out = vt.tensor([1.0, 2.0]), vt.zeros(2, dtype=vt.float64)
    assert vt.lerp(x, x + 1, 0.5, out=out).tolist() == [1.5, 2.5]
    with refused(RuntimeError, "result-type", [out]):
        vt.lerp(x, x + 1, x, out=out)


def test_broadcast_to_takes_sizes_as_expand_does() -> None:
    assert tuple(ramp(3).broadcast_to(2, 3).shape) == (2, 3)
    assert tuple(ramp(1).broadcast_to(3).shape) == (3,)
    assert tuple(ramp(3).broadcast_to(size=(2, 3)).shape) == (2, 3)
