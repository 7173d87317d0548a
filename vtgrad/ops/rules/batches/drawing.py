"""Random numbers inside of `vmap`.

Note [Random numbers in a batch]

What a function draws inside of `vmap` is not said by its tensors: `rand(3)` has no operand that
could have samples. So the functions that draw look at the levels of the thread, the innermost
first, and at the `randomness` of each:

    error       drawing is refused
    same        one draw for all samples: what is drawn has no samples at this level
    different   a draw for each sample: the numbers of one draw with the samples in front

While the levels further out are asked, `thread.batch_levels` has only those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from vtgrad.errors import BatchedTensorError
from vtgrad.graph.batch import BatchLevel, batched
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches import values
from vtgrad.storage.argument_types import T
from vtgrad.storage.arrays import Shape
from vtgrad.storage.thread_state import changed, run_with

__all__ = ["checked_randomness", "drawn_in_batch", "outside_of", "target_of_draw"]

R = TypeVar("R")


def checked_randomness(level: BatchLevel, function: str) -> str:
    """What a level says of random numbers.

    Raises
    ------
    BatchedTensorError
        If it refuses them.
    """
    if level.randomness == "error":
        raise BatchedTensorError(
            f"{function} draws random numbers inside of vmap, which does not say how: pass "
            "randomness='same' to vmap for one draw for all samples, or 'different' for one each"
        )
    return level.randomness


def outside_of(level: BatchLevel, function: Callable[[], R]) -> R:
    """Call a function with the levels of this thread that are further out than `level`."""
    levels = thread.batch_levels
    return run_with(changed(batch_levels=levels[: levels.index(level)]), function)


def drawn_in_batch(make: Callable[[Shape], T], shape: Shape, function: str) -> T:
    """What a function that draws a new tensor returns inside of `vmap`.

    Parameters
    ----------
    make : callable
        Draws a tensor of some shape.
    """
    levels = thread.batch_levels
    if not levels:
        return make(shape)
    level = levels[-1]
    if checked_randomness(level, function) == "same":
        return outside_of(level, lambda: drawn_in_batch(make, shape, function))
    whole = outside_of(level, lambda: drawn_in_batch(make, (level.size, *shape), function))
    return batched(whole, level)


def target_of_draw(tensor: T) -> T:
    """A fresh tensor that is to be filled with random numbers, with a place for each draw."""
    for level in thread.batch_levels:
        if level.randomness == "different" and not values.is_batched_at(tensor, level):
            whole = F.clone(F.expand_sizes(tensor, (level.size, *tensor._impl.array.shape)))
            tensor = batched(whole, level)
    return tensor
