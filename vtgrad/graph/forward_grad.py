"""Tangents of forward mode, and the levels at which they live.

Note [Levels]

A level of forward mode is opened and closed in this form, no part of which may become a function
(Note [Switching a mode] says why):

    level = DualLevel()
    try:
        keys.levels[level.number] = level
        saves_observed.reasons += 1
        ...
    finally:
        del keys.levels[level.number]
        if level.number in keys.modes:
            del keys.modes[level.number]
        saves_observed.reasons -= 1
        level.drop_tangents()

While it is open tensors may have a tangent at that level. Levels are numbered in the order in which
they are entered, and a number is never used again, so that a tangent of a closed level is never
taken for one of another. Which levels are open is in `keys.levels`. At its first tangent a level is
listed in `keys.modes` too: operators look at tangents only while that is not empty.

An operator treats the highest level among its operands first. Its own call, and the formula of its
tangent, run with `thread.forward_limit` set to that level: tangents of this level and of higher
ones do not exist for them, those of lower levels do. So the result, and its tangent, may have
tangents of lower levels themselves, which is what nested transforms need:

    y = x * w         x has t2 at level 2, w has t1 at level 1
    level 2:          value: x * w at limit 2      (has a tangent x * t1 at level 1)
                      tangent: t2 * w at limit 2   (has a tangent t2 * t1 at level 1)

A tensor's tangents are in its `ForwardGrad`, which is made on first use and never shared by two
tensors. A view has none of its own at first: its tangent is the same view of its base's tangent,
which is made when it is asked for. A level keeps weak references to all `ForwardGrad` with a
tangent of it that are still in use, and empties them when it is closed. A node that has saved its
result holds the result's `ForwardGrad`, and the graph of that tangent may lead back to the node:
such a cycle ends with the level too.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Final

from vtgrad.errors import ForwardModeError
from vtgrad.graph.hooks import graph_lock
from vtgrad.graph.operators import operators
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.key_set import keys
from vtgrad.storage.mode import mode_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_state import changed, run_with

__all__ = ["DualLevel", "ForwardGrad", "is_placed_as", "new_level_number", "recorded"]

_RECORDING: Final = changed(mode=mode_of(grad=True, inference=False))
_numbers: Final = itertools.count(1)


class DualLevel:
    """One level of forward mode; see Note [Levels].

    Attributes
    ----------
    number : int
        Later levels have larger numbers.
    members : set of weak reference to ForwardGrad
        What is emptied when the level is closed. A reference removes itself when its object ends.
    """

    __slots__ = ("members", "number")

    number: int
    members: set[weakref.ref[ForwardGrad]]

    def __init__(self) -> None:
        self.number = new_level_number()
        self.members = set()

    def drop_tangents(self) -> None:
        """Release the tangents when the level is closed: they cannot be read any more."""
        # A copy, because objects may end meanwhile.
        for reference in self.members.copy():
            member = reference()
            if member is not None:
                member.tangents.pop(self.number, None)
                member.unfinished.discard(self.number)
        # Else the references of tensors that live on would hold the set, which holds them.
        self.members.clear()


def new_level_number() -> int:
    """A number larger than those of all levels so far."""
    return next(_numbers)


class ForwardGrad:
    """The tangents of one tensor; see Note [Levels].

    Attributes
    ----------
    tangents : dict of int to TensorBase
        By the number of the level.
    unfinished : set of int
        Levels at which a write to the tensor was interrupted before it wrote the tangent.
    """

    __slots__ = ("__weakref__", "tangents", "unfinished")

    tangents: dict[int, TensorBase]
    unfinished: set[int]

    def __init__(self) -> None:
        self.tangents = {}
        self.unfinished = set()

    def level(self, limit: int) -> int:
        """The highest open level below a limit at which there is a tangent; 0 for none."""
        found = 0
        for number in self.tangents:
            if found < number < limit and number in keys.levels:
                found = number
        return found

    def read(self, number: int) -> TensorBase | None:
        """The tangent at an open level.

        Raises
        ------
        ForwardModeError
            If a write was interrupted between the value and the tangent.
        """
        if number not in keys.levels:
            return None
        if number in self.unfinished:
            raise ForwardModeError(
                "a write to this tensor was interrupted after it stored the value and before it "
                "stored the tangent, so the tangent is not that of the value. Make the tensor "
                "again"
            )
        return self.tangents.get(number)

    def placed_as(self, owner: TensorBase, number: int, tangent: TensorBase) -> TensorBase:
        """The view of a tangent at the present geometry of its tensor, kept from now on.

        Raises
        ------
        ForwardModeError
            If the tensor has other memory by now, of another size.
        """
        impl = owner._impl
        if impl.storage.nbytes() != tangent._impl.storage.nbytes():
            raise ForwardModeError(
                f"this tensor has shape {list(impl.sizes)} by now, and a tangent of shape "
                f"{list(tangent._impl.sizes)}: it was given other memory. Make the tensor again"
            )
        geometry = impl.geometry
        placed = recorded(lambda: operators().as_strided(tangent, *geometry))
        self.set(number, placed)
        return placed

    def set(self, number: int, tangent: TensorBase | None) -> None:
        """Store the tangent of an open level, or remove it."""
        if tangent is None:
            self.tangents.pop(number, None)
            return
        with graph_lock:
            level = keys.levels.get(number)
            if isinstance(level, DualLevel):
                # Before there is a tangent, so that no operator misses one.
                keys.active = True
                try:
                    keys.modes[number] = level
                finally:
                    # Another thread may have closed the level meanwhile.
                    if number not in keys.levels:
                        keys.modes.pop(number, None)
                if number not in self.tangents:
                    # `discard` is one call that is not interrupted, on whatever thread.
                    level.members.add(weakref.ref(self, level.members.discard))
                self.tangents[number] = tangent


def is_placed_as(tangent: Array, value: Array) -> bool:
    """Whether a tangent has the geometry of its tensor; strides of single elements are free."""
    if tangent.shape == value.shape and tangent.strides == value.strides:
        return True
    if type(tangent) not in PLAIN or type(value) not in PLAIN:
        return True  # lazy arrays are views of others, batches have dimensions of their own
    return tangent.shape == value.shape and (
        not value.size
        or all(
            a == b or n == 1
            for n, a, b in zip(value.shape, tangent.strides, value.strides, strict=True)
        )
    )


def recorded(make: Callable[[], TensorBase]) -> TensorBase:
    """A view of a tangent, made as with recording on; see Note [The tangent of a view]."""
    return run_with(_RECORDING, make)
