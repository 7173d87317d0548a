"""The types of `apply` follow those of forward, those of lambdas the arguments of the same call."""

from typing import reveal_type

import vtgrad as vt
from vtgrad.autograd.function import FunctionCtx, NestedIOFunction, once_differentiable
from vtgrad.func import linearize, sparsity_pattern

x = vt.zeros(2, 3)


class Scale(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor, factor: float = 2.0) -> vt.Tensor:
        return x * factor

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad: vt.Tensor) -> tuple[vt.Tensor, None]:
        reveal_type(ctx.saved_tensors)  # R: tuple[vtgrad.Tensor, ...]
        return grad, None


class Split(vt.autograd.Function):
    @staticmethod
    def forward(x: vt.Tensor) -> tuple[vt.Tensor, int]:
        return x, 1

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[vt.Tensor], output: object) -> None: ...


class Nested(NestedIOFunction):
    @staticmethod
    def forward_extended(ctx: FunctionCtx, x: list[vt.Tensor]) -> dict[str, vt.Tensor]:
        return {"x": x[0]}


reveal_type(Nested.apply([x]))  # R: dict[str, vtgrad.Tensor]
reveal_type(Scale.apply(x))  # R: vtgrad.Tensor
reveal_type(Scale.apply(x, factor=3))  # R: vtgrad.Tensor
reveal_type(Split.apply(x))  # R: tuple[vtgrad.Tensor, int]

# Of a function with overloads mypy tells the type before it has chosen one, which is Any; that it
# knows the types all the same is shown by the wrong lines.
linearize(lambda a, b: reveal_type(a) * b[0], x, [x])  # R: vtgrad.Tensor
linearize(lambda a, b: a * reveal_type(b)[0], x, [x])  # R: list[vtgrad.Tensor]
linearize(lambda p: reveal_type(p)["w"], {"w": x})  # R: dict[str, vtgrad.Tensor]
sparsity_pattern(lambda a: reveal_type(a) * 2, x)  # R: vtgrad.Tensor
