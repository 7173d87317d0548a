# Compiled by mypyc.
"""One run of the engine: the nodes that run, their order and dependencies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from vtgrad.errors import UnusedInputError
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.edge import Edge
from vtgrad.graph.hooks import NodeHooks, next_hook_id
from vtgrad.graph.interrupted_write import UNFINISHED
from vtgrad.graph.node import Node

if TYPE_CHECKING:
    from vtgrad.engine.input_buffer import InputBuffer

__all__ = ["ALL_EDGES", "ForHooks", "GraphTask", "unused_input"]

ALL_EDGES = -1


def unused_input(nr: int) -> UnusedInputError:
    """The error for an input of ``grad`` that got no gradient."""
    return UnusedInputError(
        f"input {nr} was not used to compute the outputs, or was written in place since; pass "
        "allow_unused=True to get None for it (without materialize_grads if it is a GradientEdge, "
        "of which no zeros are made)",
        index=nr,
    )


class ForHooks:
    """State that hooks keep during one backward; most backwards have none.

    Attributes
    ----------
    final_callbacks : list of callable
        Functions to call when all nodes have run.
    notes : dict
        State of hooks on several tensors, by hook.
    hooked : set of NodeHooks
        The hooks of all nodes that run or whose gradients are returned, at the time `hooked_at`.
    hooked_at : int
        A value of `next_hook_id`.
    """

    __slots__ = ("final_callbacks", "hooked", "hooked_at", "notes")

    final_callbacks: list[Callable[[], object]]
    notes: dict[object, object]
    hooked: set[NodeHooks]
    hooked_at: int

    def __init__(self) -> None:
        self.final_callbacks = []
        self.notes = {}
        self.hooked = set()
        self.hooked_at = -1

    def run_callbacks(self) -> None:
        """Call the queued callbacks; a callback may queue more."""
        for callback in self.final_callbacks:
            callback()


class GraphTask:
    """The nodes of one backward.

    Attributes
    ----------
    roots : sequence of Edge
        The values whose gradients are passed in.
    dependencies : dict of Node to int
        The number of gradients that each node still waits for.
    needs : dict of Node to int, or None
        Bit ``i`` is set if edge ``i`` leads to a requested value; None if all values are requested.
    not_ready : dict of Node to InputBuffer
        The gradients, so far, of nodes that wait for more.
    runs : set of Node or None
        The nodes that run; None if all do.
    lowest : int
        No requested value is below a node of this topological number or a smaller one, so such
        nodes are counted but not searched below; -1 if all are searched. See Note [Topological
        numbers].
    keep_graph : bool
        Whether saved values stay.
    create_graph : bool
        Whether the backward itself is recorded.
    captures : dict of Node to dict
        For ``grad``: the nodes whose gradients to return, by output number, with the indices in the
        answer.
    reentrant_depth : int
        The number of passes on the same thread around this one.
    for_hooks : ForHooks or None
        State that hooks keep, made on first use.
    owner : int
        The thread that has called backward, which runs the nodes of the CPU; 0 before it runs.
    outstanding_tasks : int
        The nodes that are ready, or run, of a pass on lanes.
    exception : BaseException or None
        The error of a pass on lanes, until the calling thread raises it.
    arrived : dict of Node to InputBuffer, or None
        For an inner graph: its gradients so far, which are passed in instead of those of the roots.
    """

    __slots__ = (
        "_may_write_saved",
        "arrived",
        "captures",
        "create_graph",
        "dependencies",
        "exception",
        "for_hooks",
        "keep_graph",
        "lowest",
        "needs",
        "not_ready",
        "outstanding_tasks",
        "over_tensors",
        "owner",
        "reentrant_depth",
        "roots",
        "runs",
    )

    roots: Sequence[Edge]
    dependencies: dict[Node, int]
    not_ready: dict[Node, InputBuffer]
    needs: dict[Node, int] | None
    runs: set[Node] | None
    lowest: int
    keep_graph: bool
    create_graph: bool
    over_tensors: bool
    captures: dict[Node, dict[int, list[int]]]
    reentrant_depth: int
    for_hooks: ForHooks | None
    owner: int
    outstanding_tasks: int
    exception: BaseException | None
    arrived: dict[Node, InputBuffer] | None
    _may_write_saved: bool | None

    def __init__(self, roots: Sequence[Edge], keep_graph: bool, create_graph: bool) -> None:
        self.roots = roots
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.over_tensors = False
        self.dependencies = {}
        self.not_ready = {}
        self.lowest = -1
        self.needs = None
        self.runs = None
        self.captures = {}
        self.reentrant_depth = 0
        self.for_hooks = None
        self.arrived = None
        self.owner = 0
        self.outstanding_tasks = 0
        self.exception = None
        self._may_write_saved = None

    def compute_dependencies(self, inputs: Sequence[Edge | None] | None = None) -> None:
        """Find the reachable nodes and count their dependencies.

        Parameters
        ----------
        inputs : sequence of Edge or None, optional
            The requested values, if not all: then nodes below the lowest of them are left out.
        """
        if inputs is not None:
            numbers = [edge.function.topological_nr for edge in inputs if edge is not None]
            self.lowest = min(numbers, default=-1)
        lowest, dependencies = self.lowest, self.dependencies
        stack = []
        for edge in self.roots:
            function = edge.function
            if function not in dependencies:
                # The pass leads to the node from now on, so hooks cannot change its edges.
                function._has_parent = True
                dependencies[function] = 0
                if function.topological_nr > lowest:
                    stack.append(function)
        while stack:
            node = stack.pop()
            edges = node.many_edges
            if edges is None:
                edges = node.edge0, node.edge1  # See Note [Edges in fields].
            for next_edge in edges:
                if next_edge is not None:
                    # A test of the type is faster than the property; most edges are nodes.
                    function = next_edge if isinstance(next_edge, Node) else next_edge.function
                    seen = dependencies.get(function)
                    if seen is None:
                        dependencies[function] = 1
                        if function.topological_nr > lowest:
                            stack.append(function)
                    else:
                        dependencies[function] = seen + 1

    def former_nodes(self, inputs: Sequence[Edge | None]) -> list[tuple[int, AccumulateGrad]]:
        """The nodes that inputs had as leaves of another shape, with the indices of the inputs.

        See Note [Leaves that change their shape].
        """
        found: list[tuple[int, AccumulateGrad]] = []
        for index, edge in enumerate(inputs):
            own = None if edge is None else edge.function
            if isinstance(own, AccumulateGrad) and own.leaf_changed:
                for node in self.dependencies:
                    if (
                        isinstance(node, AccumulateGrad)
                        and node is not own
                        and node.cell is own.cell
                    ):
                        found.append((index, node))
        return found

    def restrict_to(self, inputs: Sequence[Edge | None], *, accumulate: bool) -> None:
        """Run only the nodes between the roots and `inputs`.

        Parameters
        ----------
        inputs : sequence of Edge or None
            The requested values; None for one without an edge.
        accumulate : bool
            True to run the inputs' nodes (``backward``), False to return the gradients (``grad``).
        """
        runs: set[Node] = set()
        wanted: set[Node] = set()
        for index, edge in enumerate(inputs):
            if edge is None or edge.function not in self.dependencies:
                continue
            wanted.add(edge.function)
            if accumulate:
                runs.add(edge.function)
            else:
                self.captures.setdefault(edge.function, {}).setdefault(edge.input_nr, []).append(
                    index
                )
        if UNFINISHED in self.dependencies and self.lowest < UNFINISHED.topological_nr:
            # A requested value may be an input of the unfinished write; then this pass is refused.
            runs.add(UNFINISHED)
        needs: dict[Node, int] = {}
        # Each node after those that its edges lead to.
        for node in sorted(self.dependencies, key=_topological_nr):
            bits = 0
            if node.topological_nr > self.lowest:
                for i, next_edge in enumerate(node.next_edges):
                    if next_edge is not None and (
                        next_edge.function in runs or next_edge.function in wanted
                    ):
                        bits |= 1 << i
            needs[node] = bits
            if bits:
                runs.add(node)
        self.needs = needs
        self.runs = runs

    def will_run(self, node: Node) -> bool:
        """Whether the node itself runs, rather than only its captured gradient being returned."""
        return self.runs is None or node in self.runs

    def is_wanted(self, node: Node) -> bool:
        """Whether gradients are sent to the node, to run it or to return them."""
        return self.runs is None or node in self.runs or node in self.captures

    def check_reached(
        self, inputs: Sequence[Edge | None], required: Sequence[int], reached_before: set[int]
    ) -> None:
        """Raise if the roots do not lead to one of the inputs that are required.

        Parameters
        ----------
        inputs : sequence of Edge or None
            The requested values.
        required : sequence of int
            The indices of those that the roots must lead to.
        reached_before : set of int
            Indices of inputs whose former node, of another shape, the roots lead to.

        Raises
        ------
        UnusedInputError
            Before any node has run.
        """
        reached: set[tuple[Node, int]] | None = None
        for nr in required:
            edge = inputs[nr]
            if edge is None or edge.function not in self.dependencies:
                if nr in reached_before:
                    continue
                raise unused_input(nr)
            if len(edge.function.input_metadata) > 1:
                # The node may be reached through another of its results only.
                if reached is None:
                    reached = self._reached_results()
                if (edge.function, edge.input_nr) not in reached:
                    raise unused_input(nr)

    def _reached_results(self) -> set[tuple[Node, int]]:
        """The results that the roots lead to, of nodes that have several."""
        reached: set[tuple[Node, int]] = set()
        for root in self.roots:
            reached.add((root.function, root.input_nr))
        for node in self.dependencies:
            for edge in node.next_edges:
                if edge is not None and len(edge.function.input_metadata) > 1:
                    reached.add((edge.function, edge.input_nr))
        return reached

    def may_write_saved(self) -> bool:
        """Whether a saved value may be written during the run; computed on first use.

        Hooks may write to one, and so may the sum into an existing ``.grad``.
        """
        known = self._may_write_saved
        if known is None:
            known = self._may_write_saved = any(
                node.hooks is not None or (node.is_leaf_node and node.leaf_cell().is_in_use())
                for node in self.dependencies
            )
        return known

    def own_for_hooks(self) -> ForHooks:
        """State that hooks keep, made on first use."""
        kept = self.for_hooks
        if kept is None:
            kept = self.for_hooks = ForHooks()
        return kept

    @property
    def final_callbacks(self) -> list[Callable[[], object]]:
        """Functions to call when all nodes have run; see `ForHooks`."""
        return self.own_for_hooks().final_callbacks

    def shows_to(self, hooks: NodeHooks, newest: int) -> bool:
        """Whether the tensor hooks of a node are called in this run, early or late.

        Parameters
        ----------
        hooks : NodeHooks
            The hooks of the node, which the caller may have without the node.
        newest : int
            A number not smaller than the `RemovableHandle.id` of any of these hooks.
        """
        kept = self.own_for_hooks()
        if kept.hooked_at < newest:
            # The first call, or a hook was registered since the last.
            kept.hooked_at = next_hook_id()
            kept.hooked = {
                node.hooks
                for node in self.dependencies
                if node.hooks is not None and self.is_wanted(node)
            }
        return hooks in kept.hooked

    def needs_of(self, node: Node) -> int:
        """The node's edges that lead to a requested value, as bits."""
        return ALL_EDGES if self.needs is None else self.needs[node]


def _topological_nr(node: Node) -> int:
    return node.topological_nr
