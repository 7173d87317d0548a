"""RMSprop: gradients divided by the root of an average of their squares."""

from __future__ import annotations

from collections.abc import Mapping

from vtgrad.ops.generated import functional as F
from vtgrad.optim.optimizer import (
    Optimizer,
    Params,
    Write,
    average,
    average_of_squares,
    check_not_negative,
    check_rate,
    check_ways,
    counter,
    moved,
    zeros_of,
)
from vtgrad.optim.param_group import ParamGroup, Slots
from vtgrad.tensor.tensor import Tensor

__all__ = ["RMSprop"]


class RMSprop(Optimizer):
    """Gradients divided by the root of an average of their squares.

    With gradients g, ``v = alpha v + (1 - alpha) g^2`` and ``p -= lr g / (sqrt(v) + eps)``.

    Parameters
    ----------
    params : iterable
        Leaf tensors, pairs of a name and a tensor, or dicts with options of groups.
    lr : float or Tensor, default 0.01
        The learning rate. A tensor of one element is read in each step.
    alpha : float, default 0.99
        The share of the average that is kept.
    eps : float, default 1e-8
        Is added to the root.
    weight_decay : float, default 0
        This times the parameter is added to the gradient.
    momentum : float, default 0
        The share of the last change that is kept.
    centered : bool, default False
        Whether the square of an average of the gradient is taken from v.
    capturable, foreach, differentiable : bool, optional
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
    Tieleman and Hinton, "Neural networks for machine learning" (2012), lecture 6; `centered` as in
    Graves, "Generating sequences with recurrent neural networks" (2013), equations 38 to 45.

    Examples
    --------
    >>> w = vt.tensor([4.0, -2.0], requires_grad=True)
    >>> optimizer = vt.optim.RMSprop([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 3., -1.])
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
                "capturable": capturable,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

    @classmethod
    def _check(cls, options: Mapping[str, object]) -> None:
        check_ways(options)
        check_rate(options)
        check_not_negative(options, "eps", "momentum", "weight_decay", "alpha")

    @staticmethod
    def _make_slots(param: Tensor, options: Mapping[str, object]) -> Slots:
        slots = {"step": counter(), "square_avg": zeros_of(param)}
        if options["momentum"]:
            slots["momentum_buffer"] = zeros_of(param)
        if options["centered"]:
            slots["grad_avg"] = zeros_of(param)
        return slots

    def _update(self, param: Tensor, grad: Tensor, group: ParamGroup, slots: Slots) -> list[Write]:
        alpha, momentum = group.number("alpha"), group.number("momentum")
        weight_decay = group.number("weight_decay")
        if weight_decay:
            grad = grad.add(param, alpha=weight_decay)
        square = average_of_squares(slots["square_avg"], grad, alpha)
        writes = [(slots["step"], F.add(slots["step"], 1)), (slots["square_avg"], square)]
        if group.flag("centered"):
            mean = average(slots["grad_avg"], grad, alpha)
            writes.append((slots["grad_avg"], mean))
            root = F.mul(mean, mean).neg_().add_(square).sqrt_()
        else:
            root = F.sqrt(square)
        change = F.div(grad, root.add_(group.number("eps")))
        if momentum:
            change = slots["momentum_buffer"].mul(momentum).add_(change)
            writes.append((slots["momentum_buffer"], change))
        return [(param, moved(param, change, group.rate)), *writes]
