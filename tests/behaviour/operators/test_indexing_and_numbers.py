"""What an index means, which gradients `as_strided` has, and gradients at awkward numbers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support import ON_TORCH, differs_from_torch, fn_name, gradients, leaf, ramp, refused, vt

Indexed = Callable[[vt.Tensor], vt.Tensor]
NAN = math.nan


def real(*values: float) -> vt.Tensor:
    """Give the float64 leaf of these values."""
    return vt.tensor(list(values), dtype=vt.float64, requires_grad=True)


# -- reading through an index ------------------------------------------------------------------


def test_take_along_dim_counts_indices_below_zero_from_the_end_of_a_dimension() -> None:
    x = leaf(2, 3)
    y = vt.take_along_dim(x, vt.tensor([[-1, 0], [-3, 2]]), 1)
    assert y.tolist() == [[3, 1], [4, 6]]
    (grad,) = vt.autograd.grad(y.sum(), x)
    assert grad.tolist() == [[1, 0, 1], [1, 0, 1]]
    with refused(RuntimeError, "index", [x]):
        vt.take_along_dim(x, vt.tensor([-1]))


@differs_from_torch("indices outside of the dimension are taken modulo its size there")
def test_take_along_dim_refuses_indices_outside_of_the_dimension() -> None:
    x = leaf(2, 3)
    for wrong in (-4, 3):
        with refused(RuntimeError, "index", [x]):
            vt.take_along_dim(x, vt.tensor([[wrong]]), 1)


@pytest.mark.parametrize("dtype", [vt.int32, vt.uint8, vt.bool, vt.float32])
def test_take_along_dim_takes_positions_in_a_dimension_of_int64_only(dtype: vt.dtype) -> None:
    x = leaf(2, 3)
    for indices in (vt.zeros(2, 1, dtype=dtype), vt.zeros(2, 0, dtype=dtype)):
        with refused(RuntimeError, "dtype", [x]):
            vt.take_along_dim(x, indices, 1)
    with refused(RuntimeError, "dtype"):
        vt.take_along_dim(vt.tensor(1.0), vt.zeros((), dtype=dtype), 0)


def test_take_along_dim_of_flattened_tensors_takes_what_gather_does() -> None:
    x = leaf(2, 3)
    assert vt.take_along_dim(x, vt.tensor([4], dtype=vt.int32)).tolist() == [5]
    assert vt.take_along_dim(x, vt.zeros(0)).tolist() == []
    with refused(RuntimeError, "dtype", [x]):
        vt.take_along_dim(x, vt.zeros(1))


def test_take_along_dim_needs_a_dimension() -> None:
    with pytest.raises(IndexError, match="dimension"):
        vt.take_along_dim(vt.tensor(1.0), vt.tensor(0), 0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("pow", [32, 9]), ("mod", [2, 1]), ("floordiv", [0, 1]), ("sub", [-3, 1])],
)
def test_the_method_for_the_right_side_takes_a_tensor_on_the_left(
    name: str, expected: list[float]
) -> None:
    x, y = vt.tensor([5.0, 2.0]), vt.tensor([2.0, 3.0])
    reflected: Callable[[vt.Tensor], vt.Tensor] = getattr(x, f"__r{name}__")
    assert reflected(y).tolist() == expected


def test_a_number_in_a_tensor_slices_as_that_number_does() -> None:
    x = leaf(3, 2)
    one = vt.tensor(1)
    for v, expected in ((x[one], [3, 4]), (x[one:], [[3, 4], [5, 6]]), (x[:, one], [2, 4, 6])):
        assert v._is_view()
        assert v._base is x
        assert v.tolist() == expected
    assert x[one, one].item() == 4


PLACES: dict[str, tuple[Indexed, tuple[int, ...]]] = {
    "side by side they stay where they are": (lambda x: x[:, [0, 1], [0, 1]], (2, 2)),
    "apart they come first": (lambda x: x[[0, 1], :, [0, 1]], (2, 3)),
    "apart because of a new dimension": (lambda x: x[[0, 1], None, :, [0, 1]], (2, 1, 3)),
    "a number beside a list counts as a view": (lambda x: x[0, :, [0, 1]], (3, 2)),
    "broadcast with each other": (lambda x: x[[[0], [1]], [0, 1]], (2, 2, 4)),
    "a mask of two dimensions": (lambda x: x[vt.ones(2, 3, dtype=vt.bool)], (6, 4)),
    "no elements": (lambda x: x[vt.zeros(0, dtype=vt.int64)], (0, 3, 4)),
    "no elements of a shape": (lambda x: x[vt.zeros(0, 5, dtype=vt.int64)], (0, 5, 3, 4)),
    "no elements of a dimension": (lambda x: x[:, []], (2, 0, 4)),
}


@pytest.mark.parametrize(("read", "shape"), PLACES.values(), ids=PLACES)
def test_where_the_dimensions_of_index_arrays_come(read: Indexed, shape: tuple[int, ...]) -> None:
    x = leaf(2, 3, 4)
    y = read(x)
    assert tuple(y.shape) == shape
    assert not y._is_view()
    (found,) = vt.autograd.grad(y.sum(), x)
    assert float(found.sum()) == y.numel()


OUTSIDE: dict[str, tuple[Indexed, int, int, int]] = {
    "an int": (lambda x: x[7], 7, 0, 2),
    "an int further on": (lambda x: x[0, 9], 9, 1, 3),
    "below": (lambda x: x[-3], -3, 0, 2),
    "in a list": (lambda x: x[[5]], 5, 0, 2),
}


@pytest.mark.parametrize(("read", "index", "dimension", "size"), OUTSIDE.values(), ids=OUTSIDE)
def test_an_index_outside_is_named_with_its_dimension_and_size(
    read: Indexed, index: int, dimension: int, size: int
) -> None:
    with pytest.raises(IndexError) as caught:
        read(ramp(2, 3))
    words = str(caught.value).split()
    for what in (f"index {index}", f"dimension {dimension}", f"size {size}"):
        name, number = what.split()
        assert words[words.index(name) + 1] == number
    assert ON_TORCH or getattr(caught.value, "kind", None) == "index"


FRACTIONS: dict[str, Indexed] = {
    "a float": lambda x: x[1.0],  # type: ignore[index]  # the point of the test
    "a float in a tensor": lambda x: x[vt.tensor(1.0)],
    "floats in a tensor": lambda x: x[vt.tensor([1.0])],
}


@pytest.mark.parametrize("read", FRACTIONS.values(), ids=FRACTIONS)
def test_a_float_is_no_index(read: Indexed) -> None:
    x = ramp(2, 3)
    with refused(IndexError, "index", [x]):
        read(x)


def test_tensor_split_takes_its_places_as_a_tensor() -> None:
    a = leaf(5)
    b = a.clone()
    pieces = b.tensor_split(vt.tensor([1, 3]))
    assert [p.tolist() for p in pieces] == [[1], [2, 3], [4, 5]]
    assert [p.tolist() for p in b.tensor_split(vt.tensor(2))] == [[1, 2, 3], [4, 5]]
    pieces[1].mul_(10)
    assert gradients(b.sum(), a) == [[1, 10, 10, 1, 1]]


def test_narrow_counts_from_the_end_too() -> None:
    assert ramp(5).narrow(0, -3, 2).tolist() == [3, 4]
    with pytest.raises((IndexError, RuntimeError)):
        ramp(5).narrow(0, -6, 2)


@pytest.mark.parametrize("shape", [(-1, 0), (0, -1)])
def test_a_size_to_be_found_out_is_ambiguous_beside_size_zero(shape: tuple[int, int]) -> None:
    empty = vt.zeros(0, 3)
    for arrange in (empty.view, empty.reshape):
        with pytest.raises(RuntimeError):
            arrange(*shape)
    with pytest.raises(RuntimeError):
        empty.unflatten(0, shape)
    assert empty.view(-1, 3).shape == (0, 3)


def test_a_slice_of_no_dimension_is_refused() -> None:
    x = ramp(2, 3)
    assert x[..., ...].tolist() == x.tolist()
    kind = "dimension" if ON_TORCH else "index"
    with refused(IndexError, kind, [x]):
        x[..., ..., 1:]
    with refused(IndexError, kind, [x]):
        x[..., ..., 1:] = 5.0


# -- assigning ---------------------------------------------------------------------------------


def test_an_assigned_value_is_broadcast_and_gets_the_sum_of_gradients() -> None:
    a, row, one = leaf(2, 3), leaf(3), leaf(1)
    b = a.clone()
    b[:] = row
    b[1] = one
    assert gradients((b * ramp(2, 3)).sum(), a, row, one) == [
        [[0, 0, 0], [0, 0, 0]],
        [1, 2, 3],
        [15],
    ]


def test_leading_ones_of_an_assigned_value_are_dropped_and_other_sizes_are_not() -> None:
    x, value = ramp(2, 3), leaf(1, 1, 3)
    x[0] = value
    assert gradients((x * 2).sum(), value) == [[[[2, 2, 2]]]]
    y = ramp(2, 3)
    for wrong in (ramp(2, 3), ramp(2, 1), ramp(2)):
        with refused(RuntimeError, "shape", [y]):
            y[0] = wrong


# -- as_strided --------------------------------------------------------------------------------


def test_the_gradient_of_overlapping_windows_is_summed() -> None:
    a = leaf(3)
    windows = a.clone().as_strided((2, 2), (1, 1))
    assert gradients((windows * ramp(2, 2)).sum(), a) == [[1, 5, 4]]


def test_a_part_of_an_expanded_tensor_gives_each_location_its_gradient_once() -> None:
    a = leaf(2)
    wide = a[:1].expand(3)
    assert gradients((wide.as_strided((1,), (1,), 0) * 6).sum(), a) == [[6, 0]]


def test_as_strided_after_a_write_to_the_base_means_the_same_elements() -> None:
    a = leaf(4)
    b = a.clone()
    v = b.as_strided((2,), (2,), 1)
    b.mul_(10)
    v.add_(1)
    b.mul_(2)
    assert v.tolist() == [42, 82]
    assert gradients(v.sum(), a) == [[0, 20, 0, 20]]


# -- awkward numbers ---------------------------------------------------------------------------

EXTREMES: dict[str, tuple[Indexed, list[float], list[float]]] = {
    "max": (lambda x: x.max(), [2, 2, 1, 1], [0.5, 0.5, 0, 0]),
    "min": (lambda x: x.min(), [2, 2, 1, 1], [0, 0, 0.5, 0.5]),
    "median": (lambda x: x.median(), [3, 1, 2, 2], [0, 0, 0.5, 0.5]),
    "max with nan": (lambda x: x.max(), [NAN, 2, NAN, 1], [0.5, 0, 0.5, 0]),
    "min with nan": (lambda x: x.min(), [NAN, 2, NAN, 1], [0.5, 0, 0.5, 0]),
    "median with nan": (lambda x: x.median(), [NAN, 2, NAN, 1], [0.5, 0, 0.5, 0]),
}


@pytest.mark.parametrize(("take", "values", "expected"), EXTREMES.values(), ids=EXTREMES)
def test_ties_and_nans_share_the_gradient_of_an_element_that_is_taken(
    take: Indexed, values: list[float], expected: list[float]
) -> None:
    x = real(*values)
    assert gradients(take(x), x) == [expected]


@pytest.mark.parametrize(
    ("exponent", "to_base", "to_exponent"),
    [(0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (0.5, math.inf, 0.0), (-1.0, -math.inf, -math.inf)],
)
def test_powers_of_zero(exponent: float, to_base: float, to_exponent: float) -> None:
    base, power = real(0.0), real(exponent)
    assert gradients((base**power).sum(), base, power) == [[to_base], [to_exponent]]
    assert gradients((base**exponent).sum(), base) == [[to_base]]
    assert gradients((0.0**power).sum(), power) == [[to_exponent]]


@differs_from_torch("the second derivative is nan there")
@pytest.mark.parametrize("exponent", [2.0, 1.0, 0.5])
def test_the_second_derivative_of_a_power_of_zero_is_zero(exponent: float) -> None:
    power = real(exponent)
    for result in (0.0**power, 0**power, real(0.0).detach() ** power):
        (first,) = vt.autograd.grad(result.sum(), power, create_graph=True)
        assert gradients(first.sum(), power) == [[0]]


def test_a_real_base_of_a_complex_power_has_a_real_gradient() -> None:
    x = real(2.0)
    power = vt.tensor([1 + 1j], dtype=vt.complex128, requires_grad=True)
    one = vt.ones(1, dtype=vt.complex128)
    to_base, to_power = vt.autograd.grad(x**power, (x, power), one)
    assert to_base.dtype == vt.float64
    value = 2 ** (1 + 1j)
    # d/dx x**p = p * x**(p - 1), of which the real part is the gradient of a real number.
    assert to_base.tolist() == pytest.approx([((1 + 1j) * 2**1j).conjugate().real])
    assert to_power.tolist() == pytest.approx([(value * math.log(2)).conjugate()])


def test_a_negative_base_of_a_complex_power_has_a_gradient_for_both() -> None:
    x = real(-1.0)
    power = vt.tensor([2 - 1j], dtype=vt.complex128, requires_grad=True)
    one = vt.ones(1, dtype=vt.complex128)
    to_base, to_power = vt.autograd.grad(x**power, (x, power), one)
    value = complex(-1) ** (2 - 1j)
    assert to_base.tolist() == pytest.approx([(value * (2 - 1j) / -1).conjugate().real])
    assert to_power.tolist() == pytest.approx([(value * 1j * math.pi).conjugate()])


INTEGERS: dict[str, Indexed] = {
    "position of the largest": lambda x: x.argmax(),
    "order": lambda x: x.argsort(),
    "positions of sorted values": lambda x: x.sort()[1],
    "positions of the largest of rows": lambda x: x.max(0)[1],
    "comparison": lambda x: x > 1,
    "cast": lambda x: x.long(),
    "test": lambda x: x.isnan(),
    "count": lambda x: (x > 1).sum(),
    "indices": lambda x: x.nonzero(),
}


@pytest.mark.parametrize("make", INTEGERS.values(), ids=INTEGERS)
def test_integer_results_never_require_grad(make: Indexed) -> None:
    y = make(leaf(3))
    assert not y.requires_grad
    assert y.is_leaf
    assert y.grad_fn is None
    with refused(RuntimeError, "requires-grad", [y]):
        y.requires_grad_()


def test_each_mask_of_uint8_comes_with_a_warning_of_its_line() -> None:
    mask = vt.tensor([1, 0, 1], dtype=vt.uint8)
    x, y = ramp(3, 3), vt.ones(3)
    with pytest.warns(UserWarning, match="uint8|byte") as caught:
        assert x[mask].tolist() == [[1, 2, 3], [7, 8, 9]]
    assert [w.filename for w in caught] == [__file__]
    with pytest.warns(UserWarning, match="uint8|byte") as caught:
        x[mask, mask]
    assert len(caught) == 2
    with pytest.warns(UserWarning, match="uint8|byte") as caught:
        y.index_put_((mask,), vt.tensor(3.0), accumulate=True)
    assert [w.filename for w in caught] == [__file__]
    assert y.tolist() == [4, 1, 4]


def test_a_uint8_number_stands_for_a_bool_without_a_warning() -> None:
    x = ramp(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x[vt.tensor(1, dtype=vt.uint8)].shape == (1, 2)
        assert x[vt.tensor(0, dtype=vt.uint8)].shape == (0, 2)
        x[vt.tensor(1, dtype=vt.uint8)] = ramp(2) + 4
    assert x.tolist() == [5, 6]


class Pretender:
    """Says that it can be an index, and is none."""

    def __index__(self) -> int:
        return "a"  # type: ignore[return-value]  # that is the pretence


def test_what_only_says_that_it_is_an_integer_is_no_index() -> None:
    for x in (ramp(2, 2), vt.tensor(1)):
        with pytest.raises(IndexError):
            x[Pretender()]
        with pytest.raises(IndexError):
            x[Pretender()] = 1


# -- 0-d tensors for numbers, and numbers for tensors --------------------------------------------


def scalar(value: float) -> Any:
    """Give a 0-d tensor that is passed where the types ask for a number."""
    return vt.tensor(value)


def wide(value: int) -> Any:
    """Give an integer of NumPy's, which is no number to the types."""
    return np.int64(value)


