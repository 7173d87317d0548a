"""The loop over nodes when the backward itself is recorded: gradients are tensors."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentTypeError, HookError
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.grad_stores import GradStores
from ..graph.hooks import GradCell, Gradients, NodeHooks, call_tensor_hooks, graph_lock
from ..graph.input_metadata import InputMetadata
from ..graph.no_names_guard import NoNamesGuard
from ..graph.node import Node
from ..graph.operators import operators
from ..graph.thread_local_state import this_thread
from ..graph.unpacked_once import unpack_saved
from ..storage.geometry import has_self_overlap
from ..storage.key_set import keys
from ..storage.tensor_base import TensorBase
from .graph_task import GraphTask
from .ready_queue import NodeTask, ReadyQueue
from .signals import NODES_BETWEEN_LOOKS, look_for_signals
from .validate import fit_tensor, wrong_count
from .watch import Watch

__all__ = ["as_gradients", "run_recorded"]


def as_gradients(value: object, shown: Gradients, node: Node) -> Gradients:
    """The gradients that a node hook returned in place of those that it got.

    Raises
    ------
    ArgumentTypeError
        If it returned something other than a tuple of tensors and None.
    HookError
        If it returned another number of gradients, one in place of None, or one of another shape or
        dtype.
    """
    if not isinstance(value, tuple):
        raise ArgumentTypeError(
            f"a hook of {node.name()} must return a tuple of gradients, or None to change "
            f"nothing, not {type(value).__name__}",
            node=node.name(),
        )
    grads: Gradients = value
    if len(grads) != len(shown):
        raise HookError(
            f"a hook of {node.name()} returned {len(grads)} gradients instead of {len(shown)}",
            node=node.name(),
            expected=len(shown),
            found=len(grads),
        )
    for nr, (grad, before) in enumerate(zip(grads, shown, strict=True)):
        if grad is None or grad is before:
            continue
        if not isinstance(grad, TensorBase):
            raise ArgumentTypeError(
                f"gradient {nr} that a hook of {node.name()} returned is no tensor but "
                f"{type(grad).__name__}",
                node=node.name(),
                index=nr,
            )
        if before is None:
            raise HookError(
                f"a hook of {node.name()} returned a gradient {nr}, where it was shown None",
                node=node.name(),
                index=nr,
            )
        expected = (before._impl.sizes, before._impl.dtype)
        found = (grad._impl.sizes, grad._impl.dtype)
        if found != expected:
            raise HookError(
                f"a hook of {node.name()} turned gradient {nr} from {expected[1]} of shape "
                f"{list(expected[0])} into {found[1]} of shape {list(found[0])}",
                node=node.name(),
                index=nr,
                expected=expected,
                found=found,
            )
    return grads


class _TensorTask(NodeTask):
    """A node that can run, and its gradients as tensors."""

    __slots__ = ("grads",)

    grads: list[TensorBase | None]

    def __init__(self, function: Node, grads: list[TensorBase | None]) -> None:
        self.function = function
        self.grads = grads


class _Kept:
    """Gradients for ``.grad``, kept aside; see Note [Leaves are filled last].

    Attributes
    ----------
    leaves, retained : list
        Gradients of leaves, and of other tensors.
    """

    __slots__ = ("leaves", "retained")

    leaves: list[tuple[AccumulateGrad, TensorBase]]
    retained: list[tuple[GradCell, TensorBase]]

    def __init__(self) -> None:
        self.leaves = []
        self.retained = []

    def fill(self) -> None:
        """Add the gradients kept aside into ``.grad``, all or none."""
        if not self.leaves and not self.retained:
            return
        look_for_signals()
        with graph_lock:
            stores = GradStores()
            for node, grad in self.leaves:
                node.prepare_recorded(stores, grad)
            for cell, grad in self.retained:
                stores.retain(cell, grad, recorded=True)
            self.leaves, self.retained = [], []
            stores.commit()


def run_recorded(
    task: GraphTask,
    gradients: Sequence[TensorBase],
    answer: list[TensorBase | None],
    watch: Watch | None,
) -> None:
    """Run every node of the task, and record the operators."""
    dependencies = task.dependencies
    waiting: dict[Node, list[TensorBase | None]] = {}
    queue: ReadyQueue[_TensorTask] = ReadyQueue()
    for edge, gradient in zip(task.roots, gradients, strict=True):
        function, nr = edge.function, edge.input_nr
        fitted = fit_tensor(gradient, function.input_metadata[nr], function, nr)
        _add(waiting, function, nr, fitted)
    for node in [n for n in waiting if dependencies[n] == 0]:
        queue.push(_TensorTask(node, waiting.pop(node)))
    kept = _Kept()
    count = 0
    while (ready := queue.pop()) is not None:
        count += 1
        if count % NODES_BETWEEN_LOOKS == 0:
            look_for_signals()
        node, grads = ready.function, ready.grads
        if watch is not None:
            watch.enter(node)
        hooks = node.hooks
        arrived = list(grads)
        watched = False
        if hooks is not None:
            if hooks.call_users_code():
                kept.fill()
            _run_tensor_hooks(hooks, node.input_metadata, grads, kept)
            watched = hooks.watch_node()
            if watched or hooks.unpacks or node.runs_users_code():
                kept.fill()
        runs = task.will_run(node)
        for nr, indices in task.captures.get(node, {}).items():
            for index in indices:
                answer[index] = arrived[nr] if runs else grads[nr]
        if not runs:
            continue
        if isinstance(node, AccumulateGrad) and not watched:
            if watch is not None:
                watch.begin(node, grads)
            if grads[0] is not None:
                kept.leaves.append((node, grads[0]))
            if watch is not None:
                watch.applied(())
            if node.cell.post_accumulate is not None:
                kept.fill()
                node.run_post_hooks()
            continue
        answers = _apply(task, node, hooks, grads, watch)
        if not task.keep_graph:
            node.release_variables()
        for nr, next_edge in enumerate(node.next_edges):
            if next_edge is None:
                continue
            function = next_edge.function
            if not task.is_wanted(function):
                continue
            grad = answers[nr]
            if grad is not None:
                meta = function.input_metadata[next_edge.input_nr]
                _add(waiting, function, next_edge.input_nr, fit_tensor(grad, meta, node, nr))
            dependencies[function] -= 1
            if dependencies[function] == 0:
                slots = waiting.pop(function, None)
                queue.push(_TensorTask(function, slots or [None] * len(function.input_metadata)))
    kept.fill()


def _add(
    waiting: dict[Node, list[TensorBase | None]], node: Node, nr: int, grad: TensorBase
) -> None:
    slots = waiting.get(node)
    if slots is None:
        slots = waiting[node] = [None] * len(node.input_metadata)
    present = slots[nr]
    slots[nr] = grad if present is None else operators().add(present, grad)


def _given_away(grad: TensorBase | None) -> TensorBase | None:
    """A gradient for a hook, which may write to it, while siblings may hold the same tensor.

    Expanded gradients stay as they are: they cannot be written.
    """
    if grad is None or has_self_overlap(grad._impl.sizes, grad._impl.strides):
        return grad
    return operators().clone(grad)


def _run_tensor_hooks(
    hooks: NodeHooks,
    metadata: Sequence[InputMetadata],
    grads: list[TensorBase | None],
    kept: _Kept,
) -> None:
    for nr, own in tuple(hooks.tensor_pre.items()):
        if own.entries:
            grads[nr] = call_tensor_hooks(
                tuple(own.entries.values()), _given_away(grads[nr]), metadata[nr]
            )
    for nr, cell in tuple(hooks.retain_grad.items()):
        grad = grads[nr]
        if grad is not None:
            kept.retained.append((cell, operators().clone(grad)))
    for part in hooks.parts:
        grad = grads[0]
        found = None if grad is None else part.of_tensor(grad)
        if found is not None:
            kept.retained.append(found)


def _apply(
    task: GraphTask,
    node: Node,
    hooks: NodeHooks | None,
    grads: list[TensorBase | None],
    watch: Watch | None,
) -> Sequence[TensorBase | None]:
    incoming: Gradients = tuple(grads)
    if hooks is not None:
        if hooks.pre.entries:
            incoming = tuple([_given_away(grad) for grad in grads])
        for pre in tuple(hooks.pre.entries.values()):
            changed = pre(incoming)
            if changed is not None:
                incoming = as_gradients(changed, incoming, node)
    if watch is not None:
        watch.begin(node, incoming)
    needs = task.needs_of(node)
    if hooks is None or not hooks.unpacks:
        if keys.active:
            answers = NoNamesGuard.run(node.apply_tensors, incoming, needs)
        else:
            answers = node.apply_tensors(incoming, needs)
    else:
        before = this_thread.unpacked
        try:
            this_thread.unpacked = unpack_saved(node)
            answers = NoNamesGuard.run(node.apply_tensors, incoming, needs)
        finally:
            this_thread.unpacked = before
    if watch is not None:
        watch.applied(answers)
    if len(answers) != len(node.next_edges):
        raise wrong_count(node, len(answers))
    if hooks is not None and hooks.post.entries:
        answers = [
            _given_away(
                answer
                if answer is None or edge is None
                else fit_tensor(answer, edge.function.input_metadata[edge.input_nr], node, nr)
            )
            for nr, (answer, edge) in enumerate(zip(answers, node.next_edges, strict=True))
        ]
        for post in tuple(hooks.post.entries.values()):
            changed = post(tuple(answers), incoming)
            if changed is not None:
                answers = as_gradients(changed, tuple(answers), node)
    if watch is not None:
        watch.check(node, answers)
    return answers
