# Compiled by mypyc.
"""The links between tensors and nodes."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.changed_leaf_shape import byte_strides_of_grad
from vtgrad.graph.edge import Edge, ResultEdge, edge_to
from vtgrad.graph.input_metadata import InputMetadata, metadata_of
from vtgrad.graph.node import Node
from vtgrad.storage.layout import PECULIAR
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_state import FREE_THREADED, refuse_second_thread

__all__ = [
    "collect_next_edges",
    "forget_leaf_node",
    "gradient_edge",
    "meta_of",
    "own_meta",
    "requires_grad",
    "set_history",
    "set_history_of_each",
    "tell_hooks",
]


def meta_of(tensor: TensorBase) -> AutogradMeta | None:
    """The tensor's autograd metadata, if it has any.

    See Note [The metadata of a result is its edge].
    """
    return None if tensor._impl.autograd_meta is None else own_meta(tensor)


def own_meta(tensor: TensorBase) -> AutogradMeta:
    """The tensor's autograd metadata, made on first use; see Note [Made once].

    Raises
    ------
    BatchedTensorError
        For a batched tensor.
    """
    impl = tensor._impl
    meta = impl.autograd_meta
    while not isinstance(meta, AutogradMeta):
        if FREE_THREADED:
            refuse_second_thread()
        if meta is None:
            if impl.extra_meta is not None:
                impl.check_has_memory()
            fresh = AutogradMeta()
        else:
            assert isinstance(meta, Edge)
            fresh = AutogradMeta(meta.function, meta.input_nr)
        if impl.autograd_meta is meta:
            impl.autograd_meta = fresh
            return fresh
        meta = impl.autograd_meta
    return meta


def requires_grad(*operands: object) -> bool:
    """Whether any of the operands is a tensor that requires grad."""
    for x in operands:
        if isinstance(x, TensorBase):
            meta = x._impl.autograd_meta
            if meta is not None and meta.needs_gradient():
                return True
    return False


def gradient_edge(operand: object) -> Edge | None:
    """The edge along which the gradient of an operand goes; None if it needs no gradient.

    Raises
    ------
    ViewInvalidError
        If the operand is a view whose gradient function cannot be rebuilt.
    """
    if not isinstance(operand, TensorBase):
        return None
    known = operand._impl.autograd_meta
    if known is None or isinstance(known, Edge):
        return known
    meta: AutogradMeta = known  # type: ignore[assignment]  # there is no other class; an assertion would cost each operator as much as this function
    function = meta.grad_fn(operand)
    if function is not None:
        return function if meta.output_nr == 0 else ResultEdge(function, meta.output_nr)
    if not meta.requires_grad_:
        return None
    return meta.grad_accumulator or _grad_accumulator(operand, meta)


def _grad_accumulator(leaf: TensorBase, meta: AutogradMeta) -> Edge:
    """The edge to a leaf's node, made on first use; see Note [Made once]."""
    fresh = AccumulateGrad.of_leaf(leaf, meta.own_cell())
    edge = meta.grad_accumulator
    if edge is None:
        edge = meta.grad_accumulator = fresh
    return edge


def tell_hooks(impl: TensorImpl) -> None:
    """Store a leaf's impl for its post-accumulate hooks, which may outlive the leaf."""
    meta = impl.autograd_meta
    if isinstance(meta, AutogradMeta) and meta.cell is not None and meta.cell.memory is not None:
        impl.storage  # noqa: B018  # from now on two impls share it
        meta.cell.memory.set_geometry_of(impl)


def forget_leaf_node(tensor: TensorBase, *, same_elements: bool = False) -> None:
    """Let the next use of a leaf make a new node, if its shape or dtype has changed.

    Hooks move to the new node. Graphs that were recorded before keep the old node; see Note [Leaves
    that change their shape].

    Parameters
    ----------
    same_elements : bool
        Whether the leaf only has other strides on the same elements: then their order counts too.
    """
    tell_hooks(tensor._impl)
    meta = meta_of(tensor)
    if meta is None or meta.grad_accumulator is None:
        return
    old = meta.grad_accumulator.function
    assert isinstance(old, AccumulateGrad)
    known, impl = old.input_metadata[0], tensor._impl
    if (
        known.shape == impl.sizes
        and known.dtype == impl.dtype
        and not (same_elements and old.byte_strides != byte_strides_of_grad(impl))
    ):
        return
    old.leaf_changed = True
    old.reordered = old.reordered or same_elements
    meta.grad_accumulator = None
    edge = gradient_edge(tensor)
    if edge is not None:
        new = edge.function
        assert isinstance(new, AccumulateGrad)
        new.hooks = old.hooks
        # The present `.grad` has the old shape.
        new.leaf_changed = True


def collect_next_edges(*operands: object) -> tuple[Edge | None, ...]:
    """One edge for each operand."""
    return tuple([gradient_edge(x) for x in operands])


def set_history(result: TensorBase, node: Node) -> None:
    """Make `result`, a new tensor, the only result of `node`."""
    impl = result._impl
    layout = impl.layout
    # The first test of `metadata_of`, inline because every recorded operator runs it.
    if layout is None or layout is PECULIAR:
        node.input_metadata = metadata_of(impl)
    else:
        node.input_metadata = layout.metadata
    impl.autograd_meta = node


def set_history_of_each(results: Sequence[TensorBase], node: Node) -> None:
    """Make fresh results the results of `node`.

    Integer tensors, which come after all others, have no gradient and are not results of the node:
    as in PyTorch its hooks do not see them.
    """
    metadata: list[InputMetadata] = []
    for result in results:
        impl = result._impl
        if impl.array.dtype.kind in "fc":
            impl.autograd_meta = edge_to(node, len(metadata))
            metadata.append(InputMetadata(impl.array.shape, impl.array.dtype, impl.device))
    node.input_metadata = tuple(metadata)
