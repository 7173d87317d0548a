"""Letting a tensor look at its memory, or at other memory, through another geometry."""

from __future__ import annotations

from ..graph.functions import forget_leaf_node, own_meta
from ..graph.interrupted_write import UNFINISHED
from ..graph.node import Node
from ..storage.tensor_base import TensorBase
from ..storage.tensor_impl import TensorImpl
from ..storage.writers import BRACKETS, count_change
from .differentiable_view_meta import view_meta_of
from .rebase_history import set_own_history
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
    """Look at what `changed` looks at from now on; the version moves, no element is written.

    Parameters
    ----------
    changed : TensorImpl
        The new geometry, checked already.
    operator : str
        The operator's name, for messages.
    node : Node or None
        The producer of the tensor from now on, if that is recorded.
    view_fn : Replay or None
        For a view that needs it: how it is made from its base from now on.
    same_elements : bool
        As `set_own_history` has it.
    """
    impl = target._impl
    count_change(impl, operator, BRACKETS)  # one function further than DIRECT
    if impl.autograd_meta is None and node is None:
        impl.set_geometry_of(changed)
        return
    if node is not None:
        # See Note [Unfinished writes]: the former producer has the former geometry.
        own_meta(target).store_producer(UNFINISHED, 0)
    view_meta = view_meta_of(target)
    if view_meta is not None and view_fn is not None:
        view_meta.view_fn = view_fn
    impl.set_geometry_of(changed)
    forget_leaf_node(target, same_elements=same_elements)
    if node is not None:
        set_own_history(target, node, same_elements=same_elements)
