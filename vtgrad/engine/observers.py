# Compiled by mypyc.
"""The observers of gradients during backward: hooks, retained gradients, and ``grad``.

See Note [Arrays inside, tensors outside]. The functions serve both loops; what differs between
arrays and tensors is in the buffers, and in the methods of `Run`.
"""

from __future__ import annotations

from vtgrad.engine.input_buffer import InputBuffer
from vtgrad.errors import ArgumentTypeError, HookError
from vtgrad.graph.hooks import GradCell, Gradients, NodeHooks, call_tensor_hooks
from vtgrad.graph.node import Node
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["as_gradients", "capture", "show_incoming", "show_to_tensor_hooks"]


def show_to_tensor_hooks(
    hooks: NodeHooks, inputs: InputBuffer, retained: list[tuple[GradCell, TensorBase]]
) -> None:
    """Call tensor hooks, which may replace the incoming gradients.

    Parameters
    ----------
    retained : list
        Collects the retained gradients with their cells.
    """
    metadata = inputs.function.input_metadata
    # Copies, because hooks may register others while they run.
    for nr, own in tuple(hooks.tensor_pre.items()):
        if own.entries:
            seen = call_tensor_hooks(
                tuple(own.entries.values()), inputs.given_away(nr), metadata[nr]
            )
            inputs.replace(nr, seen)
    for nr, cell in tuple(hooks.retain_grad.items()):
        copy = inputs.copied(nr)
        if copy is not None:
            retained.append((cell, copy))
    for part in hooks.parts:
        found = inputs.part(part)
        if found is not None:
            retained.append(found)


def capture(
    inputs: InputBuffer, captured: dict[int, list[int]], answer: list[TensorBase | None]
) -> None:
    """Return gradients to the caller of ``grad``."""
    for nr, indices in captured.items():
        for index in indices:
            answer[index] = inputs.captured(nr)


def show_incoming(hooks: NodeHooks, inputs: InputBuffer) -> Gradients:
    """Call a node's pre-hooks, which may replace the incoming gradients; returns the result."""
    node = inputs.function
    incoming: Gradients = ()
    for nr in range(len(node.input_metadata)):
        incoming = (*incoming, inputs.given_away(nr))
    for pre in tuple(hooks.pre.entries.values()):
        changed = pre(incoming)
        if changed is not None:
            incoming = as_gradients(changed, incoming, node)
    for nr, grad in enumerate(incoming):
        inputs.replace(nr, grad)
    return incoming


def as_gradients(value: object, shown: Gradients, node: Node) -> Gradients:
    """The gradients that a node hook returned in place of those that it got.

    Raises
    ------
    ArgumentTypeError
        If it returned something other than a tuple of tensors and None.
    HookError
        If it returned another number of gradients, one in place of None, or one of another shape or
        dtype.
    """
    if not isinstance(value, tuple):
        raise ArgumentTypeError(
            f"a hook of {node.name()} must return a tuple of gradients, or None to change "
            f"nothing, not {type(value).__name__}",
            node=node.name(),
        )
    grads: Gradients = value
    if len(grads) != len(shown):
        raise HookError(
            f"a hook of {node.name()} returned {len(grads)} gradients instead of {len(shown)}",
            node=node.name(),
            expected=len(shown),
            found=len(grads),
        )
    for nr, (grad, before) in enumerate(zip(grads, shown, strict=True)):
        if grad is None or grad is before:
            continue
        if not isinstance(grad, TensorBase):
            raise ArgumentTypeError(
                f"gradient {nr} that a hook of {node.name()} returned is no tensor but "
                f"{type(grad).__name__}",
                node=node.name(),
                index=nr,
            )
        if before is None:
            raise HookError(
                f"a hook of {node.name()} returned a gradient {nr}, where it was shown None",
                node=node.name(),
                index=nr,
            )
        there, here = before._impl.device, grad._impl.device
        if here is not there and here != there:
            raise HookError(
                f"a hook of {node.name()} turned gradient {nr} on {there} into one on {here}",
                node=node.name(),
                index=nr,
                expected=there,
                found=here,
            )
        expected = (before._impl.sizes, before._impl.dtype)
        found = (grad._impl.sizes, grad._impl.dtype)
        if found != expected:
            raise HookError(
                f"a hook of {node.name()} turned gradient {nr} from {expected[1]} of shape "
                f"{list(expected[0])} into {found[1]} of shape {list(found[0])}",
                node=node.name(),
                index=nr,
                expected=expected,
                found=found,
            )
    return grads
