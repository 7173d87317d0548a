"""Memory order of results, where views sit in memory, result dtypes, and classes of errors."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest

from tests.support import fn_name, grad_list, gradients, leaf, ramp, refused, vt

# -- memory order ------------------------------------------------------------------------------


def test_results_take_the_memory_order_of_their_operand() -> None:
    x = ramp(2, 3).t()
    assert tuple(x.neg().stride()) == (1, 3)
    assert tuple(x.exp().stride()) == (1, 3)
    assert tuple((x + 1).stride()) == (1, 3)


def test_operands_that_disagree_let_the_first_decide() -> None:
    x = ramp(2, 3).t()
    assert tuple((x + ramp(3, 2)).stride()) == (1, 3)
    assert tuple((ramp(3, 2) + x).stride()) == (2, 1)


def test_operands_with_gaps_give_dense_results() -> None:
    assert tuple(ramp(6)[::2].neg().stride()) == (1,)
    assert tuple((ramp(3, 1).expand(3, 2) * 2).stride()) == (2, 1)


def test_a_broadcast_operand_does_not_decide() -> None:
    x = ramp(2, 3).t()
    assert tuple((ramp(3, 1) + x).stride()) == (1, 3)
    assert tuple((ramp(1)[0] + x).stride()) == (1, 3)


def test_lazy_operands_have_the_strides_of_their_values() -> None:
    z = vt.view_as_complex(ramp(1, 3, 2))
    for x in (z.t().conj(), z.conj().imag.t()):
        assert tuple(x.exp().stride()) == (1, 1)
    assert tuple(vt.stack([z.t().conj()]).stride()) == (3, 1, 1)


def test_predicates_of_several_parts_are_laid_out_as_those_are_joined() -> None:
    x = ramp(1, 3).t()
    z = x * (1 + 1j)
    assert tuple(z.stride()) == (1, 3)
    assert [tuple(y.isinf().stride()) for y in (x, z, x.int())] == [(1, 1), (1, 3), (1, 3)]
    assert [tuple(y.isfinite().stride()) for y in (x, z, x.int())] == [(1, 1), (1, 1), (1, 3)]


def test_images_with_their_channels_last_stay_so_when_they_are_joined_or_rolled() -> None:
    x = ramp(2, 4, 5, 3).permute(0, 3, 1, 2)
    last = (60, 1, 15, 3)
    assert tuple(x.stride()) == last
    assert tuple(vt.cat([x, x]).stride()) == last
    assert tuple(vt.cat([x, x], 1).stride()) == (120, 1, 30, 6)
    assert tuple(vt.cat([x, x.contiguous()]).stride()) == (60, 20, 5, 1)
    assert tuple(vt.stack([x, x]).stride()) == (120, 60, 1, 15, 3)
    assert tuple(vt.stack([x, x], 1).stride()) == (120, 3, 1, 30, 6)
    assert tuple(vt.stack([x, x], -1).stride()) == (120, 40, 10, 2, 1)
    assert tuple(x.roll(1, 0).stride()) == last
    # A roll by nothing joins the whole and nothing, and nothing is in no such order.
    assert tuple(x.roll(2, 0).stride()) == (60, 20, 5, 1)
    assert x.roll(1, 3).tolist() == x.contiguous().roll(1, 3).tolist()


@pytest.mark.filterwarnings("ignore:An output with one or more elements")  # PyTorch's own
def test_powers_of_two_and_sums_of_terms_are_laid_out_row_by_row() -> None:
    one, exponents = vt.tensor(1.0), vt.ones(5, 10).t()
    assert tuple(vt.ldexp(one, exponents).stride()) == (5, 1)
    assert tuple(vt.ldexp(one.double(), exponents).stride()) == (1, 10)
    assert tuple(vt.ldexp(one, exponents.int()).stride()) == (1, 10)
    assert tuple(vt.mvlgamma(exponents + 5, 2).stride()) == (5, 1)


def test_likes_keep_the_memory_order() -> None:
    x = ramp(2, 3).t()
    assert tuple(vt.zeros_like(x).stride()) == (1, 3)
    assert tuple(vt.ones_like(x).stride()) == (1, 3)
    assert tuple(x.to(vt.float32).stride()) == (1, 3)


def test_expand_gives_new_and_stretched_dimensions_stride_zero() -> None:
    assert tuple(ramp(1).expand(3).stride()) == (0,)
    assert tuple(ramp(3, 1).expand(3, 2).stride()) == (1, 0)
    assert tuple(ramp(3).expand(2, 3).stride()) == (0, 1)


def test_expand_to_one_keeps_or_invents_the_stride_that_unsqueeze_gives() -> None:
    assert tuple(ramp(1).expand(1).stride()) == (1,)
    assert tuple(ramp(4)[::2][:1].expand(1).stride()) == (2,)
    assert tuple(ramp(3).expand(1, 3).stride()) == (3, 1)
    assert tuple(ramp(3).unsqueeze(0).stride()) == (3, 1)
    assert tuple(ramp(3).unsqueeze(1).stride()) == (1, 1)


# -- storage -----------------------------------------------------------------------------------


def test_a_view_points_into_the_storage_of_its_base() -> None:
    x = ramp(4)
    v = x[1:]
    assert v.storage_offset() == 1
    assert v.data_ptr() == x.data_ptr() + 8
    assert v.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert v.untyped_storage().nbytes() == 32


def test_float32_elements_are_four_bytes_apart() -> None:
    x = vt.ones(4, dtype=vt.float32)
    assert x[3:].data_ptr() == x.data_ptr() + 12


def test_an_empty_storage_has_address_zero() -> None:
    assert vt.empty(0).untyped_storage().data_ptr() == 0


def test_no_geometry_reaches_outside_the_storage() -> None:
    x = ramp(4)
    with refused(RuntimeError, "out-of-bounds", [x]):
        x.as_strided((2,), (1,), 9)
    with refused(RuntimeError, "out-of-bounds", [x]):
        x.as_strided((5,), (1,))
    with refused(RuntimeError, "out-of-bounds", [x]):
        x[2:].as_strided((3,), (1,))
    assert x.as_strided((0,), (1,)).shape == (0,)


# -- dtypes ------------------------------------------------------------------------------------

PROMOTIONS: dict[str, tuple[Callable[[], vt.Tensor], vt.dtype]] = {
    "dimensions beat 0-d": (lambda: vt.ones(2) * ramp(1)[0], vt.float32),
    "both with dimensions": (lambda: vt.ones(2) * ramp(1), vt.float64),
    "int tensor and float": (lambda: vt.tensor([1]) * 2.5, vt.float32),
    "int tensor and 0-d double": (lambda: vt.tensor([1]) * ramp(1)[0], vt.float64),
    "bool tensor and int": (lambda: vt.ones(2, dtype=vt.bool) * 2, vt.int64),
    "bool tensor and float": (lambda: vt.ones(2, dtype=vt.bool) * 2.0, vt.float32),
    "float tensor and complex": (lambda: vt.ones(2) * 1j, vt.complex64),
    "double tensor and complex": (lambda: ramp(2) * 1j, vt.complex128),
    "float tensor and int": (lambda: vt.ones(2) * 2, vt.float32),
    "half tensor and float": (lambda: vt.ones(2, dtype=vt.float16) * 2.5, vt.float16),
    "half and 0-d float": (
        lambda: vt.ones(2, dtype=vt.float16) * vt.tensor(2.5),
        vt.float16,
    ),
    "uint8 and int8": (
        lambda: vt.ones(2, dtype=vt.uint8) + vt.ones(2, dtype=vt.int8),
        vt.int16,
    ),
    "int8 and number": (lambda: vt.ones(2, dtype=vt.int8) + 1000, vt.int8),
    "int32 and half": (
        lambda: vt.ones(2, dtype=vt.int32) + vt.ones(2, dtype=vt.float16),
        vt.float16,
    ),
    "int by int": (lambda: vt.tensor([3]) / 2, vt.float32),
    "floor division of ints": (lambda: vt.tensor([3]) // 2, vt.int64),
    "exp of ints": (lambda: vt.tensor([1]).exp(), vt.float32),
    "reciprocal of ints": (lambda: vt.tensor([1]).reciprocal(), vt.float32),
    "sin of ints": (lambda: vt.tensor([1]).sin(), vt.float32),
    "sqrt of ints": (lambda: vt.tensor([1]).sqrt(), vt.float32),
    "sigmoid of ints": (lambda: vt.tensor([1]).sigmoid(), vt.float32),
    "tanh of ints": (lambda: vt.tensor([1]).tanh(), vt.float32),
    "square of ints": (lambda: vt.tensor([2]).square(), vt.int64),
    "neg of ints": (lambda: vt.tensor([2]).neg(), vt.int64),
    "abs of ints": (lambda: vt.tensor([2]).abs(), vt.int64),
    "relu of ints": (lambda: vt.tensor([2]).relu(), vt.int64),
    "sum of bools": (lambda: vt.tensor([True, True]).sum(), vt.int64),
    "sum of int8": (lambda: vt.ones(2, dtype=vt.int8).sum(), vt.int64),
    "bool plus bool": (lambda: vt.tensor([True]) + vt.tensor([True]), vt.bool),
    "comparison": (lambda: ramp(2) > 1, vt.bool),
    "where of 0-d": (lambda: vt.where(ramp(2) > 1, ramp(1)[0], vt.ones(2)), vt.float32),
    "cat of int and float": (lambda: vt.cat([vt.tensor([1]), vt.ones(1)]), vt.float32),
    "default": (lambda: vt.tensor([1.5]), vt.float32),
    "arange of ints": (lambda: vt.arange(3), vt.int64),
    "indices of a maximum": (lambda: ramp(3).max(0)[1], vt.int64),
}


@pytest.mark.parametrize(("make", "dtype"), PROMOTIONS.values(), ids=PROMOTIONS)
def test_the_result_has_the_promoted_dtype(make: Callable[[], vt.Tensor], dtype: vt.dtype) -> None:
    assert make().dtype == dtype


def test_in_place_of_a_wider_float_keeps_the_target_dtype() -> None:
    f = vt.ones(2, dtype=vt.float32)
    f.add_(ramp(2))
    assert f.dtype == vt.float32


def test_a_product_of_real_and_complex_gives_the_real_side_a_real_gradient() -> None:
    r = leaf(1)
    z = vt.tensor([2 + 3j], dtype=vt.complex128)
    (gradient,) = vt.autograd.grad(r * z, r, vt.ones(1, dtype=vt.complex128))
    assert gradient.dtype == vt.float64
    assert gradient.tolist() == [2]


def test_an_assigned_tensor_of_another_dtype_is_refused_by_advanced_indices() -> None:
    x = ramp(3)
    with refused(RuntimeError, "dtype", [x]):
        x[[0]] = vt.ones(1)
    with refused(RuntimeError, "dtype", [x]):
        x[[0]] = vt.tensor(2.0)
    x[[0]] = 5
    assert x.tolist() == [5, 2, 3]


def test_an_assigned_tensor_of_another_dtype_is_converted_by_slices() -> None:
    x = ramp(3)
    x[0:2] = vt.ones(2, dtype=vt.float32)
    assert x.tolist() == [1, 1, 3]
    assert x.dtype == vt.float64


def test_booleans_know_no_minus() -> None:
    b = vt.tensor([True, False])
    with pytest.raises(RuntimeError):
        operator.sub(b, b)
    with pytest.raises(RuntimeError):
        operator.neg(b)
    assert (b + b).tolist() == [True, False]
    assert (b * b).tolist() == [True, False]


def test_the_mean_of_integers_is_refused() -> None:
    with refused(RuntimeError, "dtype"):
        vt.tensor([1, 2]).mean()


def test_integers_have_no_negative_powers() -> None:
    with pytest.raises(RuntimeError):
        vt.tensor([2]) ** -1
    assert (vt.tensor([2]) ** 3).tolist() == [8]


# -- errors of arguments -----------------------------------------------------------------------

MISTAKES: dict[str, tuple[Callable[[vt.Tensor], object], type[Exception]]] = {
    "index": (lambda x: x[5], IndexError),
    "negative index": (lambda x: x[-3], IndexError),
    "too many indices": (lambda x: x[0, 0, 0], IndexError),
    "dimension of sum": (lambda x: x.sum(7), IndexError),
    "index of select": (lambda x: x.select(0, 9), IndexError),
    "dimension of unsqueeze": (lambda x: x.unsqueeze(9), IndexError),
    "dimension of transpose": (lambda x: x.transpose(0, 5), IndexError),
    "index by a name": (lambda x: x["a"], TypeError),  # type: ignore[index]  # the mistake
    "float index": (lambda x: x[1.5], (IndexError, TypeError)),  # type: ignore[index,dict-item]
    "shapes of add": (lambda x: x + ramp(4), RuntimeError),
    "size of view": (lambda x: x.view(7), RuntimeError),
    "two unknown sizes": (lambda x: x.view(-1, -1), RuntimeError),
    "permute twice": (lambda x: x.permute(0, 0), RuntimeError),
    "shapes of matmul": (lambda x: x.matmul(x), RuntimeError),
    "reach of narrow": (lambda x: x.narrow(0, 1, 9), RuntimeError),
    "dimension of narrow_copy": (lambda x: x.narrow_copy(2, 0, 1), RuntimeError),
    "dimension of narrow_copy below": (lambda x: x.narrow_copy(-3, 0, 1), IndexError),
    "dimension of narrow": (lambda x: x.narrow(2, 0, 1), IndexError),
    "step of arange": (lambda x: vt.arange(0, 4, 0), RuntimeError),
    "step of arange of integers": (lambda x: vt.arange(0, 4, 0.5, dtype=vt.int64), ValueError),
    "bounds of linspace": (lambda x: vt.linspace(x, 1, 3), RuntimeError),
    "factor of addmm": (lambda x: vt.addmm(x, x, ramp(3, 3), beta=[2.0]), TypeError),  # type: ignore[arg-type]  # that is the test
    "factor of addr": (lambda x: vt.addr(x, x[:, 0], x[0], alpha=[2.0]), TypeError),  # type: ignore[arg-type]  # that is the test
    "truth of many": (lambda x: bool(x), RuntimeError),
    "number of many": (lambda x: float(x), ValueError),
    "item of many": (lambda x: x.item(), RuntimeError),
    "expand": (lambda x: x.expand(5, 3), RuntimeError),
    "add a word": (lambda x: x.add("a"), TypeError),  # type: ignore[arg-type]  # that is the test
    "step of zero": (lambda x: x[::0], ValueError),
    "order of norms": (lambda x: x.renorm(-1, 0, 1), RuntimeError),
    "limit of norms": (lambda x: x.renorm(2, 0, -1), RuntimeError),
    "order of derivatives": (lambda x: x.polygamma(-1), RuntimeError),
    "number of dimensions": (lambda x: x.mvlgamma(0), RuntimeError),
    "number of differences": (lambda x: vt.diff(x, -1), RuntimeError),
    "tolerance": (lambda x: vt.isclose(x, x, rtol=-1), RuntimeError),
    "step of slice_scatter": (lambda x: vt.slice_scatter(x, x, 0, 0, 2, 0), RuntimeError),
    "unknown method": (lambda x: x.no_such_operator(), AttributeError),  # type: ignore[attr-defined]
    "length of a number": (lambda x: len(x[0, 0]), TypeError),
    "iterating a number": (lambda x: list(x[0, 0]), TypeError),
}


@pytest.mark.parametrize(("call", "error"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_raises_the_class_that_fits(
    call: Callable[[vt.Tensor], object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        call(ramp(2, 3))


def test_slices_clamp_as_in_python_and_narrow_does_not() -> None:
    assert ramp(3)[1:99].tolist() == [2, 3]
    assert ramp(3)[5:].shape == (0,)
    with pytest.raises(RuntimeError):
        ramp(3).narrow(0, 2, 2)


def test_an_unknown_size_next_to_size_zero_is_refused() -> None:
    with pytest.raises(RuntimeError):
        vt.zeros(0, 3).view(-1, 0)


def test_assignment_drops_leading_ones_of_the_value_and_nothing_else() -> None:
    x = ramp(2, 3)
    x[0] = ramp(1, 1, 3) * 10
    assert x.tolist() == [[10, 20, 30], [4, 5, 6]]
    with refused(RuntimeError, "shape", [x]):
        x[0] = ramp(2, 3)


# -- ties and corners of gradients -------------------------------------------------------------


def test_ties_share_the_gradient_of_a_full_maximum() -> None:
    x = vt.tensor([2.0, 2.0, 1.0], dtype=vt.float64, requires_grad=True)
    assert gradients(x.max(), x) == [[0.5, 0.5, 0]]
    assert gradients(x.amax(), x) == [[0.5, 0.5, 0]]
    assert gradients((-x).min(), x) == [[-0.5, -0.5, 0]]


def test_a_maximum_along_a_dimension_gives_the_gradient_to_the_index_it_returns() -> None:
    x = vt.tensor([2.0, 2.0, 1.0], dtype=vt.float64, requires_grad=True)
    assert gradients(x.max(0)[0], x) == [[1, 0, 0]]


def test_equal_sides_of_maximum_share_the_gradient() -> None:
    a, b = leaf(1), leaf(1)
    assert gradients(vt.maximum(a, b), a, b) == [[0.5], [0.5]]
    assert gradients(vt.minimum(a, b), a, b) == [[0.5], [0.5]]


def test_kinks_have_the_conventional_gradient() -> None:
    z = vt.zeros(1, dtype=vt.float64, requires_grad=True)
    assert gradients(z.relu().sum(), z) == [[0]]
    assert gradients(z.abs().sum(), z) == [[0]]
    assert gradients(z.clamp(0, 1).sum(), z) == [[1]]
    assert gradients((z**0).sum(), z) == [[0]]


def test_not_even_a_nan_goes_through_where_nothing_does() -> None:
    nan = vt.tensor([float("nan")], dtype=vt.float64)
    functions: tuple[Callable[[vt.Tensor], vt.Tensor], ...] = (
        vt.sinc,
        lambda x: vt.xlogy(x, -1.0),
        lambda x: vt.xlogy(x, ramp(1) - 1),
    )
    for through in functions:
        x = vt.zeros(1, dtype=vt.float64, requires_grad=True)
        through(x).backward(nan)
        assert grad_list(x) == [0]


def test_the_ends_of_logit_are_upwards_from_either_side_of_zero() -> None:
    x = vt.tensor([0.0, -0.0, 1.0], dtype=vt.float64, requires_grad=True)
    vt.logit(x).backward(vt.tensor([2.0, -2.0, 2.0], dtype=vt.float64))
    assert grad_list(x) == [float("inf"), -float("inf"), float("inf")]


def test_the_gradient_of_a_product_of_one_depends_on_nothing() -> None:
    x = vt.tensor([[0.0, 2.0]], dtype=vt.float64, requires_grad=True)
    (grad,) = vt.autograd.grad(x.prod(0).sum(), [x], create_graph=True)
    assert (grad.tolist(), grad.requires_grad) == ([[1, 1]], False)


def test_a_product_with_zeros_has_the_right_gradient() -> None:
    one = vt.tensor([0.0, 2.0, 3.0], dtype=vt.float64, requires_grad=True)
    assert gradients(one.prod(), one) == [[6, 0, 0]]
    two = vt.tensor([0.0, 0.0, 3.0], dtype=vt.float64, requires_grad=True)
    assert gradients(two.prod(), two) == [[0, 0, 0]]


def test_a_square_at_a_negative_base_has_its_gradient() -> None:
    x = vt.tensor([-3.0], dtype=vt.float64, requires_grad=True)
    assert gradients((x**2).sum(), x) == [[-6]]


# -- names of nodes ----------------------------------------------------------------------------

NAMES: dict[str, tuple[Callable[[vt.Tensor], vt.Tensor], str]] = {
    "square": (lambda x: x.square(), "PowBackward0"),
    "power": (lambda x: x**2, "PowBackward0"),
    "sum": (lambda x: x.sum(), "SumBackward0"),
    "sum of a dimension": (lambda x: x.sum(0), "SumBackward1"),
    "mean": (lambda x: x.mean(), "MeanBackward0"),
    "mean of a dimension": (lambda x: x.mean(0), "MeanBackward1"),
    "max": (lambda x: x.max(), "MaxBackward1"),
    "max of a dimension": (lambda x: x.max(0)[0], "MaxBackward0"),
    "amax": (lambda x: x.amax(0), "AmaxBackward0"),
    "prod": (lambda x: x.prod(), "ProdBackward0"),
    "prod of a dimension": (lambda x: x.prod(0), "ProdBackward1"),
    "contiguous": (lambda x: x.t().contiguous(), "CloneBackward0"),
    "cast": (lambda x: x.float(), "ToCopyBackward0"),
    "number by tensor": (lambda x: 1 / x, "MulBackward0"),
    "number minus tensor": (lambda x: 1 - x, "RsubBackward1"),
    "clamp": (lambda x: x.clamp(0, 1), "ClampBackward1"),
    "clamp from below": (lambda x: x.clamp(min=0), "ClampBackward1"),
    "clone": (lambda x: x.clone(), "CloneBackward0"),
    "reciprocal": (lambda x: x.reciprocal(), "ReciprocalBackward0"),
    "minimum": (lambda x: vt.minimum(x, x), "MinimumBackward0"),
    "cumsum": (lambda x: x.flatten().cumsum(0), "CumsumBackward0"),
    "repeat": (lambda x: x.flatten().repeat(2), "RepeatBackward0"),
    "cat": (lambda x: vt.cat([x]), "CatBackward0"),
    "stack": (lambda x: vt.stack([x]), "StackBackward0"),
    "where": (lambda x: vt.where(x > 1, x, x), "WhereBackward0"),
    "masked fill": (lambda x: x.masked_fill(x > 1, 0.0), "MaskedFillBackward0"),
    "gather": (lambda x: x.gather(0, vt.tensor([[0]])), "GatherBackward0"),
    "vector by vector": (lambda x: x[0] @ x[1], "DotBackward0"),
    "matrix by vector": (lambda x: x @ x[0], "MvBackward0"),
    "matrix by matrix": (lambda x: x @ x.t(), "MmBackward0"),
    "vector by matrix": (lambda x: x[0] @ x.t(), "SqueezeBackward4"),
    "batch by matrix": (lambda x: x[None] @ x.t(), "UnsafeViewBackward0"),
    "batch by batch": (lambda x: x[None] @ x.t()[None], "UnsafeViewBackward0"),
}


@pytest.mark.parametrize(("make", "name"), NAMES.values(), ids=NAMES)
def test_a_result_names_the_operator_that_made_it(
    make: Callable[[vt.Tensor], vt.Tensor], name: str
) -> None:
    y = make(leaf(2, 3))
    assert fn_name(y) == name
    assert type(y.grad_fn).__name__ == name
    assert not y._is_view()
    assert y.output_nr == 0


def test_numbers_that_are_shifted_promote_as_other_operands_do() -> None:
    for shifted, expected in (
        (2 << vt.tensor([True, False]), [4, 2]),
        (8 >> vt.tensor([True, False]), [4, 8]),
        (3 << vt.tensor([1, 2], dtype=vt.int16), [6, 12]),
    ):
        assert shifted.tolist() == expected
    assert (2 << vt.tensor([True])).dtype is vt.int64
    assert (3 << vt.tensor([1], dtype=vt.int16)).dtype is vt.int16
    with pytest.raises(NotImplementedError):
        1.5 << vt.tensor([1])
    with pytest.raises(NotImplementedError):
        1.5 >> vt.tensor([1])
