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
from typing import Final, TypeAlias

import numpy as np

from vtgrad.errors import DTypeError, OptionValueError, ShapeError
from vtgrad.graph.batch import BatchLevel
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.ctc_alignments import Sequences, log_probabilities
from vtgrad.nn.functional.floating import check_kind
from vtgrad.nn.functional.reduction import reduced, reduction_of
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.values import innermost, levels_of, rebatched
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.integers import index_of
from vtgrad.storage.key_set import keys
from vtgrad.tensor.tensor import Tensor

__all__ = ["ctc_loss"]

# Levels of `vmap`, the highest first.
Levels: TypeAlias = tuple[BatchLevel, ...]

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
        If `log_probs` is not of float32 or float64.
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
    levels = _levels_among(targets, input_lengths, target_lengths)
    durations = _lengths(input_lengths, "input_lengths", samples, time, levels)
    counts = _lengths(target_lengths, "target_lengths", samples, None, levels)
    states = _states(targets, counts, none, labels, samples, single, levels)
    logarithms = _of_sequences(values, states, durations, counts, none, levels)
    impossible = F.lt(logarithms, _NEVER / 2)
    losses = F.neg(logarithms)
    largest = 0 if check_flag(zero_infinity, "zero_infinity") else math.inf
    losses = F.masked_fill(losses, impossible, largest)
    if mode == "mean":
        divisors = np.maximum(counts, 1).astype(log_probs._impl.array.dtype)
        losses = F.div(losses, _constant(values, divisors, levels))
    return F.squeeze_dim(losses, 0) if single and mode == "none" else reduced(losses, mode)


def _of_sequences(
    values: Tensor, states: Array, durations: Array, counts: Array, blank: int, levels: Levels
) -> Tensor:
    """The logarithm of the probability of each sample's labels."""
    skips = making.full(states.shape, _NEVER, values._impl.array.dtype)
    skips[:, 2:][(states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])] = 0
    # Of a sample without time the first step stands in, and is replaced.
    wanted = Sequences(states, skips, np.maximum(durations, 1), counts, _NEVER)

    def by_operators(values: Tensor) -> Tensor:
        return _by_operators(values, wanted, levels)

    if levels or keys.modes or values._impl.key_set:
        found = by_operators(values)
    else:
        found = log_probabilities(values, wanted, by_operators)
    for mask, value in (
        ((durations == 0) & (counts > 0), _NEVER),
        ((durations == 0) & (counts == 0), 0),
    ):
        found = F.masked_fill(found, _constant(values, mask, levels), value)
    return found


def _by_operators(values: Tensor, wanted: Sequences, levels: Levels) -> Tensor:
    """The same by a step of operators for each time; see Note [Recursion over time]."""

    def made(array: Array) -> Tensor:
        return _constant(values, array, levels)

    counts = wanted.counts
    time, samples, _ = values._impl.array.shape
    width = wanted.states.shape[1]
    index = F.expand_sizes(made(wanted.states), (time, samples, width))
    emitted = F.clamp_min_default(F.gather(values, 2, index), _NEVER)
    begins = making.full(width, _NEVER, values._impl.array.dtype)
    begins[:2] = 0
    may_skip = made(wanted.skips)
    each = F.unbind(emitted, 0)
    steps = [F.add(each[0], beside(values, begins))]
    for now in each[1:]:
        before = F.constant_pad(steps[-1], (2, 0), _NEVER)
        moved = F.logaddexp(steps[-1], F.narrow(before, 1, 1, width))
        skipped = F.add(F.narrow(before, 1, 0, width), may_skip)
        steps.append(F.add(F.logaddexp(moved, skipped), now))
    every = F.reshape(F.stack(steps, 0), (time * samples, width))
    number = making.arange(len(counts)) % max(samples, 1)
    last = F.index_select(every, 0, made((wanted.durations - 1) * samples + number))
    ends = F.gather(last, 1, made((2 * counts)[:, None]))
    labelled = F.gather(last, 1, made(np.maximum(2 * counts - 1, 0)[:, None]))
    labelled = F.masked_fill(labelled, made((counts == 0)[:, None]), _NEVER)
    return F.squeeze_dim(F.logaddexp(ends, labelled), 1)


