"""Opening a level of batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from vtgrad.graph.batch import BatchLevel, with_entries
from vtgrad.graph.forward_grad import new_level_number
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.calling.take_over import handle_key
from vtgrad.ops.rules.batches.take_over_batched import take_over_batched
from vtgrad.storage.key_set import BATCHED, keys
from vtgrad.storage.version_counter import Site

__all__ = ["run_in_batch"]

R = TypeVar("R")


def run_in_batch(
    body: Callable[[BatchLevel], R],
    size: int,
    randomness: str = "error",
    called_at: Site | None = None,
) -> R:
    """Call a function with a new level, which is open until it returns.

    Parameters
    ----------
    body : callable
        Takes the level.
    size : int
        The number of samples.
    randomness : str
        See Note [Random numbers in a batch].
    called_at : Site, optional
        The line of the user's program, for errors.
    """
    level = BatchLevel(new_level_number(), size, randomness)
    level.called_at = called_at
    before = thread.batch_levels
    try:
        keys.active = True
        thread.batch_levels = (*before, level)
        return body(level)
    finally:
        level.is_open = False
        thread.batch_levels = before
        with_entries.discard(level)
        # The level may live as long as a graph.
        level.aliases = []
        level.copies.clear()
        level.writes.clear()


# Only this module opens levels, so no tensor is batched before. See Note [Tools come at first use].
handle_key(BATCHED, take_over_batched)
