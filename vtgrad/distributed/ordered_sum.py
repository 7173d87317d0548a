"""A sum over shards whose bits do not depend on who computed what, and when."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.distributed.answers import Done
from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["OrderedSum"]


class OrderedSum:
    """The sum of the answers in the order of the shards.

    An answer waits until those before it have been added. Rounding then depends on the order of the
    shards alone.

    Attributes
    ----------
    value : ndarray or None
        The sum of the values, 0-d; None before the first shard has been added.
    gradients : list of ndarray
        The sums of the gradients.
    """

    value: Array | None
    gradients: list[Array]

    def __init__(self) -> None:
        self.value = None
        self.gradients = []
        self._waiting: dict[int, Done] = {}
        self._next = 0

    def has(self, count: int) -> bool:
        """Whether this many shards have been added, and nothing waits."""
        return self._next == count and not self._waiting

    def add(self, answer: Done) -> None:
        """Take the answer for one shard."""
        self._waiting[answer.shard] = answer
        with np.errstate(all="ignore"):
            while (found := self._waiting.pop(self._next, None)) is not None:
                self._next += 1
                self._add(found.value, found.gradients)

    def _add(self, value: Array, gradients: Sequence[Array]) -> None:
        if self.value is None:
            # Copies: on a thread of this process a gradient may be an array that a shard has, too.
            self.value = making.array(value)
            self.gradients = [making.array(gradient) for gradient in gradients]
            return
        # The dtype of the value may be another one for each shard.
        self.value = making.asarray(np.add(self.value, value))
        for total, gradient in zip(self.gradients, gradients, strict=True):
            np.add(total, gradient, out=total)
