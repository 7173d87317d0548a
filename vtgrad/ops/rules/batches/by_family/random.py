"""Operators that draw random numbers; see Note [Random numbers in a batch]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from vtgrad.errors import BatchedTensorError
from vtgrad.graph.batch import BatchLevel, batch_of, note_made, value_of
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.batched_call import BatchedCall
from vtgrad.ops.rules.batches.drawing import checked_randomness, outside_of
from vtgrad.ops.rules.batches.given_samples import give_samples

__all__ = ["RULES"]


def random_write(call: BatchedCall) -> object:
    """A tensor is filled: one with samples, or without them with one draw for all."""
    call.level = _innermost_level()
    target, options = call.tensor("input"), dict(call.arguments)
    has_samples = call.has_samples("input")
    name = call.operator.spoken
    if checked_randomness(call.level, name) == "different":
        if not has_samples and not give_samples(target, call.level):
            raise BatchedTensorError(
                f"{name} would fill one tensor of shape {list(target._impl.array.shape)}, which "
                "has no samples, with a draw for each sample: make the tensor inside of the "
                "function, or use randomness='same'"
            )
        own = batch_of(target)
        if not has_samples and own is not None and own.level is not call.level:
            # It got samples of levels further in too, which draw the same for all of theirs.
            one = F.zeros_shaped(value_of(target), target._impl.array.shape)
            note_made(one, thread.batch_levels)
            call.called({**options, "input": one})
            return F.copy_(target, one)
        for other, tensor in call.tensors():
            options[other] = call.expanded(tensor).value
        outside_of(call.level, lambda: call.called(options))
        return target
    others = [tensor for other, tensor in call.tensors() if other != "input"]
    if any(call.operand(tensor).has_samples for tensor in others):
        raise _differ(name)
    if not has_samples:
        outside_of(call.level, lambda: call.called(options))
        return target
    value = call.value("input")
    one = F.zeros_shaped(value, target._impl.array.shape)
    outside_of(call.level, lambda: call.called({**options, "input": one}))
    F.copy_(value, one)
    return target


def random(call: BatchedCall) -> object:
    """A new tensor, whose distribution is said by tensors that may have samples."""
    call.level = _innermost_level()
    name, options = call.operator.spoken, dict(call.arguments)
    if checked_randomness(call.level, name) == "same":
        if any(call.has_samples(other) for other, _ in call.tensors()):
            raise _differ(name)
        return outside_of(call.level, lambda: call.called(options))
    operands = {other: call.expanded(tensor) for other, tensor in call.tensors()}
    ndim = max(operand.tensor._impl.array.ndim for operand in operands.values())
    for other, operand in operands.items():
        options[other] = call.aligned(operand, ndim)
    return call.finish(outside_of(call.level, lambda: call.called(options)))


def _innermost_level() -> BatchLevel:
    levels = thread.batch_levels
    if not levels:
        raise BatchedTensorError(
            "a tensor of one sample is filled with random numbers on another thread than its vmap's"
        )
    return levels[-1]


def _differ(name: str) -> BatchedTensorError:
    return BatchedTensorError(
        f"{name} inside of vmap with randomness='same' would draw from another distribution for "
        "each sample: use randomness='different'"
    )


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "random": random,
    "random_write": random_write,
}
