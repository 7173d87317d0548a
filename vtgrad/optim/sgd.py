"""Gradient descent, with momentum or without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from vtgrad.errors import ArgumentValueError
from vtgrad.ops.generated import functional as F
from vtgrad.optim.optimizer import (
    Optimizer,
    Params,
    Write,
    check_not_negative,
    check_rate,
    check_ways,
    counter,
    moved,
    real_scalar,
    zeros_of,
)
from vtgrad.optim.param_group import ParamGroup, Slots
from vtgrad.tensor.tensor import Tensor

__all__ = ["SGD"]


class SGD(Optimizer):
    """Gradient descent, with momentum or without.

    With gradients g, ``b = momentum b + (1 - dampening) g`` and ``p -= lr b``; the first b is the
    first g. Nesterov's momentum takes ``g + momentum b`` in place of b.

    Parameters
    ----------
    params : iterable
        Leaf tensors, pairs of a name and a tensor, or dicts with options of groups.
    lr : float or Tensor, default 0.001
        The learning rate. A tensor of one element is read in each step.
    momentum : float, default 0
        The share of the last change that is kept.
    dampening : float, default 0
        What is taken away from a new gradient in the momentum.
    weight_decay : float, default 0
        This times the parameter is added to the gradient.
    nesterov : bool, default False
        Whether the momentum is Nesterov's.
    maximize : bool, default False
        Whether the objective is to grow.
    foreach, differentiable, fused : bool, optional
        Accepted as PyTorch's defaults.

    Raises
    ------
    ArgumentValueError
        If an option is out of its range.
    NotSupportedError
        If one of the last three is true.

    Notes
    -----
    Sutskever, Martens, Dahl and Hinton, "On the importance of initialization and momentum in deep
    learning" (2013).

    Examples
    --------
    >>> w = vt.tensor([4.0, -2.0], requires_grad=True)
    >>> optimizer = vt.optim.SGD([w], lr=0.25)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 2., -1.], requires_grad=True)
    """

    _own_slots: ClassVar[frozenset[str]] = frozenset({"step"})

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    @classmethod
    def _check(cls, options: Mapping[str, object]) -> None:
        check_ways(options)
        check_rate(options)
        check_not_negative(options, "momentum", "weight_decay")
        if options["nesterov"] and (not options["momentum"] or options["dampening"]):
            raise ArgumentValueError(
                "Nesterov's momentum needs a momentum, and no dampening", argument="nesterov"
            )

    @staticmethod
    def _make_slots(param: Tensor, options: Mapping[str, object]) -> Slots:
        if not options["momentum"]:
            return {}
        return {"step": counter(), "momentum_buffer": zeros_of(param)}

    def _update(self, param: Tensor, grad: Tensor, group: ParamGroup, slots: Slots) -> list[Write]:
        weight_decay, momentum = group.number("weight_decay"), group.number("momentum")
        dampening = group.number("dampening")
        writes: list[Write] = []
        if weight_decay:
            grad = grad.add(param, alpha=weight_decay)
        if momentum:
            step, buffer = slots["step"], slots["momentum_buffer"]
            added = grad
            if dampening:
                # The first gradient is taken as it is.
                share = F.rsub(F.mul(step.clamp(max=1), dampening), 1)
                added = F.mul(grad, real_scalar(share, grad))
            average = buffer.mul(momentum).add_(added)
            writes = [(buffer, average), (step, F.add(step, 1))]
            grad = grad.add(average, alpha=momentum) if group.flag("nesterov") else average
        return [(param, moved(param, grad, group.rate)), *writes]
