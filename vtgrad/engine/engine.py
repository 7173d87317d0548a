"""Running a graph backward.

NOTE [ Arrays inside, tensors outside ]

Unless the backward itself is recorded, gradients travel as plain arrays and no `Tensor` is made
for them. Where somebody else looks at one (a hook, a capture, a retained gradient) it is wrapped
for that moment, and from then on counts as shared, since nobody knows what the other keeps. The
other may also write to it, and must reach nobody else's memory by that: an array that is not
owned (a sibling's gradient, the user's own) is copied first.

NOTE [ Backward inside backward ]

A hook may run another backward. All state is in its `GraphTask`, so that is an ordinary call;
only the interpreter's stack grows. Every `_NESTING_PER_THREAD` levels the work moves to a fresh
thread, whose stack is empty, while this one waits.
"""

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np

from ..errors import GradientError
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.edge import Edge
from ..graph.grad_mode import is_grad_enabled, set_mode
from ..graph.hooks import Gradients, NodeHooks, call_tensor_hooks
from ..graph.input_metadata import InputMetadata
from ..graph.node import FRESH, PASSED, Node
from ..graph.operators import operators
from ..graph.region import Gradient, Region
from ..storage.arrays import Array
from ..storage.geometry import has_self_overlap
from ..storage.quiet import quiet_context
from ..storage.tensor_base import TensorBase
from ..storage.tensor_impl import TensorImpl
from .depth import depth
from .graph_task import GraphTask
from .input_buffer import InputBuffer, ownership_is_used
from .ready_queue import ReadyQueue
from .tensor_run import as_gradients, run_recorded
from .validate import fit_array

__all__ = ["execute"]

_NESTING_PER_THREAD: Final = 20

# What a node answers for one of its inputs; several regions when they only pass through a view.
Answer: TypeAlias = Gradient | list[Region] | None

# Calls a function in a context where floating-point warnings are off.
Quietly: TypeAlias = Callable[..., tuple[Sequence[Answer], Sequence[int]]]


def execute(
    roots: Sequence[Edge],
    gradients: Sequence[TensorBase],
    *,
    inputs: Sequence[Edge | None] | None = None,
    accumulate: bool = True,
    allow_unused: bool = True,
    keep_graph: bool = False,
    create_graph: bool = False,
) -> list[TensorBase | None]:
    """Run backward from `roots`.

    Parameters
    ----------
    roots : sequence of Edge
        Where to start.
    gradients : sequence of TensorBase
        The gradient that enters at each root, of its shape and dtype.
    inputs : sequence of Edge or None, optional
        Restrict the run to what leads to these; None entries have no gradient.
    accumulate : bool
        With `inputs`: True to fill their ``.grad``, False to return their gradients.
    allow_unused : bool
        With `inputs`: False to raise if the roots do not lead to one of them.
    keep_graph : bool
        Keep saved values for another backward.
    create_graph : bool
        Record the backward itself.

    Returns
    -------
    list of TensorBase or None
        With `inputs` and not `accumulate`, the gradient of each input, None where nothing
        arrived; else empty.

    Raises
    ------
    VtgradError
        Before anything has run, if a saved value was overwritten or freed; see
        Note [Backward is all or nothing].
    """
    task = GraphTask(roots, keep_graph, create_graph)
    task.count_dependencies()
    if inputs is not None:
        task.restrict_to(inputs, accumulate=accumulate)
    task.check_saved()
    if inputs is not None and not allow_unused:
        task.check_all_reached(inputs)
    answer: list[TensorBase | None] = [None] * (0 if inputs is None else len(inputs))

    def run() -> None:
        before = set_mode(create_graph)
        depth.value += 1
        try:
            if create_graph:
                run_recorded(task, gradients, answer)
            else:
                _run_arrays(task, gradients, answer)
        finally:
            depth.value -= 1
            set_mode(before)

    if depth.value and depth.value % _NESTING_PER_THREAD == 0:
        _run_on_fresh_thread(run)
    else:
        run()
    return answer


def _run_on_fresh_thread(run: Callable[[], None]) -> None:
    failure: list[BaseException] = []
    mode = is_grad_enabled()
    context = contextvars.copy_context()

    def work() -> None:
        set_mode(mode)
        try:
            context.run(run)
        except BaseException as error:  # noqa: BLE001  # raised again on the waiting thread
            failure.append(error)

    thread = threading.Thread(target=work, name="vtgrad-nested-backward")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]


