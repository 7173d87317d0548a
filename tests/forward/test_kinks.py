"""Tangents at kinks, ties, zeros and duplicates: the derivative that reverse mode has there."""

from collections.abc import Callable
from typing import Any

import pytest

import vtgrad as vt
from tests.forward.support import dual, tangent, tensor
from vtgrad.autograd import forward_ad as fw

Operator = Callable[[vt.Tensor], vt.Tensor]
INF = float("inf")
NAN = float("nan")


def along(operator: Operator, values: list[float], seed: list[float]) -> Any:
    """The tangent, as a flat list."""
    d = fw.make_dual(tensor(*values), tensor(*seed))
    return tangent(operator(d)).reshape(-1).tolist()


# Operator, values, seed, tangent.
CASES: dict[str, tuple[Operator, list[float], list[float], list[float]]] = {
    # Ties are averaged, unless an index says which element it is.
    "max": (lambda d: d.max(), [1, 3, 3], [1, 2, 4], [3]),
    "amin": (lambda d: d.amin(0), [1, 1, 3], [1, 2, 4], [1.5]),
    "median": (lambda d: d.median(), [3, 3, 1], [1, 3, 4], [2]),
    "max_dim": (lambda d: d.max(0)[0], [1, 3, 3], [1, 2, 4], [2]),
    "sort": (lambda d: d.sort(stable=True)[0], [3, 1, 3], [1, 2, 4], [2, 1, 4]),
    "topk": (lambda d: d.topk(1)[0], [1, 3, 2], [1, 2, 4], [2]),
    "cummax": (lambda d: d.cummax(0)[0], [1, 3, 2], [1, 2, 4], [1, 2, 2]),
    "maximum": (lambda d: vt.maximum(d, tensor(3)), [3], [4], [2]),
    "minimum": (lambda d: vt.minimum(d, d * 1), [3], [4], [4]),
    "relu": (lambda d: d.relu(), [-1, 0, 1], [2, 2, 2], [0, 0, 2]),
    "abs": (lambda d: d.abs(), [-1, 0, 1], [2, 2, 2], [-2, 0, 2]),
    "hardtanh": (lambda d: vt.clamp(d, -1, 1), [-2, -1, 1, 2], [3, 3, 3, 3], [0, 3, 3, 0]),
    "clamp_nan": (lambda d: d.clamp(0, 1), [NAN, 0.5], [3, 3], [0, 3]),
    # Norms at zero.
    "norm_2": (lambda d: d.norm(2), [0, 0], [3, 4], [0]),
    "norm_1": (lambda d: d.norm(1), [0, 2], [3, 4], [4]),
    "norm_inf": (lambda d: d.norm(INF), [-2, 2], [3, 4], [0.5]),
    "dist": (lambda d: vt.dist(d, tensor(1, 2)), [1, 2], [3, 4], [0]),
    "std": (lambda d: d.std(), [2, 2, 2], [1, 2, 4], [0]),
    # Products with zeros are exact.
    "prod": (lambda d: d.prod(), [0, 3, 2], [1, 2, 4], [6]),
    "cumprod": (lambda d: d.cumprod(0), [2, 0, 3, 0, 4], [1, 2, 4, 8, 16], [1, 4, 12, 0, 0]),
    "cumprod_": (
        lambda d: d.clone().cumprod_(0), [2, 0, 3, 0, 4], [1, 2, 4, 8, 16], [1, 4, 12, 0, 0],
    ),
    "pow_0": (lambda d: d**0, [0, 2], [1, 1], [0, 0]),
    "0_pow": (lambda d: 0.0**d, [0, 1], [1, 1], [0, 0]),
    "pow_half": (lambda d: d**0.5, [0], [1], [INF]),
    "sqrt": (lambda d: d.sqrt(), [0], [1], [INF]),
    "log": (lambda d: d.log(), [0], [1], [INF]),
    # The branch that is not taken counts for nothing.
    "where_sqrt": (lambda d: vt.where(d > 0, d.sqrt(), tensor(0)), [0, 4], [1, 1], [0, 0.25]),
    "masked_fill": (lambda d: d.sqrt().masked_fill(d == 0, 0), [0, 4], [1, 1], [0, 0.25]),
    "sinc": (lambda d: d.sinc(), [0], [1], [0]),
    "xlogy": (lambda d: vt.xlogy(d, tensor(0)), [0], [1], [0]),
    "fmod": (lambda d: vt.fmod(tensor(7), d), [2], [1], [-3]),
    "remainder": (lambda d: vt.remainder(tensor(-7), d), [2], [1], [4]),
    "frac": (lambda d: d.frac(), [1.5], [3], [3]),
    "copysign": (lambda d: vt.copysign(d, -1), [0], [3], [0]),
    # At the origin as in reverse mode, where PyTorch's forward mode gives NaN.
    "atan2": (lambda d: vt.atan2(d, tensor(0)), [0], [1], [0]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_tangent_is_this(name: str) -> None:
    operator, values, seed, expected = CASES[name]
    with fw.dual_level():
        assert along(operator, values, seed) == expected


@pytest.mark.parametrize("name", sorted(set(CASES) - {"clamp_nan", "cumprod_"}))
def test_reverse_mode_has_the_same_derivative(name: str) -> None:
    operator, values, seed, expected = CASES[name]
    if name.startswith(("where", "masked")):
        pytest.skip("reverse mode multiplies the branch that is not taken by zero")
    x = tensor(*values).requires_grad_()
    y = operator(x)
    for number, want in enumerate(expected):
        weights = vt.zeros(y.numel(), dtype=vt.float64)
        weights[number] = 1
        (g,) = vt.autograd.grad(y, x, weights.reshape(y.shape), retain_graph=True)
        assert (g * tensor(*seed)).sum().item() == want


@pytest.mark.parametrize(
    "operator",
    [vt.fmax, vt.fmin, lambda a, b: a.clamp(max=b), lambda a, b: a.clamp(min=b), vt.maximum],
)
def test_ties_of_two_operands_are_those_of_reverse_mode(
    operator: Callable[[vt.Tensor, vt.Tensor], vt.Tensor],
) -> None:
    a, b = tensor(2, 1).requires_grad_(), tensor(2, 3).requires_grad_()
    by_a, by_b = vt.autograd.grad(operator(a, b).sum(), [a, b])
    expected = (by_a * tensor(10, 20) + by_b * tensor(1, 2)).tolist()
    with fw.dual_level():
        d = fw.make_dual(a.detach(), tensor(10, 20))
        e = fw.make_dual(b.detach(), tensor(1, 2))
        assert tangent(operator(d, e)).tolist() == expected


def test_the_standard_deviation_of_one_value_is_not_a_number() -> None:
    with fw.dual_level():
        (found,) = along(lambda d: d.std(), [2], [1])
        assert found != found


def test_the_last_write_to_a_duplicate_wins() -> None:
    with fw.dual_level():
        d = dual(1, 2, 3)
        d[[0, 0]] += 1
        assert tangent(d).tolist() == [1, 2, 3]
        d[[0, 0]] = tensor(5, 6)
        assert tangent(d).tolist() == [0, 2, 3]
        b = vt.zeros(3, dtype=vt.float64)
        b.scatter_(0, vt.tensor([1, 1]), dual(1, 2))
        assert tangent(b).tolist() == [0, 2, 0]
        b.index_add_(0, vt.tensor([0, 0]), dual(3, 4))
        assert tangent(b).tolist() == [7, 2, 0]
        b.index_copy_(0, vt.tensor([2, 2]), dual(8, 9))
        assert tangent(b).tolist() == [7, 2, 9]
        b[vt.tensor([True, False, True])] = dual(5, 6)
        assert tangent(b).tolist() == [5, 2, 6]
        b[vt.tensor([True, False, True])] = dual(4)[0]
        assert tangent(b).tolist() == [4, 2, 4]


def test_ties_of_scatter_reduce_are_averaged() -> None:
    with fw.dual_level():
        d, index = dual(3, 1), vt.tensor([0, 0, 1])
        y = vt.scatter_reduce(d, 0, index, tensor(3, 2, 0), "amax")
        assert tangent(y).tolist() == [1.5, 1]
        y = vt.scatter_reduce(d, 0, index, dual(3, 6, 5), "mean")
        assert tangent(y).tolist() == [4, 3]


def test_complex_tangents_are_not_conjugated() -> None:
    with fw.dual_level():
        z, t = vt.tensor([3 + 4j]), vt.tensor([1 + 2j])
        d = fw.make_dual(z, t)
        assert tangent(d * d).tolist() == (2 * z * t).tolist()
        assert tangent(d.conj()).tolist() == [1 - 2j]
        assert tangent(d.abs()).tolist() == pytest.approx([11 / 5])
        assert tangent(d.real).tolist() == [1]
        assert tangent(d.imag).tolist() == [2]
        assert not tangent(d.angle()).is_complex()
        origin = fw.make_dual(vt.zeros(1, dtype=vt.complex64), t)
        for operator in (vt.abs, vt.sgn, vt.angle):
            assert tangent(operator(origin)).tolist() == [0]


def test_a_real_dual_among_complex_numbers_has_a_complex_tangent() -> None:
    with fw.dual_level():
        d, c = dual(1, 2), vt.tensor([1j, 2j], dtype=vt.complex128)
        assert tangent(d * 1j).tolist() == [1j, 2j]
        assert tangent(d + c).tolist() == [1, 2]
        assert tangent(vt.cat([c, d])).tolist() == [0, 0, 1, 2]
        b = vt.zeros(2, dtype=vt.complex128)
        b[0] = d[1]
        assert tangent(b).tolist() == [2, 0]
        with pytest.raises(RuntimeError):
            d.mul_(fw.make_dual(c, c))
        assert tangent(d).tolist() == [1, 2]
