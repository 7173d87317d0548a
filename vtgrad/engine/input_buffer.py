# Compiled by mypyc.
"""Gradients that wait for a node to run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from vtgrad.engine.own_copy import own_copy, wrapped
from vtgrad.graph.hooks import GradCell
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.node import Node
from vtgrad.graph.region import Gradient, Region, add_regions
from vtgrad.graph.retain_grad_of_views import RetainedPart
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import CPU, Device
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.loops import NATIVE, binary_loop
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["Content", "InputBuffer", "buffer_of", "to_overwrite", "use_ownership"]


class _Switch:
    """Whether owned arrays are reused.

    If off, the engine runs the same code, but overwrites a copy with the owned array's strides
    instead of the owned array. So all gradients are equal bit for bit; if they differ, an array
    with another reader was taken for owned.
    """

    __slots__ = ("on",)
    on: bool

    def __init__(self) -> None:
        self.on = True


_ownership = _Switch()


def use_ownership(on: bool) -> None:
    """Switch the reuse of owned gradient arrays on or off, for tests of ownership."""
    _ownership.on = on


def to_overwrite(owned: Array) -> Array:
    """An owned array that may be written: a copy while reuse is off."""
    return owned if _ownership.on else _copy_with_same_strides(owned)


def _copy_with_same_strides(array: Array) -> Array:
    """A copy with the strides of `array`; NumPy's own copies close gaps."""
    steps = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
    before = -sum(step for step in steps if step < 0)
    after = sum(step for step in steps if step > 0)
    memory: Array = making.empty(before + after + array.itemsize if array.size else 0, np.uint8)
    copy: Array = making.ndarray(array.shape, array.dtype, memory, before, array.strides)
    copy[...] = array
    return copy


# A buffer holds nothing, a whole gradient, or regions that are not added to a whole one yet.
Content: TypeAlias = Array | list[Region] | None


