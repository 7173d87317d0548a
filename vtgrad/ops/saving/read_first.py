# Compiled by mypyc.
"""Reading a value before the memory that it shares is written."""

from __future__ import annotations

from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.recording import is_recording
from vtgrad.graph.saved_tangents import pass_tangents
from vtgrad.graph.set_history import gradient_edge, requires_grad
from vtgrad.graph.thread_levels import thread
from vtgrad.storage.argument_types import T
from vtgrad.storage.key_set import DUAL, keys
from vtgrad.storage.tensor_base import TensorBase, wrap_like
from vtgrad.views.make_view import make_view

__all__ = ["read_first"]


def read_first(value: T, target: object) -> T:
    """The value as it is before `target` is written, if they share memory.

    The result has the value's producer, so that nothing of this is seen in the graph, and copies of
    its tangents.
    """
    if not isinstance(target, TensorBase):
        return value  # the operator says what is wrong
    # Without a storage the buffer has no views.
    storage = value._impl._storage
    if storage is None or storage is not target._impl._storage:
        return value
    twin = wrap_like(value, value._impl.array.copy())
    if is_recording() and requires_grad(value):
        edge = gradient_edge(value)
        if edge is not None:
            twin._impl.autograd_meta = AutogradMeta.of_edge(edge)
        else:
            # A view that was made without recording requires grad, and passes none on.
            meta = twin._impl.autograd_meta = AutogradMeta()
            meta.requires_grad_ = True
            twin = make_view(twin, twin._impl.alias(twin._impl.array, 0), None)
    if keys.modes and not thread.excluded_keys & DUAL:
        pass_tangents(value, twin, thread.forward_limit, copies=True)
    return twin
