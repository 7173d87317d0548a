"""Gradients that wait for a node to run."""

from typing import TypeAlias

import numpy as np

from ..graph.input_metadata import InputMetadata
from ..graph.region import Gradient, Region
from ..storage.arrays import Array

__all__ = ["InputBuffer", "ownership_is_used", "use_ownership"]


class _Switch:
    """Whether owned arrays are reused. Off, every sum is a new array.

    The numbers are the same, up to rounding: a new array may have another memory order, in which
    a later reduction adds up in another order.
    """

    __slots__ = ("on",)
    on: bool

    def __init__(self) -> None:
        self.on = True


_ownership = _Switch()


def use_ownership(on: bool) -> None:
    """Switch the reuse of owned gradient arrays on or off, for tests of that very machinery."""
    _ownership.on = on


def ownership_is_used() -> bool:
    """Whether owned gradient arrays are reused."""
    return _ownership.on


# A slot holds nothing, a whole gradient, or regions that no whole gradient was needed for yet.
Slot: TypeAlias = Array | list[Region] | None


class InputBuffer:
    """One slot for each result of a node; sums what arrives there.

    An array is added into only if this buffer is its sole holder, see
    Note [Ownership of gradients]. Regions wait in a list until a whole gradient arrives, or the
    node runs, or there are so many that writing them out is cheaper; see Note [Regions].

    Attributes
    ----------
    slots : list
        The gradients.
    owned : list of bool
        Whether the array in the slot may be written.
    """

    __slots__ = ("owned", "slots", "waiting")

    slots: list[Slot]
    owned: list[bool]
    waiting: int

    def __init__(self, size: int) -> None:
        self.slots = [None] * size
        self.owned = [False] * size
        self.waiting = 0

    def add(self, nr: int, grad: Gradient, owned: bool, meta: InputMetadata) -> None:
        """Add a gradient of the right shape and dtype to slot `nr`."""
        present = self.slots[nr]
        if isinstance(grad, Region):
            self._add_region(nr, present, grad, meta)
        elif present is None:
            self.slots[nr] = grad
            self.owned[nr] = owned
        elif isinstance(present, list):
            whole = grad if owned and _ownership.on else np.array(grad)
            for region in present:
                whole = region.add_into(whole)
            self.slots[nr] = whole
            self.owned[nr] = True
        elif not _ownership.on:
            self.slots[nr] = np.asarray(np.add(present, grad))
        elif self.owned[nr]:
            np.add(present, grad, present)
        elif owned:
            np.add(present, grad, grad)
            self.slots[nr] = grad
            self.owned[nr] = True
        else:
            self.slots[nr] = np.asarray(np.add(present, grad))
            self.owned[nr] = True

    def _add_region(self, nr: int, present: Slot, grad: Region, meta: InputMetadata) -> None:
        if present is None:
            self.slots[nr] = [grad]
            self.waiting = grad.values.size
        elif isinstance(present, list):
            present.append(grad)
            self.waiting += grad.values.size
            if self.waiting > 2 * _elements(meta):
                self._write_out(nr, present, meta)
        else:
            if not (self.owned[nr] and _ownership.on):
                present = np.array(present)
            self.slots[nr] = grad.add_into(present)
            self.owned[nr] = True

    def _write_out(self, nr: int, regions: list[Region], meta: InputMetadata) -> None:
        whole = np.zeros(meta.shape, meta.dtype)
        for region in regions:
            whole = region.add_into(whole)
        self.slots[nr] = whole
        self.owned[nr] = True

    def whole(self, nr: int, meta: InputMetadata) -> Array | None:
        """The sum in slot `nr`, with all zeros written out."""
        present = self.slots[nr]
        if isinstance(present, list):
            self._write_out(nr, present, meta)
            present = self.slots[nr]
            assert not isinstance(present, list)
        return present


def _elements(meta: InputMetadata) -> int:
    count = 1
    for n in meta.shape:
        count *= n
    return count
