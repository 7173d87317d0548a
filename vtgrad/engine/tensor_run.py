# Compiled by mypyc.
"""The loop over nodes when the backward itself is recorded: gradients are tensors."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.engine.evaluate_function import evaluate_function
from vtgrad.engine.graph_task import GraphTask
from vtgrad.engine.input_buffer import InputBuffer
from vtgrad.engine.ready_queue import ReadyQueue
from vtgrad.engine.run import Run
from vtgrad.engine.signals import NODES_BETWEEN_LOOKS, look_for_signals
from vtgrad.engine.tensor_buffer import TensorBuffer, given_away
from vtgrad.engine.validate import fit_tensor, wrong_count
from vtgrad.engine.watch import Watch
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.edge import Edge
from vtgrad.graph.grad_stores import GradStores
from vtgrad.graph.hooks import GradCell, graph_lock
from vtgrad.graph.node import Node
from vtgrad.storage.device import CPU
from vtgrad.storage.excluded_keys import run_excluding
from vtgrad.storage.key_set import FUNCTION_MODE, NAMED, OVERRIDES, keys
from vtgrad.storage.on_device import on_device
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["run_recorded"]


class TensorRun(Run[TensorBase | None]):
    """A run whose gradients are tensors.

    Attributes
    ----------
    queue : ReadyQueue
        Nodes that are ready.
    leaves : list
        Gradients of leaves, kept aside; see Note [Leaves are filled last].
    """

    __slots__ = ("leaves", "queue")

    queue: ReadyQueue
    leaves: list[tuple[AccumulateGrad, TensorBase]]
    retained: list[tuple[GradCell, TensorBase]]

    def __init__(
        self, task: GraphTask, answer: list[TensorBase | None], watch: Watch | None
    ) -> None:
        super().__init__(task, answer, watch)
        self.queue = ReadyQueue()
        self.leaves = []

    def enter(self, gradients: Sequence[TensorBase]) -> None:
        """Add the gradients of the roots."""
        task = self.task
        waiting = task.not_ready
        for edge, gradient in zip(task.roots, gradients, strict=True):
            function, nr = edge.function, edge.input_nr
            fitted = fit_tensor(gradient, function.input_metadata[nr], function, nr)
            target = waiting.get(function)
            if target is None:
                target = waiting[function] = TensorBuffer(function)
            assert isinstance(target, TensorBuffer)
            target.add_tensor(nr, fitted)
        for node in tuple(waiting):
            if task.dependencies[node] == 0:
                self.queue.push(waiting.pop(node))

    def fill_leaves(self) -> None:
        """Add the gradients kept aside into ``.grad``, all or none."""
        if not self.leaves and not self.retained:
            return
        look_for_signals()
        with graph_lock:
            stores = GradStores()
            for node, grad in self.leaves:
                node.prepare_recorded(stores, grad)
            for cell, grad in self.retained:
                stores.retain(cell, grad, recorded=self.task.create_graph)
            self.leaves, self.retained = [], []
            stores.commit()

    def accumulate(self, node: AccumulateGrad, inputs: InputBuffer) -> None:
        """As `Run.accumulate`."""
        grad = inputs.captured(0)
        if grad is not None:
            self.leaves.append((node, grad))

    def call(
        self, node: Node, inputs: InputBuffer, shown: bool
    ) -> tuple[Sequence[TensorBase | None], Sequence[int]]:
        """As `Run.call`, recorded."""
        task = self.task
        assert isinstance(inputs, TensorBuffer)
        grads, needs = tuple(inputs.grads), task.needs_of(node)
        device = node.input_metadata[0].device
        if device is not CPU and not node.runs_users_code():
            # Constants of formulas are on the lane too.
            answers = on_device(
                device, run_excluding, NAMED | OVERRIDES, node.apply_tensors, grads, needs
            )
        elif keys.active:
            excluded = NAMED if node.runs_users_code() else NAMED | OVERRIDES
            answers = run_excluding(excluded, node.apply_tensors, grads, needs)
        else:
            answers = node.apply_tensors(grads, needs)
        if not task.keep_graph:
            node.release_variables()
        return answers, ()

    def shown(
        self, answer: TensorBase | None, edge: Edge | None, node: Node, nr: int
    ) -> TensorBase | None:
        """As `Run.shown`."""
        if answer is not None and edge is not None:
            answer = fit_tensor(answer, edge.function.input_metadata[edge.input_nr], node, nr)
        return given_away(answer)

    def received(self, grad: TensorBase | None) -> TensorBase | None:
        """As `Run.received`."""
        return grad

    def send(
        self,
        node: Node,
        answers: Sequence[TensorBase | None],
        ownership: Sequence[int],
        was_owned: bool,
    ) -> None:
        """As `Run.send`."""
        task, edges = self.task, node.next_edges
        dependencies, waiting, restricted = task.dependencies, task.not_ready, task.runs is not None
        if len(answers) != len(edges):
            raise wrong_count(node, len(answers))
        for nr, edge in enumerate(edges):
            if edge is None:
                continue
            function = edge.function
            if restricted and not task.is_wanted(function):
                continue
            dependencies[function] = left = dependencies[function] - 1
            target = waiting.get(function)
            if target is None:
                target = TensorBuffer(function)
                if left:
                    waiting[function] = target
            elif left == 0:
                del waiting[function]
            grad = answers[nr]
            if grad is not None:
                meta = function.input_metadata[edge.input_nr]
                assert isinstance(target, TensorBuffer)
                if keys.modes:
                    # What the engine does to gradients is no call of the user's.
                    fitted = run_excluding(FUNCTION_MODE, fit_tensor, grad, meta, node, nr)
                    run_excluding(FUNCTION_MODE, target.add_tensor, edge.input_nr, fitted)
                else:
                    target.add_tensor(edge.input_nr, fit_tensor(grad, meta, node, nr))
            if left == 0:
                self.queue.push(target)


def run_recorded(
    task: GraphTask,
    gradients: Sequence[TensorBase],
    answer: list[TensorBase | None],
    watch: Watch | None,
) -> None:
    """Run every node of the task, and record the operators."""
    run = TensorRun(task, answer, watch)
    run.enter(gradients)
    queue = run.queue
    count = 0
    while (buffer := queue.pop()) is not None:
        count += 1
        if count % NODES_BETWEEN_LOOKS == 0:
            look_for_signals()
        evaluate_function(run, buffer)
    run.fill_leaves()
