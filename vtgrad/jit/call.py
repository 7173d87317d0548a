"""One recording, called.

Note [One replay at a time]

A recording has one set of copies and one arena, so one replay of it runs at a time. A second
thread, or a signal handler that calls the function again, finds it taken and runs the function
itself. What takes it is a `_Turn`, which the frame of the call holds and the recording refers to
weakly: however the call ends, the turn ends with its frame. Between the last look at the holder and
the store there is no call, so that no other thread and no handler comes between, as in
Note [Made once]. In the child of a fork the turns of threads that it does not have are over.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Sequence
from itertools import repeat
from threading import get_ident
from typing import Final, NamedTuple, Protocol

import numpy as np

from vtgrad.generator import Generator
from vtgrad.graph.hooks import GradCell
from vtgrad.jit.bindings import Binding, bindings_of, impl_at, overlapping
from vtgrad.jit.commit import GradStore, Moved, WrittenMemory, commit
from vtgrad.jit.containers import mapped
from vtgrad.jit.entry import (
    Leaf,
    Mismatch,
    Modes,
    cell_of,
    first_mismatch,
    leaf_of,
    modes,
    own_cell,
)
from vtgrad.jit.interpret import GuardFailed
from vtgrad.jit.recording import Memory, Recording, Result, Same, Source
from vtgrad.jit.steps import Kind
from vtgrad.storage.arrays import Array
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_state import after_fork
from vtgrad.storage.version_counter import VersionCounter
from vtgrad.tensor.tensor import Tensor

__all__ = ["Replay", "Computed", "Runner"]


class Runner(Protocol):
    """A program that is prepared for runs."""

    def run(self, arguments: Sequence[Array], outside: Sequence[Array]) -> list[Array]:
        """Run on the bytes of the buffers of the two kinds, by position; the results.

        Raises
        ------
        GuardFailed
            If a value differs from the recorded one.
        """


class _Turn:
    """The right to run a recording; see Note [One replay at a time]."""

    __slots__ = ("__weakref__", "thread")

    thread: int

    def __init__(self) -> None:
        self.thread = get_ident()


class Computed(NamedTuple):
    """What a run has computed, before anything is changed by it.

    Attributes
    ----------
    arrays : list of numpy.ndarray
        The results of the program.
    written : list of WrittenMemory
        Memory that changes.
    moved : list of Moved
        Versions that move.
    grads : list of GradStore
        ``.grad`` that are replaced.
    states : list of object
        The positions of the generators before the run.
    """

    arrays: list[Array]
    written: list[WrittenMemory]
    moved: list[Moved]
    grads: list[GradStore]
    states: list[object]


class Replay:
    """A recording with its guards, ready to be called.

    Parameters
    ----------
    recording : Recording
        What was recorded.
    runner : Runner
        Its program, prepared.
    leaves : sequence of object
        The arguments with which it was recorded, as `containers.flatten` lists them.
    handles : dict of TensorImpl to TensorBase
        The tensors from outside that are results.
    name : str
        The name of the function, for the records of writes.

    Attributes
    ----------
    recording : Recording
        As above.
    guards : list of Leaf
        What is guarded of each argument.
    modes : tuple
        The modes in which it was recorded.
    """

    __slots__ = (
        "__weakref__",
        "_arguments",
        "_bindings",
        "_handles",
        "_operator",
        "_outside",
        "_runner",
        "_turn",
        "_written",
        "guards",
        "modes",
        "recording",
    )

    recording: Recording
    guards: list[Leaf]
    modes: Modes
    _runner: Runner
    _handles: dict[TensorImpl, TensorBase]
    _operator: str
    _bindings: list[Binding]
    # The numbers of arguments, of memory from outside, and of what is written, among the bindings.
    _arguments: int
    _written: list[int]
    # What is guarded of tensors from outside.
    _outside: list[tuple[TensorImpl, Leaf]]
    _turn: weakref.ref[_Turn] | None

    def __init__(
        self,
        recording: Recording,
        runner: Runner,
        leaves: Sequence[object],
        handles: dict[TensorImpl, TensorBase],
        name: str,
    ) -> None:
        self.recording = recording
        self.guards = [leaf_of(leaf) for leaf in leaves]
        self.modes = modes()
        self._runner = runner
        self._handles = handles
        line = recording.line
        self._operator = f"replay of {name}" + ("" if line is None else f", line {line[1]}")
        program = recording.program
        own = [_name(memory) for memory in recording.arguments]
        outer = [_name(memory) for memory in recording.outside]
        self._bindings = [
            *bindings_of(program, recording.arguments, Kind.ARGUMENT, own),
            *bindings_of(program, recording.outside, Kind.OUTSIDE, outer),
        ]
        self._arguments = len(own)
        self._written = [n for n, binding in enumerate(self._bindings) if binding.written]
        impls = dict.fromkeys(
            source.holder
            for memory in recording.outside
            for source in memory.sources
            if isinstance(source.holder, TensorImpl)
        )
        self._outside = [(impl, _guard_of(impl)) for impl in impls]
        self._turn = None
        _calls.add(self)

    # -- taking turns --------------------------------------------------------------------------

    def begin(self) -> _Turn | None:
        """Take the turn; None if another call has it. The caller holds the result, see the note."""
        turn = _Turn()
        reference = weakref.ref(turn)
        holder = self._turn
        if holder is not None and holder() is not None:
            return None
        if self._turn is not holder:
            return None
        self._turn = reference
        return turn

    def end(self) -> None:
        """Give the turn back."""
        self._turn = None

    def forget_other_threads(self) -> None:
        """In the child of a fork, end the turns of threads that it does not have."""
        holder = self._turn
        turn = None if holder is None else holder()
        if turn is not None and turn.thread != get_ident():
            self._turn = None

    # -- a run ---------------------------------------------------------------------------------

    def mismatch(self, leaves: Sequence[object]) -> Mismatch | None:
        """What of a call differs from the recorded one, before anything runs."""
        if modes() != self.modes:
            return Mismatch("the grad mode or the default dtype is another one")
        guards = self.guards
        if len(guards) != len(leaves):
            return first_mismatch(guards, leaves)
        for guard, leaf in zip(guards, leaves, strict=True):
            if not guard.fits(leaf):
                return first_mismatch(guards, leaves)
        for impl, guard in self._outside:
            if not guard.fits_tensor(impl):
                return Mismatch(f"a tensor from outside {guard.difference_of_tensor(impl)}")
        return None

    def run(self, leaves: Sequence[object]) -> Computed | Mismatch:
        """Check the guards on entry, and run the program; nothing is changed by it.

        Called by the holder of the turn.

        Parameters
        ----------
        leaves : sequence of object
            The arguments.
        """
        found = self.mismatch(leaves)
        if found is not None:
            return found
        lives: list[Array] = []
        for binding in self._bindings:
            live = binding.live(leaves)
            if isinstance(live, Mismatch):
                return live
            lives.append(live)
        if self._written:
            found = overlapping(self._bindings, lives, self._written)
            if found is not None:
                return found
        # Before anything is read, so that the commit notices what others change meanwhile.
        written = [
            WrittenMemory(lives[n], self._scratch(n), self._bindings[n].written)
            for n in self._written
        ]
        moved = self._versions(leaves, written)
        cells = self._cells(leaves)
        memory = lives
        if written:
            memory = list(lives)
            for number, part in zip(self._written, written, strict=True):
                part.copy[...] = part.live
                memory[number] = part.copy
        states = _states_of(self.recording.generators)
        arrays = self._arrays(memory, states)
        if isinstance(arrays, Mismatch):
            return arrays
        grads = [
            GradStore(cell, before, None if number is None else _tensor(Tensor, arrays[number]))
            for cell, before, number in cells
        ]
        return Computed(arrays, written, moved, grads, states)

    def _scratch(self, number: int) -> Array:
        scratch = self._bindings[number].scratch
        assert scratch is not None
        return scratch

    def _arrays(self, memory: list[Array], states: list[object]) -> list[Array] | Mismatch:
        """Run the program; generators are as before if it does not end."""
        split = self._arguments
        generators = self.recording.generators
        try:
            return run_without_warnings(self._runner.run, memory[:split], memory[split:])
        except GuardFailed as failed:
            _restore(generators, states)
            guard = self.recording.program.guards[failed.number]
            return Mismatch(
                f"a value that left the recording was {guard.value!r}, and is another one",
                guard.line,
            )
        except BaseException:
            _restore(generators, states)
            raise

    def _versions(self, leaves: Sequence[object], written: list[WrittenMemory]) -> list[Moved]:
        """The versions that will move, as they are now."""
        changes = self.recording.versions
        if not changes:
            return []
        parts: dict[VersionCounter, list[tuple[TensorImpl, WrittenMemory]]] = {}
        for number, memory in zip(self._written, written, strict=True):
            for counter, impl in {
                impl.counter: impl
                for source in self._bindings[number].sources
                if (impl := impl_at(source, leaves)) is not None
            }.items():
                parts.setdefault(counter, []).append((impl, memory))
        moved: list[Moved] = []
        for change in changes:
            impl = impl_at(change.source, leaves)
            assert impl is not None
            counter = impl.counter
            moved.append(Moved(counter, counter.value, change.by, parts.get(counter, [])))
        return moved

    def _cells(
        self, leaves: Sequence[object]
    ) -> list[tuple[GradCell, TensorBase | None, int | None]]:
        """The ``.grad`` that will be replaced: its cell, what is there, the new one."""
        found: list[tuple[GradCell, TensorBase | None, int | None]] = []
        for change in self.recording.grads:
            impl = impl_at(Source(change.holder), leaves)
            assert impl is not None
            cell = own_cell(impl)
            found.append((cell, cell.grad, change.number))
        return found

    def undo_draws(self, computed: Computed) -> None:
        """Put the generators back to where they were before a run that is not committed."""
        _restore(self.recording.generators, computed.states)

    def commit(self, computed: Computed) -> bool:
        """Change what a run changes; False if others were faster, see `commit`."""
        if not computed.written and not computed.moved and not computed.grads:
            return True
        return commit(computed.written, computed.moved, computed.grads, self._operator)

    def result(self, computed: Computed, leaves: Sequence[object]) -> object:
        """What the call returns."""
        tree = self.recording.result
        arrays = computed.arrays
        if type(tree) is Result:
            return _made(tree, arrays[tree.number])

        def made(leaf: object) -> object:
            if type(leaf) is Result:
                return _made(leaf, arrays[leaf.number])
            return self._same(leaf.source, leaves) if type(leaf) is Same else leaf

        return mapped(made, tree)

    def _same(self, source: Source, leaves: Sequence[object]) -> object:
        """The tensor or array that a result is."""
        holder = source.holder
        if source.is_grad:
            impl = impl_at(Source(holder), leaves)
            cell = None if impl is None else cell_of(impl)
            return None if cell is None else cell.grad
        return leaves[holder] if isinstance(holder, int) else self._handles[holder]


def _guard_of(impl: TensorImpl) -> Leaf:
    """The guard of a tensor from outside."""
    guard = Leaf(Tensor)
    guard.take_tensor(impl)
    return guard


def _name(memory: Memory) -> str:
    """What a memory is, for messages."""
    names: list[str] = []
    for source in memory.sources:
        holder = source.holder
        if isinstance(holder, int):
            name = f"argument {holder + 1}"
        else:
            name = f"a tensor from outside of shape {list(holder.array.shape)}"
        names.append(f"the .grad of {name}" if source.is_grad else name)
    return " and ".join(dict.fromkeys(names))


def _tensor(kind: type[TensorBase], array: Array) -> TensorBase:
    return kind._wrap(TensorImpl(array))


def _made(result: Result, array: Array) -> object:
    """A result of the program, as the function returned it."""
    kind = result.type
    if kind is Tensor and not result.requires_grad:
        return Tensor._wrap(TensorImpl(array))
    if issubclass(kind, Tensor):
        tensor = kind._wrap(TensorImpl(array))
        return tensor.requires_grad_() if result.requires_grad else tensor
    return array[()] if kind is np.generic else array


def _states_of(generators: Sequence[Generator]) -> list[object]:
    """The positions of generators in their streams."""
    return [generator.numpy.bit_generator.state for generator in generators]


def _restore(generators: Sequence[Generator], states: Sequence[object]) -> None:
    """Put generators back, in one call that no handler interrupts."""
    sources = [generator.numpy.bit_generator for generator in generators]
    deque(map(setattr, sources, repeat("state"), states), 0)


# Those whose turns end in the child of a fork.
_calls: Final[weakref.WeakSet[Replay]] = weakref.WeakSet()


def _after_fork() -> None:
    for call in tuple(_calls):
        call.forget_other_threads()


after_fork(_after_fork)
