"""Derivatives of batches: `check_batched_grad` and `check_batched_forward_grad`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.behaviour.gradcheck.checked import gradcheck, gradgradcheck, refused_as_wrong
from tests.support import ON_TORCH, differs_from_torch, leaf, vt

# PyTorch compiles a function when it first uses vmap in forward mode, and warns about that.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
in_both_modes = pytest.mark.parametrize("fast_mode", [False, True])


class Branching(vt.autograd.Function):
    """Its backward and its jvp read a value of what they get."""

    @staticmethod
    def forward(x: vt.Tensor) -> Any:
        return x * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2 if g.sum().item() > 0 else g + g

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        return t * 2 if t.sum().item() > 0 else t + t


BATCHED = [
    (gradcheck, {"check_batched_grad": True}, "batched-gradient"),
    (
        gradcheck,
        {"check_forward_ad": True, "check_batched_forward_grad": True},
        "batched-tangent",
    ),
    (gradgradcheck, {"check_batched_grad": True}, "batched-gradient"),
]


@in_both_modes
@pytest.mark.parametrize(("check", "options", "kind"), BATCHED)
def test_batches_of_gradients_and_tangents(
    check: Any, options: dict[str, bool], kind: str, fast_mode: bool
) -> None:
    def function(x: Any, y: Any) -> Any:
        b = vt.zeros(4, dtype=vt.float64)
        b[1:] = x * y
        b[:2] *= b[2:].clone()
        return b, y.exp(), vt.ones(2, dtype=vt.float64)

    assert check(function, (leaf(3), leaf(3)), fast_mode=fast_mode, **options)


class WrongInBatches(vt.autograd.Function):
    """Its rule for batches computes something else than its forward."""

    @staticmethod
    def forward(x: vt.Tensor) -> Any:
        return x * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: vt.Tensor) -> Any:
        return x * 3, in_dims[0]


class ThroughWrong(vt.autograd.Function):
    """Its backward and its jvp call a Function with a wrong rule for batches."""

    @staticmethod
    def forward(x: vt.Tensor) -> Any:
        return x * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return WrongInBatches.apply(g)

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        return WrongInBatches.apply(t)


@in_both_modes
@pytest.mark.parametrize(("check", "options", "kind"), BATCHED)
def test_what_works_for_one_and_not_for_a_batch(
    check: Any, options: dict[str, bool], kind: str, fast_mode: bool
) -> None:
    def function(x: vt.Tensor) -> Any:
        return Branching.apply(x) ** 2

    assert check(function, leaf(2), fast_mode=fast_mode, **without_batches(options))
    error = refused_as_wrong(check, function, leaf(2), fast_mode=fast_mode, **options)
    assert ON_TORCH or error.check == kind


@differs_from_torch("there its vmap is not called for batches of gradients")
@in_both_modes
@pytest.mark.parametrize(("check", "options", "kind"), BATCHED)
def test_a_wrong_rule_for_batches(
    check: Any, options: dict[str, bool], kind: str, fast_mode: bool
) -> None:
    def function(x: vt.Tensor) -> Any:
        return ThroughWrong.apply(x) ** 2

    assert check(function, leaf(2), fast_mode=fast_mode, **without_batches(options))
    error = refused_as_wrong(check, function, leaf(2), fast_mode=fast_mode, **options)
    assert error.check == kind
    assert "for a batch" in str(error)


def without_batches(options: dict[str, bool]) -> dict[str, bool]:
    return {name: value for name, value in options.items() if "batched" not in name}
