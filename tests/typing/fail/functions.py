"""Each line marked `E` must be refused, with the code that it names, and no other line."""

import vtgrad as vt
from vtgrad.autograd.function import FunctionCtx, NestedIOFunction
from vtgrad.func import linearize, vjp


class Scale(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor, factor: float) -> vt.Tensor:
        ctx.factor = factor  # E: attr-defined
        ctx.save_for_backward(factor)  # E: arg-type
        ctx.mark_dirty(None)  # E: arg-type
        return x * factor

    @staticmethod
    def backward(ctx: FunctionCtx, grad: vt.Tensor) -> tuple[vt.Tensor, None]:
        return grad * ctx.factor, None  # E: attr-defined


class Nested(NestedIOFunction):
    @staticmethod
    def forward_extended(ctx: FunctionCtx, x: list[vt.Tensor]) -> vt.Tensor:
        return x[0]


def loss(w: vt.Tensor, scale: float = 1.0) -> vt.Tensor:
    return (w * w).sum() * scale


x = vt.zeros(3)

Nested.apply(x)  # E: arg-type
Scale.apply(x, "2")  # E: arg-type
Scale.apply(x)  # E: call-arg
Scale.apply(x, 2.0, 3.0)  # E: call-arg
length: int = Scale.apply(x, 2.0)  # E: assignment
vjp(  # E: call-arg
    loss  # E: arg-type
)
linearize(loss)  # E: arg-type
