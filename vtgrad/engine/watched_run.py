"""A pass without recording that is watched; see Note [Watched passes]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..graph.accumulate_grad import AccumulateGrad
from ..graph.input_metadata import InputMetadata
from ..graph.node import Node
from ..graph.observer import FUNCTION, NO_SEQUENCE_NR
from ..storage.arrays import Array
from .array_run import ArrayRun
from .graph_task import GraphTask
from .input_buffer import Content, InputBuffer
from .observers import Answer
from .watch import Watch

__all__ = ["WatchedRun"]


class WatchedRun(ArrayRun):
    """The state of a watched run.

    Attributes
    ----------
    watch : Watch
        What observers and anomaly mode are given of each node.
    """

    __slots__ = ("watch",)

    watch: Watch

    def __init__(self, task: GraphTask, watch: Watch) -> None:
        super().__init__(task)
        self.watch = watch

    def run_unobserved(self) -> InputBuffer | None:
        """As `ArrayRun.run_unobserved`; the turn of the node that is returned has begun."""
        self.watch.leave()
        buffer = super().run_unobserved()
        if buffer is not None:
            self.watch.enter(buffer.function)
            self._look(buffer)
        return buffer

    def _look(self, buffer: InputBuffer) -> None:
        """Let the check for NaN look at the gradients that a node gets."""
        if self.watch.checks:
            metadata = buffer.function.input_metadata
            sums = [_sum_of(buffer.at(nr).grad, meta) for nr, meta in enumerate(metadata)]
            self.watch.look(sums)

    def keep_for_leaf(self, node: AccumulateGrad, buffer: InputBuffer) -> None:
        """As `ArrayRun.keep_for_leaf`."""
        self.watch.begin(node, _shown(buffer))
        super().keep_for_leaf(node, buffer)
        self.watch.applied(())
        self.watch.leave()

    def apply(self, node: Node, buffer: InputBuffer) -> tuple[Sequence[Answer], Sequence[int]]:
        """As `ArrayRun.apply`."""
        self.watch.begin(node, _shown(buffer))
        self._look(buffer)
        answers, ownership = super().apply(node, buffer)
        self.watch.applied(answers)
        return answers, ownership

    def hand_on(
        self, node: Node, answers: Sequence[Answer], ownership: Sequence[int], was_owned: bool
    ) -> None:
        """As `ArrayRun.hand_on`, after the check for NaN."""
        self.watch.check(node, answers)
        observer = self.watch.observer
        if observer is None or not self._will_add(node, answers):
            super().hand_on(node, answers, ownership, was_owned)
        else:
            event = observer.begin("aten::add_", FUNCTION, NO_SEQUENCE_NR, 0, ())
            super().hand_on(node, answers, ownership, was_owned)
            observer.end(event)
        self.watch.leave()

    def _will_add(self, node: Node, answers: Sequence[Answer]) -> bool:
        """Whether a gradient meets another one that waits in a buffer."""
        for edge, answer in zip(node.next_edges, answers, strict=False):
            if edge is not None and answer is not None:
                target = self.waiting.get(edge.function)
                if target is not None and target.at(edge.input_nr).grad is not None:
                    return True
        return False

    def fill_leaves(self) -> None:
        """As `ArrayRun.fill_leaves`, as an event of its own if there is something to add."""
        observer = self.watch.observer
        if observer is None or not (self.leaves or self.retained):
            super().fill_leaves()
            return
        event = observer.begin("vtgrad::fill_grads", FUNCTION, NO_SEQUENCE_NR, 0, ())
        super().fill_leaves()
        observer.end(event)


def _sum_of(content: Content, meta: InputMetadata) -> Array | None:
    """What a buffer's content adds up to; the buffer keeps it as it is."""
    if not isinstance(content, list):
        return content
    whole = np.zeros(meta.shape, meta.dtype)
    for region in content:
        whole = region.add_into(whole)
    return whole


def _shown(buffer: InputBuffer) -> Sequence[object]:
    """For each gradient, the array, or what states its shape; None for one that did not arrive."""
    shown: list[object] = []
    for nr, meta in enumerate(buffer.function.input_metadata):
        grad = buffer.at(nr).grad
        shown.append(meta if isinstance(grad, list) else grad)
    return shown
