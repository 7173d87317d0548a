"""Logarithms of sums of exponentials: infinities, large values, and gradients that are zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import pytest

from tests.support import differs_from_torch, gradients, leaf_of, vt

Values: TypeAlias = list[float]

INF = math.inf

infinite = differs_from_torch("its shares of infinities are nan")
rounded = differs_from_torch("its shares of large values do not add up to 1")


def of_all(x: vt.Tensor) -> vt.Tensor:
    """The sum of a vector."""
    return vt.logsumexp(x, 0)


def of_running(x: vt.Tensor) -> vt.Tensor:
    """The last of the running sums of a vector."""
    return vt.logcumsumexp(x, 0)[-1]


def of_two(function: Callable[[vt.Tensor, vt.Tensor], vt.Tensor]) -> Callable[..., vt.Tensor]:
    """A function of two numbers as one of a vector."""
    return lambda x: function(x[0], x[1])


TWO = [of_two(vt.logaddexp), of_two(vt.logaddexp2)]


# -- infinities -----------------------------------------------------------------------------


@infinite
@pytest.mark.parametrize("function", [of_all, of_running, *TWO])
@pytest.mark.parametrize(
    ("values", "shares"),
    [
        ([3, INF], [0, 1]),
        ([INF, 3], [1, 0]),
        ([INF, INF], [0.5, 0.5]),
        ([3, -INF], [1, 0]),
        ([-INF, 3], [0, 1]),
        ([-INF, -INF], [0.5, 0.5]),
    ],
)
def test_infinite_elements_have_all_of_the_sum_or_nothing(
    function: Callable[[vt.Tensor], vt.Tensor], values: Values, shares: Values
) -> None:
    x = vt.tensor(values, dtype=vt.float64, requires_grad=True)
    assert gradients(function(x), x) == [shares]
    tangent = vt.tensor([2, 5], dtype=vt.float64)
    (value, change) = vt.func.jvp(function, (x.detach(),), (tangent,))
    assert value.item() == max(values)
    assert change.item() == 2 * shares[0] + 5 * shares[1]


def test_a_nan_is_a_nan() -> None:
    for function in (of_all, of_running, *TWO):
        x = vt.tensor([1, math.nan], dtype=vt.float64, requires_grad=True)
        (slopes,) = vt.autograd.grad(function(x), x)
        assert slopes.isnan().all()


@infinite
def test_a_state_that_is_never_reached_leaves_the_gradients_of_the_others_alone() -> None:
    """Two steps of a hidden Markov model; the second state is entered from nowhere."""
    start = leaf_of(0.0, -INF)
    moves = vt.tensor([[0.25, 0.0], [0.5, 0.5]], dtype=vt.float64).log()
    emitted = leaf_of(*[math.log(p) for p in (0.5, 0.25)])
    state = start
    for _ in range(3):
        state = vt.logsumexp(state.unsqueeze(1) + moves, 0) + emitted
    assert state.tolist() == [pytest.approx(math.log(2**-9)), -INF]
    assert gradients(vt.logsumexp(state, 0), start, emitted) == [[1, 0], [3, 0]]


@infinite
def test_running_sums_that_begin_with_logarithms_of_zero() -> None:
    x = leaf_of(-INF, -INF, math.log(2), -INF, math.log(6))
    rows = [gradients(vt.logcumsumexp(x, 0)[n], x)[0] for n in range(5)]
    assert rows[:4] == [[1, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0]]
    assert rows[4] == pytest.approx([0, 0, 0.25, 0, 0.75])


# -- large values ---------------------------------------------------------------------------


@rounded
@pytest.mark.parametrize("function", [of_all, of_running])
@pytest.mark.parametrize(
    ("dtype", "top", "step"),
    [(vt.float16, 6e4, 32), (vt.float32, 1e6, 1), (vt.float32, 1e7, 1), (vt.float64, 1e16, 2)],
)
def test_shares_of_large_values_add_up_to_one(
    function: Callable[[vt.Tensor], vt.Tensor], dtype: vt.dtype, top: float, step: float
) -> None:
    x = vt.tensor([top, top - step, top - 2 * step], dtype=dtype, requires_grad=True)
    weights = [math.exp(-n * step) for n in range(3)]
    shares = [w / sum(weights) for w in weights]
    eps = vt.finfo(dtype).eps
    assert gradients(function(x), x) == [pytest.approx(shares, rel=4 * eps, abs=1e-7)]
    ones = vt.ones(3, dtype=dtype)
    assert vt.func.jvp(function, (x.detach(),), (ones,))[1].item() == pytest.approx(1, abs=2 * eps)
    (slope,) = vt.autograd.grad(function(x), x, create_graph=True)
    (curvature,) = vt.autograd.grad(slope[0], x)
    expected = [shares[0] * (1 - shares[0]), -shares[0] * shares[1], -shares[0] * shares[2]]
    assert curvature.tolist() == pytest.approx(expected, rel=8 * eps, abs=max(1e-7, 2 * eps))


@rounded
def test_the_states_of_a_long_markov_model_have_probabilities_in_single_precision() -> None:
    """The gradients by what each step emits are the probabilities of its states."""
    moves = vt.tensor([[0.9, 0.2, 0.3], [0.05, 0.7, 0.3], [0.05, 0.1, 0.4]]).log()
    emitted = (vt.sin(vt.arange(4500.0)) * 8 - 4).reshape(1500, 3).requires_grad_()
    state = emitted[0]
    for n in range(1, 1500):
        state = vt.logsumexp(state.unsqueeze(1) + moves, 0) + emitted[n]
    (shares,) = vt.autograd.grad(vt.logsumexp(state, 0), emitted)
    assert vt.allclose(shares.sum(1), vt.ones(1500), rtol=0, atol=2e-4)


# -- two operands ---------------------------------------------------------------------------


@differs_from_torch("its second derivative overflows")
@pytest.mark.parametrize(("function", "base"), [(vt.logaddexp, math.e), (vt.logaddexp2, 2.0)])
@pytest.mark.parametrize("distance", [1.0, 20.0, 500.0, 709.0, 715.0, 3000.0])
def test_derivatives_of_distant_operands(
    function: Callable[[vt.Tensor, vt.Tensor], vt.Tensor], base: float, distance: float
) -> None:
    a, b = leaf_of(0.0), leaf_of(distance)
    scale = math.log(base)
    small = math.exp(-distance * scale) / (1 + math.exp(-distance * scale))
    first = vt.autograd.grad(function(a, b), (a, b), create_graph=True)
    assert [g.item() for g in first] == pytest.approx([small, 1 - small], rel=1e-13)
    curvature = small * (1 - small) * scale
    assert gradients(first[0], a, b) == [
        pytest.approx([c], rel=1e-13) for c in (curvature, -curvature)
    ]
    assert gradients(first[1], a, b) == [
        pytest.approx([c], rel=1e-13) for c in (-curvature, curvature)
    ]


@differs_from_torch("its exponential overflows")
def test_small_shares_keep_their_digits_in_half_precision() -> None:
    a, b = (vt.tensor([x], dtype=vt.float16, requires_grad=True) for x in (0.0, 13.0))
    (share, _) = gradients(vt.logaddexp(a, b), a, b)
    assert share == pytest.approx([math.exp(-13)], rel=0.02)


# -- gradients that are zero ----------------------------------------------------------------


@differs_from_torch("the derivative is lost where the gradient is zero")
def test_running_sums_are_linear_in_gradients_that_are_zero() -> None:
    x = leaf_of(0.3, -0.2, 0.5)
    tangent = vt.tensor([1.0, 2.0, 3.0], dtype=vt.float64)
    expected = pytest.approx([1, 1.3775, 2.0783], abs=5e-5)

    def running(x: vt.Tensor) -> vt.Tensor:
        return vt.logcumsumexp(x, 0)

    assert vt.func.linearize(running, x.detach())[1](tangent).tolist() == expected
    assert vt.autograd.functional.jvp(running, x, tangent)[1].tolist() == expected
    assert vt.func.jvp(running, (x.detach(),), (tangent,))[1].tolist() == expected
    entering = vt.tensor([0.0, 2.0, 0.0], dtype=vt.float64, requires_grad=True)
    (g,) = vt.autograd.grad(running(x), x, entering, create_graph=True)
    assert vt.autograd.grad(g, entering, tangent)[0].tolist() == expected


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_running_sums_take_gradients_of_any_size_and_sign(scale: float) -> None:
    x = leaf_of(0.0, math.log(3))
    passed = vt.tensor([scale, -2 * scale], dtype=vt.float64)
    (found,) = vt.autograd.grad(vt.logcumsumexp(x, 0), x, passed)
    assert (found / scale).tolist() == pytest.approx([0.5, -1.5])
