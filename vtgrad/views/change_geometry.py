"""Letting a tensor look at its memory, or at other memory, through another geometry."""

from __future__ import annotations

from ..graph.functions import forget_leaf_node, meta_of, tell_hooks
from ..graph.node import Node
from ..storage.tensor_base import TensorBase
from ..storage.tensor_impl import TensorImpl
from ..storage.writers import BRACKETS, count_write
from .differentiable_view_meta import view_meta_of
from .rebase_history import history_of, restore_history, set_own_history
from .replay import Replay

__all__ = ["change_geometry"]


def change_geometry(
    target: TensorBase,
    changed: TensorImpl,
    operator: str,
    node: Node | None = None,
    view_fn: Replay | None = None,
    *,
    same_elements: bool = True,
) -> None:
    """Look at what `changed` looks at from now on; the version moves.

    After an error everything is as before; see Note [The write funnel].

    Parameters
    ----------
    changed : TensorImpl
        The new geometry, checked already.
    operator : str
        The operator's name, for those who ask who wrote.
    node : Node or None
        The producer of the tensor from now on, if that is recorded.
    view_fn : Replay or None
        For a view that needs it: how it is made from its base from now on.
    same_elements : bool
        As `set_own_history` has it.
    """
    impl = target._impl
    if impl.autograd_meta is None and node is None:
        count_write(impl, operator, BRACKETS)  # one function further than DIRECT
        try:
            impl.set_geometry_of(changed)
        except BaseException:
            impl.counter.value -= 1
            raise
        return
    before = TensorImpl(impl.array)
    before.set_geometry_of(impl)
    history = history_of(target)
    view_meta = view_meta_of(target)
    former_fn = None if view_meta is None else view_meta.view_fn
    meta = meta_of(target)
    leaf_edge = None if meta is None else meta.leaf_edge
    count_write(impl, operator, BRACKETS)
    try:
        if view_meta is not None and view_fn is not None:
            view_meta.view_fn = view_fn
        impl.set_geometry_of(changed)
        forget_leaf_node(target, same_elements=same_elements)
        if node is not None:
            set_own_history(target, node, same_elements=same_elements)
    except BaseException:
        impl.counter.value -= 1
        impl.set_geometry_of(before)
        tell_hooks(impl)
        if view_meta is not None:
            view_meta.view_fn = former_fn
        if meta is not None:
            meta.leaf_edge = leaf_edge
        restore_history(target, history)
        raise
