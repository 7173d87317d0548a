"""Adagrad: gradients divided by the root of the sum of all their squares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

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
    zeros_of,
)
from vtgrad.optim.param_group import ParamGroup, Slots, number_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of all their squares.

    With gradients g, ``s += g^2`` and in step t ``p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) +
    eps)``.

    Parameters
    ----------
    params : iterable
        Leaf tensors, pairs of a name and a tensor, or dicts with options of groups.
    lr : float or Tensor, default 0.01
        The learning rate. A tensor of one element is read in each step.
    lr_decay : float, default 0
        By which the learning rate becomes smaller.
    weight_decay : float, default 0
        This times the parameter is added to the gradient.
    initial_accumulator_value : float, default 0
        The first s.
    eps : float, default 1e-10
        Is added to the root.
    foreach, differentiable, fused : bool, optional
        Accepted as PyTorch's defaults.
    maximize : bool, default False
        Whether the objective is to grow.

    Raises
    ------
    ArgumentValueError
        If an option is out of its range.
    NotSupportedError
        If an option asks for another of PyTorch's ways to run a step.

    Notes
    -----
    Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and stochastic
    optimization" (2011), figure 1, with diagonal matrices.

    Examples
    --------
    >>> w = vt.tensor([4.0, -2.0], requires_grad=True)
    >>> optimizer = vt.optim.Adagrad([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 3.5000, -1.5000])
    """

    _shows_new_state: ClassVar[bool] = True

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    @classmethod
    def _check(cls, options: Mapping[str, object]) -> None:
        check_ways(options)
        check_rate(options)
        check_not_negative(options, "lr_decay", "weight_decay", "initial_accumulator_value", "eps")

    @staticmethod
    def _make_slots(param: Tensor, options: Mapping[str, object]) -> Slots:
        first = number_of(options["initial_accumulator_value"], "initial_accumulator_value")
        total = zeros_of(param)
        if first:
            total.fill_(complex(first, first) if total.is_complex() else first)
        return {"step": counter(), "sum": total}

    def _update(self, param: Tensor, grad: Tensor, group: ParamGroup, slots: Slots) -> list[Write]:
        weight_decay = group.number("weight_decay")
        if weight_decay:
            grad = grad.add(param, alpha=weight_decay)
        rate = F.reshape(group.rate, ())
        decay = group.number("lr_decay")
        if decay:
            rate = F.div(rate, F.add(F.mul(slots["step"], decay), 1))
        total = F.mul(grad, grad).add_(slots["sum"])
        change = F.div(grad, F.sqrt(total).add_(group.number("eps")))
        return [
            (param, moved(param, change, rate)),
            (slots["step"], F.add(slots["step"], 1)),
            (slots["sum"], total),
        ]
