"""What exists before a program: tensors and generators, which a recording leaves as they were.

Note [The world of a recording]

A program reaches tensors by its arguments, and by closures, globals, modules and optimisers. It
reads and writes their memory, moves their versions and sets their ``.grad``. A recording runs the
program several times, and all this must be as before afterwards.

So the world is looked at first: every `TensorImpl` that the garbage collector finds, its metadata,
the cell of its ``.grad``, and every generator. What they hold is noted. The bytes of memory that
the program uses are kept before the first use and copied back. Tensors that ``gc.freeze()`` hides
are not found: their memory is not known, so a program that uses them is refused.

Other threads change other tensors meanwhile: see Note [Recording beside other threads].
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
from vtgrad.jit.witness import Witness
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["World", "array_of"]

_fields: Final[dict[type[object], tuple[str, ...]]] = {}
# They stay if they are made in a run, see Note [Made once].
_MADE_ONCE: Final = frozenset({"cell", "version_counter"})
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
        self.leaves: list[object] = list(leaves)
        found = gc.get_objects()
        self.impls: list[TensorImpl] = [
            x for x in found if type(x) is TensorImpl and _has_memory(x)
        ]
        self.generators: list[Generator] = [x for x in found if type(x) is Generator]
        # These are hidden where `gc.freeze` was called.
        if all(x is not default_generator for x in self.generators):
            self.generators.append(default_generator)
        self._add_arguments()
        del found
        self.numbers: dict[int, int] = {}
        for number, leaf in enumerate(self.leaves):
            if isinstance(leaf, TensorBase):
                self.numbers.setdefault(id(leaf._impl), number)
        self._arrays: dict[int, Array] = {}
        # What is put back if the program has changed the tensor.
        self._fields: dict[int, list[tuple[object, str, object]]] = {}
        self._grads: dict[int, TensorBase] = {}
        self.grad_of: dict[int, TensorImpl] = {}
        self.needs: dict[int, bool] = {}
        for impl in self.impls:
            self._note(impl)
        self._index: dict[int, list[tuple[int, int, TensorImpl]]] | None = None
        self.groups: list[tuple[int, int, list[tuple[int, Array]]]] = self._grouped()
        self._kept: dict[tuple[int, int], tuple[Array, Array]] = {}
        self.arguments: list[Memory] = []
        self.outside: list[Memory] = []
        # See Note [Recording beside other threads].
        self._witness: Final = Witness(self.impls)
        self._is_entered = False
        self._used: dict[int, TensorImpl] = {}
        self._recorded: list[tuple[TensorImpl, Array, Array]] = []
        self._replaced: list[tuple[Generator, object, object]] = []
        self._versions: dict[int, int] = {}
        self._seeds = {id(x): x._seed for x in self.generators}
        self._sources = {id(x): copy.deepcopy(x.numpy) for x in self.generators}
        self.disturbed: str | None = None

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

    def _note(self, impl: TensorImpl) -> None:
        fields: list[tuple[object, str, object]] = []
        self._arrays[id(impl)] = impl.array
        self._fields[id(impl)] = fields
        _note_fields(fields, impl, _fields_of(TensorImpl))
        meta = impl.autograd_meta
        if meta is None:
            self.needs[id(impl)] = False
            return
        self.needs[id(impl)] = meta.needs_gradient()
        cell = _cell_of(impl)
        if cell is not None:
            _note_fields(fields, cell, ("leaf_state", "post_accumulate", "memory"))
            if cell.grad is not None:
                self._grads[id(impl)] = cell.grad
                self.grad_of[id(cell.grad._impl)] = impl
        _note_fields(fields, meta, _fields_of(type(meta)))

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
                leaf = self.leaves[number]
                if isinstance(leaf, TensorBase):
                    self._used[id(leaf._impl)] = leaf._impl
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
        self._used[id(impl)] = impl
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
        self._check_unchanged()
        self._is_entered = True
        self._witness.begin()
        for impl in self.impls:
            impl.saved = None
            array = impl.array
            if as_recording and type(array) is np.ndarray:
                view = array.view(RecordingArray)
                self._recorded.append((impl, array, view))
                if impl.array is array:
                    impl.array = view
        for generator in self.generators:
            # The program draws from a copy, and other threads from the live one.
            live = generator.numpy
            own = RecordedSource(generator, copy.deepcopy(self._sources[id(generator)]), live)
            self._replaced.append((generator, live, own))
            generator._source = cast("Any", own)

    def leave(self) -> None:
        """Put everything back; it may be called again after an interrupt."""
        if not self._is_entered:
            return
        witness = self._witness
        self.disturbed = self.disturbed or witness.foreign_write(self._used.values())
        witness.settle()
        # In one call of a C function, in which no signal handler runs.
        deque(starmap(np.copyto, self._kept.values()), 0)
        self._put_own_back(witness)
        witness.end()
        self._versions = {key: impl.counter.value for key, impl in self._used.items()}
        self._recorded.clear()
        self._replaced.clear()
        self._is_entered = False

    def _check_unchanged(self) -> None:
        """Note whether another thread wrote what the program uses, since the last run."""
        for key, version in self._versions.items():
            if self._used[key].counter.value != version:
                self.disturbed = self.disturbed or "a write between two of its runs"

    def _put_own_back(self, witness: Witness) -> None:
        """Put back what the program has changed, beside memory and versions."""
        grads: dict[GradCell, TensorBase | None] = {}
        fields: list[tuple[object, str, object]] = []
        for impl in self.impls:
            cell = _cell_of(impl)
            if cell is not None:
                grads[cell] = self._grads.get(id(impl))
        moved = witness.moved()
        for impl in self.impls:
            if id(impl.version_counter) in moved or id(impl) in witness.changes.impls:
                fields += self._fields[id(impl)]
        if not witness.put_grads_back(grads):
            self.disturbed = self.disturbed or "a .grad that the program changes"
        deque(starmap(setattr, fields), 0)
        for impl, array, view in self._recorded:
            if impl.array is view:
                impl.array = array
        for generator, live, source in self._replaced:
            if id(generator) in witness.changes.generators:
                generator._seed, generator._source = self._seeds[id(generator)], cast("Any", live)
            elif generator._source is source:
                generator._source = cast("Any", live)

    def is_own(self, impl: TensorImpl) -> bool:
        """Whether what has changed of a tensor is the program's."""
        return self._witness.is_own(impl)

    def _keep(self, known: Known) -> None:
        """Keep the bytes of memory, which `leave` copies back."""
        extent = known.start, known.stop
        owner = known.held
        if owner is not None and extent not in self._kept and is_writable(owner):
            window = memory_at(owner, *extent)
            self._kept[extent] = window, window.copy()

    def arrays(self) -> list[tuple[TensorImpl, Array]]:
        """All tensors with the arrays that they had before."""
        return [(impl, self._arrays[id(impl)]) for impl in self.impls]

    def changed_grads(self) -> list[tuple[TensorImpl, TensorBase | None]]:
        """Tensors whose ``.grad`` is another object than before, with the new one."""
        own = {cell for cell, _ in self._witness.changes.grads}
        found = []
        for impl in self.impls:
            cell = _cell_of(impl)
            if cell in own:
                before, after = self._grads.get(id(impl)), cell.grad
                if after is not before:
                    found.append((impl, after))
        return found

    def versions(self) -> dict[int, int]:
        """How far the program has moved the counter of each tensor, where it has."""
        moved = self._witness.moved()
        found = {id(impl): moved.get(id(impl.version_counter), 0) for impl in self.impls}
        return {key: by for key, by in found.items() if by}


def _note_fields(
    fields: list[tuple[object, str, object]], holder: object, names: Iterable[str]
) -> None:
    for name in names:
        value = getattr(holder, name, _NOTHING)
        if (
            value is not _NOTHING
            and name != "saved"
            and (value is not None or name not in _MADE_ONCE)
        ):
            fields.append((holder, name, value))


def _has_memory(impl: TensorImpl) -> bool:
    """Whether a tensor does not stand for a sample, which `vmap` on another thread may use.

    A sample is found after its level too, until the garbage collector finds it in a circle.
    """
    extra = impl.extra_meta
    return extra is None or extra.stands_for is None


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
