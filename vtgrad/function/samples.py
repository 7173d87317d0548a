"""A custom Function that is written for one sample, called for all samples.

Note [A Function of one sample]

With ``generate_vmap_rule`` the methods of a Function see tensors of one sample, and the rest of the
library sees their values: arguments, results, what is saved, and gradients. `Samples` stands
between the two, as a part of the call: it knows which arguments and which results have samples, and
makes tensors of one sample of values, and values of these.

Where `vmap` is nested a tensor may be one of several levels. Its samples at a level are along one
dimension of its value, first those of the outermost level. At which levels a tensor has samples is
a number, with a bit for each level: 1 for the outermost one.

Forward runs while the levels of its `vmap` are open. So does backward, where these are still open,
because it may use tensors of one sample that forward has kept otherwise than by saving them. Where
they are not, it runs in levels of its own.

The gradient of an argument without samples is the sum over all of them. A result without samples is
expanded, so that each sample has a gradient; only if it is such an argument itself, it cannot be,
and each sample gets its share of the gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import TypeVar

from vtgrad.graph.batch import BatchLevel
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.entering import expanded
from vtgrad.ops.rules.batches.run_in_batch import run_in_batch
from vtgrad.ops.rules.batches.values import batch_along_first, value_at
from vtgrad.storage.arrays import Shape
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["Samples", "sample_of"]

R = TypeVar("R")


class Samples:
    """What a call of a Function knows of its samples; see Note [A Function of one sample].

    Attributes
    ----------
    sizes : tuple of int
        The number of samples at each level, from the outermost one on.
    randomness : tuple of str
        As `vmap` was called with at each level.
    arguments : tuple of object
        The arguments: values, where they have samples.
    shapes : tuple of tuple of int
        Their shapes, without samples; empty for what is no tensor.
    of_arguments, of_results, of_saved, kept : tuple of int
        At which levels arguments and results have samples, and the tensors that are saved for
        backward and for jvp.
    expanded_results : dict of int to TensorBase
        By the identity of a result's value, the value with samples at all levels, if it had them
        not before.
    """

    __slots__ = (
        "_levels",
        "_opened",
        "all",
        "arguments",
        "expanded_results",
        "kept",
        "of_arguments",
        "of_results",
        "of_saved",
        "randomness",
        "shapes",
        "sizes",
    )

    sizes: tuple[int, ...]
    randomness: tuple[str, ...]
    all: int
    arguments: tuple[object, ...]
    shapes: tuple[Shape, ...]
    of_arguments: tuple[int, ...]
    of_results: tuple[int, ...]
    of_saved: tuple[int, ...]
    kept: tuple[int, ...]
    expanded_results: dict[int, TensorBase]
    # Those in which forward has run.
    _opened: tuple[BatchLevel, ...]
    # The levels in which the methods run at this moment, by thread.
    _levels: dict[int, Sequence[BatchLevel]]

    def __init__(
        self,
        levels: Sequence[BatchLevel],
        arguments: tuple[object, ...],
        shapes: tuple[Shape, ...],
        of_arguments: tuple[int, ...],
    ) -> None:
        self.sizes = tuple([level.size for level in levels])
        self.randomness = tuple([level.randomness for level in levels])
        self.all = 2 ** len(levels) - 1
        self.arguments = arguments
        self.shapes = shapes
        self.of_arguments = of_arguments
        self.of_results = ()
        self.of_saved = ()
        self.kept = ()
        self.expanded_results = {}
        self._opened = tuple(levels)
        self._levels = {}

    def run(self, levels: Sequence[BatchLevel], body: Callable[[], R]) -> R:
        """Call a method of the Function in levels that are open."""
        ident = get_ident()
        before = self._levels.get(ident)
        try:
            self._levels[ident] = levels
            return body()
        finally:
            if before is None:
                self._levels.pop(ident, None)
            else:
                self._levels[ident] = before

    def run_later(self, body: Callable[[], R]) -> R:
        """Call a method of the Function in the levels of forward; for a closed one in a new one."""
        return self._run_below((), body)

    def _run_below(self, levels: tuple[BatchLevel, ...], body: Callable[[], R]) -> R:
        nr = len(levels)
        if nr == len(self.sizes):
            return self.run(levels, body)
        if self._opened[nr].is_open:
            return self._run_below((*levels, self._opened[nr]), body)
        return run_in_batch(
            lambda level: self._run_below((*levels, level), body),
            self.sizes[nr],
            randomness=self.randomness[nr],
        )

    def levels(self) -> Sequence[BatchLevel]:
        """The levels in which a method runs on this thread, from the outermost one on."""
        return self._levels[get_ident()]

    def of_values(self, values: Sequence[object], flags: Sequence[int]) -> list[object]:
        """Tensors of one sample, where values have samples."""
        levels = self.levels()
        return [
            sample_of(value, levels, at) if isinstance(value, TensorBase) else value
            for value, at in zip(values, flags, strict=True)
        ]

    def values_of(self, tensors: Sequence[object]) -> tuple[list[object], tuple[int, ...]]:
        """The values of tensors, and at which levels they have samples."""
        levels = self.levels()
        values: list[object] = []
        flags: list[int] = []
        for tensor in tensors:
            at = 0
            if isinstance(tensor, TensorBase):
                for nr in reversed(range(len(levels))):
                    value = value_at(tensor, levels[nr])
                    if value is not None:
                        tensor, at = value, at | 1 << nr
            values.append(tensor)
            flags.append(at)
        return values, tuple(flags)

    def values_of_results(self, results: Sequence[object]) -> list[object]:
        """The values of what forward returned; see Note [A Function of one sample]."""
        values, flags = self.values_of(results)
        found = list(flags)
        for nr, (result, value, at) in enumerate(zip(results, values, flags, strict=True)):
            if isinstance(result, TensorBase) and isinstance(value, TensorBase) and at != self.all:
                if not any(value is argument for argument in self.arguments):
                    values[nr] = whole = F.clone(self._expanded(result))
                    self.expanded_results[id(value)] = whole
                    found[nr] = self.all
        self.of_results = tuple(found)
        return values

    def gradients_of_results(self, gradients: Sequence[object]) -> list[object]:
        """The gradients that backward gets, for one sample."""
        shares = [
            F.true_divide(gradient, self._count_without(at))
            if isinstance(gradient, TensorBase) and at != self.all
            else gradient
            for gradient, at in zip(gradients, self.of_results, strict=True)
        ]
        return self.of_values(shares, self.of_results)

    def gradients(self, answers: Sequence[object]) -> list[object]:
        """The gradients of the arguments, from those of one sample."""
        found: list[object] = []
        for nr, answer in enumerate(answers):
            if not isinstance(answer, TensorBase):
                found.append(answer)
                continue
            at = 0
            if nr < len(self.shapes):
                at, answer = self.of_arguments[nr], _fitted(answer, self.shapes[nr])
            summed = tuple([k for k in range(len(self.sizes)) if not at >> k & 1])
            value = self._expanded(answer)
            found.append(F.sum_dim_IntList(value, summed) if summed else value)
        return found

    def tangents(self, answers: Sequence[object]) -> list[object]:
        """The tangents of the results, from those of one sample."""
        return [
            self._expanded(answer, at) if isinstance(answer, TensorBase) else answer
            for answer, at in zip(answers, self.of_results, strict=False)
        ]

    def _expanded(self, tensor: TensorBase, at: int = -1) -> TensorBase:
        """The value of a tensor with samples at all levels, or at some."""
        for nr, level in reversed(tuple(enumerate(self.levels()))):
            if at >> nr & 1:
                tensor = expanded(tensor, level)
        return tensor

    def _count_without(self, at: int) -> int:
        """How many samples share one tensor, which has none at some levels."""
        return math.prod([size for nr, size in enumerate(self.sizes) if not at >> nr & 1])


def _fitted(gradient: TensorBase, shape: Shape) -> TensorBase:
    """A gradient summed over what broadcasting has added to its argument; any other as it is."""
    found = gradient._impl.array.shape
    added = len(found) - len(shape)
    fits = added >= 0 and all(
        size in (1, own) for size, own in zip(shape, found[added:], strict=True)
    )
    return F.sum_to_size(gradient, shape) if fits and found != shape else gradient


def sample_of(value: TensorBase, levels: Sequence[BatchLevel], at: int) -> TensorBase:
    """The tensor of one sample at some of the levels."""
    for nr, level in enumerate(levels):
        if at >> nr & 1:
            # A gradient may have samples at higher levels, too.
            value = batch_along_first(value, level)
    return value
