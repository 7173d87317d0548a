"""Custom Functions that a type checker must accept as they stand."""

from collections.abc import Callable

import vtgrad as vt
from vtgrad.autograd.function import (
    FunctionCtx,
    InplaceFunction,
    NestedIOCtx,
    NestedIOFunction,
    once_differentiable,
)


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


class Nested(NestedIOFunction):
    @staticmethod
    def forward_extended(
        ctx: NestedIOCtx, pair: list[vt.Tensor], options: dict[str, float]
    ) -> dict[str, vt.Tensor]:
        ctx.saved_data["scale"] = options["scale"]
        ctx.save_for_backward(pair, {"first": pair[0]})
        return {"sum": pair[0] + pair[1]}

    @staticmethod
    def backward_extended(
        ctx: FunctionCtx, grad: dict[str, vt.Tensor]
    ) -> tuple[list[vt.Tensor], None]:
        return [grad["sum"], grad["sum"]], None


class InPlace(InplaceFunction):
    clear_saved_tensors_on_access = True

    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.to_save = (x, None)
        ctx.dirty_tensors = (x,)
        ctx.save_for_forward(x)
        return x.mul_(2)


def use(x: vt.Tensor) -> vt.Tensor:
    total: vt.Tensor = Nested.apply([x, x], {"scale": 2.0})["sum"]
    variable: vt.Tensor = vt.autograd.Variable(InPlace.apply(total), requires_grad=True)
    assert isinstance(variable, vt.autograd.Variable)
    scale: Callable[[vt.Tensor, float], vt.Tensor] = Scale.apply
    y: vt.Tensor = scale(Scale.apply(x), 3.0)
    z, n = InTwoSteps.apply(y, n=3)
    return OfTheClass.apply(z) * n
