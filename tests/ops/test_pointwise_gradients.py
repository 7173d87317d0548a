"""Derivatives of elementwise operators: values, conventions, what is saved, node names."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.support import leaf_of

NAN, INF = float("nan"), float("inf")

Unary = Callable[[vt.Tensor], vt.Tensor]


def gradient(f: Unary, *values: float | complex) -> list[Any]:
    """The gradient of the sum of f at a vector."""
    x = leaf_of(*values)
    y = f(x)
    (grad,) = vt.autograd.grad(y, x, vt.ones_like(y))
    result: list[Any] = grad.numpy().tolist()
    return result


def name(t: vt.Tensor) -> str:
    """The class name of a tensor's grad_fn."""
    return type(t.grad_fn).__name__


# Operator, a point inside its domain, the first and the second derivative there.
DERIVATIVES: list[tuple[Unary, float, float, float]] = [
    (vt.neg, 0.5, -1.0, 0.0),
    (vt.abs, -0.5, -1.0, 0.0),
    (vt.sign, 0.5, 0.0, 0.0),
    (vt.exp, 0.0, 1.0, 1.0),
    (vt.exp2, 0.0, np.log(2), np.log(2) ** 2),
    (vt.expm1, 0.0, 1.0, 1.0),
    (vt.log, 0.5, 2.0, -4.0),
    (vt.log2, 0.5, 2 / np.log(2), -4 / np.log(2)),
    (vt.log10, 0.5, 2 / np.log(10), -4 / np.log(10)),
    (vt.log1p, 1.0, 0.5, -0.25),
    (vt.sqrt, 4.0, 0.25, -0.03125),
    (vt.rsqrt, 4.0, -0.0625, 0.0234375),
    (vt.reciprocal, 2.0, -0.25, 0.25),
    (vt.square, 3.0, 6.0, 2.0),
    (vt.sin, 0.0, 1.0, 0.0),
    (vt.cos, 0.0, 0.0, -1.0),
    (vt.tan, 0.25 * np.pi, 2.0, 4.0),
    (vt.asin, 0.6, 1.25, 0.6 * 1.25**3),
    (vt.acos, 0.6, -1.25, -0.6 * 1.25**3),
    (vt.atan, 1.0, 0.5, -0.5),
    (vt.sinh, 0.0, 1.0, 0.0),
    (vt.cosh, 0.0, 0.0, 1.0),
    (vt.tanh, 0.0, 1.0, 0.0),
    (vt.sigmoid, np.log(3.0), 0.1875, -0.09375),
    (vt.relu, 2.0, 1.0, 0.0),
    (vt.floor, 1.5, 0.0, 0.0),
    (vt.ceil, 1.5, 0.0, 0.0),
    (vt.trunc, 1.5, 0.0, 0.0),
    (vt.round, 1.4, 0.0, 0.0),
    (vt.frac, 1.5, 1.0, 0.0),
    (lambda x: x**3, 2.0, 12.0, 12.0),
    (lambda x: x**0.5, 4.0, 0.25, -0.03125),
    (lambda x: x**-1, 2.0, -0.25, 0.25),
    (lambda x: 2**x, 3.0, 8 * np.log(2), 8 * np.log(2) ** 2),
    (lambda x: 1 / x, 2.0, -0.25, 0.25),
    (lambda x: 3 - x, 2.0, -1.0, 0.0),
    (lambda x: x / 4, 2.0, 0.25, 0.0),
    (lambda x: vt.pow(x, x), 1.0, 1.0, 2.0),
    (lambda x: vt.atan2(x, vt.ones_like(x)), 1.0, 0.5, -0.5),
    (lambda x: vt.atan2(vt.ones_like(x), x), 1.0, -0.5, 0.5),
    (lambda x: x * x.detach() + x, 2.0, 3.0, 0.0),
    (lambda x: vt.addcmul(x, x, x, value=2), 3.0, 13.0, 4.0),
    (lambda x: vt.addcdiv(x, vt.ones_like(x), x, value=2), 2.0, 0.5, 0.5),
    (lambda x: vt.lerp(x, x * x, x), 2.0, 9.0, 10.0),
    (lambda x: vt.div(x, x * x), 2.0, -0.25, 0.25),
]


