"""Each line marked `E` must be refused, with the code that it names, and no other line."""

import vtgrad as vt
from vtgrad.autograd.function import FunctionCtx, NestedIOFunction
from vtgrad.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp


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

# What transforms return is no `Any`.
word: str = grad(loss)(x)  # E: assignment
word = grad(loss, 0, has_aux=False)(x)  # E: assignment
word = grad(loss, argnums=-1)(x)  # E: assignment
word = grad(loss, (0,))(x)  # E: assignment
word = grad_and_value(loss)(x)  # E: assignment
word = hessian(loss)(x)  # E: assignment
word = hessian(loss, (0, 1))(x, 2.0)  # E: assignment
word = jacfwd(loss)(x)  # E: assignment
word = jacfwd(loss, -1)(x)  # E: assignment
word = jacrev(loss)(x)  # E: assignment
word = vt.vmap(grad(loss))(x)  # E: assignment
word = vjp(loss, x)[1](x)[0]  # E: assignment
word = jvp(loss, (x,), (x,))[1]  # E: assignment
word = linearize(loss, x)[1](x)  # E: assignment
grad(loss)(w=x)  # E: call-arg
grad(len)  # E: arg-type
