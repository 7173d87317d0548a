"""Giving a fresh alias the metadata of a view."""

from __future__ import annotations

from typing import Final, TypeVar

from ..graph.input_metadata import InputMetadata, metadata_of
from ..graph.node import Node
from ..graph.operators import operators
from ..graph.recording import is_grad_enabled
from ..storage.tensor_base import TensorBase, handle_like
from ..storage.tensor_impl import TensorImpl
from .creation_meta import CreationMeta, propagate
from .differentiable_view_meta import DifferentiableViewMeta
from .view_info import ViewFunction

__all__ = ["make_view", "make_views"]

T = TypeVar("T", bound=TensorBase)

# Looking up a member of an enumeration costs as much as the test that it is for.
_DEFAULT: Final = CreationMeta.DEFAULT
_MULTI_OUTPUT: Final = CreationMeta.MULTI_OUTPUT_NODE
_NO_GRAD: Final = CreationMeta.NO_GRAD_MODE


def make_view(
    parent: T,
    impl: TensorImpl,
    node: Node | None,
    *,
    output_nr: int = 0,
    multi_output: bool = False,
    view_fn: ViewFunction | None = None,
) -> T:
    """The differentiable view of `parent` that `impl`, an alias of its impl, looks at.

    Parameters
    ----------
    parent : TensorBase
        What the view operator was called on; its base becomes the view's base.
    impl : TensorImpl
        Made by `TensorImpl.alias`.
    node : Node or None
        The producer; None if nothing is recorded. Its input metadata is the caller's business
        when it has several results.
    output_nr : int
        Which result of `node` this is.
    multi_output : bool
        Whether the operator returns several views.
    view_fn : callable, optional
        Makes the view from `parent`, if its geometry does not say how.
    """
    creation = (_MULTI_OUTPUT if multi_output else _DEFAULT) if is_grad_enabled() else _NO_GRAD
    base: TensorBase = parent
    parent_meta = parent._impl.autograd_meta
    if isinstance(parent_meta, DifferentiableViewMeta):
        base = parent_meta.base
        creation = propagate(parent_meta.creation_meta, creation)
        if view_fn is not None or parent_meta.view_fn is not None:
            view_fn = _chain(parent_meta.view_fn, view_fn, parent._impl, impl)
    if node is not None and not multi_output:
        node.input_metadata = metadata_of(impl)
    impl.autograd_meta = DifferentiableViewMeta(
        base, view_fn, creation, impl.counter.value, node, 0 if node is None else output_nr
    )
    return handle_like(parent, impl)


def make_views(parent: T, impls: list[TensorImpl], node: Node | None) -> tuple[T, ...]:
    """The views of `parent` that one operator returns together."""
    if node is not None:
        node.input_metadata = tuple(
            [InputMetadata(impl.array.shape, impl.array.dtype) for impl in impls]
        )
    return tuple(
        [
            make_view(parent, impl, node, output_nr=nr, multi_output=True)
            for nr, impl in enumerate(impls)
        ]
    )


def _chain(
    first: ViewFunction | None,
    second: ViewFunction | None,
    parent: TensorImpl,
    impl: TensorImpl,
) -> ViewFunction:
    """One view function for a view of a view; a missing one is the view's geometry."""
    to_parent = first if first is not None else _restride(parent)
    to_view = second if second is not None else _restride(impl)
    return lambda base: to_view(to_parent(base))


def _restride(impl: TensorImpl) -> ViewFunction:
    sizes, strides, offset = impl.sizes, impl.strides, impl.storage_offset
    return lambda tensor: operators().as_strided(tensor, sizes, strides, offset)
