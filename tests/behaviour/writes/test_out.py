"""``out=``: the dtypes and shapes that it takes, whose shape is taken on, and who is told."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest

from tests.support import differs_from_torch, leaf, ramp, refused, vt


def test_out_with_elements_that_takes_on_another_shape_is_told() -> None:
    out = ramp(3)
    with pytest.warns(UserWarning, match="shape") as caught:
        result = vt.add(ramp(2), 1, out=out)
    assert caught[0].filename == __file__
    assert result is out
    assert out.tolist() == [2, 3]
    assert out._version == 1


def test_each_of_several_outs_is_told() -> None:
    values, indices = ramp(3), vt.zeros(1, dtype=vt.int64)
    with pytest.warns(UserWarning, match="shape") as caught:
        vt.sort(ramp(2), out=(values, indices))
    assert len(caught) == 2
    assert values.tolist() == [1, 2]
    assert indices.tolist() == [0, 1]


SILENT: dict[str, Callable[[], vt.Tensor]] = {
    "of the result's shape": lambda: vt.add(ramp(2), 1, out=ramp(2)),
    "without elements": lambda: vt.add(ramp(2), 1, out=vt.zeros(0, dtype=vt.float64)),
    "of a factory": lambda: vt.ones(2, out=vt.zeros(3)),
}


@pytest.mark.parametrize("store", SILENT.values(), ids=SILENT)
def test_nothing_is_told_of_an_out(store: Callable[[], vt.Tensor]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store().shape == (2,)


@differs_from_torch("an error leaves everything as it was")
def test_a_warning_that_is_an_error_leaves_everything_as_it_was() -> None:
    out = ramp(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="shape"):
            vt.add(ramp(2), 1, out=out)
    assert out.shape == (3,)
    assert out.tolist() == [1, 2, 3]
    assert out._version == 0


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


def test_parts_of_numbers_are_stored_in_their_dtypes_only() -> None:
    x, mantissa, exponent = vt.tensor([3.0, -0.125]), vt.zeros(2), vt.zeros(2, dtype=vt.int32)
    result = vt.frexp(x, out=(mantissa, exponent))
    assert result[0] is mantissa
    assert result[1] is exponent
    assert (mantissa.tolist(), exponent.tolist()) == ([0.75, -0.5], [2, -2])
    assert (mantissa._version, exponent._version) == (1, 1)
    with refused(RuntimeError, "result-type", [mantissa]):
        vt.frexp(x, out=(mantissa, vt.zeros(2, dtype=vt.int64)))
    with refused(RuntimeError, "out-grad", [mantissa, exponent]):
        vt.frexp(leaf(2), out=(mantissa, exponent))


def test_out_is_written_also_where_there_is_no_difference_to_take() -> None:
    out = vt.zeros(0, dtype=vt.float64)
    assert vt.diff(ramp(3), 0, out=out) is out
    assert out.tolist() == [1, 2, 3]
    turned = vt.diff(ramp(2, 3).t(), 0, out=vt.zeros(0, dtype=vt.float64))
    assert (turned.tolist(), turned.stride()) == ([[1, 4], [2, 5], [3, 6]], (2, 1))
    with refused(RuntimeError, "result-type", [out]):
        vt.diff(vt.ones(3), 0, out=out)


def test_a_range_is_replaced_in_a_copy_that_goes_to_out() -> None:
    x, out = ramp(4), vt.zeros(4, dtype=vt.float64)
    assert vt.slice_scatter(x, vt.zeros(2, dtype=vt.float64), 0, 1, 3, out=out) is out
    assert (x.tolist(), out.tolist()) == ([1, 2, 3, 4], [1, 0, 0, 4])
    assert out._version == 1
    with refused(RuntimeError, "result-type", [out]):
        vt.slice_scatter(vt.ones(4), vt.zeros(2), 0, 1, 3, out=out)


def test_vectors_of_places_have_no_out() -> None:
    out = vt.zeros(0, dtype=vt.int64)
    with refused(RuntimeError, "argument-value", [out]):
        vt.nonzero(ramp(2), as_tuple=True, out=out)  # type: ignore[call-overload]  # that is the test
