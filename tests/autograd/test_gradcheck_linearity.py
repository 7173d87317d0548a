"""Backward and forward mode that look at the values of what they get are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.behaviour.gradcheck.checked import (
    Apply,
    doubling,
    gradcheck,
    gradgradcheck,
    refused_as_wrong,
)
from tests.functions import function, once_differentiable
from tests.support import leaf, leaf_of, vt

Change = Callable[[vt.Tensor], vt.Tensor]

in_both_modes = pytest.mark.parametrize("fast_mode", [False, True])


def only_where(test: Callable[[vt.Tensor], vt.Tensor]) -> Change:
    """Of a gradient what passes a test of its values, and zero for the rest."""
    return lambda g: vt.where(test(g), g, 0)


def by_logarithms(g: vt.Tensor) -> vt.Tensor:
    """A gradient that is taken apart by its sign; zeros have no logarithm."""
    parts = [vt.where(s * g > 0, s * g, 1).log().exp() for s in (1, -1)]
    return vt.where(g > 0, parts[0], 0) - vt.where(g < 0, parts[1], 0)


# First derivatives are right for all gradients; those by the gradient are lost for some.
SECRET: dict[str, Change] = {
    "what is not zero": only_where(lambda g: g != 0),
    "logarithms": by_logarithms,
    "all of it or a constant": lambda g: g if bool(g.any()) else g.detach(),
    "a constant where one is zero": lambda g: g if bool(g.all()) else g.detach(),
}
# Gradients of some sizes are wrong.
OPEN: dict[str, Change] = {
    "positive": only_where(lambda g: g > 0),
    "not tiny": only_where(lambda g: g.abs() > 1e-12),
    "not huge": only_where(lambda g: g.abs() < 1e12),
    "something where it is zero": lambda g: vt.where(g == 0, vt.ones_like(g), g),
    "something if all is zero": lambda g: g if bool(g.any()) else g + 1,
    "nothing if one is zero": lambda g: g if bool(g.all()) else g * 0,
}
ALL = {**SECRET, **OPEN}


def square(change: Change) -> Apply:
    """``x * x``, with a backward that changes the gradient first."""

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        slope: vt.Tensor = x * 2
        return change(g) * slope

    return function(forward, backward)


@in_both_modes
@pytest.mark.parametrize("what", ALL)
@pytest.mark.parametrize("check", [gradcheck, gradgradcheck])
def test_a_backward_that_branches_on_the_gradient_is_refused(
    check: Callable[..., bool], what: str, fast_mode: bool
) -> None:
    apply = square(ALL[what])
    error = refused_as_wrong(check, apply, leaf_of(0.5, -1.0, 2.0), fast_mode=fast_mode)
    assert error.check in ("linear", "jacobian")
    if what in SECRET:
        assert "backward must be linear in the incoming gradient" in str(error)
        assert "its own derivative by the gradient of output 0" in str(error)


@pytest.mark.parametrize("what", ALL)
def test_in_place_and_below_other_operators(what: str) -> None:
    apply = square(ALL[what])
    refused_as_wrong(gradcheck, lambda x: x.copy_(apply(x.clone())), leaf(2), check_inplace=True)
    refused_as_wrong(gradcheck, lambda x, y: apply(x * y).cumsum(0), (leaf(3), leaf(3)))


def test_the_only_element_is_zero() -> None:
    apply = square(SECRET["what is not zero"])
    refused_as_wrong(gradcheck, lambda x: apply(x.sum()), leaf(2))
    refused_as_wrong(gradcheck, lambda x: (apply(x[0]), x * 2), leaf(2), fast_mode=True)


@pytest.mark.parametrize("what", ALL)
@pytest.mark.parametrize("special", [0, 1, 2])
def test_one_of_several_outputs_is_looked_at(what: str, special: int) -> None:
    """Also where each has one element, and others have other values."""

    def forward(ctx: Any, x: vt.Tensor) -> tuple[vt.Tensor, ...]:
        ctx.save_for_backward(x)
        return x.sum(), (x * 2).sum(), x * 3

    def backward(ctx: Any, *gradients: vt.Tensor) -> vt.Tensor:
        changed = [ALL[what](g) if nr == special else g for nr, g in enumerate(gradients)]
        return changed[0] + changed[1] * 2 + changed[2] * 3

    refused_as_wrong(gradcheck, function(forward, backward), leaf(2))
    refused_as_wrong(gradcheck, function(forward, backward), leaf(1), fast_mode=True)


@in_both_modes
@pytest.mark.parametrize(
    "change",
    [
        lambda g: g,
        lambda g: vt.where(g.isnan(), g, 2 * g) / 2,
        lambda g: vt.stack([g, g])[1],
    ],
)
def test_what_is_linear_passes(change: Change, fast_mode: bool) -> None:
    x = leaf_of(0.5, -1.0, 2.0)
    assert gradcheck(square(change), x, fast_mode=fast_mode)
    assert gradgradcheck(square(change), x, fast_mode=fast_mode)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_backward_that_cannot_be_differentiated_passes(fast_mode: bool) -> None:
    @once_differentiable
    def doubled(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        return g * 2

    once = doubling(doubled)
    constant = square(lambda g: vt.tensor(g.detach().tolist(), dtype=g.dtype))
    raising = square(lambda g: vt.from_numpy(g.numpy()))
    for apply in (once, constant, raising):
        assert gradcheck(apply, leaf_of(0.5, -1.0, 2.0), fast_mode=fast_mode)


def test_functions_of_several_inputs_and_outputs_pass() -> None:
    def several(x: vt.Tensor, y: vt.Tensor) -> tuple[vt.Tensor, ...]:
        return x * y, (x / y).sum(), x.exp()[0], y.unsqueeze(0) * vt.complex(x, y)

    inputs = leaf_of(0.5, 2.0), leaf_of(1.5, -1.0)
    assert gradcheck(several, inputs, check_forward_ad=True)
    assert gradgradcheck(several, inputs, check_fwd_over_rev=True)


# -- forward mode ---------------------------------------------------------------------------


def triple(change: Change) -> Apply:
    """``x * 3``, with a forward mode that changes the tangent first."""

    class Triple(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
            return x * 3

        @staticmethod
        def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
            return g * 3

        @staticmethod
        def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
            return change(t) * 3

    return Triple.apply


@in_both_modes
@pytest.mark.parametrize("what", ALL)
def test_forward_mode_that_branches_on_the_tangent_is_refused(what: str, fast_mode: bool) -> None:
    options = {"check_forward_ad": True, "check_backward_ad": False, "fast_mode": fast_mode}
    error = refused_as_wrong(gradcheck, triple(ALL[what]), leaf(3), **options)
    if what in SECRET:
        assert "forward mode must be linear in the incoming tangent" in str(error)
    assert gradcheck(triple(lambda t: t + 0), leaf(3), **options)


@pytest.mark.parametrize("what", ALL)
@pytest.mark.parametrize("special", [0, 1])
def test_the_tangent_of_one_of_several_inputs_is_looked_at(what: str, special: int) -> None:
    class Sum(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
            return x + y

        @staticmethod
        def backward(ctx: Any, g: vt.Tensor) -> tuple[vt.Tensor, ...]:
            return g, g

        @staticmethod
        def jvp(ctx: Any, *tangents: vt.Tensor) -> vt.Tensor:
            first, second = (ALL[what](t) if nr == special else t for nr, t in enumerate(tangents))
            return first + second

    options = {"check_forward_ad": True, "check_backward_ad": False}
    refused_as_wrong(gradcheck, Sum.apply, (leaf(1), leaf(1)), **options)
