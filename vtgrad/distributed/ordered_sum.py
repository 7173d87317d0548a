"""A sum over shards whose bits do not depend on who computed what, and when."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.distributed.answers import Done
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.tensor import Tensor

__all__ = ["OrderedSum"]


class OrderedSum:
    """The sum of the answers in the order of the shards.

    An answer waits until those before it have been added. Rounding then depends on the order of the
    shards alone.

    Attributes
    ----------
    value : Tensor or None
        The sum of the values; None before the first shard has been added.
    gradients : list of Tensor
        The sums of the gradients.
    """

    value: Tensor | None
    gradients: list[Tensor]

    def __init__(self) -> None:
        self.value = None
        self.gradients = []
        self._waiting: dict[int, Done] = {}
        self._next = 0

    def add(self, answer: Done) -> None:
        """Take the answer for one shard."""
        self._waiting[answer.shard] = answer
        while (found := self._waiting.pop(self._next, None)) is not None:
            self._next += 1
            self._add(found.value, found.gradients)

    def _add(self, value: Tensor, gradients: Sequence[Tensor]) -> None:
        if self.value is None:
            # Copies: on a thread of this process a gradient may be an array that a shard has, too.
            self.value = F.clone(value)
            self.gradients = [F.clone(gradient) for gradient in gradients]
            return
        self.value = F.add(self.value, value)
        for total, gradient in zip(self.gradients, gradients, strict=True):
            F.add_(total, gradient)
