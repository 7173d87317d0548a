# Compiled by mypyc.
"""The loop over nodes when nothing is recorded: gradients are arrays.

Note [Arrays inside, tensors outside]

Unless the backward itself is recorded, gradients are plain arrays and no `Tensor` is made for them.
For an observer (a hook, a capture, a retained gradient) an array is wrapped in a tensor, and from
then on counts as shared, since the observer may keep it. The observer may also write to it, and
this must not change other gradients: an array that is not owned (a sibling's gradient, the user's
own) is copied first.

Note [Leaves are filled last]

Gradients of leaves are kept aside and stored into ``.grad`` when all nodes have run, so that a run
that fails (a shape that does not fit, KeyboardInterrupt) leaves every ``.grad`` as it was; see Note
[All leaves or none]. Retained gradients of other tensors are kept aside too. User code must see the
same ``.grad`` as in PyTorch: so all are also stored before each call of user code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from vtgrad.engine.current_graph_task import running
from vtgrad.engine.evaluate_function import evaluate_function
from vtgrad.engine.graph_task import ALL_EDGES, GraphTask
from vtgrad.engine.inner_graph import InnerGraphNode
from vtgrad.engine.input_buffer import InputBuffer, buffer_of, to_overwrite
from vtgrad.engine.own_copy import own_copy, own_expanded, wrapped
from vtgrad.engine.ready_queue import ReadyQueue
from vtgrad.engine.run import Run
from vtgrad.engine.signals import NODES_BETWEEN_LOOKS, look_for_signals
from vtgrad.engine.validate import fit_array, wrong_count
from vtgrad.engine.watch import Watch
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.edge import Edge
from vtgrad.graph.grad_stores import GradStores
from vtgrad.graph.hooks import GradCell, graph_lock
from vtgrad.graph.large import large
from vtgrad.graph.node import FRESH, PASSED, SHARED, Node
from vtgrad.graph.observer import FUNCTION, NO_SEQUENCE_NR
from vtgrad.graph.region import Gradient, Region
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.geometry import has_self_overlap
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.mode import switched
from vtgrad.storage.no_fp_warnings import KernelRunner, no_fp_warnings_runner
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_mode import settle, thread

__all__ = ["Answer", "ArrayRun", "is_sole", "run_arrays", "taken_apart"]

# A node's gradient for one of its inputs; a list of regions if they only pass through a view.
Answer: TypeAlias = Gradient | None


class ArrayRun(Run[Answer]):
    """A run whose gradients are arrays.

    Attributes
    ----------
    queue : ReadyQueue
        Nodes that are ready.
    leaves : list
        Gradients for leaves, and whether they are owned; see Note [Leaves are filled last].
    quietly : KernelRunner
        Runs arithmetic with floating-point warnings off; hooks run in the user's own context.
    """

    __slots__ = ("leaves", "queue", "quietly")

    queue: ReadyQueue
    leaves: list[tuple[AccumulateGrad, Array, bool]]
    retained: list[tuple[GradCell, TensorBase]]
    quietly: KernelRunner

    def __init__(
        self, task: GraphTask, answer: list[TensorBase | None], watch: Watch | None
    ) -> None:
        super().__init__(task, answer, watch)
        self.queue = ReadyQueue()
        self.leaves = []
        self.quietly = running.quietly if task.reentrant_depth == 0 else no_fp_warnings_runner()

    def enter(self, gradients: Sequence[TensorBase]) -> None:
        """Add the gradients of the roots, or those that have arrived before."""
        waiting, arrived = self.task.not_ready, self.task.arrived
        if arrived is not None:
            waiting.update(arrived)
        roots = self.task.roots if arrived is None else ()
        for edge, gradient in zip(roots, gradients, strict=True):
            node, nr = edge.function, edge.input_nr
            buffer = waiting.get(node)
            if buffer is None:
                buffer = waiting[node] = buffer_of(node)
            meta = node.input_metadata[nr]
            # The root's geometry may have changed since its node was made.
            fitted = fit_array(gradient._impl.array, meta, node, nr)
            buffer.at(nr).add(fitted, False, meta)
        dependencies = self.task.dependencies
        for node in tuple(waiting):
            if dependencies[node] == 0:
                self.queue.push(waiting.pop(node))

    def run_unobserved(self) -> InputBuffer | None:
        """Run nodes until one has an observer; see Note [The turn of a node].

        Returns
        -------
        InputBuffer or None
            The buffer of the observed node; None when all nodes have run, and leaves are filled.
        """
        observed = self.queue.pop() if self.watch is not None else self._next_observed()
        if observed is None:
            self._fill()
        return observed

    def _next_observed(self) -> InputBuffer | None:
        """Run nodes until one is ready that user code or the caller of ``grad`` observes."""
        queue, task = self.queue, self.task
        runs, captures = task.runs, task.captures
        while True:
            look_for_signals()
            for _ in range(NODES_BETWEEN_LOOKS):
                buffer = queue.first
                if buffer is None:
                    buffer = queue.pop()
                    if buffer is None:
                        return None
                else:
                    queue.first = None
                node = buffer.function
                if node.hooks is not None:
                    return buffer
                if runs is not None and (node not in runs or node in captures):
                    return buffer
                if node.is_leaf_node:
                    assert isinstance(node, AccumulateGrad)
                    if node.cell.post_accumulate is not None:
                        return buffer
                    self.keep_for_leaf(node, buffer)
                else:
                    answers, ownership = self.apply(node, buffer)
                    self.hand_on(node, answers, ownership, buffer.owned)

    def keep_for_leaf(self, node: AccumulateGrad, buffer: InputBuffer) -> None:
        """Keep a leaf's gradient aside; see Note [Leaves are filled last]."""
        grad = buffer.grad
        if isinstance(grad, list):
            grad = buffer.whole(node.input_metadata[0])
        if grad is not None:
            owned = buffer.owned
            self.leaves.append((node, to_overwrite(grad) if owned else grad, owned))
            buffer.grad = None

    def fill_leaves(self) -> None:
        """Add the gradients kept aside into ``.grad``, all or none."""
        if self.leaves or self.retained:
            self.quietly(self._fill)

    def _fill(self) -> None:
        """As `fill_leaves`, where floating-point warnings are off."""
        leaves, retained = self.leaves, self.retained
        if not leaves and not retained:
            return
        look_for_signals()
        observer = None if self.watch is None else self.watch.observer
        event = None
        if observer is not None:
            event = observer.begin("vtgrad::fill_grads", FUNCTION, NO_SEQUENCE_NR, 0, ())
        with graph_lock:
            stores = GradStores()
            for node, grad, owned in leaves:
                node.prepare(stores, grad, owned)
            for cell, tensor in retained:
                stores.retain(cell, tensor, recorded=False)
            self.leaves, self.retained = [], []
            stores.commit()
        if observer is not None:
            observer.end(event)

    def call(
        self, node: Node, inputs: InputBuffer, shown: bool
    ) -> tuple[Sequence[Answer], Sequence[int]]:
        """As `Run.call`; user code runs in the user's own context."""
        if isinstance(node, InnerGraphNode):
            return self.apply_inside(node, inputs, shown), ()
        if node.runs_users_code():
            self.quietly(_write_out, inputs)
            return self.apply(node, inputs)
        return self.quietly(self.apply, node, inputs)

    def accumulate(self, node: AccumulateGrad, inputs: InputBuffer) -> None:
        """As `Run.accumulate`."""
        self.quietly(self.keep_for_leaf, node, inputs)

    def send(
        self, node: Node, answers: Sequence[Answer], ownership: Sequence[int], was_owned: bool
    ) -> None:
        """As `Run.send`, as an event of its own if gradients meet others."""
        observer = None if self.watch is None else self.watch.observer
        if observer is None or not self._will_add(node, answers):
            self.quietly(self.hand_on, node, answers, ownership, was_owned)
        else:
            event = observer.begin("aten::add_", FUNCTION, NO_SEQUENCE_NR, 0, ())
            self.quietly(self.hand_on, node, answers, ownership, was_owned)
            observer.end(event)

    def _will_add(self, node: Node, answers: Sequence[Answer]) -> bool:
        """Whether a gradient meets another one that waits in a buffer."""
        for edge, answer in zip(node.next_edges, answers, strict=False):
            if edge is not None and answer is not None:
                target = self.task.not_ready.get(edge.function)
                if target is not None and target.at(edge.input_nr).grad is not None:
                    return True
        return False

    def shown(self, answer: Answer, edge: Edge | None, node: Node, nr: int) -> TensorBase | None:
        """As `Run.shown`.

        The answer is copied if it may be the incoming gradient, or a saved value. Nodes of lists of
        inputs and of custom Functions also have answers for inputs that need none: hooks get these
        unchanged.
        """
        if answer is None:
            return None
        if edge is None:
            assert isinstance(answer, np.ndarray)
            # For a device, that of the node's results is as good as any: there is no such input.
            return own_copy(resolved(answer), node.input_metadata[0].device)
        meta = edge.function.input_metadata[edge.input_nr]
        whole = fit_array(answer, meta, node, nr)
        if isinstance(whole, Region):
            return wrapped(whole.whole(meta.shape, meta.dtype), meta.device)
        if has_self_overlap(whole.shape, whole.strides):
            whole = own_expanded(whole)
        elif whole is answer:
            whole = making.array(whole)
        return wrapped(whole, meta.device)

    def received(self, grad: TensorBase | None) -> Answer:
        """As `Run.received`."""
        return None if grad is None else resolved(grad._impl.array)

    def apply(self, node: Node, buffer: InputBuffer) -> tuple[Sequence[Answer], Sequence[int]]:
        """Run a node: its gradients and their ownership; then free its saved values."""
        task = self.task
        needs = ALL_EDGES if task.needs is None else task.needs[node]
        grad = buffer.grad
        answers: Sequence[Answer]
        ownership: Sequence[int] = node.ownership
        if buffer.more:
            metadata = node.input_metadata
            grads = [buffer.at(i).taken(m) for i, m in enumerate(metadata)]
            answers = node.apply_arrays(grads, needs)
        elif isinstance(grad, list) and node.passes_regions():
            answers = (Region(grad, node, buffer.waiting),)
        else:
            if isinstance(grad, list):
                grad = buffer.whole(node.input_metadata[0])
            # The buffer outlives this call, but its memory is needed now.
            buffer.grad = None
            if grad is None:
                answers = node.apply_arrays((None,), needs)
            elif node.takes_ownership:
                owned = buffer.owned
                if owned:
                    grad = to_overwrite(grad)
                answers, ownership = node.apply_owned(grad, owned, False, needs)
            elif node.takes_large and grad.size >= large.elements:
                answers, ownership = self.apply_large(node, grad, buffer.owned, needs)
            else:
                answers = node.apply_array(grad, needs)
        if not task.keep_graph:
            node.release_variables()
        return answers, ownership

    def apply_large(
        self, node: Node, grad: Array, owned: bool, needs: int
    ) -> tuple[Sequence[Answer], Sequence[int]]:
        """Run a node that reuses memory; see Note [Large gradients]."""
        if owned:
            return node.apply_owned(to_overwrite(grad), True, False, needs)
        if any(grad.strides):
            return node.apply_owned(grad, False, False, needs)
        # One value, expanded; the result may then be expanded too, and cannot be written.
        may_share = not self.task.may_write_saved()
        answers, ownership = node.apply_owned(grad, False, may_share, needs)
        return answers, [
            SHARED if isinstance(answer, np.ndarray) and not any(answer.strides) else owner
            for answer, owner in zip(answers, ownership, strict=True)
        ]

    def apply_inside(self, node: InnerGraphNode, buffer: InputBuffer, shown: bool) -> list[Answer]:
        """Run a node that adds to the sums of this run itself; then free its saved values.

        Parameters
        ----------
        shown : bool
            Whether a hook wants to see what the node adds: then it is returned, not added.
        """
        task, waiting = self.task, self.task.not_ready
        sums: dict[Node, InputBuffer] = {}
        for edge in node.next_edges:
            if edge is None or edge.function in sums:
                continue
            function = edge.function
            if shown or not task.is_wanted(function):
                sums[function] = buffer_of(function)
                continue
            if function not in waiting:
                waiting[function] = buffer_of(function)
            sums[function] = waiting[function]
        node.run_inside(buffer, sums)
        if not task.keep_graph:
            node.release_variables()
        return [
            sums[edge.function].at(edge.input_nr).whole(edge.function.input_metadata[edge.input_nr])
            if shown and edge is not None
            else None
            for edge in node.next_edges
        ]

    def hand_on(
        self, node: Node, answers: Sequence[Answer], ownership: Sequence[int], was_owned: bool
    ) -> None:
        """Send a node's gradients along its edges; nodes that become ready go into the queue."""
        task = self.task
        edges = node.many_edges
        if edges is None:
            # See Note [Edges in fields]. Such nodes have as many answers.
            edges = node.edge0, node.edge1
        elif len(answers) != len(edges):
            raise wrong_count(node, len(answers))
        waiting, dependencies, restricted = task.not_ready, task.dependencies, task.runs is not None
        if was_owned and len(answers) == 2 and answers[0] is answers[1]:
            answers, ownership = taken_apart(node, answers, ownership)
        stated = len(ownership)
        for nr, edge in enumerate(edges):
            if edge is None:
                continue
            function = edge if isinstance(edge, Node) else edge.function
            if restricted and not task.is_wanted(function):
                continue
            dependencies[function] = left = dependencies[function] - 1
            answer = answers[nr]
            metadata = function.input_metadata
            target = waiting.get(function) if waiting else None
            if target is None:
                if left and answer is None:
                    continue
                target = InputBuffer(function) if len(metadata) == 1 else buffer_of(function)
                if left:
                    waiting[function] = target
            elif left == 0:
                del waiting[function]
            if answer is not None:
                if edge is function:
                    meta, slot = metadata[0], target
                else:
                    meta, slot = metadata[edge.input_nr], target.at(edge.input_nr)
                if type(answer) in PLAIN:
                    if TYPE_CHECKING:
                        assert isinstance(answer, np.ndarray)
                    kind = ownership[nr] if nr < stated else SHARED
                    owned = kind == FRESH or (
                        kind == PASSED and was_owned and is_sole(answers, edges, nr)
                    )
                    if answer.shape != meta.shape or answer.dtype is not meta.dtype:
                        fitted = fit_array(answer, meta, node, nr)
                        slot.add(fitted, owned or fitted is not answer, meta)
                    elif slot.grad is None:
                        slot.grad = answer
                        slot.owned = owned
                    else:
                        slot.add(answer, owned, meta)
                else:
                    # A region, or what is not a plain array and becomes one here.
                    fitted = fit_array(answer, meta, node, nr)
                    slot.add(fitted, fitted is not answer, meta)
            if left == 0:
                self.queue.push(target)


