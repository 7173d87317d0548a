"""What exists before a program: tensors and generators, which a recording leaves as they were.

Note [The world of a recording]

A program reaches tensors by its arguments, and by closures, globals, modules and optimisers. It
reads and writes their memory, moves their versions and sets their ``.grad``. A recording runs the
program several times, and all this must be as before afterwards.

So the world is looked at first: every `TensorImpl` that the garbage collector finds, its metadata,
the cell of its ``.grad``, and every generator. What they hold is noted, and one call puts it back.
Versions are counted by other counters meanwhile. The bytes of memory that the program uses are
kept before the first use and copied back. Tensors that ``gc.freeze()`` hides are not found: their
memory is not known, so a program that uses them is refused.

Other threads that write to the same tensors meanwhile lose their writes.
"""

from __future__ import annotations

import copy
import gc
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import starmap
from typing import Any, Final, cast

import numpy as np

from vtgrad.generator import Generator, default_generator
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.hooks import GradCell
from vtgrad.graph.node_fields import own_fields
from vtgrad.jit.draws import RecordedSource
from vtgrad.jit.provenance import (
    Known,
    address_of,
    extent_of,
    is_writable,
    memory_at,
)
from vtgrad.jit.recorder import Recorder
from vtgrad.jit.recording import Memory, Source
from vtgrad.jit.recording_array import RecordingArray
from vtgrad.jit.steps import Buffer, Kind
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import INFERENCE, VersionCounter

__all__ = ["World", "array_of"]

_fields: Final[dict[type[object], tuple[str, ...]]] = {}
_PAGE_BITS: Final = 16
_NOTHING: Final = object()


def array_of(leaf: object) -> Array | None:
    """The array of a tensor or of an array among the leaves of arguments; None for others."""
    if isinstance(leaf, TensorBase):
        return leaf._impl.array
    return leaf if isinstance(leaf, np.ndarray) else None


