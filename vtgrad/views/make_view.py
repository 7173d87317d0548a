# Compiled by mypyc.
"""Giving a fresh alias the metadata of a view."""

from __future__ import annotations

from typing import Final, TypeVar

from vtgrad.errors import InferenceModeError
from vtgrad.graph.input_metadata import InputMetadata, metadata_of
from vtgrad.graph.node import Node
from vtgrad.graph.recording import is_recording
from vtgrad.storage.key_set import keys
from vtgrad.storage.layout import PECULIAR
from vtgrad.storage.mode import switched
from vtgrad.storage.record_write import DIRECT, caller
from vtgrad.storage.tensor_base import TensorBase, handle_like
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import INFERENCE, Site
from vtgrad.views.creation_meta import CreationMeta, made_unrecorded, propagate
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta
from vtgrad.views.view_fn import Replay, replay_of
from vtgrad.views.view_info import ViewFunction

__all__ = ["make_view", "make_views"]

T = TypeVar("T", bound=TensorBase)

# Looking up a member of an enumeration costs as much as the test that uses it.
_DEFAULT: Final = CreationMeta.DEFAULT
_MULTI_OUTPUT: Final = CreationMeta.MULTI_OUTPUT_NODE


def make_view(
    parent: T,
    impl: TensorImpl,
    node: Node | None,
    output_nr: int = 0,
    creation: CreationMeta = _DEFAULT,
    view_fn: ViewFunction | None = None,
    made_at: Site | None = None,
) -> T:
    """The differentiable view of `parent` with `impl`, an alias of its impl.

    Parameters
    ----------
    parent : TensorBase
        The input of the view operator; its base becomes the view's base.
    impl : TensorImpl
        Made by `TensorImpl.alias`.
    node : Node or None
        The producer; None if nothing is recorded. The caller sets the input metadata of a node with
        several results.
    output_nr : int
        The number of the result of `node`.
    creation : CreationMeta
        The restriction of the operator's views while recording is on.
    view_fn : callable, optional
        Makes the view from `parent`, if its geometry does not suffice.
    made_at : Site, optional
        The line that makes the view, if it may not be written and the line is known already.

    Raises
    ------
    InferenceModeError
        If the parent is an inference tensor that requires grad, outside of inference mode.
    """
    counter = impl.version_counter
    assert counter is not None  # an alias has the counter of its base
    if counter is INFERENCE:
        return _inference_view(parent, impl, node)
    if node is None:
        # The first test of `is_recording`, inline to save a call.
        if switched.silent and not is_recording():
            creation = made_unrecorded()
    elif not node.input_metadata:
        # The first test of `metadata_of`, inline because every recorded view runs it.
        layout = impl.layout
        if layout is None or layout is PECULIAR:
            node.input_metadata = metadata_of(impl)
        else:
            node.input_metadata = layout.metadata
    base: TensorBase = parent
    replay: Replay | None = None
    parent_meta = parent._impl.autograd_meta
    if type(parent_meta) is DifferentiableViewMeta:
        base = parent_meta.base
        if parent_meta.creation_meta is not _DEFAULT:
            if creation is _DEFAULT:
                made_at = parent_meta.restricted_at()
            creation = propagate(parent_meta.creation_meta, creation)
        if view_fn is not None or parent_meta.view_fn is not None:
            replay = replay_of(base._impl, parent._impl, parent_meta.view_fn, impl, view_fn)
    elif view_fn is not None:
        replay = replay_of(base._impl, parent._impl, None, impl, view_fn)
    meta = impl.autograd_meta = DifferentiableViewMeta(
        base, replay, creation, counter.value, node, output_nr
    )
    if creation is not _DEFAULT:
        meta.made_at = caller(DIRECT) if made_at is None else made_at
    # Whether or not a level is open now: who follows whose tangent is decided once.
    if keys.active and type(parent_meta) is DifferentiableViewMeta:
        meta.share_forward_base(parent, parent_meta, impl, view_fn)
    # `handle_like` inline, to save a call for each small view.
    cls = type(parent)
    make = cls._make
    view: T = make(cls)
    view._impl = impl
    return view


def make_views(parent: T, impls: list[TensorImpl], node: Node | None) -> tuple[T, ...]:
    """The views of `parent` that one operator returns."""
    if node is not None:
        node.input_metadata = tuple(
            [InputMetadata(impl.array.shape, impl.array.dtype, impl.device) for impl in impls]
        )
    made_at = caller(DIRECT)
    return tuple(
        [
            make_view(parent, impl, node, 0 if node is None else nr, _MULTI_OUTPUT, made_at=made_at)
            for nr, impl in enumerate(impls)
        ]
    )


def _inference_view(parent: T, impl: TensorImpl, node: Node | None) -> T:
    """An alias of an inference tensor: it has no base, because no write is ever recorded."""
    if node is not None:
        raise InferenceModeError(
            "cannot record a view of an inference tensor that requires grad: views of inference "
            "tensors are never recorded, so the gradient would be lost. Clone it first, or make "
            "the view of its detach()"
        )
    return handle_like(parent, impl)