@pytest.mark.parametrize(("f", "x", "first", "second"), DERIVATIVES)
def test_first_and_second_derivatives(f: Unary, x: float, first: float, second: float) -> None:
    point = leaf_of(x)
    (once,) = vt.autograd.grad(f(point), point, create_graph=True)
    np.testing.assert_allclose(once.tolist(), [first], rtol=1e-13, atol=1e-14)
    # The very same, without recording: the formula over arrays.
    (plain,) = vt.autograd.grad(f(point), point)
    assert plain.tolist() == once.tolist()
    if not once.requires_grad:
        assert second == 0
        return
    (twice,) = vt.autograd.grad(once, point, allow_unused=True)
    if twice is None:
        assert second == 0
    else:
        np.testing.assert_allclose(twice.tolist(), [second], rtol=1e-13, atol=1e-14)


# -- conventions where there is no derivative -------------------------------------------------


def test_kinks_at_zero() -> None:
    assert gradient(vt.abs, 0.0, -0.0) == [0.0, 0.0]
    assert gradient(vt.relu, 0.0, -1.0, 1.0) == [0.0, 0.0, 1.0]
    assert gradient(lambda x: x**0, 0.0, NAN, 2.0) == [0.0, 0.0, 0.0]
    assert gradient(lambda x: x**1, 0.0, NAN) == [1.0, 1.0]
    assert gradient(lambda x: x**2, -3.0, 0.0) == [-6.0, 0.0]
    assert gradient(vt.sqrt, 0.0) == [INF]


def test_relu_passes_the_gradient_of_nan_and_abs_does_not() -> None:
    assert gradient(vt.relu, NAN) == [1.0]
    assert gradient(vt.abs, NAN) == [0.0]


def test_powers_of_tensors_at_zero() -> None:
    base, exponent = leaf_of(0.0, 0.0, 2.0, NAN), leaf_of(0.0, 2.0, 0.0, 0.0)
    y = vt.pow(base, exponent).sum()
    of_base, of_exponent = vt.autograd.grad(y, (base, exponent))
    assert of_base.tolist() == [0.0, 0.0, 0.0, 0.0]
    assert of_exponent[:3].tolist() == [0.0, 0.0, np.log(2.0)]
    assert gradient(lambda x: vt.pow(0, x), 0.0, 1.0) == [0.0, 0.0]


def test_a_negative_base_has_a_gradient_for_complex_exponents() -> None:
    # d/dz (-1)**z = (-1)**z * log(-1) = -1 * pi i at z = 1
    base, z = leaf_of(-1.0), leaf_of(1 + 0j)
    (g,) = vt.autograd.grad(vt.pow(base, z), z, vt.ones(1, dtype=vt.complex128))
    np.testing.assert_allclose(g.tolist(), [np.pi * 1j], atol=1e-15)

    (g,) = vt.autograd.grad(vt.pow(-1.0, z), z, vt.ones(1, dtype=vt.complex128))
    np.testing.assert_allclose(g.tolist(), [np.pi * 1j], atol=1e-15)


@pytest.mark.parametrize("base", [0.0, 0j])
@pytest.mark.parametrize("as_number", [False, True])
def test_a_complex_power_of_zero_is_flat_where_it_is_a_number(
    base: complex, as_number: bool
) -> None:
    z = leaf_of(0j, 1e-3 + 0j, 2 + 1j, 1j, -1 + 1j, complex(NAN))
    y = vt.pow(base if as_number else vt.full((6,), base), z)
    assert np.isnan(y.detach().numpy()).tolist() == [False] * 3 + [True] * 3
    (g,) = vt.autograd.grad(y, z, vt.ones_like(y))
    assert g[:3].tolist() == [0.0, 0.0, 0.0]
    # The steps of finite differences would be between values that are no numbers.
    assert bool(g[3:].isnan().all())


def test_the_gradient_of_relu_can_be_recorded_again() -> None:
    x = leaf_of(-1.0, 2.0)
    (g,) = vt.autograd.grad(x.relu(), x, vt.ones(2, dtype=vt.float64), create_graph=True)
    assert name(g) == "ThresholdBackwardBackward0"
    (second,) = vt.autograd.grad(g.sum(), x)
    assert second.tolist() == [0.0, 0.0]


