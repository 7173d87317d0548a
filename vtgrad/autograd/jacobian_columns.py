"""The columns of a Jacobian: one tangent for each element of an input, all in one forward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from vtgrad.autograd.dual_tensors import at_new_level, dual_argument, tangent_at
from vtgrad.autograd.zero_derivative import zero_derivative
from vtgrad.errors import ForwardModeError
from vtgrad.graph.batch import BatchLevel, batched
from vtgrad.graph.forward_grad import DualLevel
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.entering import expanded
from vtgrad.ops.rules.batches.run_in_batch import run_in_batch
from vtgrad.storage.excluded_keys import run_excluding
from vtgrad.storage.key_set import NAMED
from vtgrad.storage.thread_mode import thread
from vtgrad.tensor.tensor import Tensor

__all__ = ["check_forward_mode", "jacobian_by_columns"]

R = TypeVar("R")


def check_forward_mode(name: str) -> None:
    """Raise where operators see no tangents.

    Raises
    ------
    ForwardModeError
        In inference mode.
    """
    if thread.mode.inference:
        raise ForwardModeError(
            f"forward mode is off in inference mode, so {name} would find no derivatives; leave it "
            "for the call by `with inference_mode(False)`"
        )


def jacobian_by_columns(
    call: Callable[[Sequence[Tensor]], R],
    outputs_of: Callable[[R], Sequence[Tensor]],
    inputs: Sequence[Tensor],
    randomness: str = "error",
) -> tuple[R, list[list[Tensor]]]:
    """What a function returns, and its Jacobian.

    The function is called once, with tensors that have a batch of tangents: the rows of the
    identity. Only tangents are a batch, so the function may read values and write to tensors that
    it makes.

    Parameters
    ----------
    call : callable
        The function of dual tensors.
    outputs_of : callable
        Takes the tensors out of what it returned.
    inputs : sequence of Tensor
        What it is differentiated by.

    Returns
    -------
    returned : object
        What the function returned.
    blocks : list of list of Tensor
        For each output and each input, a tensor of the output's shape followed by the input's, in
        the output's dtype.
    """
    counts = [x.numel() for x in inputs]
    total = sum(counts)

    def at_level(level: BatchLevel, dual_level: DualLevel) -> tuple[R, list[list[Tensor]]]:
        duals, start = [], 0
        for x, count in zip(inputs, counts, strict=True):
            basis = run_excluding(NAMED, F.zeros_shaped, x, (total, count))
            F.fill_Scalar_(F.diagonal_default(basis, -start), 1)
            rows = F.view_shape(basis, (total, *x.shape))
            duals.append(dual_argument(x, batched(rows, level), dual_level))
            start += count
        returned = call(duals)
        blocks = []
        for output in outputs_of(returned):
            tangent = tangent_at(output, dual_level)
            if tangent is None:
                tangent = zero_derivative(output)
            columns = expanded(tangent, level)
            blocks.append(_split(columns, output, inputs, counts))
        return returned, blocks

    def passed(level: BatchLevel) -> tuple[R, list[list[Tensor]]]:
        return at_new_level(partial(at_level, level))

    return run_in_batch(passed, total, randomness)


def _split(
    columns: Tensor, output: Tensor, inputs: Sequence[Tensor], counts: Sequence[int]
) -> list[Tensor]:
    """The part of each input, in the order of a Jacobian."""
    parts, start = [], 0
    for x, count in zip(inputs, counts, strict=True):
        part = F.movedim(F.slice(columns, 0, start, start + count), 0, -1)
        parts.append(F.reshape(part, (*output.shape, *x.shape)))
        start += count
    return parts