def test_a_0d_tensor_stands_for_a_number_with_its_value_at_the_call() -> None:
    rate = scalar(0.5)
    x = leaf(2)
    y = x * 1
    y.add_(ramp(2), alpha=rate)
    z = y.addcmul(y, y, value=scalar(2))
    rate.fill_(7)
    assert y.tolist() == [1.5, 3]
    assert gradients(z.sum(), x) == [[7, 13]]
    assert vt.sub(3, ramp(1), alpha=scalar(2)).tolist() == [1]
    assert ramp(1, 1).addmm(ramp(1, 1), ramp(1, 1), beta=scalar(3)).tolist() == [[4]]
    assert vt.isclose(ramp(1), ramp(1) + 1, atol=scalar(2.0)).tolist() == [True]
    assert ramp(2).var(correction=scalar(0.0)).tolist() == 0.25


def test_the_dtype_of_a_0d_tensor_for_a_number_counts_as_that_of_the_number() -> None:
    x = vt.tensor([1, 2])
    with refused(RuntimeError, "dtype", [x]):
        x.add_(x, alpha=scalar(0.5))
    assert (x + x).dtype == vt.int64
    assert x.float().add(x, alpha=scalar(2.0).double()).dtype == vt.float32


@pytest.mark.parametrize(
    "rate", [vt.tensor([2.0]), vt.tensor(2.0, requires_grad=True)], ids=["1-d", "requires grad"]
)
def test_a_tensor_whose_gradient_or_shape_would_be_lost_stands_for_no_number(
    rate: vt.Tensor,
) -> None:
    x = ramp(2)
    with refused(TypeError, "argument-type", [x, rate]):
        x.add_(x, alpha=rate)  # type: ignore[arg-type]  # on purpose