def test_where_beside_a_number_of_a_higher_category_casts_first() -> None:
    x = leaf_of(1.0, 2.0)
    y = vt.where(vt.tensor([True, False]), x, 1j)
    assert y.dtype is vt.complex128
    assert y.grad_fn is not None
    assert type(y.grad_fn.next_functions[0][0]).__name__ == "ToCopyBackward0"


def test_equal_values_share_the_gradient_of_an_extreme() -> None:
    for f, expected in (
        (vt.maximum, [[0.5, 0.0, 1.0], [0.5, 1.0, 0.0]]),
        (vt.minimum, [[0.5, 1.0, 0.0], [0.5, 0.0, 1.0]]),
    ):
        a, b = leaf_of(1.0, 2.0, 5.0), leaf_of(1.0, 3.0, 4.0)
        grads = vt.autograd.grad(f(a, b).sum(), (a, b))
        assert [g.tolist() for g in grads] == expected


def test_clamp_passes_the_gradient_at_its_bounds() -> None:
    assert gradient(lambda x: x.clamp(0, 1), -1.0, 0.0, 0.5, 1.0, 2.0) == [0, 1, 1, 1, 0]
    assert gradient(lambda x: x.clamp(min=0), -1.0, 0.0, NAN) == [0, 1, 0]
    assert gradient(lambda x: x.clamp(1, 0), 0.5) == [0]


def test_bounds_of_clamp_get_the_gradient_of_what_they_replace() -> None:
    x, low, high = (
        leaf_of(-1.0, 0.5, 2.0, 0.5),
        leaf_of(0.0, 0.0, 0.0, 2.0),
        leaf_of(1.0, 1.0, 1.0, 0.0),
    )
    grads = vt.autograd.grad(vt.clamp(x, low, high).sum(), (x, low, high))
    assert [g.tolist() for g in grads] == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1]]


def test_the_angle_at_the_origin_has_gradient_zero() -> None:
    y, x = leaf_of(0.0), leaf_of(0.0)
    assert [g.tolist() for g in vt.autograd.grad(vt.atan2(y, x), (y, x))] == [[0.0], [0.0]]


def test_remainders_change_with_the_divisor_by_the_rounded_quotient() -> None:
    for f, expected in ((vt.remainder, [-1.0, 2.0]), (vt.fmod, [-1.0, 1.0])):
        a, b = leaf_of(5.0, -5.0), leaf_of(3.0, 3.0)
        of_a, of_b = vt.autograd.grad(f(a, b).sum(), (a, b))
        assert of_a.tolist() == [1.0, 1.0]
        assert of_b.tolist() == expected


def test_rounded_quotients_have_gradient_zero_and_floor_divide_none() -> None:
    assert gradient(lambda x: vt.div(x, 2, rounding_mode="trunc"), 5.0) == [0.0]
    y = vt.floor_divide(leaf_of(5.0), 2)
    assert y.requires_grad
    assert name(y) == "NotImplemented"
    with pytest.raises(RuntimeError):
        y.backward()


def test_where_sends_each_gradient_to_the_value_that_was_chosen() -> None:
    a, b = leaf_of(1.0, 2.0), leaf_of(3.0, NAN)
    y = vt.where(vt.tensor([True, False]), a, b) * vt.tensor([5.0, 7.0])
    of_a, of_b = vt.autograd.grad(y.sum(), (a, b))
    assert of_a.tolist() == [5.0, 0.0]
    assert of_b.tolist() == [0.0, 7.0]


# -- shapes, dtypes, complex values -----------------------------------------------------------


def test_gradients_of_broadcast_operands_are_summed() -> None:
    column = vt.tensor([[1.0], [2.0]], dtype=vt.float64, requires_grad=True)
    row = leaf_of(3.0, 4.0, 5.0)
    of_column, of_row = vt.autograd.grad((column * row).sum(), (column, row))
    assert of_column.tolist() == [[12.0], [12.0]]
    assert of_row.tolist() == [3.0, 3.0, 3.0]