class World:
    """What exists before a program; see Note [The world of a recording].

    Attributes
    ----------
    leaves : list of object
        The leaves of the arguments.
    impls : list of TensorImpl
        All tensors.
    arguments, outside : list of Memory
        The memory of a recording, as in `Recording`.
    groups : list of tuple
        For each memory of the arguments its first and last address and an array on it.
    """

    def __init__(self, leaves: Sequence[object]) -> None:
        self.leaves = list(leaves)
        found = gc.get_objects()
        self.impls = [x for x in found if type(x) is TensorImpl]
        self.generators = [x for x in found if type(x) is Generator]
        # These are hidden where `gc.freeze` was called.
        if all(x is not default_generator for x in self.generators):
            self.generators.append(default_generator)
        self._add_arguments()
        del found
        self.numbers: dict[int, int] = {}
        for number, leaf in enumerate(self.leaves):
            if isinstance(leaf, TensorBase):
                self.numbers.setdefault(id(leaf._impl), number)
        self._values: list[tuple[object, str, object]] = []
        self._grads: dict[int, TensorBase] = {}
        self.grad_of: dict[int, TensorImpl] = {}
        self.needs: dict[int, bool] = {}
        for impl in self.impls:
            self._note(impl)
        for generator in self.generators:
            self._note_fields(generator, ("_seed", "_source"))
        self._sources = {id(x): x._source for x in self.generators}
        self._index: dict[int, list[tuple[int, int, TensorImpl]]] | None = None
        self.groups = self._grouped()
        self._kept: dict[tuple[int, int], tuple[Array, Array]] = {}
        self.arguments: list[Memory] = []
        self.outside: list[Memory] = []

    def _add_arguments(self) -> None:
        """Add the tensors of the arguments, and their ``.grad``."""
        present = {id(x) for x in self.impls}
        for leaf in self.leaves:
            if isinstance(leaf, TensorBase):
                cell = _cell_of(leaf._impl)
                grad = None if cell is None else cell.grad
                for impl in (leaf._impl, None if grad is None else grad._impl):
                    if impl is not None and id(impl) not in present:
                        present.add(id(impl))
                        self.impls.append(impl)

    def _note_fields(self, holder: object, names: Iterable[str]) -> None:
        for name in names:
            value = getattr(holder, name, _NOTHING)
            if value is not _NOTHING:
                self._values.append((holder, name, value))

    def _note(self, impl: TensorImpl) -> None:
        self._note_fields(impl, _fields_of(TensorImpl))
        meta = impl.autograd_meta
        if meta is None:
            self.needs[id(impl)] = False
            return
        self.needs[id(impl)] = meta.needs_gradient()
        cell = _cell_of(impl)
        if cell is not None:
            self._note_fields(cell, ("grad", "leaf_state", "post_accumulate", "memory"))
            if cell.grad is not None:
                self._grads[id(impl)] = cell.grad
                self.grad_of[id(cell.grad._impl)] = impl
        self._note_fields(meta, _fields_of(type(meta)))

    # -- memory ----------------------------------------------------------------------------

    def _grouped(self) -> list[tuple[int, int, list[tuple[int, Array]]]]:
        """Arguments by the memory that they share: its ends, and who lies in it."""
        extents = []
        for number, leaf in enumerate(self.leaves):
            array = array_of(leaf)
            if array is not None and array.size:
                address = address_of(array)
                low, high = extent_of(array)
                extents.append((address + low, address + high, number, array))
        extents.sort(key=lambda x: x[:3])
        groups: list[tuple[int, int, list[tuple[int, Array]]]] = []
        for start, stop, number, array in extents:
            if groups and start < groups[-1][1]:
                first, last, members = groups[-1]
                groups[-1] = first, max(last, stop), members
            else:
                members = []
                groups.append((start, stop, members))
            members.append((number, array))
        for _, _, members in groups:
            members.sort(key=lambda x: x[0])
        # In the order of the arguments, wherever they happen to lie.
        return sorted(groups, key=lambda x: x[2][0][0])

    def register(self, recorder: Recorder) -> None:
        """Make the memory of the arguments known to a recorder."""
        self.arguments, self.outside = [], []
        for start, stop, members in self.groups:
            buffer = Buffer(Kind.ARGUMENT, stop - start, len(self.arguments))
            owner = members[0][1]
            known = recorder.memory.add(buffer, owner, start, stop, hold=True)
            self._keep(known)
            memory = Memory([], [])
            for number, array in members:
                memory.sources.append(Source(number))
                memory.places.append(recorder.memory.place(known, array, address_of(array)))
            self.arguments.append(memory)

    def adopt(self, recorder: Recorder, low: int, high: int) -> Known | None:
        """The memory of a tensor from outside in which some bytes lie, now known; or None."""
        index = self._index
        if index is None:
            index = self._index = self._by_page()
        best: tuple[int, int, TensorImpl] | None = None
        for entry in index.get(low >> _PAGE_BITS, ()):
            start, stop, _ = entry
            if start <= low and high <= stop and (best is None or stop - start > best[1] - best[0]):
                if not recorder.memory.overlaps(start, stop):
                    best = entry
        if best is None:
            return None
        start, stop, impl = best
        buffer = Buffer(Kind.OUTSIDE, stop - start, len(self.outside))
        array = plain_array(impl.array)
        known = recorder.memory.add(buffer, array, start, stop, hold=True)
        self._keep(known)
        memory = Memory(
            [self.source(impl)], [recorder.memory.place(known, array, address_of(array))]
        )
        self.outside.append(memory)
        return known

    def is_shared(self) -> bool:
        """Whether a tensor that is no argument has memory of one."""
        for impl in self.impls:
            array = impl.array
            if id(impl) not in self.numbers and array.size:
                address = address_of(array)
                low, high = extent_of(array)
                for start, stop, _ in self.groups:
                    if start < address + high and address + low < stop:
                        return True
        return False

    def source(self, impl: TensorImpl) -> Source:
        """Where a call finds a tensor."""
        holder = self.grad_of.get(id(impl))
        if holder is not None and id(impl) not in self.numbers:
            return Source(self.numbers.get(id(holder), holder), is_grad=True)
        return Source(self.numbers.get(id(impl), impl))

    def _by_page(self) -> dict[int, list[tuple[int, int, TensorImpl]]]:
        index: dict[int, list[tuple[int, int, TensorImpl]]] = {}
        for impl in self.impls:
            array = impl.array
            if not array.size:
                continue
            address = address_of(array)
            low, high = extent_of(array)
            start, stop = address + low, address + high
            for page in range(start >> _PAGE_BITS, ((stop - 1) >> _PAGE_BITS) + 1):
                index.setdefault(page, []).append((start, stop, impl))
        return index

    # -- entering and leaving --------------------------------------------------------------

    def enter(self, *, as_recording: bool) -> None:
        """Prepare all tensors and generators for a run, whose traces `leave` removes."""
        counters: dict[int, VersionCounter] = {}
        for impl in self.impls:
            counter = impl.version_counter
            if counter is not None and counter is not INFERENCE:
                own = counters.get(id(counter))
                if own is None:
                    own = counters[id(counter)] = VersionCounter(counter.value)
                    if counter.storing is not None and -1 in counter.storing:
                        own.never_end_writing()
                impl.version_counter = own
            impl.saved = None
            if as_recording and type(impl.array) is np.ndarray:
                impl.array = impl.array.view(RecordingArray)
        for generator in self.generators:
            source = copy.deepcopy(self._sources[id(generator)])
            if as_recording:
                if source is None:
                    source = np.random.Generator(np.random.PCG64(generator._seed))
                generator._source = cast("Any", RecordedSource(generator, source))
            else:
                generator._source = source

    def leave(self) -> None:
        """Put everything back; it may be called again after an interrupt."""
        # Each in one call of a C function, in which no signal handler runs.
        deque(starmap(np.copyto, self._kept.values()), 0)
        deque(starmap(setattr, self._values), 0)

    def _keep(self, known: Known) -> None:
        """Keep the bytes of memory, which `leave` copies back."""
        extent = known.start, known.stop
        owner = known.held
        if owner is not None and extent not in self._kept and is_writable(owner):
            window = memory_at(owner, *extent)
            self._kept[extent] = window, window.copy()

    def arrays(self) -> list[tuple[TensorImpl, Array]]:
        """All tensors with the arrays that they had before."""
        return [
            (impl, array)
            for impl, name, array in self._values
            if name == "array" and isinstance(impl, TensorImpl) and isinstance(array, np.ndarray)
        ]

    def changed_grads(self) -> list[tuple[TensorImpl, TensorBase | None]]:
        """Tensors whose ``.grad`` is another object than before, with the new one."""
        found = []
        for impl in self.impls:
            cell = _cell_of(impl)
            before = self._grads.get(id(impl))
            after = None if cell is None else cell.grad
            if after is not before:
                found.append((impl, after))
        return found

    def versions(self) -> dict[int, int]:
        """How far the counter of each tensor has moved, where it has."""
        before = {
            id(holder): value for holder, name, value in self._values if name == "version_counter"
        }
        moved = {}
        for impl in self.impls:
            old, new = before[id(impl)], impl.version_counter
            if new is None or new is INFERENCE:
                continue
            start = old.value if isinstance(old, VersionCounter) else 0
            if new.value != start:
                moved[id(impl)] = new.value - start
        return moved


def _fields_of(kind: type[object]) -> tuple[str, ...]:
    """The names of all fields of a class.

    Of a compiled class, members of a struct look like properties, so mypyc's list is read.
    """
    known = _fields.get(kind)
    if known is None:
        found: dict[str, None] = {}
        for base in kind.__mro__:
            found.update(dict.fromkeys(vars(base).get("__mypyc_attrs__", own_fields(base))))
        known = _fields[kind] = tuple([name for name in found if not name.startswith("__")])
    return known


def _cell_of(impl: TensorImpl) -> GradCell | None:
    """The cell of a tensor's ``.grad``, if it has one."""
    meta = impl.autograd_meta
    return meta.cell if isinstance(meta, AutogradMeta) else None


def plain_array(array: Array) -> Array:
    """An array without the class of a recording."""
    return np.ndarray.view(array, np.ndarray) if isinstance(array, RecordingArray) else array