def _levels_among(*given: object) -> Levels:
    """The levels of `vmap` at which a tensor has samples, the highest first."""
    found = {level for x in given if isinstance(x, Tensor) for level in levels_of(x)}
    return tuple(sorted(found, key=lambda level: level.number, reverse=True))


def _constant(values: Tensor, array: Array, levels: Levels) -> Tensor:
    """A tensor with a row of an array for each sample; the array has those of all levels."""
    sizes = [level.size for level in reversed(levels)]
    samples = values._impl.array.shape[1]
    return rebatched(beside(values, array.reshape(*sizes, samples, *array.shape[1:])), levels)


def _of_all_levels(tensor: Tensor, levels: Levels) -> Array:
    """The elements of a tensor, with a first dimension for the samples of all levels."""
    array = innermost(tensor)._impl.array
    own = levels_of(tensor)
    shape = array.shape[len(own) :]
    lead = [level.size if level in own else 1 for level in reversed(levels)]
    sizes = [level.size for level in reversed(levels)]
    whole = making.broadcast_to(array.reshape(*lead, *shape), (*sizes, *shape))
    return whole.reshape(math.prod(sizes), *shape)


def _lengths(
    given: Tensor | Sequence[int], name: str, samples: int, largest: int | None, levels: Levels
) -> Array:
    """The lengths as integers, of the samples of all levels."""
    if isinstance(given, Tensor):
        array = _of_all_levels(given, levels)
        if array.dtype.kind not in "iu":
            raise DTypeError(f"{name} are integers, not {given.dtype.name}")
        lengths = array.reshape(len(array), math.prod(array.shape[1:])).astype(np.int64)
    else:
        numbers = [index_of(n, name) for n in given]
        one = making.array(numbers, np.int64).reshape(1, len(numbers))
        lengths = one.repeat(math.prod([level.size for level in levels]), 0)
    if lengths.shape[1] != samples:
        raise ShapeError(f"{name} are {lengths.shape[1]}, and there are {samples} samples")
    if lengths.size and (lengths.min() < 0 or (largest is not None and lengths.max() > largest)):
        raise OptionValueError(f"{name} are from 0 to {largest}, not {lengths.tolist()}")
    return lengths.reshape(-1)


def _states(
    targets: Tensor,
    counts: Array,
    blank: int,
    labels: int,
    samples: int,
    single: bool,
    levels: Levels,
) -> Array:
    """The labels of each sample with blanks around them, a row for each."""
    if array_of(targets, "targets").dtype.kind not in "iu":
        raise DTypeError(f"labels are integers, not {targets.dtype.name}", dtype=targets.dtype)
    given = _of_all_levels(targets, levels)
    if single and given.ndim == 2:
        given = given[:, None]
    most = int(counts.max(initial=0))
    found = making.full((len(counts), 2 * most + 1), blank, np.int64)
    rows: list[Array] = []
    for one, lengths in zip(given, counts.reshape(len(given), samples), strict=True):
        rows += _labels_of_one(one, lengths, most)
    for states, row in zip(found, rows, strict=True):
        states[1 : 2 * len(row) : 2] = row
    if found.size and not (found.min() >= 0 and found.max() < labels):
        raise OptionValueError(f"a label is not one of the {labels} that there are")
    return found


def _labels_of_one(given: Array, counts: Array, most: int) -> list[Array]:
    """The labels of each sample, from rows or one after the other."""
    if given.ndim == 1:
        if counts.sum() != len(given):
            raise ShapeError(f"{len(given)} labels are not those of {counts.sum()} lengths")
        return np.split(given, np.cumsum(counts)[:-1]) if len(counts) else []
    if given.ndim == 2 and given.shape[0] == len(counts) and given.shape[1] >= most:
        return [row[:count] for row, count in zip(given, counts, strict=True)]
    raise ShapeError(
        f"labels of shape {list(given.shape)} are not those of {len(counts)} samples with "
        f"{most} labels"
    )
