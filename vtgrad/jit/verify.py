"""Whether a function has done what its replay would have done."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import starmap
from operator import call

import numpy as np

from vtgrad.jit.call import Computed, Replay
from vtgrad.jit.commit import Change
from vtgrad.jit.containers import flatten
from vtgrad.jit.interpret import same_value
from vtgrad.jit.structure import structure_of
from vtgrad.jit.values import bits_of
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["differs"]


def differs(
    replay: Replay, computed: Computed, leaves: Sequence[object], result: object
) -> str | None:
    """The first difference between a replay that is not committed and a run of the function.

    Parameters
    ----------
    replay : Replay
        The recording.
    computed : Computed
        What the replay has computed before the function ran.
    leaves : sequence of object
        The arguments.
    result : object
        What the function has returned.

    Returns
    -------
    str or None
        The beginning of a sentence; None if they are equal bit for bit.
    """
    expected = replay.result(computed, leaves)
    if structure_of(expected) != structure_of(result):
        return "results are nested otherwise"
    for number, (one, other) in enumerate(zip(flatten(expected), flatten(result), strict=True), 1):
        if one is not other and not _equal(one, other):
            return f"result {number} differs"
    written = False
    memories = replay.recording.memories()
    for memory, binding, live in zip(memories, replay.bindings, computed.lives, strict=True):
        if binding.written:
            written = True
            replayed = live.copy()
            stores: list[Change] = []
            binding.copy_out(replayed, stores)
            deque(starmap(call, stores), 0)
            if memory.bits(replayed) != memory.bits(live):
                return "memory that is written differs"
    if written:
        for counter, before, group in zip(
            computed.counters, computed.versions, replay.groups, strict=True
        ):
            if counter.value != before + group.by:
                return "the number of writes differs"
    for store in computed.grads:
        if not _equal(store.grad, store.cell.grad):
            return "a .grad differs"
    return None


def _equal(one: object, other: object) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, TensorBase) and isinstance(other, TensorBase):
        needs = [
            meta is not None and meta.needs_gradient()
            for meta in (one._impl.autograd_meta, other._impl.autograd_meta)
        ]
        return needs[0] is needs[1] and _same_array(one._impl.array, other._impl.array)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return _same_array(one, other)
    return same_value(one, other)


def _same_array(one: Array, other: Array) -> bool:
    """Whether two arrays have the same bits, NaN included."""
    return one.shape == other.shape and one.dtype == other.dtype and bits_of(one) == bits_of(other)