def test_a_0d_tensor_for_a_number_of_a_write_is_neither_saved_nor_an_operand() -> None:
    bound = scalar(0.25)
    x = real(0.5, 0.75)
    y = x * 1
    y.logit_(bound)
    bound.fill_(7)
    assert gradients(y.sum(), x, create_graph=True) == [pytest.approx([4, 16 / 3])]
    wrong: Any
    for wrong in (vt.tensor([2.0]), scalar(2.0).requires_grad_()):
        with refused(TypeError, "argument-type", [y]):
            y.renorm_(wrong, 0, 1)
    assert ramp(2).normal_(scalar(5), scalar(0)).tolist() == [5, 5]


def test_integers_that_meet_a_dimension_of_size_1_keep_their_dtype_in_tensor_products() -> None:
    x, y = vt.tensor([[2], [3]], dtype=vt.uint8), vt.tensor([[4, 5]], dtype=vt.uint8)
    assert vt.inner(x, x).tolist() == [[4, 6], [6, 9]]
    assert vt.tensordot(x, y, ([1], [1])).tolist() == [[18], [27]]
    assert vt.inner(x, x).dtype == vt.uint8
    # The rows of a product of one element each way, which is a sum of products.
    square = vt.arange(4, dtype=vt.uint8).view(2, 2)
    whole = vt.tensordot(square.view(2, 2, 1), square.view(2, 1, 2), dims=((0, 1), (2, 0)))
    assert whole.item() == 13
    assert whole.dtype == vt.uint8


