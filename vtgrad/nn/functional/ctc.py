"""The loss of sequences whose places in time are not known.

After Graves et al., "Connectionist Temporal Classification", 2006, section 4.1.

Note [Recursion over time]

The states of a sample are its labels with a blank around each. The logarithm of the probability
that a sample is in a state at a time, after what was emitted until then, is found from those of one
time step before: the state stays, or comes from the one before it, or skips a blank between two
labels that differ. That is a step for all samples and states, so the work grows with time as the
number of states. In steps of operators it has derivatives of any order; what most programs ask for,
the values and the first gradient, is one node, in a quarter of the time.

A state that cannot be reached has a large negative number in place of minus infinity, whose
derivatives would be nan. A loss as large as that is infinite, and has no gradient.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from vtgrad.errors import DTypeError, NotSupportedError, OptionValueError, ShapeError
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.ctc_alignments import Sequences, log_probabilities
from vtgrad.nn.functional.floating import check_kind
from vtgrad.nn.functional.reduction import reduced, reduction_of
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.values import innermost, levels_of
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.integers import index_of
from vtgrad.storage.key_set import keys
from vtgrad.tensor.tensor import Tensor

__all__ = ["ctc_loss"]

# What stands for minus infinity; sums over time stay within float32.
_NEVER: Final = -1e30


@explained
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return negative logarithms of the probabilities of sequences of labels.

    The gradient is that of the loss by `log_probs` as they are. PyTorch adds their exponentials,
    which makes no difference behind `log_softmax`.

    Parameters
    ----------
    log_probs : Tensor
        Logarithms of the probabilities of labels: dimensions of time, of samples and of labels, or
        without that of samples.
    targets : Tensor
        The labels of the sequences, integers: a row for each sample, or one after the other.
    input_lengths, target_lengths : Tensor or sequence of int
        How long each sample is in time, and how many labels it has.
    blank : int, default 0
        The label that stands for none.
    reduction : {"mean", "sum", "none"}, default "mean"
        The mean of the losses, each divided by the number of its labels; their sum; or all of them.
    zero_infinity : bool, default False
        Whether the loss is 0 where no alignment is possible, in place of infinity.

    Returns
    -------
    Tensor
        A new tensor, 0-d unless all losses are returned.

    Raises
    ------
    NotSupportedError
        If `log_probs` is not of float32 or float64, or labels or lengths have samples of a `vmap`.
    DTypeError
        If labels are not integers.
    ShapeError
        If a shape does not fit, or `log_probs` has no elements.
    OptionValueError
        If a length or a label is out of range.
    ArgumentValueError
        If there is no such reduction.

    Examples
    --------
    >>> x = vt.full((2, 1, 3), 1 / 3).log()
    >>> loss = vt.nn.functional.ctc_loss(x, vt.tensor([[1]]), (2,), (1,), reduction="sum")
    >>> round(loss.exp().item(), 6)
    3.0
    """
    refuse_names("ctc_loss", log_probs, targets)
    _refuse_samples(targets, input_lengths, target_lengths)
    mode = reduction_of(reduction)
    if check_kind("ctc_loss", log_probs, name="log_probs").itemsize < 4:
        check_kind("ctc_loss", log_probs, "", "log_probs")
    shape = log_probs._impl.array.shape
    if len(shape) not in (2, 3) or 0 in shape:
        raise ShapeError(
            f"ctc_loss() takes dimensions of time, samples and labels, not {list(shape)}"
        )
    single = len(shape) == 2
    values = F.unsqueeze(log_probs, 1) if single else log_probs
    time, samples, labels = values._impl.array.shape
    none = index_of(blank, "blank")
    if not 0 <= none < labels:
        raise OptionValueError(f"the blank is one of {labels} labels, not {none}")
    durations = _lengths(input_lengths, "input_lengths", samples, time)
    counts = _lengths(target_lengths, "target_lengths", samples, None)
    states = _states(targets, counts, none, labels, single)
    logarithms = _of_sequences(values, states, durations, counts, none)
    impossible = F.lt(logarithms, _NEVER / 2)
    losses = F.neg(logarithms)
    largest = 0 if check_flag(zero_infinity, "zero_infinity") else math.inf
    losses = F.masked_fill(losses, impossible, largest)
    if mode == "mean":
        divisors = np.maximum(counts, 1).astype(log_probs._impl.array.dtype)
        losses = F.div(losses, beside(log_probs, divisors))
    return F.squeeze_dim(losses, 0) if single and mode == "none" else reduced(losses, mode)


