# Compiled by mypyc.
"""The node of a recorded operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, SupportsIndex, TypeVar, cast

import numpy as np

from vtgrad.errors import ArgumentTypeError, NotSupportedError
from vtgrad.graph.anomaly import anomaly, remember
from vtgrad.graph.edge import Edge
from vtgrad.graph.hooks import (
    USERS_CODE,
    GradCell,
    NodeHooks,
    NodePostHook,
    NodePreHook,
    RemovableHandle,
)
from vtgrad.graph.input_metadata import InputMetadata, ResultInfo, result_info
from vtgrad.graph.next_edges import ANY_EDGES, NextEdge, as_edge, check_next_edges, edge_index
from vtgrad.graph.observer import Observer, begin_node, observer_of_thread, observers
from vtgrad.graph.region import Gradient
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.graph.tracer import note_hook
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.excluded_keys import run_excluding
from vtgrad.storage.key_set import NAMED, OVERRIDES
from vtgrad.storage.native import mypyc_attr
from vtgrad.storage.tensor_base import TensorBase

if TYPE_CHECKING:
    # For errors and editors: what users call is typed by the class that they know.
    from vtgrad.graph.saved_variable import SavedVariable
    from vtgrad.storage.public_tensor import Tensor

T = TypeVar("T", bound="Tensor")

__all__ = ["FRESH", "LEAF_SEQUENCE_NR", "PASSED", "SHARED", "Node"]

# Note [Ownership of gradients]
#
# A node states for each gradient that it returns whether the array has other readers. FRESH: the
# array was allocated for this return and has none. PASSED: the array is the incoming gradient
# itself, or has its values unchanged, so it is owned if the incoming one was and goes to one edge
# only. SHARED: any other array, such as a view of the incoming gradient or of a saved value. The
# engine writes only to owned arrays, so stating too little costs a copy and stating too much
# corrupts values that are still needed. The default is SHARED.
#
#     c = a * b      (FRESH, FRESH)     g * b and g * a are new arrays: both are owned
#     c = a + b      (PASSED, PASSED)   g goes to two edges: owned by neither
#     c = a - b      (PASSED, FRESH)    g, owned if it came in owned, and the new array -g
#     c = a.clone()  (PASSED,)          g, owned if it came in owned
#     c = a.t()      (SHARED,)          a view of g
#     c = a.sum()    (SHARED,)          g expanded: all elements are one number
SHARED: Final = 0
FRESH: Final = 1
PASSED: Final = 2

# Note [Topological numbers]
#
# `topological_nr` is one more than the largest among the edges of a node, and 0 without edges. So
# it is larger than that of every node that can be reached, and a pass to given nodes need not
# search below a node whose number is not larger than all of theirs: the cost of `grad(y, k)` is
# that of the nodes between `y` and `k`, however long the history of `k`.
#
# The number is stored with the edges, and frozen once an edge leads to the node, because the
# numbers of later nodes depend on it: `has_parent` says so, and from then on `set_next_edges` is
# refused, see Note [Edges that are set by hand]. The library itself changes edges of a finished
# node in two cases only, before any edge leads to it: `CopySlices.of_write` gives the node of a
# write its own edges (`lead_like`), and a custom Function that wrote to a view puts that view's
# edge, or None, first. Neither changes the largest number.
#
# Any larger number would do as well. The argument of a transform gets one that no earlier node of
# its thread has (`number_above`), before an edge leads to it: so a pass to it leaves out all that
# the function captures, however long the history of that is.

# Note [Edges in fields]
#
# Most nodes have one edge or two, and a tuple of them would be one object more for the garbage
# collector. So a node has two fields for edges, and `many_edges` is None; `arity`, which the class
# states, tells whether the second is an edge. `edge1` of a node with one edge is None, like an edge
# that leads nowhere, so that a loop over edges need not ask. All other nodes have their edges in
# `many_edges`: those of lists, of custom Functions, and of operators with three operands.
# `next_edges` is a tuple in any case; the two loops of the engine look at the fields.

# Leaves run before all other ready nodes.
LEAF_SEQUENCE_NR: Final = 2**63 - 1


@mypyc_attr(allow_interpreted_subclasses=True)
class Node(Edge):
    """One operator of the recorded program; it turns gradients of results into gradients of inputs.

    Users read nodes from `Tensor.grad_fn` and `next_functions`. A call,
    ``node(*grads)``, runs one node alone.

    Attributes
    ----------
    edge0, edge1 : Edge or None
        The edges, if there are one or two; see Note [Edges in fields].
    many_edges : tuple of Edge or None, or None
        All edges, if they are not in the two fields.
    input_metadata : tuple of InputMetadata
        Shape and dtype of each result.
    sequence_nr : int
        Grows with every node made on a thread; `LEAF_SEQUENCE_NR` for leaves.
    thread_id : int
        The number of the thread that made the node, from 1 on. With `sequence_nr` it tells a
        profile which operator made the node, and a checkpoint which nodes are its own.
    topological_nr : int
        The node's height; see Note [Topological numbers].
    hooks : NodeHooks or None
        Hooks of the node and of its outputs.

    Notes
    -----
    Subclasses have no ``__init__`` of their own: the code that makes a node stores its fields.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True)
    >>> node = (x * 3).sum().grad_fn
    >>> while node is not None:
    ...     print(node.name())
    ...     node = node.next_functions[0][0] if node.next_functions else None
    SumBackward0
    MulBackward0
    torch::autograd::AccumulateGrad
    """

    __slots__ = (
        "_has_parent",
        "_metadata",
        "edge0",
        "edge1",
        "hooks",
        "input_metadata",
        "many_edges",
        "sequence_nr",
        "thread_id",
        "topological_nr",
        "visible_leaf",
    )

    # One entry for each next edge; see Note [Ownership of gradients].
    ownership: ClassVar[tuple[int, ...]] = ()
    # Whether `apply_owned` exists, which may write to an owned gradient: for every gradient, or for
    # large ones only (Note [Large gradients]).
    takes_ownership: ClassVar[bool] = False
    takes_large: ClassVar[bool] = False
    # Whether the gradient of the first input is zero in any case, and all others are FRESH.
    overwrites: ClassVar[bool] = False
    # Whether this is the node of a view, whose first edge leads to the viewed value.
    is_view_node: ClassVar[bool] = False
    # Whether `save_results` saves anything.
    saves_results: ClassVar[bool] = False
    # Whether all that the node does is a formula of the tables, which a tracer could record in its
    # place; a user's function could do anything.
    is_traceable: ClassVar[bool] = False
    # See Note [Edges that are set by hand].
    edge_rule: ClassVar[int] = ANY_EDGES
    # The number of edges in the two fields, if they are there.
    arity: ClassVar[int] = 2

    edge0: Edge | None
    edge1: Edge | None
    many_edges: tuple[Edge | None, ...] | None
    input_metadata: tuple[InputMetadata, ...]
    sequence_nr: int
    thread_id: int
    topological_nr: int
    hooks: NodeHooks | None
    # Unset until asked for.
    _metadata: dict[str, object]
    # Unset until an edge leads to the node.
    _has_parent: bool
    # Unset until asked for; see Note [Leaves that are visible].
    visible_leaf: GradCell

    def __init__(
        self,
        next_edges: tuple[Edge | None, ...] | None,
        edge0: Edge | None = None,
        edge1: Edge | None = None,
    ) -> None:
        self.many_edges = next_edges
        self.edge0 = edge0
        self.edge1 = edge1
        if next_edges is not None:
            self.topological_nr = _number_over(next_edges)
        else:
            number = 0
            if edge0 is not None:
                # The test is faster than the property; most edges are nodes.
                first = edge0 if isinstance(edge0, Node) else edge0.function
                first._has_parent = True
                number = first.topological_nr + 1
            if edge1 is not None:
                second = edge1 if isinstance(edge1, Node) else edge1.function
                second._has_parent = True
                if second.topological_nr >= number:
                    number = second.topological_nr + 1
            self.topological_nr = number
        self.input_metadata = ()
        numbering = this_thread.numbering
        self.sequence_nr = numbering.next_nr
        numbering.next_nr += 1
        self.thread_id = numbering.thread_id
        self.hooks = None
        if anomaly.enabled:
            remember(self)

    def name(self) -> str:
        """The node's name in errors and graph drawings.

        Returns
        -------
        str
            PyTorch's name of the same node; ``<Name>Backward`` for a custom Function.

        Examples
        --------
        >>> (vt.ones(2, requires_grad=True) * 3).grad_fn.name()
        'MulBackward0'
        """
        return type(self).__name__

    def apply_arrays(self, grads: Sequence[Array | None], needs: int) -> Sequence[Gradient | None]:
        """Gradients of the inputs from gradients of the results, as plain arrays.

        Parameters
        ----------
        grads : sequence of ndarray or None
            One for each result; None for a result without a gradient. Never written.
        needs : int
            Bit ``i`` is set if the gradient of input ``i`` is needed.
        """
        raise NotSupportedError(f"{self.name()} has no backward", node=self.name())

    def apply_array(self, grad: Array, needs: int) -> Sequence[Gradient | None]:
        """As `apply_arrays`, for a node with one result, whose gradient has arrived."""
        return self.apply_arrays((grad,), needs)

    def apply_owned(
        self, grad: Array, owned: bool, may_share: bool, needs: int
    ) -> tuple[Sequence[Gradient | None], Sequence[int]]:
        """As `apply_array`, reusing memory; see `takes_ownership` and `takes_large`.

        Parameters
        ----------
        grad : ndarray
            The gradient of the first result; it may be overwritten if it is `owned`.
        may_share : bool
            Whether a saved value may be returned in place of its product with ones.

        Returns
        -------
        tuple
            The gradients of the inputs, and the ownership of each, as in `ownership`.
        """
        raise NotSupportedError(f"{self.name()} never reuses memory", node=self.name())

    def apply_tensors(
        self, grads: Sequence[TensorBase | None], needs: int
    ) -> Sequence[TensorBase | None]:
        """As `apply_arrays`, recorded, so that the gradients can be differentiated again."""
        raise NotSupportedError(f"{self.name()} has no second derivative", node=self.name())

    def apply_tensor(self, grad: TensorBase, needs: int) -> Sequence[TensorBase | None]:
        """As `apply_array`, recorded."""
        return self.apply_tensors((grad,), needs)

    def save_results(self, *results: TensorBase) -> None:
        """Save the results that the derivative needs; see `saves_results`."""

    def runs_users_code(self) -> bool:
        """Whether running the node calls a user's function; see Note [Nodes that run users' code].

        Such a node has `USERS_CODE` as its hooks from the start.
        """
        return False

    def passes_regions(self) -> bool:
        """Whether `view_array` exists, so that a Region can pass through; see Note [Regions]."""
        return False

    def view_array(self, array: Array) -> Array:
        """The view of this node, taken of an array of the input's shape."""
        raise NotSupportedError(f"{self.name()} is not the node of a view", node=self.name())

    def viewed_shape(self) -> Shape:
        """The shape of the viewed value; only where `view_array` exists.

        The default is for nodes that keep no shape: that of the gradient.
        """
        meta = self.input_metadata[0]
        answer = self.apply_arrays((making.empty(meta.shape, meta.dtype),), 1)[0]
        assert isinstance(answer, np.ndarray)
        shape: Shape = answer.shape
        return shape

    def lead_like(self, other: Node) -> None:
        """Take over the first edge of another node, before any edge leads to this one.

        All others agree.
        """
        many = other.many_edges
        if self.many_edges is None:
            self.edge0 = other.edge0 if many is None else many[0]
        else:
            self.many_edges = many
        self.topological_nr = other.topological_nr

    def number_above(self) -> None:
        """Take a larger number than all earlier nodes; see Note [Topological numbers]."""
        self.topological_nr = max(self.topological_nr, this_thread.numbering.next_nr)

    def written_edge(self) -> Edge:
        """The edge of a value that was written through a view."""
        raise NotSupportedError(f"{self.name()} is not the node of a write", node=self.name())

    def saving_node(self) -> Node:
        """The node whose saved values are used when this one runs: itself, or one that it runs."""
        return self

    def leaf_cell(self) -> GradCell:
        """The cell in which a leaf's node accumulates; only `AccumulateGrad` has one."""
        raise NotSupportedError(f"{self.name()} does not belong to a leaf", node=self.name())

    def check_saved(self) -> None:
        """Raise if the node cannot run; see Note [Backward is all or nothing].

        Raises
        ------
        VtgradError
            As `SavedVariable.check` does.
        """

    def saved_values(self) -> Sequence[tuple[str, SavedVariable]]:
        """The saved values and what they are called, for messages."""
        return ()

    def release_variables(self) -> None:
        """Release the saved values; another backward through this node raises."""

    @property
    def function(self) -> Node:
        """The node itself: it is the edge to its result 0."""
        return self

    @property
    def input_nr(self) -> int:
        """0: the node is the edge to its first result."""
        return 0

    # -- public members --------------------------------------------------------------------

    @property
    def next_edges(self) -> tuple[Edge | None, ...]:
        """The edges along which the gradients of the inputs go.

        Returns
        -------
        tuple of Edge or None
            None for an input that needs no gradient.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> first, second = (x * 3).grad_fn.next_edges
        >>> first.function.variable is x, second
        (True, None)
        """
        many = self.many_edges
        if many is not None:
            return many
        return (self.edge0,) if self.arity == 1 else (self.edge0, self.edge1)

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input the node that gets its gradient, and the number of that node's result.

        Returns
        -------
        tuple of (Node or None, int)
            None for an input that needs no gradient. The node of a leaf has the leaf as
            ``variable``.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> (node, result), number = (x * 3).grad_fn.next_functions
        >>> node.variable is x, result, number
        (True, 0, (None, 0))
        """
        return tuple(
            [(None, 0) if e is None else (e.function, e.input_nr) for e in self.next_edges]
        )

    @property
    def num_inputs(self) -> int:
        """The number of gradients that the node gets: one for each of its results.

        Returns
        -------
        int
            In backward the results are what comes in.

        Examples
        --------
        >>> x = vt.ones(2, 3, requires_grad=True)
        >>> x.unbind()[0].grad_fn.num_inputs, (x * x).grad_fn.num_inputs
        (2, 1)
        """
        return len(self.input_metadata)

    @property
    def num_outputs(self) -> int:
        """The number of gradients that the node computes, and of its edges.

        Returns
        -------
        int
            One for each operand that may have a gradient, whether it needs one or not.

        Examples
        --------
        >>> x = vt.ones(2, 3, requires_grad=True)
        >>> x.unbind()[0].grad_fn.num_outputs, (x * x).grad_fn.num_outputs
        (1, 2)
        """
        return len(self.next_edges)

    @property
    def has_parent(self) -> bool:
        """Whether an edge leads, or has led, to the node, or backward has begun at it.

        Returns
        -------
        bool
            If so, the node's own edges cannot be changed any more.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> y.grad_fn.has_parent, x.sum().grad_fn.next_edge(0).has_parent
        (False, True)
        """
        try:
            return self._has_parent
        except AttributeError:
            return False

    def next_edge(self, index: SupportsIndex) -> Edge | None:
        """The edge along which the gradient of one input goes.

        Parameters
        ----------
        index : int
            The number of the input.

        Returns
        -------
        Edge or None
            Its ``function`` is the node, and its ``input_nr`` the number of that node's result. It
            is equal to every other edge to that result. None if the input needs no gradient.

        Raises
        ------
        OutOfRangeError
            If the node has no such input.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> node = (x * 3).grad_fn
        >>> node.next_edge(0).function.variable is x, node.next_edge(0).input_nr, node.next_edge(1)
        (True, 0, None)
        """
        return self.next_edges[edge_index(self, index)]

    def set_next_edge(self, index: SupportsIndex, edge: NextEdge) -> None:
        """Let the gradient of one input go elsewhere.

        Parameters
        ----------
        index : int
            The number of the input.
        edge : Edge, pair of Node and int, or None
            As for `set_next_edges`.

        Raises
        ------
        OutOfRangeError
            If the node has no such input.
        FrozenEdgesError, ArgumentTypeError, ArgumentValueError, NotSupportedError
            As `set_next_edges` does.

        Examples
        --------
        >>> x, other = vt.ones(2, requires_grad=True), vt.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> y.grad_fn.set_next_edge(0, vt.autograd.graph.get_gradient_edge(other))
        >>> y.sum().backward()
        >>> x.grad, other.grad
        (None, tensor([3., 3.]))
        """
        number = edge_index(self, index)
        edges: list[NextEdge] = [*self.next_edges]
        edges[number] = edge
        self.set_next_edges(edges)

    def add_next_edge(self, edge: NextEdge) -> None:
        """Add an edge behind the others.

        Parameters
        ----------
        edge : Edge, pair of Node and int, or None
            As for `set_next_edges`.

        Raises
        ------
        ArgumentValueError
            For the node of an operator or a custom Function, which has one edge for each input; or
            as `set_next_edges` does.
        FrozenEdgesError, ArgumentTypeError, NotSupportedError
            As `set_next_edges` does.

        Examples
        --------
        >>> node = vt.autograd.graph.Node(())
        >>> node.add_next_edge((vt.ones(2, requires_grad=True) * 3).grad_fn)
        >>> node.num_outputs, node.topological_nr
        (1, 2)
        """
        self.set_next_edges((*self.next_edges, edge))

    def set_next_edges(self, edges: Iterable[NextEdge]) -> None:
        """Let the gradients of all inputs go elsewhere.

        This is possible until the node's result is used in a recorded operator, or otherwise an
        edge leads to the node, or a backward begins at it.

        Parameters
        ----------
        edges : iterable of Edge, pair of Node and int, or None
            One for each input. A node stands for the edge to its first result; pairs are those of
            `next_functions` and of `vtgrad.autograd.graph.get_gradient_edge`; None if the input is
            to have no gradient. The nodes of operators and of custom Functions keep the number of
            their edges, and get none where there was none.

        Raises
        ------
        FrozenEdgesError
            If an edge leads to the node, or a backward has begun at it.
        ArgumentTypeError
            For something that is no edge.
        ArgumentValueError
            If an edge leads to the node itself, or to a result that there is not, or the number of
            inputs would change.
        NotSupportedError
            If an input would get an edge that needed no gradient when the node was made; and for
            nodes of leaves and of writes through views, whose edges belong to other objects too.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> z = y.sum()
        >>> y.grad_fn.set_next_edges([None, None])
        Traceback (most recent call last):
        ...
        vtgrad.errors.FrozenEdgesError: the edges of MulBackward0 cannot be changed any more, ...
        """
        new = tuple([as_edge(edge) for edge in edges])
        check_next_edges(self, new)
        self.lead_to(new)

    def lead_to(self, edges: tuple[Edge | None, ...]) -> None:
        """Store checked edges, and the topological number that they give the node."""
        highest = -1
        for edge in edges:
            if edge is not None:
                edge.function._has_parent = True
                highest = max(highest, edge.function.topological_nr)
        # The number is never too small for the edges: see Note [Topological numbers].
        self.topological_nr = max(self.topological_nr, highest + 1)
        if self.many_edges is not None:
            self.many_edges = edges
        else:
            # Without a call in between.
            edge0, edge1 = edges if self.arity == 2 else (edges[0], None)
            self.edge0 = edge0
            self.edge1 = edge1
        self.topological_nr = highest + 1

    @property
    def requires_grad(self) -> bool:
        """Whether the node sends a gradient to another node, or accumulates it.

        Returns
        -------
        bool
            True for every node that a tensor names as its ``grad_fn``.

        Examples
        --------
        >>> (vt.ones(2, requires_grad=True) * 3).grad_fn.requires_grad
        True
        """
        return self.is_leaf_node or self.next_edges.count(None) < len(self.next_edges)

    @property
    def _input_metadata(self) -> tuple[ResultInfo, ...]:
        """Shape, dtype and device of each result."""
        return result_info(self.input_metadata)

    def _sequence_nr(self) -> int:
        """The node's `sequence_nr`."""
        return self.sequence_nr

    def __call__(self, *grads: T | None) -> T | tuple[T | None, ...] | None:
        """Run this node alone; nothing is accumulated beyond it.

        Parameters
        ----------
        *grads : Tensor or None
            One gradient for each result of the node.

        Returns
        -------
        Tensor, None, or tuple of them
            The gradients of the inputs; not in a tuple if there is one input.

        Raises
        ------
        ArgumentTypeError
            If the number of gradients is not the number of the node's results.
        GraphFreedError, StaleSavedError
            If a saved value was freed or overwritten.

        Examples
        --------
        >>> (vt.ones(2, requires_grad=True) * 3).grad_fn(vt.ones(2))
        (tensor([3., 3.]), None)
        """
        if len(grads) != len(self.input_metadata):
            raise ArgumentTypeError(
                f"{self.name()} takes {len(self.input_metadata)} gradients, not {len(grads)}",
                node=self.name(),
            )
        observer = observer_of_thread() if observers else None
        if observer is None:
            answers = self._guarded(grads)
        else:
            answers = self._observed_call(observer, grads)
        results = cast("tuple[T | None, ...]", tuple(answers))
        return results[0] if len(results) == 1 else results

    def _guarded(self, grads: Sequence[TensorBase | None]) -> Sequence[TensorBase | None]:
        if self.runs_users_code():
            return run_excluding(NAMED, self.apply_tensors, grads, -1)
        return run_excluding(NAMED | OVERRIDES, self.apply_tensors, grads, -1)

    def _observed_call(
        self, observer: Observer, grads: Sequence[TensorBase | None]
    ) -> Sequence[TensorBase | None]:
        """Run the node as an event; see Note [Observers]."""
        event = begin_node(observer, self, grads)
        try:
            answers = self._guarded(grads)
        except BaseException:
            observer.end(event)
            raise
        observer.end(event, answers)
        return answers

    def register_prehook(
        self, hook: Callable[[tuple[Tensor, ...]], tuple[Tensor | None, ...] | None]
    ) -> RemovableHandle:
        """Call a function with the gradients that arrive, before the node runs.

        Parameters
        ----------
        hook : callable
            Takes the tuple of gradients of the node's results, None where nothing arrived. It
            returns None, or a tuple of as many that takes their place. With its parameter declared
            as ``tuple[Tensor | None, ...]``, type checkers look for None.

        Returns
        -------
        RemovableHandle
            Its method ``remove`` removes the hook.

        Raises
        ------
        ArgumentTypeError, HookError
            In backward, if the result of the hook is not a tuple, or does not fit.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> handle = y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
        >>> y.sum().backward()
        >>> x.grad
        tensor([30., 30.])
        """
        note_hook()
        return self.own_hooks().pre.add(cast("NodePreHook", hook))

    def register_hook(
        self,
        hook: Callable[[tuple[Tensor, ...], tuple[Tensor, ...]], tuple[Tensor | None, ...] | None],
    ) -> RemovableHandle:
        """Call a function with the gradients of inputs and of results, after the node has run.

        Parameters
        ----------
        hook : callable
            Takes two tuples: the gradients of the node's inputs, and those of its results, None
            where there is none. It returns None, or a tuple that takes the place of the first. With
            parameters declared as ``tuple[Tensor | None, ...]``, type checkers look for None.

        Returns
        -------
        RemovableHandle
            Its method ``remove`` removes the hook.

        Raises
        ------
        ArgumentTypeError, HookError
            In backward, if the result of the hook is not a tuple, or does not fit.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> handle = y.grad_fn.register_hook(lambda outgoing, incoming: print(outgoing, incoming))
        >>> y.sum().backward()
        (tensor([3., 3.]), None) (tensor([1., 1.]),)
        """
        note_hook()
        return self.own_hooks().post.add(cast("NodePostHook", hook))

    @property
    def metadata(self) -> dict[str, object]:
        """A dict in which tools (anomaly mode, profilers) store data.

        Returns
        -------
        dict
            Made on first use, and kept with the node.

        Examples
        --------
        >>> node = (vt.ones(2, requires_grad=True) * 3).grad_fn
        >>> node.metadata["layer"] = 1
        >>> node.metadata
        {'layer': 1}
        """
        notes: dict[str, object] | None = getattr(self, "_metadata", None)
        if notes is None:
            notes = self._metadata = {}
        return notes

    def own_hooks(self) -> NodeHooks:
        """The node's hooks, made on first use; see Note [Made once]."""
        hooks = self.hooks
        if hooks is None or hooks is USERS_CODE:
            fresh = NodeHooks()
            hooks = self.hooks
            if hooks is None or hooks is USERS_CODE:
                hooks = self.hooks = fresh
        return hooks

    def __repr__(self) -> str:
        return f"<{self.name().rpartition('::')[2]} object at {id(self):#x}>"


def _number_over(edges: tuple[Edge | None, ...]) -> int:
    """The number of a node with these edges, which is the parent of all that they lead to."""
    number = 0
    for edge in edges:
        if edge is not None:
            function = edge.function
            function._has_parent = True
            number = max(number, function.topological_nr + 1)
    return number