class InputBuffer:
    """Sums the gradients of a node, which runs when it has all.

    Gradients are arrays; `TensorBuffer` is for those that are tensors. Nearly all nodes have one
    result, so this is the sum for result 0; a node with several results has further buffers in
    `more`.

    An array is added into only if it is owned by this buffer, see Note [Ownership of gradients].
    Regions wait in a list until a whole gradient arrives, or the node runs, or there are so many
    that a whole gradient is cheaper; see Note [Regions].

    Attributes
    ----------
    function : Node
        The node.
    grad : ndarray, list of Region, or None
        The sum so far.
    owned : bool
        Whether the array may be written.
    more : tuple of InputBuffer
        One for each result after the first.
    waiting : int
        The number of elements of the regions in the list; not set without a list.
    """

    __slots__ = ("function", "grad", "more", "owned", "waiting")

    function: Node
    grad: Content
    owned: bool
    more: tuple[InputBuffer, ...]
    waiting: int

    def __init__(self, function: Node, more: tuple[InputBuffer, ...] = ()) -> None:
        self.function = function
        self.grad = None
        self.owned = False
        self.more = more

    @property
    def device(self) -> Device:
        """The device of the gradients, whose thread runs the node: the first that is no CPU."""
        for meta in self.function.input_metadata:
            if meta.device is not CPU:
                return meta.device
        return CPU

    def at(self, nr: int) -> InputBuffer:
        """The sum for result `nr`."""
        return self.more[nr - 1] if nr else self

    def add(self, grad: Gradient, owned: bool, meta: InputMetadata) -> None:
        """Add a gradient of the right shape and dtype."""
        present = self.grad
        if isinstance(grad, Region):
            self._add_region(present, grad, meta)
        elif present is None:
            self.grad = grad
            self.owned = owned
        elif isinstance(present, list):
            whole = to_overwrite(grad) if owned else making.array(grad)
            add_regions(present, whole)
            self.grad = whole
            self.owned = True
        elif self.owned:
            present = self.grad = to_overwrite(present)
            if not NATIVE or binary_loop(np.add, present, grad, present) is None:
                np.add(present, grad, present)
        elif owned:
            total = self.grad = to_overwrite(grad)
            if not NATIVE or binary_loop(np.add, present, total, total) is None:
                np.add(present, total, total)
            self.owned = True
        else:
            self.grad = making.asarray(np.add(present, grad))
            self.owned = True

    def _add_region(self, present: Content, grad: Region, meta: InputMetadata) -> None:
        if present is None:
            self.grad = [grad]
            self.waiting = grad.size
        elif isinstance(present, list):
            present.append(grad)
            self.waiting += grad.size
            if self.waiting > 2 * _elements(meta):
                self._write_out(present, meta)
        else:
            present = to_overwrite(present) if self.owned else making.array(present)
            grad.add_into(present)
            self.grad = present
            self.owned = True

    def _write_out(self, regions: list[Region], meta: InputMetadata) -> None:
        self.grad = _sum_of(regions, meta)
        self.owned = True

    def whole(self, meta: InputMetadata) -> Array | None:
        """The sum as a whole gradient."""
        present = self.grad
        if isinstance(present, list):
            self._write_out(present, meta)
            present = self.grad
            assert not isinstance(present, list)
        return present

    def taken(self, meta: InputMetadata) -> Array | None:
        """The sum, moved out, so that its memory is freed when the caller drops it."""
        whole = self.whole(meta)
        self.grad = None
        return whole

    # -- for observers -------------------------------------------------------------------------

    def given_away(self, nr: int) -> TensorBase | None:
        """The gradient of result `nr`, for an observer that may keep it and write to it.

        The engine does not write to that memory afterwards.
        """
        slot = self.at(nr)
        meta = self.function.input_metadata[nr]
        array = slot.whole(meta)
        if array is None:
            return None
        owned = slot.owned
        slot.owned = False
        if owned:
            return wrapped(array, meta.device)
        return own_copy(array, meta.device)

    def captured(self, nr: int) -> TensorBase | None:
        """The gradient of result `nr`, for the caller of ``grad``."""
        return self.given_away(nr)

    def replace(self, nr: int, grad: TensorBase | None) -> None:
        """Let the answer of an observer, which has seen the gradient, take its place."""
        self.at(nr).grad = None if grad is None else resolved(grad._impl.array)

    def copied(self, nr: int) -> TensorBase | None:
        """A copy of the gradient of result `nr`, to become a retained gradient."""
        meta = self.function.input_metadata[nr]
        array = self.at(nr).whole(meta)
        return None if array is None else wrapped(array.copy(), meta.device)

    def part(self, part: RetainedPart) -> tuple[GradCell, TensorBase] | None:
        """A part of the gradient of result 0, with the cell that retains it."""
        array = self.whole(self.function.input_metadata[0])
        return None if array is None else part.of_array(array)

    def sums(self) -> Sequence[object]:
        """For each gradient its sum."""
        metadata = self.function.input_metadata
        with np.errstate(all="ignore"):
            return [self.at(nr).whole(meta) for nr, meta in enumerate(metadata)]

    def shown(self) -> Sequence[object]:
        """For each gradient what states its shape; None for one that did not arrive."""
        found: list[object] = []
        for nr, meta in enumerate(self.function.input_metadata):
            grad = self.at(nr).grad
            found.append(meta if isinstance(grad, list) else grad)
        return found


def buffer_of(function: Node) -> InputBuffer:
    """An empty buffer with a sum for each result of a node."""
    others = len(function.input_metadata) - 1
    if others == 0:
        return InputBuffer(function)
    return InputBuffer(function, tuple([InputBuffer(function) for _ in range(others)]))


def _sum_of(content: Content, meta: InputMetadata) -> Array | None:
    if not isinstance(content, list):
        return content
    whole = making.zeros(meta.shape, meta.dtype)
    add_regions(content, whole)
    return whole


def _elements(meta: InputMetadata) -> int:
    count = 1
    for n in meta.shape:
        count *= n
    return count