def test_gradients_have_the_dtype_of_their_operand() -> None:
    single = vt.tensor([2.0], requires_grad=True)
    of_single, of_double = vt.autograd.grad(single * (double := leaf_of(3.0)), (single, double))
    assert of_single.dtype is vt.float32
    assert of_double.dtype is vt.float64
    assert of_single.tolist() == [3.0]


def test_complex_gradients_are_multiplied_by_the_conjugate() -> None:
    grad = vt.tensor([1 + 0.5j], dtype=vt.complex128)
    cases: list[tuple[Unary, complex]] = [
        (lambda z: z * (2 + 1j), (1 + 0.5j) * (2 - 1j)),
        (lambda z: z / 2j, (1 + 0.5j) / -2j),
        (vt.exp, (1 + 0.5j) * np.exp(1 - 2j)),
        (vt.log, (1 + 0.5j) / (1 - 2j)),
        (vt.reciprocal, -(1 + 0.5j) / (1 - 2j) ** 2),
        (lambda z: z**2, (1 + 0.5j) * 2 * (1 - 2j)),
        (lambda z: vt.add(z, z, alpha=1j), (1 + 0.5j) * (1 - 1j)),
    ]
    for f, expected in cases:
        z = leaf_of(1 + 2j)
        (g,) = vt.autograd.grad(f(z), z, grad)
        np.testing.assert_allclose(g.tolist(), [expected], rtol=1e-14)


def test_the_length_of_a_complex_value_grows_in_its_own_direction() -> None:
    np.testing.assert_allclose(gradient(vt.abs, 3 + 4j, 0j), [0.6 + 0.8j, 0], rtol=1e-14)


def test_a_real_factor_of_a_complex_product_has_a_real_gradient() -> None:
    r, z = leaf_of(2.0), vt.tensor([2 + 3j], dtype=vt.complex128)
    (g,) = vt.autograd.grad(r * z, r, vt.tensor([1 + 1j], dtype=vt.complex128))
    assert g.dtype is vt.float64
    assert g.tolist() == [5.0]


# -- what is saved ----------------------------------------------------------------------------

SAVES_RESULT = "exp exp2 expm1 tan tanh sigmoid sqrt rsqrt reciprocal relu".split()
SAVES_INPUT = "abs log log2 log10 log1p sin cos asin acos atan sinh cosh square".split()
SAVES_NOTHING = "neg sign floor ceil trunc round frac".split()


@pytest.mark.parametrize("operator", SAVES_RESULT + SAVES_INPUT + SAVES_NOTHING)
def test_only_what_the_derivative_needs_is_protected(operator: str) -> None:
    for written in ("input", "result"):
        x = leaf_of(0.25, 0.5).clone()
        y = getattr(vt, operator)(x)
        total = y.sum()
        (x if written == "input" else y).mul_(2)
        stale = operator in (SAVES_INPUT if written == "input" else SAVES_RESULT)
        if stale:
            with pytest.raises(RuntimeError, match="version"):
                total.backward()
        else:
            total.backward()


@pytest.mark.parametrize("operator", SAVES_INPUT)
def test_in_place_operators_save_a_copy_of_the_old_value(operator: str) -> None:
    expected = gradient(getattr(vt, operator), 0.25, 0.5)
    a = leaf_of(0.25, 0.5)
    x = a.clone()
    getattr(x, operator + "_")()
    total = x.sum()
    x.mul_(2)
    (g,) = vt.autograd.grad(total, a)
    assert g.tolist() == expected


@pytest.mark.parametrize("operator", SAVES_RESULT)
def test_in_place_operators_save_the_result_itself(operator: str) -> None:
    expected = gradient(getattr(vt, operator), 0.25, 0.5)
    a = leaf_of(0.25, 0.5)
    x = a.clone()
    getattr(x, operator + "_")()
    (g,) = vt.autograd.grad(x.sum(), a, retain_graph=True)
    assert g.tolist() == expected
    total = x.sum()
    x.mul_(2)
    with pytest.raises(RuntimeError, match="version"):
        total.backward()


def test_a_factor_is_saved_only_for_the_other_ones_gradient() -> None:
    x, c = leaf_of(1.0, 2.0).clone(), vt.tensor([3.0, 4.0])
    total = (x * c).sum()
    x.mul_(2)
    total.backward()
    total = (x * c).sum()
    c.mul_(2)
    with pytest.raises(RuntimeError, match="version"):
        total.backward()


