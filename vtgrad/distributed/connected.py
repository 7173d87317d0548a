"""The sum as one node of the graph of the caller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from vtgrad.function import Function, FunctionCtx, once_differentiable
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.tensor import Tensor

__all__ = ["connected"]

_Compute: TypeAlias = Callable[[], tuple[Tensor, Sequence[Tensor]]]


def connected(compute: _Compute, tensors: Sequence[Tensor]) -> tuple[Tensor, Sequence[Tensor]]:
    """The value, with a history if one of the tensors requires grad, and the gradients.

    Parameters
    ----------
    compute : callable
        Computes both, without a history.
    tensors : sequence of Tensor
        The tensors of the parameters.
    """
    found: list[Sequence[Tensor]] = []
    value = _Sum.apply(compute, found, *tensors)
    (gradients,) = found
    return value, gradients


class _Sum(Function):
    """Its derivative was computed with it; a second one would need the graphs of the workers."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, compute: _Compute, found: list[Sequence[Tensor]], *tensors: Tensor
    ) -> Tensor:
        value, gradients = compute()
        found.append(gradients)
        # Not the tensors that the caller gets and may write to.
        ctx.save_for_backward(*[F.clone(gradient) for gradient in gradients])
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        scaled = [F.mul(gradient, grad) for gradient in ctx.saved_tensors]
        return (None, None, *scaled)
