"""The gradients of ``grad(is_grads_batched=True)``, of all samples at once.

They are computed as in `vtgrad.vmap`, whose parts are loaded with this module. See Note [Tools come
at first use].
"""

from __future__ import annotations

from collections.abc import Callable

from vtgrad.errors import ArgumentTypeError, ArgumentValueError
from vtgrad.graph.batch import BatchLevel, batched
from vtgrad.ops.rules.batches.run_in_batch import run_in_batch
from vtgrad.ops.rules.batches.values import is_batched_at, value_at
from vtgrad.tensor.tensor import Tensor

__all__ = ["batched_grads"]

Found = tuple[Tensor | None, ...]


def batched_grads(grad: Callable[[list[Tensor]], Found], grad_outputs: object) -> Found:
    """The gradients for each sample of those of the outputs.

    Parameters
    ----------
    grad : callable
        The gradients of the inputs, from those of the outputs for one sample.
    grad_outputs : Tensor or sequence of Tensor
        The gradients of the outputs, with a batch dimension in front.

    Returns
    -------
    tuple of Tensor or None
        The gradients of the inputs, with a batch dimension in front; without it those of inputs
        that no output depends on.

    Raises
    ------
    ArgumentTypeError
        If a gradient is no tensor.
    ArgumentValueError
        If one is missing, or batch sizes differ.
    """
    whole = _cotangents(grad_outputs)

    def one_pass(level: BatchLevel) -> Found:
        found = grad([batched(one, level) for one in whole])
        # What an input does not depend on has no samples: None, or zeros.
        return tuple(
            [x if x is None or not is_batched_at(x, level) else value_at(x, level) for x in found]
        )

    return run_in_batch(one_pass, whole[0].shape[0])


def _cotangents(given: object) -> list[Tensor]:
    """The gradients with a batch dimension that ``grad(is_grads_batched=True)`` was given.

    Raises
    ------
    ArgumentTypeError
        If one is no tensor.
    ArgumentValueError
        If one is missing, or batch sizes differ.
    """
    found: list[Tensor] = []
    for nr, one in enumerate(given if isinstance(given, (list, tuple)) else [given]):
        if one is None:
            raise ArgumentValueError(
                f"gradient {nr} is missing: with is_grads_batched there are no implicit ones",
                argument="grad_outputs",
            )
        if not isinstance(one, Tensor):
            raise ArgumentTypeError(
                f"gradient {nr} must be a tensor, not {type(one).__name__}", index=nr
            )
        if not one.ndim or one.shape[0] != (found[0] if found else one).shape[0]:
            raise ArgumentValueError(
                f"gradient {nr} has shape {list(one.shape)}; with is_grads_batched all gradients "
                "have a batch dimension of one size in front",
                argument="grad_outputs",
            )
        found.append(one)
    return found
