"""Custom Functions that a type checker must accept as they stand."""

from collections.abc import Callable

import vtgrad as vt
from vtgrad.autograd.function import FunctionCtx, once_differentiable


class ScaleCtx(FunctionCtx):
    factor: float


class Scale(vt.autograd.Function):
    @staticmethod
    def forward(ctx: ScaleCtx, x: vt.Tensor, factor: float = 2.0) -> vt.Tensor:
        ctx.factor = factor
        ctx.save_for_backward(x, None)
        ctx.mark_non_differentiable(x)
        ctx.set_materialize_grads(False)
        return x * factor

    @staticmethod
    def backward(ctx: ScaleCtx, grad: vt.Tensor) -> tuple[vt.Tensor, None]:
        x, _ = ctx.saved_tensors
        return grad * ctx.factor + x * 0, None


class InTwoSteps(vt.autograd.Function):
    @staticmethod
    def forward(x: vt.Tensor, n: int) -> tuple[vt.Tensor, int]:
        return x * n, n

    @staticmethod
    def setup_context(
        ctx: FunctionCtx, inputs: tuple[vt.Tensor, int], output: tuple[vt.Tensor, int]
    ) -> None:
        ctx.mark_dirty(inputs[0])

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad: vt.Tensor, _: None) -> vt.Tensor | None:
        return grad if ctx.needs_input_grad[0] else None


class OfTheClass(vt.autograd.Function):
    @classmethod
    def forward(cls, ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        return x


def use(x: vt.Tensor) -> vt.Tensor:
    scale: Callable[[vt.Tensor, float], vt.Tensor] = Scale.apply
    y: vt.Tensor = scale(Scale.apply(x), 3.0)
    z, n = InTwoSteps.apply(y, n=3)
    return OfTheClass.apply(z) * n
