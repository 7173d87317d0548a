"""One recording, called.

Note [One replay at a time]

A recording has one set of copies and one arena, so one replay of it runs at a time. A second
thread, or a signal handler that calls the function again, finds it taken and runs the function
itself. What takes it is a `_Turn`, which the frame of the call holds and the recording refers to
weakly: however the call ends, the turn ends with its frame. Between the last look at the holder and
the store there is no call, so that no other thread and no handler comes between, as in
Note [Made once]. In the child of a fork the turns of threads that it does not have are over.

Note [Objects that are the same]

A tensor that is passed twice, or that the function closes over as well, has one gradient: the sum
of what comes from all its uses. So a recording with two tensors is not one for a call in which they
are one, even if none is written.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Sequence
from itertools import repeat
from threading import get_ident
from typing import Final, NamedTuple, Protocol, cast

import numpy as np

from vtgrad.errors import ReplayGuardError
from vtgrad.generator import Generator
from vtgrad.graph.hooks import GradCell
from vtgrad.graph.thread_levels import thread
from vtgrad.jit.bindings import Binding, bindings_of, impl_at, overlapping
from vtgrad.jit.commit import Change, GradStore, commit, commit_grads, mark_places
from vtgrad.jit.containers import mapped
from vtgrad.jit.entry import Leaf, Mismatch, cell_of, first_mismatch, guard_of, leaf_of, own_cell
from vtgrad.jit.explain import Prepared
from vtgrad.jit.interpret import GuardFailed
from vtgrad.jit.recording import Memory, Recording, Result, Same, Source
from vtgrad.jit.source import Parameter
from vtgrad.jit.steps import Kind, Program
from vtgrad.storage.arrays import Array
from vtgrad.storage.dtypes import DType, get_default_dtype
from vtgrad.storage.mode import Mode
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_state import after_fork
from vtgrad.storage.version_counter import VersionCounter
from vtgrad.tensor.subclass_methods import made_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["Replay", "Computed", "Runner"]


class Runner(Protocol):
    """A program that is prepared for runs.

    Attributes
    ----------
    program : Program
        What is run; its guards have the numbers that `GuardFailed` names.
    nbytes : int
        The size of its memory.
    calls : dict of int to str
        The numbers of the steps that are calls of Python, and why each is.
    """

    program: Program
    nbytes: int
    calls: dict[int, str]

    def memory_of(self, kind: Kind, position: int) -> Array | None:
        """The bytes of an argument or a tensor from outside after a run, if it has them."""

    def compute(self, arguments: Sequence[Array], outside: Sequence[Array]) -> list[Array]:
        """Run on the bytes of the buffers of the two kinds, by position; the results.

        What the program writes is in `memory_of`. NumPy's warnings of floating-point arithmetic
        are off.

        Raises
        ------
        GuardFailed
            If a value differs from the recorded one.
        """


class _Turn:
    """The right to run a recording; see Note [One replay at a time]."""

    __slots__ = ("__weakref__", "thread")

    thread: int


class Computed:
    """What a run has computed, before anything is changed by it.

    Attributes
    ----------
    arrays : list of numpy.ndarray
        The results of the program.
    lives : list of numpy.ndarray
        The bytes of all memory, by binding.
    counters : list of VersionCounter
        Those that move, by group of `Replay.groups`.
    versions : list of int
        Where they were when the call began.
    grads : list of GradStore
        ``.grad`` that are replaced.
    """

    __slots__ = ("arrays", "counters", "grads", "lives", "versions")

    arrays: list[Array]
    lives: list[Array]
    counters: list[VersionCounter]
    versions: list[int]
    grads: list[GradStore]


class Group(NamedTuple):
    """Written memory on one version counter.

    Attributes
    ----------
    sources : list of Source
        Its tensors.
    by : int
        How far the counter moves.
    parts : list of (int, Source)
        The number of each binding that is written, and one of its tensors.
    """

    sources: list[Source]
    by: int
    parts: list[tuple[int, Source]]


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
    bindings : list of Binding
        The memory of arguments, then of tensors from outside.
    groups : list of Group
        What is written, by version counter.
    """

    __slots__ = (
        "__weakref__",
        "_by",
        "_default",
        "_drawn",
        "_first_outside",
        "_guards",
        "_handles",
        "_mode",
        "_new_grads",
        "_numbers",
        "_objects",
        "_operator",
        "_outside",
        "_runner",
        "_same_objects",
        "_turn",
        "_writes",
        "_written",
        "bindings",
        "groups",
        "recording",
    )

    recording: Recording
    bindings: list[Binding]
    groups: list[Group]
    _runner: Runner
    _handles: dict[TensorImpl, TensorBase]
    _operator: str
    # Those of the leaves that are tensors or arrays, the numbers of tensors from outside by `id`,
    # and what `_identities` was for the recorded call.
    _objects: list[int]
    _numbers: dict[int, int]
    _same_objects: list[int]
    # The positions of the generators before a run, until it is committed.
    _drawn: Sequence[object]
    # How far the counter of each group moves.
    _by: list[int]
    _mode: Mode
    _default: DType
    _guards: list[Leaf]
    # The numbers of the first memory from outside, and of what is written, among the bindings.
    _first_outside: int
    _written: list[int]
    # Whether memory is written or a version moves.
    _writes: bool
    # What is guarded of tensors from outside.
    _outside: list[tuple[TensorImpl, Leaf]]
    # Results that are a new ``.grad``: the number of the result, and that of the change.
    _new_grads: dict[int, int]
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
        self._runner = runner
        self._handles = handles
        line = recording.line
        self._operator = f"replay of {name}" + ("" if line is None else f", line {line[1]}")
        self._mode, self._default = thread.mode, get_default_dtype()
        self._guards = [leaf_of(leaf) for leaf in leaves]
        program = recording.program
        own = [_name(memory) for memory in recording.arguments]
        outer = [_name(memory) for memory in recording.outside]
        self.bindings = [
            *bindings_of(program, recording.arguments, Kind.ARGUMENT, own, runner.memory_of),
            *bindings_of(program, recording.outside, Kind.OUTSIDE, outer, runner.memory_of),
        ]
        self._first_outside = len(own)
        self._written = [n for n, binding in enumerate(self.bindings) if binding.written]
        self.groups = _groups(recording, self.bindings, leaves)
        # A write to no elements moves a version too, and an array has none.
        self._writes = bool(self._written or self.groups)
        self._by = [group.by for group in self.groups]
        impls = dict.fromkeys(
            source.holder
            for memory in recording.outside
            for source in memory.sources
            if isinstance(source.holder, TensorImpl)
        )
        impls.update(dict.fromkeys(recording.beside))
        self._outside = [(impl, guard_of(impl)) for impl in impls]
        self._objects = [
            number
            for number, leaf in enumerate(leaves)
            if isinstance(leaf, TensorBase | np.ndarray)
        ]
        self._numbers = {id(impl): -number for number, impl in enumerate(impls, 1)}
        self._same_objects = self._identities(leaves)
        places = program.results
        self._new_grads = {
            number: index
            for index, change in enumerate(recording.grads)
            for number, place in enumerate(places)
            if change.number is not None and place == places[change.number]
        }
        self._drawn = ()
        self._turn = None
        _replays.add(self)

    # -- taking turns --------------------------------------------------------------------------

    def begin(self) -> _Turn | None:
        """Take the turn; None if another call has it. The caller holds the result, see the note."""
        turn = _Turn()
        turn.thread = get_ident()
        reference = weakref.ref(turn)
        holder = self._turn
        if holder is not None and holder() is not None:
            return None
        if self._turn is not holder:
            return None
        self._turn = reference
        return turn

    def end(self) -> None:
        """Give the turn back; draws of a run that was not committed are undone."""
        self.undo_draws()
        self._turn = None

    def forget_other_threads(self) -> None:
        """In the child of a fork, end the turns of threads that it does not have."""
        holder = self._turn
        turn = None if holder is None else holder()
        if turn is not None and turn.thread != get_ident():
            self._turn = None

    # -- a run ---------------------------------------------------------------------------------

    def run(self, leaves: Sequence[object]) -> Computed | Mismatch:
        """Check the guards on entry, and run the program; nothing is changed by it.

        Called by the holder of the turn.

        Parameters
        ----------
        leaves : sequence of object
            The arguments.
        """
        if not self._fits(leaves):
            return self._mismatch(leaves)
        lives: list[Array] = []
        for binding in self.bindings:
            fixed = binding.fixed
            if fixed is not None and fixed.array is binding.array:
                lives.append(binding.bytes)
                continue
            live = binding.live(leaves)
            if isinstance(live, Mismatch):
                return live
            lives.append(live)
        computed = Computed()
        computed.lives = lives
        computed.grads = []
        if self._writes:
            found = overlapping(self.bindings, lives, self._written)
            if found is not None:
                return found
            # Versions first, so that the commit notices what others change meanwhile.
            found = self._find_versions(computed, leaves)
            if found is not None:
                return found
        cells = self._cells(leaves) if self.recording.grads else []
        generators = self.recording.generators
        if generators:
            self._drawn = _states_of(generators)
        first = self._first_outside
        try:
            arrays = self._runner.compute(lives[:first], lives[first:])
        except GuardFailed as failed:
            self.undo_draws()
            if failed.number < 0:
                return Mismatch("values have given a result another shape", failed.line)
            guard = self._runner.program.guards[failed.number]
            return Mismatch(
                f"a value that left the recording was {guard.value!r}, and is another one",
                guard.line,
            )
        computed.arrays = arrays
        for cell, before, result in cells:
            grad = None if result is None else Tensor._wrap(TensorImpl(arrays[result]))
            computed.grads.append(GradStore(cell, before, grad))
        return computed

    def _fits(self, leaves: Sequence[object]) -> bool:
        """Whether a call begins as the recorded one; see Note [Guards on entry]."""
        if thread.mode is not self._mode or get_default_dtype() is not self._default:
            return False
        if len(leaves) != len(self._guards):
            return False
        for guard, leaf in zip(self._guards, leaves):  # noqa: B905  # measured: the lengths are equal
            if not guard.fits(leaf):
                return False
        for impl, guard in self._outside:
            if not guard.fits_tensor(impl):
                return False
        # One object alone is no other one.
        if len(self._objects) + len(self._numbers) < 2:
            return True
        return self._identities(leaves) == self._same_objects

    def _identities(self, leaves: Sequence[object]) -> list[int]:
        """For each tensor or array of the arguments, the first that is the same object.

        See Note [Objects that are the same].
        """
        first = self._numbers.copy()
        found: list[int] = []
        for number in self._objects:
            leaf = leaves[number]
            if isinstance(leaf, TensorBase):
                leaf = leaf._impl
            found.append(first.setdefault(id(leaf), number))
        return found

    def _mismatch(self, leaves: Sequence[object]) -> Mismatch:
        """Why a call does not begin as the recorded one."""
        if thread.mode is not self._mode or get_default_dtype() is not self._default:
            return Mismatch("the grad mode or the default dtype is another one")
        found = first_mismatch(self._guards, leaves)
        if found is not None:
            return found
        for impl, guard in self._outside:
            if not guard.fits_tensor(impl):
                return Mismatch(f"a tensor from outside {guard.difference_of_tensor(impl)}")
        now = zip(self._objects, self._identities(leaves), self._same_objects, strict=True)
        for number, same, before in now:
            if same != before:
                return Mismatch(f"argument {number + 1} {_is_object(number, same, before)}")
        return Mismatch("another thread changes it")

    def _find_versions(self, computed: Computed, leaves: Sequence[object]) -> Mismatch | None:
        """The counters that will move, and where they are now."""
        counters = computed.counters = []
        for group in self.groups:
            found: VersionCounter | None = None
            for source in group.sources:
                impl = impl_at(source, leaves)
                assert impl is not None
                counter = impl.version_counter
                if counter is None:
                    counter = impl.counter
                if found is None:
                    found = counter
                    if counter in counters:
                        return Mismatch(_COUNTERS)
                    counters.append(counter)
                elif counter is not found:
                    return Mismatch(_COUNTERS)
        computed.versions = [counter.value for counter in counters]
        return None

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

    # -- what it is for others -----------------------------------------------------------------

    def parameters(self, names: Sequence[str]) -> list[Parameter]:
        """The arguments that the program uses, as parameters of a source, in their order.

        Parameters
        ----------
        names : sequence of str
            The names of the leaves of the arguments.
        """
        found: dict[int, Parameter] = {}
        for memory in self.recording.arguments:
            for source, place in zip(memory.sources, memory.places, strict=True):
                if isinstance(source.holder, int) and not source.is_grad:
                    found[source.holder] = Parameter(names[source.holder], place)
        return [found[number] for number in sorted(found)]

    def prepared(self) -> Prepared:
        """What runs, to be explained."""
        runner = self._runner
        calls = runner.calls
        native = len(calls) < len(runner.program.steps)
        return Prepared(runner.program, runner.nbytes, calls, calls, native)

    def outside_now(self) -> list[Array]:
        """The bytes of tensors from outside, as they are now.

        Raises
        ------
        ReplayGuardError
            If one is not as it was.
        """
        found: list[Array] = []
        for binding in self.bindings[self._first_outside :]:
            live = binding.live(())
            if isinstance(live, Mismatch):
                raise ReplayGuardError(str(live), guard=live.reason, line=None)
            found.append(live)
        return found

    # -- its end -------------------------------------------------------------------------------

    def undo_draws(self) -> None:
        """Put the generators back to where they were before a run that is not committed."""
        if self._drawn:
            _restore(self.recording.generators, self._drawn)
            self._drawn = ()

    def commit(self, computed: Computed, leaves: Sequence[object]) -> bool:
        """Change what a run changes; see `commit`.

        Returns
        -------
        bool
            False if others have changed some of it since the call began.
        """
        if not (self._writes or computed.grads or self._drawn):
            return True
        # In the one call that makes the changes, the draws become final, too.
        final: list[Change] = [(setattr, self, "_drawn", ())] if self._drawn else []
        if not self._writes:
            return commit_grads(computed.grads, final)
        bindings, lives = self.bindings, computed.lives
        copies: list[Change] = []
        for number in self._written:
            bindings[number].copy_out(lives[number], copies)
        return commit(
            copies,
            computed.counters,
            computed.versions,
            computed.grads,
            self._operator,
            self._by,
            final,
            lambda number: self._mark(lives, leaves, number),
        )

    def _mark(self, lives: Sequence[Array], leaves: Sequence[object], number: int) -> None:
        """Mark what a group will write, see Note [Exact staleness]."""
        for part, source in self.groups[number].parts:
            impl = impl_at(source, leaves)
            assert impl is not None
            mark_places(impl, lives[part], self.bindings[part].written)

    def result(self, computed: Computed, leaves: Sequence[object]) -> object:
        """What the call returns."""
        tree = self.recording.result
        arrays = computed.arrays
        if type(tree) is Same:
            return self._same(tree.source, leaves)
        if type(tree) is Result and not self._new_grads:
            return _made(tree, arrays[tree.number])

        def made(leaf: object) -> object:
            if type(leaf) is Result:
                index = self._new_grads.get(leaf.number)
                if index is not None:
                    return computed.grads[index].grad
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