def run_arrays(run: ArrayRun, gradients: Sequence[TensorBase]) -> None:
    """Run every node of a run's task.

    Hooks and other user code run without recording; the caller restores the mode. Arithmetic on
    arrays reads no mode: the operators of a signal handler or a finalizer that runs in between have
    the mode of the code that called backward.
    """
    quietly = run.quietly
    run.enter(gradients)
    outside, ident = thread.mode.grad, thread.ident
    while (buffer := quietly(run.run_unobserved)) is not None:
        thread.mode = switched.silent[ident] = thread.mode.by_grad[False]
        evaluate_function(run, buffer)
        thread.mode = switched.silent[ident] = thread.mode.by_grad[outside]
        settle(ident)


def _write_out(buffer: InputBuffer) -> None:
    """Sum all gradients of a buffer, so that no arithmetic is left."""
    for nr, meta in enumerate(buffer.function.input_metadata):
        buffer.at(nr).whole(meta)


def taken_apart(
    node: Node, answers: Sequence[Answer], ownership: Sequence[int]
) -> tuple[Sequence[Answer], Sequence[int]]:
    """Split a gradient that goes to two inputs: sum it for the one that was broadcast.

    Then only the other input has the array, and may own it: the gradient of ``x + bias`` is not
    copied.
    """
    grad = answers[0]
    edges = node.next_edges
    if not isinstance(grad, np.ndarray) or None in edges or PASSED not in ownership:
        return answers, ownership
    fitted: list[Array] = []
    for nr, edge in enumerate(edges):
        assert edge is not None
        meta = edge.function.input_metadata[edge.input_nr]
        answer = fit_array(grad, meta, node, nr)
        assert isinstance(answer, np.ndarray)
        fitted.append(answer)
    if fitted[0] is fitted[1]:
        return answers, ownership
    return fitted, [PASSED if answer is grad else FRESH for answer in fitted]


def is_sole(answers: Sequence[Answer], edges: Sequence[Edge | None], nr: int) -> bool:
    """Whether no other edge gets the same array as answer `nr`."""
    answer = answers[nr]
    for i, other in enumerate(answers):
        if other is answer and i != nr and edges[i] is not None:
            return False
    return True
