"""Calling a function so that it can be differentiated by its arguments in reverse mode.

NOTE [ Arguments of a transform ]

A function that is differentiated gets tensors of its own, on the memory of the caller's. If the
caller's tensor requires grad and is to stay connected, its own one is a view of it, otherwise a
leaf that requires grad. Gradients are taken with respect to the edges of exactly these tensors.
That keeps nested derivatives apart: a tensor that the function captures is another value, even if
it is the caller's tensor itself.

    grad(lambda a: a * grad(lambda b: a + b)(a))     the inner function is a + b with a leaf b, or
                                                     a view b of a; its derivative by b is 1

A leaf becomes invisible when the function has returned: its node ignores gradients from then on,
and `leads_outside` does not count it. So a result that depends only on such leaves is shown to the
caller as a constant, and a backward is recorded only if the result may be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar, cast

from ..engine import backward as engine
from ..errors import InferenceModeError
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.forward_grad import new_level_number
from ..graph.gradient_edge import GradientEdge, get_gradient_edge
from ..graph.hooks import LeafState
from ..graph.node import Node
from ..graph.set_history import gradient_edge, own_meta
from ..ops.generated import functional as F
from ..storage.key_set import keys
from ..storage.mode import switched
from ..storage.record_write import OUTERMOST, caller
from ..storage.thread_mode import settle, thread
from ..storage.tracer import detach_traced
from ..tensor.tensor import Tensor
from ..views.creation_meta import CreationMeta
from ..views.differentiable_view_meta import DifferentiableViewMeta

__all__ = [
    "Arguments",
    "constant",
    "gradients_by",
    "hide",
    "in_transform",
    "leads_outside",
    "runs_users_code",
]

R = TypeVar("R")

_ACCUMULATES: Final = LeafState.ACCUMULATES


def in_transform(body: Callable[[], R]) -> R:
    """Call a function with recording on, as the innermost transform in reverse mode.

    Raises
    ------
    InferenceModeError
        In inference mode, where nothing is recorded.
    """
    mode, level, ident = thread.mode, thread.reverse_level, thread.ident
    if mode.inference:
        raise InferenceModeError(
            "derivatives in reverse mode need a record, and inference mode makes none; leave it "
            "for the call by `with inference_mode(False)`"
        )
    number = new_level_number()
    try:
        thread.reverse_level = number
        thread.mode = switched.silent[ident] = mode.by_grad[True]
        settle(ident)
        return body()
    finally:
        thread.reverse_level = level
        thread.mode = switched.silent[ident] = mode
        settle(ident)


def constant(tensor: Tensor) -> Tensor:
    """A tensor on the same memory that leads to no graph, with the same tangents."""
    alias = tensor.detach()
    if keys.modes:
        detach_traced(alias, tensor)
    meta = tensor._impl.autograd_meta
    if meta is not None and keys.modes:
        for number in tuple(keys.modes):
            tangent = own_meta(tensor).fw_grad(number, tensor)
            if tangent is not None:
                own_meta(alias).set_fw_grad(tangent, alias, number, False)
    return alias


def hide(leaf: Tensor) -> None:
    """Make a leaf invisible: its node ignores gradients, and `leads_outside` does not count it."""
    own_meta(leaf).own_cell().leaf_state = LeafState.IGNORES


def leads_outside(tensors: Iterable[Tensor]) -> bool:
    """Whether the graph of one of the tensors leads to a leaf to which a gradient may still go.

    Leaves of finished transforms do not count; see Note [Arguments of a transform].
    """
    for node in _nodes(tensors):
        if isinstance(node, AccumulateGrad):
            if node.cell.leaf_state is _ACCUMULATES:
                return True
        elif all(edge is None for edge in node.next_edges):
            # A node that keeps its inputs to itself: they may be anything.
            return True
    return False


def runs_users_code(tensors: Iterable[Tensor]) -> bool:
    """Whether backward from one of the tensors calls functions of the user, or may call them."""
    return any(
        not isinstance(node, AccumulateGrad) and (node.hooks is not None or node.runs_users_code())
        for node in _nodes(tensors)
    )


def _nodes(tensors: Iterable[Tensor]) -> Iterator[Node]:
    """All nodes to which some tensors lead, each once."""
    stack = [edge.function for edge in map(gradient_edge, tensors) if edge is not None]
    seen = set(stack)
    while stack:
        node = stack.pop()
        yield node
        for edge in node.next_edges:
            if edge is not None and edge.function not in seen:
                seen.add(edge.function)
                stack.append(edge.function)


class Arguments:
    """What a function is called with, and the edges by which it is differentiated.

    Parameters
    ----------
    given : sequence of Tensor
        The tensors of the caller.
    connected : bool
        Whether results may depend on `given` in the caller's graph.

    Attributes
    ----------
    given, inner : list of Tensor
        The tensors of the caller, and those that the function gets; see Note [Arguments of a
        transform].
    edges : list of GradientEdge
        The values of `inner` at the beginning.
    """

    __slots__ = ("_leaves", "edges", "given", "inner")

    given: list[Tensor]
    inner: list[Tensor]
    edges: list[GradientEdge]
    _leaves: list[Tensor]

    def __init__(self, given: Sequence[Tensor], *, connected: bool) -> None:
        self.given = list(given)
        self._leaves = []
        self.inner = [
            _view(x) if connected and x.requires_grad else self._leaf(x) for x in self.given
        ]
        self.edges = [get_gradient_edge(x) for x in self.inner]

    def _leaf(self, tensor: Tensor) -> Tensor:
        leaf = constant(tensor).requires_grad_()
        self._leaves.append(leaf)
        return leaf

    def leave(self) -> None:
        """Make the leaves invisible, when the function has returned."""
        for leaf in self._leaves:
            hide(leaf)

    def gradients(
        self,
        outputs: Sequence[Tensor],
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


def gradients_by(
    edges: Sequence[GradientEdge],
    outputs: Sequence[Tensor],
    cotangents: Sequence[Tensor | None],
    *,
    recorded: bool,
    keep_graph: bool,
) -> list[Tensor | None]:
    """The gradients by some values; None for those that the outputs do not depend on."""
    pairs = [(o, c) for o, c in zip(outputs, cotangents, strict=True) if o.requires_grad]
    if not pairs:
        return [None] * len(edges)
    found = engine.grad(
        [output for output, _ in pairs],
        edges,
        [cotangent for _, cotangent in pairs],
        retain_graph=keep_graph or recorded,
        create_graph=recorded,
        allow_unused=True,
    )
    return cast("list[Tensor | None]", list(found))


def _view(tensor: Tensor) -> Tensor:
    """A view of all of a tensor, which may not be written."""
    view = F.alias(tensor)
    meta = view._impl.autograd_meta
    if isinstance(meta, DifferentiableViewMeta) and meta.creation_meta is CreationMeta.DEFAULT:
        meta.creation_meta = CreationMeta.TRANSFORM_ARGUMENT
        meta.made_at = caller(OUTERMOST)
    return view
