"""Calling a function so that it can be differentiated by its arguments in reverse mode.

Note [Arguments of a transform]

A function that is differentiated gets tensors of its own, on the memory of the caller's. If the
caller's tensor requires grad and is to stay connected, its own one is a view of it, otherwise a
leaf that requires grad. Gradients are taken with respect to the edges of exactly these tensors.
That keeps nested derivatives apart: a tensor that the function captures is another value, even if
it is the caller's tensor itself.

    grad(lambda a: a * grad(lambda b: a + b)(a))     the inner function is a + b with a leaf b, or
                                                     a view b of a; its derivative by b is 1

Inside of `vmap` an argument is a batched tensor, and its own one is a batch again; the leaf or view
is the value of that, and the edge that of the value. Gradients have the samples of the argument,
and where outputs have more levels than that, they are batched at these (Note [Entering a batch]).

A leaf becomes invisible when the function has returned: its node ignores gradients from then on,
and `leads_outside` does not count it. So a result that depends only on such leaves is shown to the
caller as a constant, and a backward is recorded only if the result may be differentiated again. The
backward of a custom Function, which runs afterwards, sees values that lead to invisible leaves
only. As an argument of a transform such a value is a constant, and its own tensor a leaf: a view of
it would be taken for a constant by a transform inside of this one.

Note [Leaves that are visible]

`leads_outside` looks for one leaf to which a gradient may go. The nodes of the way that it found
keep that leaf's cell, so that the next search ends where it meets one of them, if the leaf is still
visible. Otherwise a loop of transforms inside a transform would search the whole loop at each step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeVar, cast

from vtgrad.autograd.values_of_samples import of_samples, of_value
from vtgrad.engine import backward as engine
from vtgrad.errors import InferenceModeError
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.batch import BatchLevel, is_batched
from vtgrad.graph.forward_grad import new_level_number
from vtgrad.graph.gradient_edge import GradientEdge, get_gradient_edge
from vtgrad.graph.hooks import GradCell, LeafState
from vtgrad.graph.node import Node
from vtgrad.graph.saved_tangents import pass_tangents
from vtgrad.graph.set_history import gradient_edge, meta_of, own_meta
from vtgrad.graph.thread_levels import NO_LIMIT, thread
from vtgrad.graph.tracer import detach_traced
from vtgrad.graph.transform_record import TransformRecord
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.values import innermost, levels_of, rebatched
from vtgrad.storage.key_set import keys
from vtgrad.storage.record_write import OUTERMOST, caller
from vtgrad.storage.thread_state import changed, run_with
from vtgrad.tensor.tensor import Tensor
from vtgrad.views.creation_meta import CreationMeta
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta

__all__ = [
    "Arguments",
    "InputEdge",
    "Root",
    "constant",
    "gradients_by",
    "hide",
    "in_transform",
    "leads_outside",
    "runs_users_code",
    "zero_leaf",
]

R = TypeVar("R")

_ACCUMULATES: Final = LeafState.ACCUMULATES
# The cell of no leaf in particular.
_ANY_LEAF: Final = GradCell()


def in_transform(body: Callable[[], R]) -> R:
    """Call a function with recording on, as the innermost transform in reverse mode.

    Raises
    ------
    InferenceModeError
        In inference mode, where nothing is recorded.
    """
    mode = thread.mode
    if mode.inference:
        raise InferenceModeError(
            "derivatives in reverse mode need a record, and inference mode makes none; leave it "
            "for the call by `with inference_mode(False)`"
        )
    number, outside, record = new_level_number(), thread.transform, TransformRecord()
    settings = changed(mode=mode.by_grad[True], reverse_level=number, transform=record)
    try:
        return run_with(settings, body)
    except BaseException:
        for leaf in record.leaves:
            own_meta(leaf).own_cell().leaf_state = LeafState.IGNORES
        raise
    finally:
        _leave(record, outside)


def _leave(record: TransformRecord, outside: TransformRecord | None) -> None:
    """Leave the tensors that a transform has written; see Note [What a transform leaves behind]."""
    nowhere: set[Node] = set()
    for tensor in record.alive():
        meta = meta_of(tensor)
        node = None if meta is None else meta.grad_fn_
        if meta is None or node is None:
            continue
        if not _leads_outside([node], nowhere):
            if isinstance(meta, DifferentiableViewMeta):
                meta.written_by = None
            meta.store_producer(None, 0)
        elif outside is not None:
            outside.add(tensor)


def constant(tensor: Tensor) -> Tensor:
    """A tensor on the same memory that leads to no graph, with the same tangents."""
    if is_batched(tensor):
        return rebatched(constant(innermost(tensor)), levels_of(tensor))
    alias = tensor.detach()
    if keys.modes:
        detach_traced(alias, tensor)
    pass_tangents(tensor, alias, NO_LIMIT, copies=False)
    return alias


def hide(leaf: Tensor) -> None:
    """Make a leaf invisible: its node ignores gradients, and `leads_outside` does not count it."""
    own_meta(innermost(leaf)).own_cell().leaf_state = LeafState.IGNORES


def zero_leaf(like: Tensor) -> Tensor:
    """Zeros like a tensor, which require grad if they can."""
    zeros = F.zeros_like(innermost(like))
    if zeros._impl.array.dtype.kind in "fc":
        zeros.requires_grad_()
    return rebatched(zeros, levels_of(like))


def leads_outside(roots: Iterable[Tensor | Root]) -> bool:
    """Whether the graph of one of the roots leads to a leaf to which a gradient may still go.

    Leaves of finished transforms do not count; see Note [Arguments of a transform].
    """
    nodes = []
    for root in roots:
        if isinstance(root, Root):
            if root.edge is not None:
                nodes.append(root.edge.node)
        else:
            edge = gradient_edge(innermost(root))
            if edge is not None:
                nodes.append(edge.function)
    return _leads_outside(nodes, set())


def _leads_outside(nodes: Iterable[Node], nowhere: set[Node]) -> bool:
    """Whether one of the nodes leads to such a leaf.

    Parameters
    ----------
    nowhere : set of Node
        Nodes that do not; those that were found are added.
    """
    # By node, the node whose edge led to it first.
    parents: dict[Node, Node | None] = dict.fromkeys(nodes)
    stack = [node for node in parents if node not in nowhere]
    while stack:
        node = stack.pop()
        cell = _visible_leaf(node)
        if cell is not None:
            way: Node | None = node
            while way is not None:
                way.visible_leaf = cell
                way = parents[way]
            return True
        for edge in node.next_edges:
            if edge is not None and edge.function not in parents:
                parents[edge.function] = node
                if edge.function not in nowhere:
                    stack.append(edge.function)
    nowhere.update(parents)
    return False


def _visible_leaf(node: Node) -> GradCell | None:
    """The cell of a leaf to which the node leads, if that is known and a gradient may go there."""
    if isinstance(node, AccumulateGrad):
        cell: GradCell | None = node.cell
    else:
        cell = getattr(node, "visible_leaf", None)
        if cell is None and not any(node.next_edges):
            # A node that keeps its inputs to itself: they may be anything.
            return _ANY_LEAF
    return cell if cell is not None and cell.leaf_state is _ACCUMULATES else None


def runs_users_code(tensors: Iterable[Tensor], edges: Iterable[InputEdge]) -> bool:
    """Whether backward from some tensors to `edges` calls functions of the user, or may do so."""
    lowest = min((edge.edge.node.topological_nr for edge in edges), default=-1)
    stack = [
        edge.function
        for edge in [gradient_edge(innermost(tensor)) for tensor in tensors]
        if edge is not None
    ]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if node.topological_nr <= lowest:
            continue
        if not isinstance(node, AccumulateGrad) and (
            node.hooks is not None or node.runs_users_code()
        ):
            return True
        for edge in node.next_edges:
            if edge is not None and edge.function not in seen:
                seen.add(edge.function)
                stack.append(edge.function)
    return False


class InputEdge(NamedTuple):
    """A value to differentiate by.

    Attributes
    ----------
    edge : GradientEdge
        The value; of a batched tensor that of its innermost value.
    levels : tuple of BatchLevel
        The levels at which the tensor is batched, the highest first.
    """

    edge: GradientEdge
    levels: tuple[BatchLevel, ...] = ()

    @staticmethod
    def of(tensor: Tensor) -> InputEdge:
        """The value of a tensor that was made just now, and is used by nothing so far.

        Passes to it do not search below it, see Note [Topological numbers].
        """
        edge = get_gradient_edge(innermost(tensor))
        edge.node.number_above()
        return InputEdge(edge, levels_of(tensor))


class Root(NamedTuple):
    """A result of a function as it was when the function returned.

    Attributes
    ----------
    tensor : Tensor
        The result, which may be written later.
    edge : GradientEdge or None
        Its value; None for a constant.
    """

    tensor: Tensor
    edge: GradientEdge | None

    @staticmethod
    def of(tensor: Tensor) -> Root:
        """The present value of a tensor."""
        edge = get_gradient_edge(innermost(tensor)) if tensor.requires_grad else None
        return Root(tensor, edge)


class Arguments:
    """What a function is called with, and the edges by which it is differentiated.

    Parameters
    ----------
    given : sequence of Tensor
        The tensors of the caller.
    connected : bool
        Whether derivatives may depend on `given` in the caller's graph.
    recorded : bool, optional
        Whether what the function returns may; as `connected` if it is not given. A derivative that
        is computed later may be recorded though the call was not.

    Attributes
    ----------
    given, inner : list of Tensor
        The tensors of the caller, and those that the function gets; see Note [Arguments of a
        transform].
    edges : list of InputEdge
        The values of `inner` at the beginning.
    """

    __slots__ = ("_leaves", "_recorded", "edges", "given", "inner")

    given: list[Tensor]
    inner: list[Tensor]
    edges: list[InputEdge]
    _recorded: bool
    _leaves: list[Tensor]

    def __init__(
        self, given: Sequence[Tensor], *, connected: bool, recorded: bool | None = None
    ) -> None:
        self.given = list(given)
        self._recorded = connected if recorded is None else recorded
        self._leaves = []
        self.inner = [
            _view(x) if connected and x.requires_grad and leads_outside([x]) else self._leaf(x)
            for x in self.given
        ]
        self.edges = [InputEdge.of(x) for x in self.inner]

    def _leaf(self, tensor: Tensor) -> Tensor:
        value = innermost(tensor)
        if value.is_inference():
            # Its writes are not counted, so that it cannot be saved.
            value = value.clone()
        leaf = constant(value).requires_grad_()
        self._leaves.append(leaf)
        if thread.transform is not None:
            thread.transform.leaves.append(leaf)
        return rebatched(leaf, levels_of(tensor))

    def leave(self) -> None:
        """Make the leaves invisible, when the function has returned."""
        for leaf in self._leaves:
            hide(leaf)

    def gradients(
        self,
        outputs: Sequence[Tensor | Root],
        cotangents: Sequence[Tensor | None],
        *,
        recorded: bool,
        keep_graph: bool,
    ) -> list[Tensor | None]:
        """The gradients by the arguments; None for those that the outputs do not depend on."""
        return gradients_by(
            self.edges, outputs, cotangents, recorded=recorded, keep_graph=keep_graph
        )

    def shown(self, tensor: Tensor) -> Tensor:
        """A result as the caller sees it: without the leaves, and the caller's own tensors."""
        for inner, given in zip(self.inner, self.given, strict=True):
            if tensor is inner:
                return given
        if tensor.requires_grad and not leads_outside([tensor]):
            return constant(tensor)
        return tensor

    def shown_output(self, tensor: Tensor) -> Tensor:
        """A result of the function: as `shown`, and a constant if nothing is recorded outside."""
        shown = self.shown(tensor)
        if self._recorded or shown is not tensor or tensor.grad_fn is None:
            return shown
        return constant(tensor)


