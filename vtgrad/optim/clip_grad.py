"""Gradients that are not longer than wanted."""

from __future__ import annotations

import math
from collections.abc import Iterable

from vtgrad.errors import NotSupportedError, OptionValueError
from vtgrad.graph.grad_mode import no_grad
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.from_data import tensor
from vtgrad.tensor.tensor import Tensor

__all__ = ["clip_grad_norm_", "clip_grad_value_"]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale gradients in place, so that the norm of all of them together is at most `max_norm`.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        The parameters; those without a gradient count as zero.
    max_norm : float
        The largest norm.
    norm_type : float, default 2.0
        The order of the norm; infinity for the largest absolute element.
    error_if_nonfinite : bool, default False
        Whether a norm that is not finite is an error.
    foreach : bool, optional
        Accepted as PyTorch's default.

    Returns
    -------
    Tensor
        The norm before, 0-d.

    Raises
    ------
    OptionValueError
        With `error_if_nonfinite`; then no gradient has changed.
    NotSupportedError
        If `foreach` is true.

    Examples
    --------
    >>> w = vt.tensor([3.0, 4.0], requires_grad=True)
    >>> (w * w / 2).sum().backward()
    >>> vt.optim.clip_grad_norm_(w, 1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    _refuse_foreach(foreach)
    gradients = _gradients(parameters)
    order = float(norm_type)
    with no_grad():
        if not gradients:
            return tensor(0.0)
        norms = F.stack([x.norm(order) for x in gradients])
        total = norms.norm(order)
        # A comparison would be a guard of a recording, so it is made only where it is asked for.
        if error_if_nonfinite and not math.isfinite(total.item()):
            raise OptionValueError(
                f"the norm of order {order} of the gradients is not finite: they cannot be scaled. "
                "With error_if_nonfinite=False they are scaled all the same"
            )
        # PyTorch's divisor: a norm of zero is no error.
        share = F.mul(F.reciprocal(F.add(total, 1e-6)), max_norm).clamp(max=1.0)
        for x in gradients:
            x.mul_(share)
        return total


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Clip the elements of gradients in place.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor
        The parameters; those without a gradient are left out.
    clip_value : float
        The largest absolute value of an element.
    foreach : bool, optional
        Accepted as PyTorch's default.

    Raises
    ------
    NotSupportedError
        If `foreach` is true.

    Examples
    --------
    >>> w = vt.tensor([3.0, -4.0], requires_grad=True)
    >>> (w * w / 2).sum().backward()
    >>> vt.optim.clip_grad_value_([w], 3.5)
    >>> w.grad
    tensor([ 3.0000, -3.5000])
    """
    _refuse_foreach(foreach)
    bound = float(clip_value)
    with no_grad():
        for x in _gradients(parameters):
            x.clamp_(min=-bound, max=bound)


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    params = [parameters] if isinstance(parameters, Tensor) else parameters
    return [grad for grad in [p.grad for p in params] if grad is not None]


def _refuse_foreach(foreach: bool | None) -> None:
    if foreach:
        raise NotSupportedError("foreach=True is not here: gradients are changed one after another")
