# Compiled by mypyc.
"""Running a graph backward.

Note [Backward inside backward]

A hook may run another backward. All state is in its `GraphTask`, so this is an ordinary call; only
the interpreter's stack grows. Every `_NESTING_PER_THREAD` levels the work moves to a new thread,
whose stack is empty, while the calling thread waits; see Note [Abandoned passes].
"""

from __future__ import annotations

import contextvars
from collections.abc import Sequence
from typing import Final

from vtgrad.engine.array_run import ArrayRun, run_arrays
from vtgrad.engine.check_before_run import check_before_run
from vtgrad.engine.current_graph_task import running
from vtgrad.engine.graph_task import GraphTask
from vtgrad.engine.helper_thread import run_on_helper_thread
from vtgrad.engine.input_buffer import InputBuffer
from vtgrad.engine.run import registered
from vtgrad.engine.tensor_run import run_recorded
from vtgrad.engine.watch import Watch, new_watch
from vtgrad.errors import NotSupportedError
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.batch import with_entries
from vtgrad.graph.edge import Edge
from vtgrad.graph.node import Node
from vtgrad.graph.observer import observer_of_thread, observers
from vtgrad.graph.operators import operators
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.graph.tracer import current_tracer
from vtgrad.storage.key_set import BATCHED, keys
from vtgrad.storage.mode import switched
from vtgrad.storage.rewind import rewinding
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_mode import settle, thread
from vtgrad.storage.thread_state import carried, changed, run_with

__all__ = ["execute", "execute_inner"]

_NESTING_PER_THREAD: Final = 20


def execute(
    roots: Sequence[Edge],
    gradients: Sequence[TensorBase],
    *,
    inputs: Sequence[Edge | None] | None = None,
    accumulate: bool = True,
    required: Sequence[int] = (),
    keep_graph: bool = False,
    create_graph: bool = False,
) -> list[TensorBase | None]:
    """Run backward from `roots`.

    Parameters
    ----------
    roots : sequence of Edge
        The values to start from.
    gradients : sequence of TensorBase
        The gradient that enters at each root, of its shape and dtype.
    inputs : sequence of Edge or None, optional
        Run only the nodes that lead to these; None entries have no gradient.
    accumulate : bool
        With `inputs`: True to fill their ``.grad``, False to return their gradients.
    required : sequence of int
        Indices of those `inputs` that the roots must lead to.
    keep_graph : bool
        Keep saved values for another backward.
    create_graph : bool
        Record the backward itself.

    Returns
    -------
    list of TensorBase or None
        With `inputs` and not `accumulate`, the gradient of each input, None for an input without
        one; otherwise empty.

    Raises
    ------
    VtgradError
        Before any node has run, if a saved value was overwritten or freed; see Note [Backward is
        all or nothing].
    """
    if keys.modes and (accumulate or inputs is None):
        _refuse_while_traced()
    task = GraphTask(roots, keep_graph, create_graph)
    task.compute_dependencies(inputs)
    former: list[tuple[int, AccumulateGrad]] = []
    wanted: Sequence[Edge | None] = ()
    if inputs is not None:
        former = task.former_nodes(inputs)
        wanted = [*inputs, *[node for _, node in former]] if former else inputs
        task.restrict_to(wanted, accumulate=accumulate)
    # Formulas of tensors carry tangents and batches. What is added into `.grad` has neither. At an
    # open level a hook may make the first tangent.
    if (keys.active or keys.levels) and inputs is not None and not accumulate:
        task.over_tensors = (
            bool(keys.modes or keys.levels)
            or any(gradient._impl.key_set & BATCHED for gradient in gradients)
            or bool(with_entries)
        )
    check_before_run(task)
    if not accumulate:
        for _, node in former:
            node.check_fits_leaf(None)
    if inputs is not None and required:
        task.check_reached(inputs, required, {index for index, _ in former})
    answer: list[TensorBase | None] = [None] * len(wanted)
    _run_here_or_there(task, gradients, answer)
    if former and not accumulate:
        settings = changed(mode=thread.mode.by_grad[create_graph])
        return run_with(settings, _with_former, answer, former)
    return answer