def _is_object(number: int, same: int, before: int) -> str:
    """How an argument is the same object as another one; see Note [Objects that are the same]."""
    if same == number:
        other = "a tensor from outside" if before < 0 else f"argument {before + 1}"
        return f"is another object than {other}, and was the same"
    other = "a tensor from outside" if same < 0 else f"argument {same + 1}"
    return f"is the same object as {other}, and was another one: pass detach() or a clone()"


_COUNTERS: Final = "tensors that are written share version counters otherwise than they did"


def _groups(
    recording: Recording, bindings: Sequence[Binding], leaves: Sequence[object]
) -> list[Group]:
    """What is written, by the version counter that it had when it was recorded."""
    by = {}
    for change in recording.versions:
        impl = impl_at(change.source, leaves)
        assert impl is not None
        by[impl.counter] = Group([change.source], change.by, [])
    for number, binding in enumerate(bindings):
        seen: set[VersionCounter] = set()
        for source in binding.sources if binding.written else ():
            impl = impl_at(source, leaves)
            group = None if impl is None else by.get(impl.counter)
            if group is None or impl is None:
                continue
            if source not in group.sources:
                group.sources.append(source)
            if impl.counter not in seen:
                seen.add(impl.counter)
                group.parts.append((number, source))
    return list(by.values())


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


def _made(result: Result, array: Array) -> object:
    """A result of the program, as the function returned it."""
    kind = result.type
    if kind is Tensor and not result.requires_grad:
        return Tensor._wrap(TensorImpl(array))
    if issubclass(kind, Tensor):
        tensor = cast("Tensor", made_of(kind, TensorImpl(array)))
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
_replays: Final[weakref.WeakSet[Replay]] = weakref.WeakSet()


def _after_fork() -> None:
    for replay in tuple(_replays):
        replay.forget_other_threads()


after_fork(_after_fork)
