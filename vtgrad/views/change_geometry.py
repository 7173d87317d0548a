# Compiled by mypyc.
"""Giving a tensor another geometry, on its own memory or on other memory."""

from __future__ import annotations

from vtgrad.graph.interrupted_write import UNFINISHED
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import forget_leaf_node, own_meta
from vtgrad.storage.record_write import SETITEM, count_change
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.views.differentiable_view_meta import view_meta_of
from vtgrad.views.rebase_history import set_own_history
from vtgrad.views.view_fn import Replay

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
    """Take over the geometry and memory of `changed`; the version moves, no element is written.

    Parameters
    ----------
    changed : TensorImpl
        The impl with the new geometry, already checked.
    operator : str
        The operator's name, for messages.
    node : Node or None
        The new producer of the tensor, if the change is recorded.
    view_fn : Replay or None
        For a view that needs it: the new way to make it from its base.
    same_elements : bool
        As in `set_own_history`.
    """
    impl = target._impl
    count_change(impl, operator, SETITEM)  # one function further than DIRECT
    if impl.autograd_meta is None and node is None:
        impl.set_geometry_of(changed)
        return
    if node is not None:
        # See Note [Unfinished writes]: the former producer has the former geometry.
        own_meta(target).store_producer(UNFINISHED, 0)
    view_meta = view_meta_of(target)
    if view_meta is not None:
        if view_fn is not None:
            view_meta.view_fn = view_fn
        view_meta.change_forward_geometry(changed)
    impl.set_geometry_of(changed)
    forget_leaf_node(target, same_elements=same_elements)
    if node is not None:
        set_own_history(target, node, same_elements=same_elements)
