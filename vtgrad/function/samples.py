"""A custom Function that is written for one sample, called for all samples.

NOTE [ A Function of one sample ]

With ``generate_vmap_rule`` the methods of a Function see tensors of one sample, and the rest of the
library sees their values: arguments, results, what is saved, and gradients. `Samples` stands
between the two, as a part of the call: it knows which arguments and which results have samples, and
makes tensors of one sample of values, and values of these.

Forward runs while the level of its `vmap` is open. Backward may run later, so it runs in a level
of its own. The gradient of an argument without samples is the sum over all of them. A result
without samples is expanded, so that each sample has a gradient; only if it is such an argument
itself, it cannot be, and each sample gets its share of the gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import get_ident
from typing import TypeVar

from ..ops.batching.entering import expanded
from ..ops.batching.run_in_batch import run_in_batch
from ..ops.batching.values import value_at
from ..ops.generated import functional as F
from ..storage.batch import BatchLevel, batched
from ..storage.tensor_base import TensorBase

__all__ = ["Samples"]

R = TypeVar("R")


class Samples:
    """What a call of a Function knows of its samples; see Note [A Function of one sample].

    Attributes
    ----------
    size : int
        The number of samples.
    randomness : str
        As `vmap` was called with.
    arguments : tuple of object
        The arguments: values, where they have samples.
    of_arguments, of_results, of_saved, kept : tuple of bool
        Which arguments and results have samples, and which of the tensors that are saved for
        backward and for jvp.
    """

    __slots__ = (
        "_levels",
        "arguments",
        "kept",
        "of_arguments",
        "of_results",
        "of_saved",
        "randomness",
        "size",
    )

    size: int
    randomness: str
    arguments: tuple[object, ...]
    of_arguments: tuple[bool, ...]
    of_results: tuple[bool, ...]
    of_saved: tuple[bool, ...]
    kept: tuple[bool, ...]
    # The level in which the methods run at this moment, by thread.
    _levels: dict[int, BatchLevel]

    def __init__(
        self, level: BatchLevel, arguments: tuple[object, ...], of_arguments: tuple[bool, ...]
    ) -> None:
        self.size = level.size
        self.randomness = level.randomness
        self.arguments = arguments
        self.of_arguments = of_arguments
        self.of_results = ()
        self.of_saved = ()
        self.kept = ()
        self._levels = {}

    def run(self, level: BatchLevel, body: Callable[[], R]) -> R:
        """Call a method of the Function in a level that is open."""
        ident = get_ident()
        before = self._levels.get(ident)
        try:
            self._levels[ident] = level
            return body()
        finally:
            if before is None:
                self._levels.pop(ident, None)
            else:
                self._levels[ident] = before

    def run_later(self, body: Callable[[], R]) -> R:
        """Call a method of the Function in a level of its own."""
        return run_in_batch(
            lambda level: self.run(level, body), self.size, randomness=self.randomness
        )

    def level(self) -> BatchLevel:
        """The level in which a method runs on this thread."""
        return self._levels[get_ident()]

    def of_values(self, values: Sequence[object], flags: Sequence[bool]) -> list[object]:
        """Tensors of one sample, where values have samples."""
        level = self.level()
        return [
            batched(value, level) if isinstance(value, TensorBase) and has_samples else value
            for value, has_samples in zip(values, flags, strict=True)
        ]

    def values_of(self, tensors: Sequence[object]) -> tuple[list[object], tuple[bool, ...]]:
        """The values of tensors, and which of them have samples."""
        level = self.level()
        values: list[object] = []
        flags: list[bool] = []
        for tensor in tensors:
            value = value_at(tensor, level) if isinstance(tensor, TensorBase) else None
            values.append(tensor if value is None else value)
            flags.append(value is not None)
        return values, tuple(flags)

    def values_of_results(self, results: Sequence[object]) -> list[object]:
        """The values of what forward returned; see Note [A Function of one sample]."""
        level = self.level()
        values, flags = self.values_of(results)
        for nr, (value, has_samples) in enumerate(zip(values, flags, strict=True)):
            if isinstance(value, TensorBase) and not has_samples:
                if not any(value is argument for argument in self.arguments):
                    values[nr] = F.clone(expanded(value, level))
        self.of_results = tuple(
            [
                has_samples or (isinstance(value, TensorBase) and value is not result)
                for value, result, has_samples in zip(values, results, flags, strict=True)
            ]
        )
        return values

    def gradients_of_results(self, gradients: Sequence[object]) -> list[object]:
        """The gradients that backward gets, for one sample."""
        shares = [
            gradient
            if has_samples or not isinstance(gradient, TensorBase)
            else F.true_divide(gradient, self.size)
            for gradient, has_samples in zip(gradients, self.of_results, strict=True)
        ]
        return self.of_values(shares, self.of_results)

    def gradients(self, answers: Sequence[object]) -> list[object]:
        """The gradients of the arguments, from those of one sample."""
        found: list[object] = []
        for nr, answer in enumerate(answers):
            if not isinstance(answer, TensorBase):
                found.append(answer)
                continue
            value = expanded(answer, self.level())
            own = nr < len(self.of_arguments) and self.of_arguments[nr]
            found.append(value if own else F.sum_dim_IntList(value, 0))
        return found

    def tangents(self, answers: Sequence[object]) -> list[object]:
        """The tangents of the results, from those of one sample."""
        return [
            expanded(answer, self.level())
            if isinstance(answer, TensorBase) and has_samples
            else answer
            for answer, has_samples in zip(answers, self.of_results, strict=False)
        ]
