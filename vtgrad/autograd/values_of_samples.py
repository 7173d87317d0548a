"""Gradients of tensors of one sample, by those of their values; see Note [Batched tensors]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vtgrad.errors import BatchedTensorError
from vtgrad.graph.batch import BatchLevel
from vtgrad.graph.gradient_edge import GradientEdge
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.entering import expanded
from vtgrad.ops.rules.batches.values import batch_along_first, innermost, levels_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["of_samples", "of_value", "of_values"]

# What can be differentiated, and differentiated by.
Root = Tensor | GradientEdge


def of_value(cotangent: Tensor | None, output: Tensor) -> Tensor | None:
    """The cotangent of an output's value, from that of a sample; it may have more levels.

    Raises
    ------
    BatchedTensorError
        If the output is of a `vmap` that has returned.
    """
    levels = levels_of(output)
    for level in levels:
        if not level.is_open:
            level.check_entered(thread.batch_levels)
    if levels and cotangent is None:
        return F.ones_like(innermost(output))
    for level in levels:
        assert cotangent is not None
        cotangent = expanded(cotangent, level)
    return cotangent


def of_samples(gradient: Tensor, levels: Sequence[BatchLevel]) -> Tensor:
    """The gradient of an input, from that of its value; it may be batched at more levels."""
    for level in reversed(levels):
        gradient = batch_along_first(gradient, level)
    return gradient


def of_values(
    outputs: Root | Sequence[Root],
    inputs: Root | Sequence[Root],
    cotangents: Tensor | Sequence[Tensor | None] | None,
) -> tuple[Sequence[Root], Sequence[Root], Sequence[Tensor | None], list[tuple[BatchLevel, ...]]]:
    """The arguments of ``grad`` for values, and the levels of the inputs.

    Raises
    ------
    BatchedTensorError
        If an output differs by sample and an input does not: its gradients were summed over the
        samples already, or would be.
    """
    roots, wanted = _listed(outputs), _listed(inputs)
    given = [cotangents] * len(roots) if cotangents is None else _listed(cotangents)
    found: list[tuple[BatchLevel, ...]] = []
    for nr, one in enumerate(wanted):
        own = levels_of(one) if isinstance(one, Tensor) else ()
        for root in roots:
            if isinstance(root, Tensor) and not set(levels_of(root)) <= set(own):
                raise BatchedTensorError(
                    f"input {nr} is the same for all samples of vmap, and an output is not, so "
                    "grad() would return the sum of the gradients; vtgrad.func.grad gives one for "
                    "each sample",
                    index=nr,
                )
        found.append(own)
    filled = [*given, *[None] * (len(roots) - len(given))]
    return (
        [innermost(root) if isinstance(root, Tensor) else root for root in roots],
        [innermost(one) if isinstance(one, Tensor) else one for one in wanted],
        [
            of_value(c, r) if isinstance(r, Tensor) and (c is None or c.shape == r.shape) else c
            for c, r in zip(filled, roots, strict=False)
        ],
        found,
    )


def _listed(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
