"""Tensors made from nothing: constants, ranges, and those like a given one."""

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import (
    ArgumentTypeError,
    DTypeError,
    NotSupportedError,
    OutGradError,
    RequiresGradError,
    ResultTypeError,
    ShapeError,
)

Maker = Callable[..., vt.Tensor]


@pytest.mark.parametrize("make", [vt.zeros, vt.ones, vt.empty, vt.rand, vt.randn])
def test_sizes_come_one_by_one_or_in_a_sequence(make: Maker) -> None:
    assert make(2, 3).shape == (2, 3)
    assert make((2, 3)).shape == (2, 3)
    assert make([2, 3]).shape == (2, 3)
    assert make(size=(2, 3)).shape == (2, 3)
    assert make(()).shape == ()
    assert make(np.int64(3)).shape == (3,)
    assert make(vt.tensor(3), 2).shape == (3, 2)
    assert make(3, 0, 4).stride() == (4, 4, 1)


@pytest.mark.parametrize("make", [vt.zeros, vt.ones, vt.empty, vt.rand, vt.randn])
def test_wrong_sizes_are_refused(make: Maker) -> None:
    for wrong in [(), (2.0,), (True,), ((2, 3), 4), (2, (3,)), ("a",), ((2, 3.0),)]:
        with pytest.raises(ArgumentTypeError):
            make(*wrong)
    for wrong in [(-1,), (2**62,), (2**40, 2**40)]:
        with pytest.raises(ShapeError):
            make(*wrong)
    with pytest.raises(ArgumentTypeError):
        make(2, size=(2,))


def test_constants_have_their_values_and_dtypes() -> None:
    assert vt.zeros(2).tolist() == [0.0, 0.0]
    assert vt.zeros(2).dtype is vt.float32
    assert vt.ones(2, dtype=vt.bool).tolist() == [True, True]
    assert vt.full((2,), 3).dtype is vt.int64
    assert vt.full((2,), 3.5).tolist() == [3.5, 3.5]
    assert vt.full((2,), True).dtype is vt.bool
    assert vt.full((2,), 1j).dtype is vt.complex64
    assert vt.full((1,), vt.tensor(2.0, dtype=vt.float64)).dtype is vt.float64
    assert vt.full((1,), 3.7, dtype=vt.int64).tolist() == [3]
    assert vt.full((1,), -1, dtype=vt.uint8).tolist() == [255]
    assert vt.eye(2, 3).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert vt.eye(0).shape == (0, 0)


def test_full_refuses_what_does_not_fit() -> None:
    for value, dtype in [(300, vt.uint8), (1j, vt.float32), (1e40, vt.float32)]:
        with pytest.raises(ResultTypeError):
            vt.full((2,), value, dtype=dtype)
    with pytest.raises(ArgumentTypeError):
        vt.full((2,), vt.ones((), requires_grad=True))
    with pytest.raises(ArgumentTypeError):
        vt.full(2, 3)  # type: ignore[arg-type]  # the size must be a sequence


def test_gradients_are_for_floating_and_complex_leaves() -> None:
    assert vt.zeros(2, requires_grad=True).requires_grad
    assert vt.eye(2, requires_grad=True).is_leaf
    with pytest.raises(RequiresGradError):
        vt.zeros(2, dtype=vt.int64, requires_grad=True)
    with pytest.raises(RequiresGradError):
        vt.arange(3, requires_grad=True)