def test_comparing_in_place_ends_the_gradient() -> None:
    a = leaf_of(1.0, 2.0)
    x = a.clone()
    x.eq_(1)
    assert x.tolist() == [1.0, 0.0]
    assert name(x) == "EqBackward0"
    (g,) = vt.autograd.grad(x.sum(), a)
    assert g.tolist() == [0.0, 0.0]
    assert not (a == 1).requires_grad


# -- in place, out= and names -----------------------------------------------------------------


def test_in_place_operators_write_and_return_the_tensor_itself() -> None:
    x = vt.tensor([1.0, -2.0])
    before = x._version
    assert x.add_(1, alpha=2) is x
    assert x.tolist() == [3.0, 0.0]
    assert x.sub_(1).mul_(vt.tensor([2.0, 4.0])).div_(2).tolist() == [2.0, -2.0]
    assert x.pow_(2).clamp_(0, 3).lerp_(vt.zeros(2), 0.5).tolist() == [1.5, 1.5]
    assert x._version == before + 7


def test_in_place_results_must_fit_dtype_and_shape() -> None:
    i = vt.tensor([1, 2])
    calls: list[Callable[[], vt.Tensor]] = [
        lambda: i.div_(2),
        lambda: i.mul_(2.5),
        lambda: i.exp_(),
        lambda: vt.ones(2).add_(1j),
        lambda: vt.ones(2).add_(vt.ones(3, 2)),
        lambda: vt.tensor([1j]).abs_(),
    ]
    for refused in calls:
        with pytest.raises(RuntimeError):
            refused()
    assert i.tolist() == [1, 2]
    assert i._version == 0


def test_in_place_a_result_that_does_not_fit_is_reported_before_a_missing_kernel() -> None:
    x = vt.ones(2)
    cases: list[tuple[Callable[[], vt.Tensor], str]] = [
        (lambda: x.remainder_(1j), "result-type"),
        (lambda: x.bitwise_and_(vt.ones(3, 2)), "shape"),
        (lambda: x.bitwise_and_(x), "not-supported"),
        (lambda: x.lt_(1j), "not-supported"),
        (lambda: vt.tensor([True]).sub_(vt.ones(1)), "dtype"),
        (lambda: vt.tensor([True]).floor_divide_(vt.tensor([0])), "result-type"),
    ]
    for refused, kind in cases:
        with pytest.raises(vt.errors.VtgradError) as caught:
            refused()
        assert caught.value.kind == kind


def test_operators_of_two_tensors_take_no_text() -> None:
    x = vt.ones(2)
    for name_ in ("atan2", "atan2_", "logical_and", "logical_and_", "maximum", "add_"):
        with pytest.raises(TypeError):
            getattr(x, name_)("1")


def test_logical_operators_in_place_end_the_gradient() -> None:
    a = leaf_of(1.0, 0.0)
    x = a.clone().logical_and_(vt.ones(2))
    assert x.tolist() == [1.0, 0.0]
    (g,) = vt.autograd.grad(x.sum(), a)
    assert g.tolist() == [0.0, 0.0]
    assert not vt.logical_and(a, a).requires_grad


def test_out_of_an_operator_without_derivative_may_have_inputs_that_require_grad() -> None:
    a, target = leaf_of(1.0, 2.0), vt.zeros(2)
    assert vt.eq(a, 1, out=target).tolist() == [1.0, 0.0]
    assert not target.requires_grad


def test_out_of_some_operators_must_have_the_very_dtype_of_the_result() -> None:
    with pytest.raises(RuntimeError):
        vt.neg(vt.ones(2), out=vt.zeros(2, dtype=vt.float64))
    assert vt.exp(vt.zeros(2), out=vt.zeros(2, dtype=vt.float64)).tolist() == [1.0, 1.0]


def test_a_missing_derivative_is_found_before_anything_has_run() -> None:
    x, w = leaf_of(5.0), leaf_of(1.0)
    y = vt.floor_divide(x, 2) * 2 + w
    with pytest.raises(RuntimeError):
        y.backward()
    assert w.grad is None


