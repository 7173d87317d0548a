# Compiled by mypyc.
"""Storing into several ``.grad`` at once.

Note [All leaves or none]

A pass that is interrupted (Ctrl-C, another signal whose handler raises) must have filled all leaves
or none; otherwise a program that catches the error and runs the pass again would count some
gradients twice. So filling has two halves. The first prepares all that takes calls, may fail or may
be interrupted: new tensors, casts, the records of the writes. Then `GradStores.commit` executes
everything in one call of a C function, in which no handler runs: it drains iterators over C
functions only. A value that a handler saves between the marks and that call is older than the sums,
see Note [Saved during a write].

An existing ``.grad`` is added to in place, as in PyTorch: the same tensor, the same memory, the
version increased by one. The sums themselves are part of the one call, so they need no extra
memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import chain, repeat, starmap
from operator import attrgetter, setitem
from threading import get_ident
from types import CodeType
from typing import Final

import numpy as np

from vtgrad.graph.hooks import GradCell
from vtgrad.graph.operators import operators
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.geometry import has_self_overlap
from vtgrad.storage.lazy_array import LazyArray, like
from vtgrad.storage.mark_written import mark_written
from vtgrad.storage.mode import switched
from vtgrad.storage.record_write import KEPT, OUTERMOST, SLOT_MASK, caller
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_mode import settle, thread
from vtgrad.storage.version_counter import INFERENCE, Record, Storing, VersionCounter

__all__ = ["GradStores", "is_plainly_added_to"]

_value: Final = attrgetter("value")
_next: Final = (1).__add__


def is_plainly_added_to(impl: TensorImpl, shape: tuple[int, ...], dtype: object) -> bool:
    """Whether a gradient of this shape and dtype can be added to a ``.grad`` unchanged."""
    array = impl.array
    if type(array) not in PLAIN or array.shape != shape or array.dtype is not dtype:
        return False
    flags = array.flags
    if not flags.writeable or impl.version_counter is INFERENCE:
        return False
    return flags.forc or not has_self_overlap(impl.sizes, impl.strides)


def _owner(array: Array) -> object:
    """The object that keeps an array's memory alive."""
    owner: object = array
    while isinstance(owner, np.ndarray):
        base = owner.base
        if base is None:
            return owner
        owner = base
    return owner


class _Sums:
    """Prepared in-place sums.

    Attributes
    ----------
    additions : list of tuple of ndarray
        The two summands, and the target of the sum.
    shared : list of int
        The indices of the additions whose amount shares memory with other arrays.
    written : list of TensorImpl
        The written tensors; the version of each increases by one.
    site : tuple
        The line that called backward.
    """

    __slots__ = ("additions", "shared", "site", "written")

    additions: list[tuple[Array, Array, Array]]
    shared: list[int]
    written: list[TensorImpl]
    site: tuple[CodeType | None, int]

    def __init__(self) -> None:
        self.additions = []
        self.shared = []
        self.written = []
        self.site = caller(OUTERMOST) or (None, -1)

    def carry_out(self, fill: Iterable[object]) -> None:
        """Write, and drain one more iterator over C functions in the same call."""
        self.keep_apart()
        storing = Storing()
        try:
            counters: list[VersionCounter] = []
            records: list[tuple[list[Record | None], int, Record]] = []
            for impl in self.written:
                counter = impl.counter
                storing.begin(counter)
                if counter.log is not None:
                    mark_written(impl, counter)
                counters.append(counter)
                records.append(self.record(impl, counter))
            stores = chain(
                starmap(setitem, records),
                map(setattr, counters, repeat("value"), map(_next, map(_value, counters))),
                starmap(np.add, self.additions),
                fill,
            )
            deque(stores, 0)
        finally:
            deque(storing.ends, 0)

    def record(
        self, impl: TensorImpl, counter: VersionCounter
    ) -> tuple[list[Record | None], int, Record]:
        """The list and index for the record of a write, and the record; see Note [Who wrote]."""
        meta = impl.autograd_meta
        part = meta.written_part(impl) if meta is not None and meta.is_view else None
        version = counter.value + 1
        writes = counter.writes
        if writes is None:
            none_yet: list[Record | None] = [None] * KEPT
            writes = counter.writes = none_yet
        code, instruction = self.site
        record: Record = version, "backward", code, instruction, get_ident(), part
        return writes, version & SLOT_MASK, record

    def keep_apart(self) -> None:
        """Copy amounts that share memory with a ``.grad`` that an earlier sum changes."""
        additions = self.additions
        if self.shared and len(additions) > 1:
            owners = {id(_owner(target)) for target, _, _ in additions}
            for index in self.shared:
                target, amount, _ = additions[index]
                if id(_owner(amount)) in owners:
                    additions[index] = target, amount.copy(), target


class GradStores:
    """Prepared stores into ``.grad``; see Note [All leaves or none].

    Used under `graph_lock`, from the first preparation to the commit.

    Attributes
    ----------
    tensors : dict of GradCell to TensorBase
        The new ``.grad`` of each cell.
    """

    __slots__ = ("_sums", "tensors")

    tensors: dict[GradCell, TensorBase]
    _sums: _Sums | None

    def __init__(self) -> None:
        self.tensors = {}
        self._sums = None

    def add(self, grad: TensorBase, amount: Array, owned: bool) -> None:
        """Add to a ``.grad`` in place, through the same checks and marks as any write.

        Parameters
        ----------
        amount : numpy.ndarray
            The gradient to add.
        owned : bool
            Whether `amount` shares its memory with no other array.

        Raises
        ------
        VtgradError
            As ``add_`` does, if the gradient cannot be added to.
        """
        impl = grad._impl
        target = impl.array
        if not is_plainly_added_to(impl, amount.shape, amount.dtype):
            operators().check_add_(grad, amount.shape, amount.dtype)
            if isinstance(target, LazyArray):
                memory: Array = making.empty(target.shape, target.dtype)
                like(target, memory)[...] = amount
                target, amount = target.physical(), memory
        sums = self._sums
        if sums is None:
            sums = self._sums = _Sums()
        if not owned:
            sums.shared.append(len(sums.additions))
        sums.additions.append((target, amount, target))
        if impl.counter is not INFERENCE:
            sums.written.append(impl)

    def retain(self, cell: GradCell, grad: TensorBase, *, recorded: bool) -> None:
        """Let a gradient become the ``.grad`` of a cell, or add it out of place.

        `recorded` decides whether the sum is recorded, in any mode.
        """
        present = self.tensors.get(cell, cell.grad)
        if present is not None:
            before, ident = thread.mode.grad, thread.ident
            try:
                thread.mode = switched.silent[ident] = thread.mode.by_grad[recorded]
                grad = operators().add(present, grad)
            finally:
                thread.mode = switched.silent[ident] = thread.mode.by_grad[before]
                settle(ident)
        self.tensors[cell] = grad

    def commit(self) -> None:
        """Execute all prepared stores, in one call that no handler interrupts."""
        tensors, sums = self.tensors, self._sums
        changes = this_thread.changes
        if changes is not None:
            changes.grads += tensors.items()
        fill = map(setattr, tensors, repeat("grad"), tensors.values())
        if sums is None:
            deque(fill, 0)
        else:
            sums.carry_out(fill)