def _of_sequences(
    values: Tensor, states: Array, durations: Array, counts: Array, blank: int
) -> Tensor:
    """The logarithm of the probability of each sample's labels."""
    skips = making.full(states.shape, _NEVER, values._impl.array.dtype)
    skips[:, 2:][(states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])] = 0
    # Of a sample without time the first step stands in, and is replaced.
    wanted = Sequences(states, skips, np.maximum(durations, 1), counts, _NEVER)

    def by_operators(values: Tensor) -> Tensor:
        return _by_operators(values, wanted)

    if keys.modes or values._impl.key_set:
        found = by_operators(values)
    else:
        found = log_probabilities(values, wanted, by_operators)
    found = F.masked_fill(found, beside(values, (durations == 0) & (counts > 0)), _NEVER)
    return F.masked_fill(found, beside(values, (durations == 0) & (counts == 0)), 0)


def _by_operators(values: Tensor, wanted: Sequences) -> Tensor:
    """The same by a step of operators for each time; see Note [Recursion over time]."""
    states, counts = wanted.states, wanted.counts
    time, samples, _ = values._impl.array.shape
    width = states.shape[1]
    index = making.broadcast_to(states, (time, samples, width))
    emitted = F.clamp_min_default(F.gather(values, 2, beside(values, index)), _NEVER)
    begins = making.full(width, _NEVER, values._impl.array.dtype)
    begins[:2] = 0
    may_skip = beside(values, wanted.skips)
    each = F.unbind(emitted, 0)
    steps = [F.add(each[0], beside(values, begins))]
    for now in each[1:]:
        before = F.constant_pad(steps[-1], (2, 0), _NEVER)
        moved = F.logaddexp(steps[-1], F.narrow(before, 1, 1, width))
        skipped = F.add(F.narrow(before, 1, 0, width), may_skip)
        steps.append(F.add(F.logaddexp(moved, skipped), now))
    every = F.reshape(F.stack(steps, 0), (time * samples, width))
    rows = (wanted.durations - 1) * samples + making.arange(samples)
    last = F.index_select(every, 0, beside(values, rows))
    ends = F.gather(last, 1, beside(values, (2 * counts)[:, None]))
    labelled = F.gather(last, 1, beside(values, np.maximum(2 * counts - 1, 0)[:, None]))
    labelled = F.masked_fill(labelled, beside(values, (counts == 0)[:, None]), _NEVER)
    return F.squeeze_dim(F.logaddexp(ends, labelled), 1)


def _lengths(given: Tensor | Sequence[int], name: str, samples: int, largest: int | None) -> Array:
    """The lengths as integers."""
    if isinstance(given, Tensor):
        array = innermost(given)._impl.array
        if array.dtype.kind not in "iu":
            raise DTypeError(f"{name} are integers, not {given.dtype.name}")
        lengths = array.reshape(-1).astype(np.int64)
    else:
        numbers = [index_of(n, name) for n in given]
        lengths = making.array(numbers, np.int64).reshape(len(numbers))
    if lengths.shape != (samples,):
        raise ShapeError(f"{name} are {len(lengths)}, and there are {samples} samples")
    if samples and (lengths.min() < 0 or (largest is not None and lengths.max() > largest)):
        raise OptionValueError(f"{name} are from 0 to {largest}, not {lengths.tolist()}")
    return lengths


def _refuse_samples(*given: object) -> None:
    for one in given:
        if isinstance(one, Tensor) and levels_of(one):
            raise NotSupportedError(
                "ctc_loss() takes labels and lengths without samples of a vmap; give it all "
                "samples along the dimension that it has for them"
            )


def _states(targets: Tensor, counts: Array, blank: int, labels: int, single: bool) -> Array:
    """The labels of each sample with blanks around them, a row for each."""
    given = array_of(targets, "targets")
    if given.dtype.kind not in "iu":
        raise DTypeError(f"labels are integers, not {targets.dtype.name}", dtype=targets.dtype)
    given = innermost(targets)._impl.array
    if single and given.ndim == 1:
        given = given[None]
    samples, most = len(counts), int(counts.max(initial=0))
    found = making.full((samples, 2 * most + 1), blank, np.int64)
    if given.ndim == 1:
        if counts.sum() != len(given):
            raise ShapeError(f"{len(given)} labels are not those of {counts.sum()} lengths")
        rows = np.split(given, np.cumsum(counts)[:-1]) if samples else []
    elif given.ndim == 2 and given.shape[0] == samples and given.shape[1] >= most:
        rows = [row[:count] for row, count in zip(given, counts, strict=True)]
    else:
        raise ShapeError(
            f"labels of shape {list(given.shape)} are not those of {samples} samples with "
            f"{most} labels"
        )
    for states, row in zip(found, rows, strict=True):
        states[1 : 2 * len(row) : 2] = row
    if found.size and not (found.min() >= 0 and found.max() < labels):
        raise OptionValueError(f"a label is not one of the {labels} that there are")
    return found