def test_a_number_is_copied_into_every_element() -> None:
    x = leaf(2, 2)
    y = x * 1
    y[0].copy_(3)
    assert (y.tolist(), y._version) == ([[3, 3], [3, 4]], 1)
    assert gradients(y.sum(), x) == [[[0, 0], [1, 1]]]
    y.copy_(2.5)
    assert fn_name(y) == "CopyBackwards"
    assert vt.zeros(1, dtype=vt.uint8).copy_(300).tolist() == [44]
    assert vt.zeros(1, dtype=vt.int64).copy_(2.7).tolist() == [2]


def test_a_number_is_shifted_by_bools_as_an_integer() -> None:
    bits = vt.tensor([True, False])
    assert (2 << bits).tolist() == [4, 2]
    assert (2 >> bits).tolist() == [1, 2]
    small = vt.tensor([1], dtype=vt.uint8)
    assert (300 << small).tolist() == [88]


def test_a_0d_tensor_is_a_value_for_scatter_and_a_bound_beside_a_number() -> None:
    index = vt.tensor([[0, 1]])
    assert ramp(2, 2).scatter_(0, index, value=scalar(7)).tolist() == [[7, 2], [3, 7]]
    x = vt.tensor([1.0, 2.0])
    assert x.clamp(wide(2), scalar(3)).tolist() == [2, 2]
    assert ramp(2, 2).fill_diagonal_(scalar(7)).tolist() == [[7, 2], [3, 7]]
    assert vt.norm(ramp(3), wide(1)).tolist() == 6
    assert ramp(3).var(correction=wide(0)).tolist() == pytest.approx(2 / 3)


def test_nonzero_indices_are_dense_along_each_dimension() -> None:
    rows = ramp(2, 3).nonzero()
    assert rows.stride() == (1, 6)
    assert [i.stride() for i in vt.nonzero(ramp(2, 3), as_tuple=True)] == [(1,), (1,)]


@differs_from_torch("without results the strides are 1 and 0 there")
def test_nonzero_without_results_is_laid_out_row_by_row() -> None:
    rows = (ramp(2, 3) * 0).nonzero()
    assert tuple(rows.shape) == (0, 2)
    assert rows.stride() == (2, 1)
    assert rows[:, 0].tolist() == []
