"""Adam, and AdamW, which decays weights apart from the gradient."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from vtgrad.errors import ArgumentTypeError, ArgumentValueError
from vtgrad.jit.state import is_tracing
from vtgrad.later.is_plain import is_plain
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
    real_scalar,
    zeros_of,
)
from vtgrad.optim.param_group import ParamGroup, Slots, number_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["Adam", "AdamW"]

# The count of steps, minus the length of a step, and the root of what the squares are divided by.
_Numbers: TypeAlias = tuple[Tensor, Tensor, Tensor]


class Adam(Optimizer):
    """Steps by averages of the gradient and of its square.

    With gradients g, ``m = beta1 m + (1 - beta1) g``, ``v = beta2 v + (1 - beta2) g^2``, and in
    step t ``p -= lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + eps)``.

    Parameters
    ----------
    params : iterable
        Leaf tensors, pairs of a name and a tensor, or dicts with options of groups.
    lr : float or Tensor, default 0.001
        The learning rate. A tensor of one element is read in each step.
    betas : pair of float, default (0.9, 0.999)
        The shares of both averages that are kept.
    eps : float, default 1e-8
        Is added to the root.
    weight_decay : float, default 0
        This times the parameter is added to the gradient.
    amsgrad : bool, default False
        Whether the largest v so far stands in place of v.
    foreach, capturable, differentiable, fused : bool, optional
        Accepted as PyTorch's defaults.
    maximize : bool, default False
        Whether the objective is to grow.
    decoupled_weight_decay : bool, default False
        Whether weights decay by ``p *= 1 - lr weight_decay``, as in `AdamW`.

    Raises
    ------
    ArgumentValueError
        If an option is out of its range.
    NotSupportedError
        If an option asks for another of PyTorch's ways to run a step.

    Notes
    -----
    Kingma and Ba, "Adam: a method for stochastic optimization" (2015), algorithm 1; Reddi, Kale and
    Kumar, "On the convergence of Adam and beyond" (2018), for `amsgrad`.

    Examples
    --------
    >>> w = vt.tensor([4.0, -2.0], requires_grad=True)
    >>> optimizer = vt.optim.Adam([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 3.5000, -1.5000])
    """

    _kept_numbers: tuple[tuple[object, ...], _Numbers] | None = None

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    @classmethod
    def _check(cls, options: Mapping[str, object]) -> None:
        check_ways(options)
        check_rate(options)
        check_not_negative(options, "eps", "weight_decay")
        for index, beta in enumerate(_betas(options["betas"])):
            if not 0 <= beta < 1:
                raise ArgumentValueError(
                    f"betas[{index}] must be at least 0 and less than 1, not {beta}",
                    argument="betas",
                )

    @staticmethod
    def _make_slots(param: Tensor, options: Mapping[str, object]) -> Slots:
        slots = {
            "step": counter(),
            "exp_avg": zeros_of(param),
            "exp_avg_sq": zeros_of(param),
        }
        if options["amsgrad"]:
            slots["max_exp_avg_sq"] = zeros_of(param)
        return slots

    def _update(self, param: Tensor, grad: Tensor, group: ParamGroup, slots: Slots) -> list[Write]:
        beta1, beta2 = _betas(group["betas"])
        weight_decay = group.number("weight_decay")
        rate = group.rate if not group.rate.ndim else F.reshape(group.rate, ())
        step, size, root = self._numbers(slots["step"], rate, beta1, beta2)
        decayed = param
        if weight_decay and group.flag("decoupled_weight_decay"):
            decayed = F.mul(param, real_scalar(F.rsub(F.mul(rate, weight_decay), 1), param))
        elif weight_decay:
            grad = grad.add(param, alpha=weight_decay)
        mean = average(slots["exp_avg"], grad, beta1)
        square = average_of_squares(slots["exp_avg_sq"], grad, beta2)
        writes = [
            (slots["step"], step),
            (slots["exp_avg"], mean),
            (slots["exp_avg_sq"], square),
        ]
        largest = square
        if group.flag("amsgrad"):
            largest = F.maximum(slots["max_exp_avg_sq"], square)
            writes.append((slots["max_exp_avg_sq"], largest))
        scale = F.sqrt(largest).div_(root).add_(group.number("eps"))
        change = F.div(mean, scale)
        return [(param, change.mul_(size).add_(decayed)), *writes]

    def _numbers(self, step: Tensor, rate: Tensor, beta1: float, beta2: float) -> _Numbers:
        """The numbers of a step, which most parameters have in common.

        They depend on nothing but what they are kept by, so the next parameter takes them over. A
        recording, and a handler of a key, follows those of each parameter.
        """
        if is_tracing() or not is_plain(step, rate):
            return _numbers(step, rate, beta1, beta2)
        known = (step.item(), rate.item(), rate.dtype, beta1, beta2)
        kept = self._kept_numbers
        if kept is None or kept[0] != known or kept[1][0].device != step.device:
            kept = known, _numbers(step, rate, beta1, beta2)
            self._kept_numbers = kept
        return kept[1]


def _numbers(before: Tensor, rate: Tensor, beta1: float, beta2: float) -> _Numbers:
    step = F.add(before, 1)
    size = F.neg(F.div(rate, F.rsub(F.pow(beta1, step), 1)))
    return step, size, F.sqrt(F.rsub(F.pow(beta2, step), 1))


class AdamW(Adam):
    """Adam whose weights decay apart from the gradient, by ``p *= 1 - lr weight_decay``.

    Parameters
    ----------
    params : iterable
        Leaf tensors, pairs of a name and a tensor, or dicts with options of groups.
    lr, betas, eps, amsgrad, maximize, foreach, capturable, differentiable, fused : object
        As for `Adam`.
    weight_decay : float, default 0.01
        This times `lr` is the share of each parameter that a step takes away.

    Raises
    ------
    ArgumentValueError, NotSupportedError
        As for `Adam`.

    Notes
    -----
    Loshchilov and Hutter, "Decoupled weight decay regularization" (2019), algorithm 2.

    Examples
    --------
    >>> w = vt.tensor([4.0, -2.0], requires_grad=True)
    >>> optimizer = vt.optim.AdamW([w], lr=0.5, weight_decay=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([ 3.3000, -1.4000])
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )


def _betas(given: object) -> tuple[float, float]:
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ArgumentTypeError(f"betas must be a pair of numbers, not {given!r}", argument="betas")
    return number_of(given[0], "betas"), number_of(given[1], "betas")
