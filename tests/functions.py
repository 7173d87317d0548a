"""Custom Functions that tests of several folders call, and a builder of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support import vt

__all__ = [
    "Doubles",
    "Function",
    "Square",
    "function",
    "identity",
    "once_differentiable",
    "triple_",
    "twice",
]

Function = vt.autograd.Function
once_differentiable = vt.autograd.function.once_differentiable


def twice(ctx: Any, gradient: vt.Tensor) -> vt.Tensor:
    """Double the gradient, as the backward of ``x * 2`` does."""
    return gradient * 2


def function(
    forward: Callable[..., Any], backward: Callable[..., Any] = twice, name: str = "Fn"
) -> Callable[..., Any]:
    """Give ``apply`` of a Function with these methods."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    made: Any = type(name, (Function,), methods)
    return made.apply  # type: ignore[no-any-return]


def _unchanged(ctx: Any, *arguments: Any) -> Any:
    return arguments if len(arguments) > 1 else arguments[0]


def _unchanged_backward(ctx: Any, *gradients: Any) -> Any:
    return gradients


identity = function(_unchanged, _unchanged_backward, "Identity")


def _triple(ctx: Any, x: vt.Tensor) -> vt.Tensor:
    ctx.mark_dirty(x)
    return x.mul_(3)


triple_ = function(_triple, lambda ctx, g: g * 3, "Triple")


class Square(Function):
    """The square, which saves its argument."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, gradient: vt.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return gradient * x * 2


class Doubles(Function):
    """Writes its argument, and declares the write only afterwards."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx: Any, gradient: vt.Tensor) -> vt.Tensor:
        return gradient * 2