def _run_arrays(
    task: GraphTask, gradients: Sequence[TensorBase], answer: list[TensorBase | None]
) -> None:
    """The loop over nodes, with arrays; see Note [Arrays inside, tensors outside]."""
    restricted = task.needs is not None
    waiting: dict[Node, InputBuffer] = {}
    queue: ReadyQueue[InputBuffer] = ReadyQueue()
    # Arithmetic runs with floating-point warnings off, hooks in the user's own context.
    quietly = quiet_context().run
    _enter(task, gradients, waiting, queue)
    while (ready := queue.pop()) is not None:
        node, buffer = ready.function, ready.inputs
        hooks = node.hooks
        captured = task.captures.get(node) if restricted else None
        runs = not restricted or task.will_run(node)
        # As in PyTorch, a gradient that is handed out on the way is what arrived, one that is
        # handed out at the end of the way is what the tensor hooks made of it.
        if captured is not None and runs:
            _capture(node, buffer, captured, answer)
        if hooks is not None:
            _show_to_tensor_hooks(node, hooks, buffer)
        if not runs:
            if captured is not None:
                _capture(node, buffer, captured, answer)
            continue
        if hooks is None and not node.is_leaf_node:
            quietly(_run_node, task, node, buffer, waiting, queue)
        else:
            answers, ownership = _apply_between_hooks(task, node, hooks, buffer, quietly)
            quietly(_hand_on, task, node, answers, ownership, buffer, waiting, queue)


def _run_node(
    task: GraphTask,
    node: Node,
    buffer: InputBuffer,
    waiting: dict[Node, InputBuffer],
    queue: ReadyQueue[InputBuffer],
) -> None:
    answers, ownership = _apply(task, node, buffer)
    _hand_on(task, node, answers, ownership, buffer, waiting, queue)


def _enter(
    task: GraphTask,
    gradients: Sequence[TensorBase],
    waiting: dict[Node, InputBuffer],
    queue: ReadyQueue[InputBuffer],
) -> None:
    for edge, gradient in zip(task.roots, gradients, strict=True):
        node = edge.function
        buffer = waiting.get(node)
        if buffer is None:
            buffer = waiting[node] = InputBuffer(len(node.input_metadata))
        meta = node.input_metadata[edge.input_nr]
        # The root may have been given another geometry since its node was made.
        fitted = fit_array(gradient._impl.array, meta, node, edge.input_nr)
        buffer.add(edge.input_nr, fitted, False, meta)
    for node in [n for n in waiting if task.dependencies[n] == 0]:
        queue.push(node, waiting.pop(node))


def _apply(
    task: GraphTask, node: Node, buffer: InputBuffer
) -> tuple[Sequence[Answer], Sequence[int]]:
    """What the node answers, and who owns it; then what it saved is freed."""
    metadata = node.input_metadata
    answers: Sequence[Answer]
    ownership: Sequence[int] = node.ownership
    slot = buffer.slots[0]
    if isinstance(node, AccumulateGrad):
        grad = buffer.whole(0, metadata[0])
        if grad is not None:
            node.accumulate_array(grad, buffer.owned[0] and ownership_is_used())
        return (), ()
    if isinstance(slot, list) and len(metadata) == 1 and node.passes_regions():
        answers = ([region.through(node) for region in slot],)
    elif node.takes_ownership:
        owned = buffer.owned[0] or isinstance(slot, list)
        answers, ownership = node.apply_owned(
            buffer.whole(0, metadata[0]), owned and ownership_is_used(), task.needs_of(node)
        )
    else:
        grads = [buffer.whole(i, m) for i, m in enumerate(metadata)]
        answers = node.apply_arrays(grads, task.needs_of(node))
    if not task.keep_graph:
        node.release_variables()
    return answers, ownership


def _hand_on(
    task: GraphTask,
    node: Node,
    answers: Sequence[Answer],
    ownership: Sequence[int],
    buffer: InputBuffer,
    waiting: dict[Node, InputBuffer],
    queue: ReadyQueue[InputBuffer],
) -> None:
    edges = node.next_edges
    dependencies = task.dependencies
    if len(answers) != len(edges):
        raise GradientError(
            f"{node.name()} returned {len(answers)} gradients for {len(edges)} inputs",
            node=node.name(),
            expected=len(edges),
            found=len(answers),
        )
    for nr, edge in enumerate(edges):
        if edge is None:
            continue
        function = edge.function
        if not task.is_wanted(function):
            continue
        left = dependencies[function]
        target = waiting.get(function)
        answer = answers[nr]
        if answer is not None:
            if target is None:
                target = waiting[function] = InputBuffer(len(function.input_metadata))
            meta = function.input_metadata[edge.input_nr]
            if isinstance(answer, list):
                for region in answer:
                    target.add(edge.input_nr, region, False, meta)
            else:
                if not isinstance(answer, Region) and type(answer) is not np.ndarray:
                    answer = np.asarray(answer)
                fitted = fit_array(answer, meta, node, nr)
                owned = fitted is not answer or (
                    nr < len(ownership)
                    and (
                        ownership[nr] == FRESH
                        or (
                            ownership[nr] == PASSED
                            and buffer.owned[0]
                            and _is_sole(answers, edges, nr)
                        )
                    )
                )
                target.add(edge.input_nr, fitted, owned, meta)
        dependencies[function] = left = left - 1
        if left == 0:
            waiting.pop(function, None)
            if target is None:
                target = InputBuffer(len(function.input_metadata))
            queue.push(function, target)


