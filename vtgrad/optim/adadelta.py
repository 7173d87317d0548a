"""Adadelta: steps whose size comes from the steps before."""

from __future__ import annotations

from collections.abc import Mapping

from vtgrad.errors import ArgumentValueError
from vtgrad.ops.generated import functional as F
from vtgrad.optim.optimizer import (
    Optimizer,
    Params,
    Write,
    average_of_squares,
    check_not_negative,
    check_rate,
    check_ways,
    counter,
    moved,
    zeros_of,
)
from vtgrad.optim.param_group import ParamGroup, Slots, number_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """Steps whose size comes from the steps before.

    With gradients g, ``v = rho v + (1 - rho) g^2``, ``d = sqrt(u + eps) / sqrt(v + eps) g``, ``u =
    rho u + (1 - rho) d^2`` and ``p -= lr d``.

    Parameters
    ----------
    params : iterable
        Leaf tensors, pairs of a name and a tensor, or dicts with options of groups.
    lr : float or Tensor, default 1.0
        The learning rate. A tensor of one element is read in each step.
    rho : float, default 0.9
        The share of both averages that is kept.
    eps : float, default 1e-6
        Is added below the roots.
    weight_decay : float, default 0
        This times the parameter is added to the gradient.
    foreach, capturable, differentiable : bool, optional
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
    Zeiler, "ADADELTA: an adaptive learning rate method" (2012), algorithm 1.

    Examples
    --------
    >>> w = vt.tensor([4.0, -2.0], requires_grad=True)
    >>> optimizer = vt.optim.Adadelta([w])
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 3.9968, -1.9968])
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "capturable": capturable,
                "foreach": foreach,
                "differentiable": differentiable,
            },
        )

    @classmethod
    def _check(cls, options: Mapping[str, object]) -> None:
        check_ways(options)
        check_rate(options)
        check_not_negative(options, "eps", "weight_decay", "rho")
        if number_of(options["rho"], "rho") > 1:
            raise ArgumentValueError("rho must not be larger than 1", argument="rho")

    @staticmethod
    def _make_slots(param: Tensor, options: Mapping[str, object]) -> Slots:
        return {
            "step": counter(),
            "square_avg": zeros_of(param),
            "acc_delta": zeros_of(param),
        }

    def _update(self, param: Tensor, grad: Tensor, group: ParamGroup, slots: Slots) -> list[Write]:
        rho, eps = group.number("rho"), group.number("eps")
        weight_decay = group.number("weight_decay")
        if weight_decay:
            grad = grad.add(param, alpha=weight_decay)
        square = average_of_squares(slots["square_avg"], grad, rho)
        root = F.add(square, eps).sqrt_()
        delta = F.add(slots["acc_delta"], eps).sqrt_().div_(root).mul_(grad)
        changes = average_of_squares(slots["acc_delta"], delta, rho)
        return [
            (param, moved(param, delta, group.rate)),
            (slots["step"], F.add(slots["step"], 1)),
            (slots["square_avg"], square),
            (slots["acc_delta"], changes),
        ]
