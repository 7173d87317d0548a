"""Probabilities of sequences by arrays: one node of the graph in place of many for each time step.

The recursion is that of Note [Recursion over time], forwards for the values and backwards for the
first derivative: the derivative by a logarithm is the probability that its label is emitted then,
given the sequence. Where more is asked of the derivative, the recursion made of operators gives it.
"""

from __future__ import annotations

import typing
from collections.abc import Callable

import numpy as np

from vtgrad.autograd.differentiate import grad as gradients_of
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.graph.grad_mode import enable_grad
from vtgrad.later.beside import beside
from vtgrad.later.is_plain import is_plain
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.tensor.tensor import Tensor

__all__ = ["Sequences", "log_probabilities"]


class Sequences(typing.NamedTuple):
    """What is wanted of a batch of samples.

    Attributes
    ----------
    states : array
        The labels with blanks around them, a row for each sample.
    skips : array
        Beside each state 0 where the one before may be skipped, else a large negative number.
    durations, counts : array
        How long each sample is in time, and how many labels it has.
    never : float
        The large negative number.
    """

    states: Array
    skips: Array
    durations: Array
    counts: Array
    never: float


class _Context(FunctionCtx):
    wanted: Sequences
    by_operators: Callable[[Tensor], Tensor]
    reached: Array
    total: Array


class _Alignments(Function):
    """The logarithms of the probabilities of sequences, of samples that last at least one step."""

    @staticmethod
    def forward(
        ctx: _Context, values: Tensor, wanted: Sequences, by_operators: Callable[[Tensor], Tensor]
    ) -> Tensor:
        emitted = _emitted(values, wanted)
        time, samples, width = emitted.shape
        reached = making.full((time, samples, width + 2), wanted.never, emitted.dtype)
        reached[0, :, 2:4] = emitted[0, :, :2]
        for t in range(1, time):
            before = reached[t - 1]
            skipped = before[:, :-2] + wanted.skips
            reached[t, :, 2:] = _merged(before[:, 2:], before[:, 1:-1], skipped) + emitted[t]
        rows = making.arange(samples)
        last = reached[wanted.durations - 1, rows]
        # With no label the last state but one is the margin, which is never reached.
        total = np.logaddexp(last[rows, 2 * wanted.counts + 2], last[rows, 2 * wanted.counts + 1])
        ctx.save_for_backward(values)
        ctx.wanted, ctx.by_operators, ctx.reached, ctx.total = wanted, by_operators, reached, total
        return beside(values, total)

    @staticmethod
    def backward(ctx: _Context, grad: Tensor) -> tuple[Tensor, None, None]:
        (values,) = ctx.saved_tensors
        if is_plain(grad, values):
            shares = beside(values, _shares(_emitted(values, ctx.wanted), ctx))
            index = beside(values, making.broadcast_to(ctx.wanted.states, shares.shape))
            weighted = F.mul(shares, F.unsqueeze(grad, 1))
            return F.scatter_add(F.zeros_like(values), 2, index, weighted), None, None
        with enable_grad():
            total = F.sum_default(ctx.by_operators(values))
            (slopes,) = gradients_of(total, values, create_graph=True)
        return F.mul(slopes, F.unsqueeze(grad, 1)), None, None


def log_probabilities(
    values: Tensor, wanted: Sequences, by_operators: Callable[[Tensor], Tensor]
) -> Tensor:
    """The logarithms of the probabilities of sequences.

    Parameters
    ----------
    values : Tensor
        The logarithms of the probabilities of labels, by time and sample, without keys.
    wanted : Sequences
        The sequences.
    by_operators : callable
        Computes the same from the values by operators.
    """
    found: Tensor = _Alignments.apply(values, wanted, by_operators)
    return found


def _emitted(values: Tensor, wanted: Sequences) -> Array:
    """What each state emits, by time and sample."""
    array = resolved(values._impl.array)
    index = making.broadcast_to(wanted.states, (len(array), *wanted.states.shape))
    found: Array = np.maximum(np.take_along_axis(array, index, 2), wanted.never)
    return found


def _merged(one: Array, two: Array, three: Array) -> Array:
    """The logarithm of a sum of three exponentials."""
    largest = np.maximum(np.maximum(one, two), three)
    total = np.exp(one - largest) + np.exp(two - largest) + np.exp(three - largest)
    merged: Array = np.log(total) + largest
    return merged


def _shares(emitted: Array, ctx: _Context) -> Array:
    """How probable each state is at each time, given the sequence."""
    wanted = ctx.wanted
    time, samples, width = emitted.shape
    last = making.arange(width) - 2 * wanted.counts[:, None]
    ends = np.where((last == 0) | (last == -1), 0, wanted.never).astype(emitted.dtype)
    skips = making.full((samples, width), wanted.never, emitted.dtype)
    skips[:, :-2] = wanted.skips[:, 2:]
    # What is still to come behind each state, with a margin behind the last one.
    coming = making.full((samples, width + 2), wanted.never, emitted.dtype)
    shares = making.zeros(emitted.shape, emitted.dtype)
    for t in reversed(range(time)):
        behind = making.full((samples, width), wanted.never, emitted.dtype)
        if t + 1 < time:
            coming[:, :-2] += emitted[t + 1]
            behind = _merged(coming[:, :-2], coming[:, 1:-1], coming[:, 2:] + skips)
        is_end = (wanted.durations == t + 1)[:, None]
        coming[:, :-2] = np.where(is_end, ends, behind)
        shares[t] = np.exp(ctx.reached[t, :, 2:] + coming[:, :-2] - ctx.total[:, None])
    # A sequence that is impossible has no shares: all of its numbers are as large.
    shares[:, ctx.total < wanted.never / 2] = 0
    return shares
