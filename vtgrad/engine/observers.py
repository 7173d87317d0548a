"""The observers of gradients during backward: hooks, retained gradients, and ``grad``.

See Note [Arrays inside, tensors outside].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from ..graph.edge import Edge
from ..graph.hooks import GradCell, Gradients, NodeHooks, call_tensor_hooks
from ..graph.input_metadata import InputMetadata
from ..graph.node import Node
from ..graph.operators import operators
from ..graph.region import Gradient, Region
from ..storage.arrays import Array
from ..storage.geometry import has_self_overlap
from ..storage.lazy_array import resolved
from ..storage.tensor_base import TensorBase
from ..storage.tensor_impl import TensorImpl
from .input_buffer import InputBuffer
from .tensor_run import as_gradients
from .validate import fit_array

__all__ = [
    "Answer",
    "capture",
    "own_copy",
    "show_incoming",
    "show_outgoing",
    "show_to_tensor_hooks",
]

# A node's gradient for one of its inputs; a list of regions if they only pass through a view.
Answer: TypeAlias = Gradient | list[Region] | None


def _wrapped(array: Array) -> TensorBase:
    """A gradient as a tensor, for users."""
    return operators().wrap(TensorImpl(array))


def _given_away(buffer: InputBuffer, meta: InputMetadata) -> TensorBase | None:
    """The gradient in a buffer, for an observer that may keep it and write to it.

    The engine does not write to that memory afterwards.
    """
    array = buffer.whole(meta)
    if array is None:
        return None
    owned = buffer.owned
    buffer.owned = False
    if owned:
        return _wrapped(array)
    return own_copy(array)


def own_copy(array: Array) -> TensorBase:
    """A copy of a gradient that an observer may keep and write to; expanded if the gradient is."""
    if has_self_overlap(array.shape, array.strides):
        return _wrapped(_own_expanded(array))
    return operators().clone(_wrapped(array))


def _own_expanded(array: Array) -> Array:
    """A copy of an expanded array that is expanded too, which an observer may fill."""
    once = tuple([slice(None) if step else slice(0, 1) for step in array.strides])
    own = array[once].copy(order="K")
    strides = [new if step else 0 for step, new in zip(array.strides, own.strides, strict=True)]
    return np.lib.stride_tricks.as_strided(own, array.shape, strides)


def show_to_tensor_hooks(
    hooks: NodeHooks, buffer: InputBuffer, retained: list[tuple[GradCell, TensorBase]]
) -> None:
    """Call tensor hooks, which may replace the incoming gradients.

    Parameters
    ----------
    retained : list
        Collects the retained gradients with their cells.
    """
    metadata = buffer.function.input_metadata
    # Copies, because hooks may register others while they run.
    for nr, own in tuple(hooks.tensor_pre.items()):
        if own.entries:
            slot = buffer.at(nr)
            seen = call_tensor_hooks(
                tuple(own.entries.values()), _given_away(slot, metadata[nr]), metadata[nr]
            )
            slot.grad = None if seen is None else resolved(seen._impl.array)
    for nr, cell in tuple(hooks.retain_grad.items()):
        array = buffer.at(nr).whole(metadata[nr])
        if array is not None:
            retained.append((cell, _wrapped(array.copy())))
    for part in hooks.parts:
        array = buffer.at(0).whole(metadata[0])
        found = None if array is None else part.of_array(array)
        if found is not None:
            retained.append(found)


def capture(
    buffer: InputBuffer, captured: dict[int, list[int]], answer: list[TensorBase | None]
) -> None:
    """Return gradients to the caller of ``grad``."""
    metadata = buffer.function.input_metadata
    for nr, indices in captured.items():
        for index in indices:
            answer[index] = _given_away(buffer.at(nr), metadata[nr])


def show_incoming(hooks: NodeHooks, buffer: InputBuffer) -> Gradients:
    """Call a node's pre-hooks, which may replace the incoming gradients; returns the result."""
    node = buffer.function
    incoming: Gradients = ()
    for nr, meta in enumerate(node.input_metadata):
        incoming = (*incoming, _given_away(buffer.at(nr), meta))
    for pre in tuple(hooks.pre.entries.values()):
        changed = pre(incoming)
        if changed is not None:
            incoming = as_gradients(changed, incoming, node)
    for nr, grad in enumerate(incoming):
        buffer.at(nr).grad = None if grad is None else resolved(grad._impl.array)
    return incoming


def show_outgoing(
    node: Node, hooks: NodeHooks, answers: Sequence[Answer], incoming: Gradients
) -> Sequence[Answer]:
    """Call a node's post-hooks, which may replace the outgoing gradients; returns the result."""
    outgoing: Gradients = tuple(
        [
            _own_whole(answer, edge, node, nr)
            for nr, (answer, edge) in enumerate(zip(answers, node.next_edges, strict=True))
        ]
    )
    for post in tuple(hooks.post.entries.values()):
        changed = post(outgoing, incoming)
        if changed is not None:
            outgoing = as_gradients(changed, outgoing, node)
    return [None if grad is None else resolved(grad._impl.array) for grad in outgoing]


def _own_whole(answer: Answer, edge: Edge | None, node: Node, nr: int) -> TensorBase | None:
    """A node's answer as the gradient of an input, for a hook that may keep it and write to it.

    It is copied if it may be the incoming gradient, or a saved value. Nodes of lists of inputs and
    of custom Functions also have answers for inputs that need none: hooks get these unchanged.
    """
    if answer is None:
        return None
    if edge is None:
        assert isinstance(answer, np.ndarray)
        return own_copy(resolved(answer))
    meta = edge.function.input_metadata[edge.input_nr]
    if isinstance(answer, (list, Region)):
        total = np.zeros(meta.shape, meta.dtype)
        for region in answer if isinstance(answer, list) else [answer]:
            fitted = fit_array(region, meta, node, nr)
            total = fitted.add_into(total) if isinstance(fitted, Region) else total + fitted
        return _wrapped(total)
    whole = fit_array(answer, meta, node, nr)
    assert isinstance(whole, np.ndarray)
    if has_self_overlap(whole.shape, whole.strides):
        whole = _own_expanded(whole)
    elif whole is answer:
        whole = np.array(whole)
    return _wrapped(whole)