def execute_inner(
    roots: Sequence[Edge], arrived: dict[Node, InputBuffer], sums: dict[Node, InputBuffer]
) -> None:
    """Run an inner graph from `roots` and free it; see Note [Sums of an inner graph].

    Parameters
    ----------
    roots : sequence of Edge
        The values to start from.
    arrived : dict of Node to InputBuffer
        The gradients of those roots that are no inputs.
    sums : dict of Node to InputBuffer
        The nodes that the graph ends at, which do not run, and the sums to which it adds.

    Raises
    ------
    VtgradError
        As `execute` does.
    """
    if keys.modes:
        _refuse_while_traced()
    task = GraphTask(roots, False, False)
    # Nodes that are known are not searched, and one gradient more than these get never arrives.
    task.dependencies.update(dict.fromkeys(sums, 1))
    task.compute_dependencies()
    for node in sorted(task.dependencies, key=lambda n: -n.sequence_nr):
        if node not in sums:
            node.check_saved()
            if isinstance(node, AccumulateGrad):
                node.check_grad()
    task.arrived = {**sums, **arrived}
    _run_here_or_there(task, (), [])


def _refuse_while_traced() -> None:
    """Refuse a pass over arrays while a tracer follows tensors; see Note [Tracing]."""
    if current_tracer() is not None:
        raise NotSupportedError(
            "backward into .grad cannot be followed to find the pattern of a Jacobian; take the "
            "gradient with vtgrad.func.grad or vtgrad.autograd.grad"
        )


def _run_here_or_there(
    task: GraphTask, gradients: Sequence[TensorBase], answer: list[TensorBase | None]
) -> None:
    outer = running.task
    running.passes += 1
    if outer is not None and outer.reentrant_depth + 1 >= _NESTING_PER_THREAD:
        _run_on_fresh_thread(task, gradients, answer)
    else:
        _run(task, outer, gradients, answer)


def _with_former(
    answer: list[TensorBase | None], former: list[tuple[int, AccumulateGrad]]
) -> list[TensorBase | None]:
    """Add the gradients of former leaf nodes, which come last, to those of the present ones."""
    found = answer[: len(answer) - len(former)]
    for (index, node), grad in zip(former, answer[len(found) :], strict=True):
        if grad is not None:
            grad, present = node.in_shape_of_leaf(grad), found[index]
            found[index] = grad if present is None else operators().add(present, grad)
    return found


def _run(
    task: GraphTask,
    outer: GraphTask | None,
    gradients: Sequence[TensorBase],
    answer: list[TensorBase | None],
) -> None:
    before, ident = thread.mode.grad, thread.ident
    if outer is not None:
        task.reentrant_depth = outer.reentrant_depth + 1
    cursors = rewinding.cursors
    watch: Watch | None = None
    try:
        running.task = task
        rewinding.cursors = {}
        watch = new_watch(task.roots, gradients)
        if task.create_graph or task.over_tensors:
            thread.mode = switched.silent[ident] = thread.mode.by_grad[task.create_graph]
            settle(ident)
            run_recorded(task, gradients, answer, watch)
        else:
            runner = registered.runner if keys.active and watch is None else None
            if runner is not None and runner.takes(task):
                runner.run(task, answer, gradients)
            else:
                run_arrays(ArrayRun(task, answer, watch), gradients)
        if task.for_hooks is not None:
            thread.mode = switched.silent[ident] = thread.mode.by_grad[task.create_graph]
            task.for_hooks.run_callbacks()
    except Exception as error:
        if watch is not None:
            watch.explain(error)
        raise
    finally:
        if watch is not None:
            this_thread.running_node = watch.outer
        rewinding.cursors = cursors
        running.task = outer
        thread.mode = switched.silent[ident] = thread.mode.by_grad[before]
        settle(ident)
        if watch is not None:
            watch.leave()


def _run_on_fresh_thread(
    task: GraphTask, gradients: Sequence[TensorBase], answer: list[TensorBase | None]
) -> None:
    settings, runner = carried(), registered.runner
    if runner is not None:
        settings = runner.handed_on(settings)
    observer, context = observer_of_thread(), contextvars.copy_context()

    def work() -> None:
        ident = thread.ident
        try:
            if observer is not None:
                observers[ident] = observer
            run_with(settings, context.run, _run, task, None, gradients, answer)
        finally:
            observers.pop(ident, None)

    run_on_helper_thread(work)
