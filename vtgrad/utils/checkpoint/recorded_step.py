"""The graph of one step, and the values outside of it that it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from vtgrad.engine.engine import execute_inner
from vtgrad.engine.input_buffer import InputBuffer, buffer_of
from vtgrad.engine.observers import show_to_tensor_hooks
from vtgrad.engine.validate import fit_array
from vtgrad.errors import CheckpointError, NotSupportedError
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.edge import Edge
from vtgrad.graph.hooks import GradCell, NodeHooks
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import gradient_edge
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_state import changed, run_with
from vtgrad.utils.checkpoint.state import State, flatten
from vtgrad.utils.checkpoint.step_input import StepInput

__all__ = ["RESULT", "RecordedStep", "explore_again", "explore_first", "move", "record"]

# What a step returns, in messages.
RESULT: Final = "the state that a step of checkpoint_loop returns"


class RecordedStep:
    """The graph of one step.

    Attributes
    ----------
    inputs : StepInput
        The node at which it ends.
    roots : list of Edge or None
        The producer of each tensor of the state after the step; None for one without a gradient.
    nodes : list of Node
        The nodes of the graph, from the roots down, in an order that depends on nothing else.
    captured : list of Edge
        Values from outside of the step, other than the state, that its graph leads to.
    """

    __slots__ = ("captured", "inputs", "nodes", "roots")

    inputs: StepInput
    roots: list[Edge | None]
    nodes: list[Node]
    captured: list[Edge]

    def __init__(self, inputs: StepInput, roots: list[Edge | None]) -> None:
        self.inputs = inputs
        self.roots = roots
        self.nodes = []
        self.captured = []

    def explore(self, is_inside: Callable[[Edge], bool]) -> None:
        """Find the nodes and the captured values.

        Parameters
        ----------
        is_inside : callable
            Whether the node that an edge leads to belongs to the graph of the step.
        """
        seen: set[tuple[int, int]] = set()
        entered: set[Node] = set()
        stack = [edge for edge in self.roots if edge is not None]
        stack.reverse()
        while stack:
            edge = stack.pop()
            node = edge.function
            if node is self.inputs or node in entered:
                continue
            if is_inside(edge):
                entered.add(node)
                self.nodes.append(node)
                stack.extend([following for following in node.next_edges if following is not None])
            elif (id(node), edge.input_nr) not in seen:
                seen.add((id(node), edge.input_nr))
                self.captured.append(edge)

    def check_saved(self) -> None:
        """Raise if a value that was saved in the step was overwritten since."""
        for node in self.nodes:
            node.check_saved()

    def run_backward(
        self,
        results: Sequence[InputBuffer],
        metadata: Sequence[InputMetadata],
        state: InputBuffer,
        sums: dict[Node, InputBuffer],
    ) -> None:
        """Run the step backward and free it.

        Parameters
        ----------
        results : sequence of InputBuffer
            The gradient of each tensor of the state after the step.
        metadata : sequence of InputMetadata
            Shape and dtype of each of these tensors.
        state : InputBuffer
            Collects the gradients of the state before it.
        sums : dict of Node to InputBuffer
            Collects those of values from outside.
        """
        ends = {**sums, self.inputs: state}
        arrived: dict[Node, InputBuffer] = {}
        roots: list[Edge] = []
        for edge, buffer, meta in zip(self.roots, results, metadata, strict=True):
            if edge is None or buffer.grad is None:
                continue
            node, nr = edge.function, edge.input_nr
            target = ends.get(node) or arrived.get(node)
            if target is None:
                target = arrived[node] = buffer_of(node)
            roots.append(edge)
            move(buffer, meta, target.at(nr), node, nr)
        if roots:
            execute_inner(roots, arrived, ends)
            if self.inputs.hooks is not None:
                _call_hooks(self.inputs.hooks, state)


def _call_hooks(hooks: NodeHooks, state: InputBuffer) -> None:
    """Call the hooks that a step has registered on the state that it got."""
    retained: list[tuple[GradCell, TensorBase]] = []
    show_to_tensor_hooks(hooks, state, retained)
    for cell, grad in retained:
        cell.grad = grad


def move(
    source: InputBuffer, known: InputMetadata, target: InputBuffer, node: Node, nr: int
) -> None:
    """Add a gradient to another sum, as the operators that it came from would have added it.

    Parameters
    ----------
    known : InputMetadata
        Shape and dtype of the gradient. Those of the sum differ if the tensor was transposed, for
        example, while nothing was recorded.
    """
    content, meta = source.grad, node.input_metadata[nr]
    source.grad = None
    if isinstance(content, list):
        fits = known.shape == meta.shape and known.dtype == meta.dtype
        for region in content:
            if fits:
                target.add(region, False, meta)
            else:
                whole = region.whole(known.shape, known.dtype)
                target.add(fit_array(whole, meta, node, nr), True, meta)
    elif content is not None:
        fitted = fit_array(content, meta, node, nr)
        target.add(fitted, source.owned or fitted is not content, meta)


def record(
    step: Callable[[object], object], before: State, needed: Sequence[bool]
) -> tuple[RecordedStep, State]:
    """Record one step, without the hooks of saved values that are open around the loop.

    Parameters
    ----------
    step : callable
        The step.
    before : State
        Fresh tensors without history, to which the step may write.
    needed : sequence of bool
        Which of these need a gradient.

    Returns
    -------
    tuple
        The graph, which is not explored yet, and the state after the step.

    Raises
    ------
    NotSupportedError
        If the step has registered hooks on the state that it got which cannot be called.
    """
    inputs = StepInput.of(before.tensors, needed)
    after = flatten(run_with(changed(pair=None), step, before.whole()), RESULT)
    roots = [gradient_edge(x) for x in after.tensors]
    if inputs.hooks is not None:
        _check_hooks(inputs, inputs.hooks, roots)
    return RecordedStep(inputs, roots), after


def _check_hooks(inputs: StepInput, hooks: NodeHooks, roots: Sequence[Edge | None]) -> None:
    """Raise if hooks that a step has registered on its state cannot do what they would do alone.

    Raises
    ------
    NotSupportedError
        If they are on its node, or on a tensor that the step also returns.
    """
    if hooks.watch_node():
        raise NotSupportedError(
            "a step of checkpoint_loop has registered a hook on the grad_fn of the state that it "
            "got, which stands for the step before; register it on the tensor"
        )
    for root in roots:
        if root is not None and root.function is inputs and root.input_nr in hooks.tensor_pre:
            raise NotSupportedError(
                "a step of checkpoint_loop has returned a tensor of the state that it got and has "
                "registered a hook on it, which belongs to all steps that the tensor goes through; "
                "return an alias, such as x[:]"
            )


def explore_first(recorded: RecordedStep) -> None:
    """Find what a step needs from outside, right after it was recorded."""
    first, thread_id = recorded.inputs.sequence_nr, this_thread.numbering.thread_id

    def is_inside(edge: Edge) -> bool:
        node = edge.function
        if node.is_leaf_node:
            # A leaf that was made inside of the step is dead by now.
            return isinstance(node, AccumulateGrad) and node.variable is None
        return node.sequence_nr > first and node.thread_id == thread_id

    recorded.explore(is_inside)


def explore_again(recorded: RecordedStep, known: dict[tuple[Node, int], Edge], number: int) -> None:
    """Find the nodes of a step that was recorded again.

    Raises
    ------
    CheckpointError
        If it needs a value from outside that is not known.
    """
    first, thread_id = recorded.inputs.sequence_nr, this_thread.numbering.thread_id

    def is_inside(edge: Edge) -> bool:
        node = edge.function
        if (node, edge.input_nr) in known:
            return False
        if node.is_leaf_node:
            return isinstance(node, AccumulateGrad) and node.variable is None
        # The producer of a captured view may have been built anew in another step.
        return (node.sequence_nr > first and node.thread_id == thread_id) or node.is_view_node

    recorded.explore(is_inside)
    if any((edge.function, edge.input_nr) not in known for edge in recorded.captured):
        raise CheckpointError(
            f"step {number} of checkpoint_loop, run again for backward, uses a tensor that "
            "requires grad and that no step has used at first, so that its gradient has nowhere "
            "to go",
            step=number,
        )
