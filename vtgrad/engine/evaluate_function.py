# Compiled by mypyc.
"""The turn of one node.

Note [The turn of a node]

    evaluate_function           store what user code may look at; return gradients to ``grad``;
                                call tensor hooks
        call_function           call the node's pre-hooks, the node, its post-hooks
        Run.send                add the gradients to those that wait

Both loops take these steps: gradients are arrays in the one, tensors in the other, and `Run` has
what differs. Most nodes have no observer: then two steps remain, `Run.call` and `Run.send`. The
loop over arrays takes these two without this function, in `ArrayRun.run_unobserved`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vtgrad.engine.input_buffer import InputBuffer
from vtgrad.engine.observers import as_gradients, capture, show_incoming, show_to_tensor_hooks
from vtgrad.engine.run import Run
from vtgrad.engine.validate import wrong_count
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.hooks import Gradients, NodeHooks
from vtgrad.graph.node import Node
from vtgrad.graph.packed import unpack_saved
from vtgrad.graph.thread_local_state import this_thread

__all__ = ["calls_users_code", "evaluate_function"]

A = TypeVar("A")


def evaluate_function(run: Run[A], inputs: InputBuffer) -> None:
    """Let a node that is ready have its turn."""
    node, watch, task = inputs.function, run.watch, run.task
    hooks, captured = node.hooks, task.captures.get(node)
    runs = task.runs is None or node in task.runs
    if hooks is None and watch is None and captured is None and not node.is_leaf_node:
        if runs:
            answers, ownership = run.call(node, inputs, False)
            run.send(node, answers, ownership, inputs.owned)
        return
    if calls_users_code(node):
        run.fill_leaves()
    if watch is not None:
        watch.enter(node)
        if watch.checks:
            watch.look(inputs.sums())
    # As in PyTorch, the captured gradient of a node that runs is the one before the tensor hooks,
    # that of a node that does not run is the one after them.
    if captured is not None and runs:
        capture(inputs, captured, run.answer)
    if hooks is not None:
        show_to_tensor_hooks(hooks, inputs, run.retained)
    if runs:
        answers, ownership = call_function(run, node, inputs)
        if not isinstance(node, AccumulateGrad):
            if watch is not None:
                watch.check(node, answers)
            run.send(node, answers, ownership, inputs.owned)
    elif captured is not None:
        capture(inputs, captured, run.answer)
    if watch is not None:
        watch.leave()


def call_function(
    run: Run[A], node: Node, inputs: InputBuffer
) -> tuple[Sequence[A], Sequence[int]]:
    """Run a node between its own hooks, or a leaf's between those of the leaf.

    Returns
    -------
    tuple
        The gradients of the node's inputs, and their ownership.
    """
    hooks = node.hooks
    watched = hooks is not None and hooks.watch_node()
    if hooks is not None and run.retained:
        # What the tensor hooks of this node have left for `.grad`.
        if watched or hooks.unpacks or node.runs_users_code():
            run.fill_leaves()
    incoming = show_incoming(hooks, inputs) if watched and hooks is not None else ()
    answers: Sequence[A] = ()
    ownership: Sequence[int] = ()
    if isinstance(node, AccumulateGrad):
        _accumulate(run, node, inputs)
    else:
        watch = run.watch
        if watch is not None:
            watch.begin(node, inputs.shown())
            if watch.checks:
                watch.look(inputs.sums())
        if hooks is not None and hooks.unpacks and not node.runs_users_code():
            answers, ownership = _call_unpacked(run, node, inputs)
        else:
            shown = hooks is not None and bool(hooks.post.entries)
            answers, ownership = run.call(node, inputs, shown)
        if watch is not None:
            watch.applied(answers)
    if watched and hooks is not None:
        # The hooks may have kept the gradients.
        ownership = ()
        if hooks.post.entries:
            answers = _show_outgoing(run, node, hooks, answers, incoming)
    return answers, ownership


def calls_users_code(node: Node) -> bool:
    """Whether user code, which may read ``.grad``, is called in the node's turn."""
    hooks = node.hooks
    if hooks is not None and hooks.call_users_code():
        return True
    if isinstance(node, AccumulateGrad):
        return node.cell.post_accumulate is not None
    return node.runs_users_code()


def _accumulate(run: Run[A], node: AccumulateGrad, inputs: InputBuffer) -> None:
    """Keep a leaf's gradient aside, or store it if hooks are called with it."""
    watch = run.watch
    if watch is not None:
        watch.begin(node, inputs.shown())
    run.accumulate(node, inputs)
    if watch is not None:
        watch.applied(())
    if node.hooks is not None or node.cell.post_accumulate is not None:
        run.fill_leaves()
        node.run_post_hooks()


def _call_unpacked(
    run: Run[A], node: Node, inputs: InputBuffer
) -> tuple[Sequence[A], Sequence[int]]:
    """Run the function of a node whose saved values user code unpacks, once each."""
    before = this_thread.unpacked
    try:
        this_thread.unpacked = unpack_saved(node)
        return run.call(node, inputs, False)
    finally:
        this_thread.unpacked = before


def _show_outgoing(
    run: Run[A], node: Node, hooks: NodeHooks, answers: Sequence[A], incoming: Gradients
) -> Sequence[A]:
    """Call a node's post-hooks, which may replace the outgoing gradients; returns the result."""
    if len(answers) != len(node.next_edges):
        raise wrong_count(node, len(answers))
    outgoing: Gradients = tuple(
        [
            run.shown(answer, edge, node, nr)
            for nr, (answer, edge) in enumerate(zip(answers, node.next_edges, strict=True))
        ]
    )
    for post in tuple(hooks.post.entries.values()):
        changed = post(outgoing, incoming)
        if changed is not None:
            outgoing = as_gradients(changed, outgoing, node)
    return [run.received(grad) for grad in outgoing]