def test_numpy_scalars_are_numbers() -> None:
    x, i = vt.tensor([1.0, 2.0]), vt.tensor([3, 4])
    # The declared types do not speak of them, as PyTorch's do not.
    zero: Any = np.float64(0)
    one: Any = np.float32(1)
    two: Any = np.int64(2)
    for y in (vt.pow(x, two), vt.rsub(x, two), vt.fmod(x, two), x.clamp(zero, two)):
        assert y.dtype is vt.float32
    assert vt.pow(i, two).tolist() == [9, 16]
    assert vt.remainder(i, two).tolist() == [1, 0]
    assert x.clone().pow_(two).add_(one).tolist() == [2.0, 5.0]


def test_out_takes_the_result_and_its_shape() -> None:
    x = vt.tensor([1.0, 2.0])
    target = vt.zeros(2)
    assert vt.add(x, 1, out=target) is target
    assert target.tolist() == [2.0, 3.0]
    assert target._version == 1
    with pytest.warns(UserWarning, match="takes on the result's shape"):
        assert vt.exp(vt.zeros(3), out=target).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(RuntimeError):
        vt.mul(x, 2.5, out=vt.zeros(2, dtype=vt.int64))
    with pytest.raises(RuntimeError, match="out="):
        vt.mul(leaf_of(1.0, 2.0), x, out=vt.zeros(2))


def test_out_of_absolute_values_of_complex_numbers_may_be_real_or_complex() -> None:
    z = vt.tensor([3 + 4j])
    for dtype in (vt.float32, vt.float64, vt.complex64):
        assert vt.abs(z, out=vt.zeros(1, dtype=dtype)).tolist() == [5]
    with pytest.raises(RuntimeError):
        vt.abs(z, out=vt.zeros(1, dtype=vt.int64))
    with pytest.raises(RuntimeError):
        vt.abs(vt.ones(1), out=vt.zeros(1, dtype=vt.float64))


def test_numbers_and_tensors_record_the_nodes_that_pytorch_names() -> None:
    x, c = leaf_of(0.5, 0.25), vt.tensor([0.5, 2.0], dtype=vt.float64)
    assert [
        name(y)
        for y in (
            x**2, x**c, 2**x, x.square(), 2 - x, vt.rsub(x, c), 1 / x, x / 2,
            vt.div(x, 2, rounding_mode="floor"), x % 2, x % c, vt.fmod(x, 2), vt.fmod(x, c),
            x.clamp(0, 1), x.clamp(c), x.clamp_min(0), x.clamp_max(c),
            vt.lerp(x, x, 0.5), vt.lerp(x, x, c), x.round(), x.round(decimals=1),
            vt.where(c > 1, x, 0.0), x.log1p(), vt.atan2(x, c),
        )
    ] == [
        "PowBackward0", "PowBackward1", "PowBackward2", "PowBackward0", "RsubBackward1",
        "RsubBackward0", "MulBackward0", "DivBackward0",
        "DivBackward2", "RemainderBackward0", "RemainderBackward1", "FmodBackward0",
        "FmodBackward1",
        "ClampBackward1", "ClampBackward0", "ClampMinBackward0", "ClampMaxBackward1",
        "LerpBackward0", "LerpBackward1", "RoundBackward0", "RoundBackward1",
        "WhereBackward0", "Log1PBackward0", "Atan2Backward0",
    ]  # fmt: skip


def test_clamp_does_not_mix_numbers_with_tensors_that_have_dimensions() -> None:
    x = vt.tensor([1.0, 2.0])
    with pytest.raises(TypeError):
        x.clamp(0, x)
    assert x.clamp(vt.tensor(1.5), 5).tolist() == [1.5, 2.0]


def test_reflected_operators_on_numbers() -> None:
    x = vt.tensor([2.0, -4.0])
    assert (1 - x).tolist() == [-1.0, 5.0]
    assert (1 / x).tolist() == [0.5, -0.25]
    assert (2**x).tolist() == [4.0, 0.0625]
    assert (7 // x).tolist() == [3.0, -2.0]
    assert (7 % x).tolist() == [1.0, -1.0]
    assert (+x) is x
    assert (~vt.tensor([5, 0])).tolist() == [-6, -1]
    with pytest.raises(RuntimeError):
        +vt.tensor([True])