def _is_sole(answers: Sequence[Answer], edges: Sequence[Edge | None], nr: int) -> bool:
    """Whether answer `nr` is not the same array as what another edge gets."""
    return not any(
        other is answers[nr] and i != nr and edges[i] is not None for i, other in enumerate(answers)
    )


# -- where somebody looks -----------------------------------------------------------------------


def wrapped(array: Array) -> TensorBase:
    """A gradient as users see it."""
    return operators().wrap(TensorImpl(array))


def _given_away(buffer: InputBuffer, nr: int, meta: InputMetadata) -> TensorBase | None:
    """The gradient in slot `nr`, for somebody who may keep it and write to it.

    Nobody else will ever write to that memory. Expanded gradients stay as they are: tensors whose
    elements share memory cannot be written.
    """
    array = buffer.whole(nr, meta)
    if array is None:
        return None
    owned = buffer.owned[nr]
    buffer.owned[nr] = False
    if not owned and not has_self_overlap(array.shape, array.strides):
        return operators().clone(wrapped(array))
    return wrapped(array)


def _show_to_tensor_hooks(node: Node, hooks: NodeHooks, buffer: InputBuffer) -> None:
    metadata = node.input_metadata
    # Copies, because hooks may register others while they run.
    for nr, own in tuple(hooks.tensor_pre.items()):
        if own.entries:
            seen = call_tensor_hooks(
                tuple(own.entries.values()), _given_away(buffer, nr, metadata[nr]), metadata[nr]
            )
            buffer.slots[nr] = None if seen is None else seen._impl.array
    for nr, cell in tuple(hooks.retain_grad.items()):
        array = buffer.whole(nr, metadata[nr])
        if array is not None:
            cell.accumulate(wrapped(array.copy()), operators().add)


def _capture(
    node: Node,
    buffer: InputBuffer,
    captured: dict[int, list[int]],
    answer: list[TensorBase | None],
) -> None:
    for nr, places in captured.items():
        for place in places:
            answer[place] = _given_away(buffer, nr, node.input_metadata[nr])


def _apply_between_hooks(
    task: GraphTask,
    node: Node,
    hooks: NodeHooks | None,
    buffer: InputBuffer,
    quietly: Quietly,
) -> tuple[Sequence[Answer], Sequence[int]]:
    """As `_apply`, with the node's own hooks, and a leaf's, around it."""
    watched = hooks is not None and bool(hooks.pre.entries or hooks.post.entries)
    incoming = _shown_to_pre_hooks(node, hooks, buffer) if watched and hooks is not None else ()
    arrived = buffer.slots[0] is not None
    answers, ownership = quietly(_apply, task, node, buffer)
    if isinstance(node, AccumulateGrad) and arrived:
        node.run_post_hooks()
    if hooks is None or not hooks.post.entries:
        return answers, () if watched else ownership
    outgoing: Gradients = tuple(
        [
            _own_whole(answer, edge, node, nr)
            for nr, (answer, edge) in enumerate(zip(answers, node.next_edges, strict=True))
        ]
    )
    for post in tuple(hooks.post.entries.values()):
        changed = post(outgoing, incoming)
        if changed is not None:
            outgoing = as_gradients(changed, outgoing, node)
    return [None if grad is None else grad._impl.array for grad in outgoing], ()


def _shown_to_pre_hooks(node: Node, hooks: NodeHooks, buffer: InputBuffer) -> Gradients:
    incoming: Gradients = ()
    for nr, meta in enumerate(node.input_metadata):
        incoming = (*incoming, _given_away(buffer, nr, meta))
    for pre in tuple(hooks.pre.entries.values()):
        changed = pre(incoming)
        if changed is not None:
            incoming = as_gradients(changed, incoming, node)
    for nr, grad in enumerate(incoming):
        buffer.slots[nr] = None if grad is None else grad._impl.array
    return incoming


def _own_whole(answer: Answer, edge: Edge | None, node: Node, nr: int) -> TensorBase | None:
    """An answer as the input's gradient, for a hook that may keep it and write to it.

    It is copied where it may be the incoming gradient, or a saved value.
    """
    if answer is None or edge is None:
        return None
    meta = edge.function.input_metadata[edge.input_nr]
    if isinstance(answer, (list, Region)):
        total = np.zeros(meta.shape, meta.dtype)
        for region in answer if isinstance(answer, list) else [answer]:
            fitted = fit_array(region, meta, node, nr)
            assert isinstance(fitted, Region)
            total = fitted.add_into(total)
        return wrapped(total)
    whole = fit_array(np.asarray(answer), meta, node, nr)
    assert isinstance(whole, np.ndarray)
    if whole is answer and not has_self_overlap(whole.shape, whole.strides):
        whole = np.array(whole)
    return wrapped(whole)