def test_out_is_written_and_moves_its_version() -> None:
    out = vt.ones(3)
    assert vt.zeros(3, out=out) is out
    assert out.tolist() == [0.0, 0.0, 0.0]
    assert out._version == 1
    assert vt.arange(3, out=out).tolist() == [0.0, 1.0, 2.0]
    matrix = vt.ones(2, 3)
    column = matrix[:, 1]
    vt.zeros(2, out=column)
    assert matrix.tolist() == [[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]


def test_out_takes_on_the_shape_but_not_the_dtype() -> None:
    out = vt.zeros(5, dtype=vt.float64)
    assert vt.eye(2, out=out).shape == (2, 2)
    assert out.dtype is vt.float64
    with pytest.raises(DTypeError):
        vt.zeros(2, out=out, dtype=vt.float32)
    with pytest.raises(OutGradError):
        vt.zeros(2, out=vt.zeros(2, requires_grad=True))


@pytest.mark.parametrize(
    ("arguments", "values", "dtype"),
    [
        ((5,), [0, 1, 2, 3, 4], vt.int64),
        ((1, 10, 3), [1, 4, 7], vt.int64),
        ((5, 1, -1), [5, 4, 3, 2], vt.int64),
        ((1, 3, 0.5), [1.0, 1.5, 2.0, 2.5], vt.float32),
        ((0,), [], vt.int64),
        ((-1, -3, -0.5), [-1.0, -1.5, -2.0, -2.5], vt.float32),
        ((2**60, 2**60 + 2), [2**60, 2**60 + 1], vt.int64),
    ],
)
def test_arange(arguments: tuple[float, ...], values: list[float], dtype: vt.dtype) -> None:
    t = vt.arange(*arguments)
    assert t.tolist() == values
    assert t.dtype is dtype


def test_arange_of_an_integer_dtype_cuts_its_bounds_off() -> None:
    assert vt.arange(0.5, 3, dtype=vt.int64).tolist() == [0, 1, 2]
    assert vt.arange(2.5, dtype=vt.int64).tolist() == [0, 1]


def test_arange_of_a_narrow_integer_dtype_has_as_many_as_its_uncut_bounds() -> None:
    assert vt.arange(-0.5, 2, dtype=vt.uint8).tolist() == [0, 1, 2]
    assert vt.arange(5, 0.5, -1.5, dtype=vt.int32).tolist() == [5, 4, 3]
    assert vt.arange(0, 2, 0.5, dtype=vt.int16).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("bounds", [(2.125, 2), (0, -0.5)])
def test_arange_of_an_integer_dtype_sees_the_direction_of_its_uncut_bounds(
    bounds: tuple[float, float],
) -> None:
    with pytest.raises(ShapeError):
        vt.arange(*bounds, dtype=vt.int64)
    assert vt.arange(*bounds, -1, dtype=vt.int64).tolist() == []


def test_arange_refuses_ranges_without_end() -> None:
    for wrong in [(1, 5, -1), (5, 1), (1, 5, 0), (0, float("inf")), (float("nan"),)]:
        with pytest.raises(ShapeError):
            vt.arange(*wrong)
    for dtype in [vt.bool, vt.complex64]:
        with pytest.raises(NotSupportedError):
            vt.arange(3, dtype=dtype)
    with pytest.raises(ArgumentTypeError):
        vt.arange()  # type: ignore[call-overload]  # on purpose


def test_linspace_meets_both_ends() -> None:
    assert vt.linspace(0, 1, 5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert vt.linspace(3, -3, 5, dtype=vt.float64).tolist() == [3.0, 1.5, 0.0, -1.5, -3.0]
    assert vt.linspace(0, 1, 1).tolist() == [0.0]
    assert vt.linspace(0, 1, 0).shape == (0,)
    assert vt.linspace(-3, 8, 6, dtype=vt.int32).tolist() == [-3, 0, 1, 3, 5, 8]
    assert vt.linspace(0, 1j, 3).tolist() == [0, 0.5j, 1j]
    assert vt.linspace(0, 1 / 3, 100, dtype=vt.float64)[-1].item() == 1 / 3
    with pytest.raises(ShapeError):
        vt.linspace(0, 1, -1)
    with pytest.raises(NotSupportedError):
        vt.linspace(0, 1, 3, dtype=vt.bool)


def test_like_functions_take_shape_order_and_dtype_of_the_model() -> None:
    model = vt.zeros(2, 3, dtype=vt.float64, requires_grad=True).t()
    for make in [vt.zeros_like, vt.ones_like, vt.empty_like, vt.rand_like, vt.randn_like]:
        t = make(model)
        assert (t.shape, t.stride(), t.dtype) == ((3, 2), (1, 3), vt.float64)
        assert not t.requires_grad
        assert t._version == 0
    assert vt.zeros_like(vt.ones(2, 6)[:, ::2]).stride() == (3, 1)
    assert vt.zeros_like(vt.ones(1, 3).expand(2, 3)).tolist() == [[0.0] * 3] * 2
    assert vt.zeros_like(model, memory_format=vt.contiguous_format).stride() == (2, 1)
    assert vt.full_like(vt.ones(2, dtype=vt.int64), 3.5).tolist() == [3, 3]
    assert vt.ones_like(model, dtype=vt.float32, requires_grad=True).is_leaf
    with pytest.raises(ResultTypeError):
        vt.full_like(vt.ones(2, dtype=vt.uint8), 300)
    with pytest.raises(ArgumentTypeError):
        vt.zeros_like([1])  # type: ignore[type-var]  # no tensor


def test_empty_strided_has_the_memory_it_needs() -> None:
    t = vt.empty_strided((2, 3), (10, 1))
    assert t.stride() == (10, 1)
    assert t.untyped_storage().nbytes() == 52
    assert vt.empty_strided((2, 3), (0, 1)).stride() == (0, 1)
    for size, stride in [((2, 3), (1, -2)), ((2, 3), (1,)), ((2, -3), (1, 2)), ((2,), (2**62,))]:
        with pytest.raises(ShapeError):
            vt.empty_strided(size, stride)


def test_new_functions_take_the_dtype_of_the_tensor() -> None:
    i = vt.tensor(3)
    assert i.new_zeros(2, 3).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert i.new_ones((2,)).dtype is vt.int64
    assert i.new_full((2,), 3.5).tolist() == [3, 3]
    assert i.new_tensor([1.5, 2]).tolist() == [1, 2]
    assert i.new_empty(2, 3).shape == (2, 3)
    assert i.new_empty_strided((2, 3), (1, 2)).stride() == (1, 2)
    x = vt.ones(2, requires_grad=True)
    assert not x.new_zeros(2).requires_grad
    assert x.new_zeros(2, requires_grad=True).requires_grad
    assert x.new_tensor(np.arange(2)).dtype is vt.float32
    with pytest.raises(RequiresGradError):
        i.new_zeros(2, requires_grad=True)


def test_out_can_be_made_to_require_grad() -> None:
    out = vt.ones(2)
    assert vt.zeros(2, out=out, requires_grad=True) is out
    assert out.requires_grad
    assert out.is_leaf
    whole = vt.ones(2, dtype=vt.int64)
    with pytest.raises(RequiresGradError):
        vt.zeros(2, out=whole, requires_grad=True)
    assert whole.tolist() == [1, 1]