def gradients_by(
    edges: Sequence[InputEdge],
    outputs: Sequence[Tensor | Root],
    cotangents: Sequence[Tensor | None],
    *,
    recorded: bool,
    keep_graph: bool,
) -> list[Tensor | None]:
    """The gradients by some values; None for those that the outputs do not depend on."""
    roots = [x if isinstance(x, Root) else Root.of(x) for x in outputs]
    pairs = [
        (root.edge, of_value(cotangent, root.tensor))
        for root, cotangent in zip(roots, cotangents, strict=True)
        if root.edge is not None
    ]
    if not pairs:
        return [None] * len(edges)
    found = engine.grad(
        [output for output, _ in pairs],
        [edge.edge for edge in edges],
        [cotangent for _, cotangent in pairs],
        retain_graph=keep_graph or recorded,
        create_graph=recorded,
        allow_unused=True,
    )
    gradients = cast("Sequence[Tensor | None]", found)
    return [
        None if gradient is None else of_samples(gradient, edge.levels)
        for gradient, edge in zip(gradients, edges, strict=True)
    ]


def _view(tensor: Tensor) -> Tensor:
    """A view of all of a tensor, which may not be written."""
    if is_batched(tensor):
        return rebatched(_view(innermost(tensor)), levels_of(tensor))
    view = F.alias(tensor)
    meta = view._impl.autograd_meta
    if isinstance(meta, DifferentiableViewMeta) and meta.creation_meta is CreationMeta.DEFAULT:
        meta.creation_meta = CreationMeta.TRANSFORM_ARGUMENT
        meta.made_at = caller(OUTERMOST)
    return view
