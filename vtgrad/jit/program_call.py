"""A program with its arguments, which is run in several ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_
from typing import Any, cast

import numpy as np

from vtgrad.errors import RecordingError
from vtgrad.generator import Generator
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.hooks import HookDict
from vtgrad.jit.callers import Caller, line_of
from vtgrad.jit.containers import flatten, mapped
from vtgrad.jit.creators import MAKERS, users_functions_replaced
from vtgrad.jit.draws import Draw
from vtgrad.jit.fresh_run import copies_of_arguments, outcome_on_copies
from vtgrad.jit.outcomes import Outcome, Reader, version_changes
from vtgrad.jit.provenance import address_of, extent_of
from vtgrad.jit.recorder import Recorder
from vtgrad.jit.recording import Recording
from vtgrad.jit.recording_array import RecordingArray, RecordingNumber
from vtgrad.jit.steps import Kind, Program
from vtgrad.jit.structure import structure_of
from vtgrad.jit.world import World
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.dtypes import DType, get_default_dtype, set_default_dtype
from vtgrad.storage.mode import Mode, switched
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_mode import settle, thread
from vtgrad.storage.thread_state import changed, run_with

__all__ = ["Call"]

PLAIN.add(RecordingArray)


class Call:
    """A program with its arguments, which can be run in several ways.

    Attributes
    ----------
    function : callable
        The program.
    leaves : list of object
        The leaves of its arguments.
    world : World
        What exists before.
    """

    def __init__(
        self,
        function: Callable[..., object],
        arguments: tuple[object, ...],
        keywords: dict[str, object],
    ) -> None:
        self.function = function
        self._values = arguments, keywords
        self.leaves: list[object] = flatten(self._values)
        self.world: World = World(self.leaves)

    def record(
        self, prepare: Callable[[], None], expected: Program | None = None
    ) -> tuple[Recording, Outcome]:
        """Run the program and write it down.

        Parameters
        ----------
        prepare : callable
            Called when the world has been entered, before the program.
        expected : Program, optional
            An earlier recording, whose steps are shared where they are the same.
        """
        world = self.world
        kinds = RecordingArray, RecordingNumber
        recorder = Recorder(world.adopt, kinds, expected)
        # Twice: if an interrupt cuts the first call short, the second one is whole.
        try:
            try:
                world.enter(as_recording=True)
                prepare()
                world.register(recorder)
                args, named, passed = self._recorded_arguments()
                leaves, structure = flatten((args, named)), structure_of((args, named))
                mode, default = thread.mode, get_default_dtype()
                hooks = {id(x): _hook_numbers(x) for x in world.impls}
                try:
                    with users_functions_replaced():
                        found = making.run_with(
                            MAKERS,
                            run_with,
                            changed(recorder=recorder),
                            self.function,
                            *args,
                            **named,
                        )
                finally:
                    recorder.ended = Caller(line_of(self.function), None, "")
                    kept = _put_settings_back(mode, default) & _remove_hooks(world.impls, hooks)
                _check_refusals(recorder)
                if not kept:
                    raise recorder.refuse(
                        "the program leaves another grad mode, another default dtype or a hook of "
                        "a tensor from before it behind, which a replay does not; take it back in "
                        "the program, by a with-statement or remove()",
                        "left behind",
                    )
                if structure_of((args, named)) != structure or not all(
                    map(is_, flatten((args, named)), leaves)
                ):
                    raise recorder.refuse(
                        "the program changes a list, dict or dataclass among its arguments, which "
                        "a replay does not: return what is new",
                        "changed argument",
                    )
                reader = Reader(world, {id(x): n for n, x in passed.items()}, recorder)
                return self._read(recorder, reader, found)
            finally:
                world.leave()
        finally:
            world.leave()

    def run(self, prepare: Callable[[], None], made: Recording) -> Outcome:
        """Run the program eagerly, and return what it does, to be compared with a recording."""
        world = self.world
        passed = {id(x): n for n, x in enumerate(self.leaves) if isinstance(x, np.ndarray)}
        try:
            try:
                world.enter(as_recording=False)
                prepare()
                args, named = self._values
                found = self.function(*args, **named)
                return Reader(world, passed).read(found, made.memories())
            finally:
                world.leave()
        finally:
            world.leave()

    def run_on_copies(
        self, prepare: Callable[[], None], made: Recording, contents: Sequence[Array]
    ) -> Outcome | None:
        """Run the program eagerly on other tensors; None if they cannot be made.

        See Note [The arguments are not the tensors of a closure].
        """
        world = self.world
        copies = copies_of_arguments(world, made, contents)
        if copies is None:
            return None
        leaves, owned = copies
        following = iter(leaves)
        args, named = cast("Any", mapped(lambda _: next(following), self._values))
        try:
            try:
                world.enter(as_recording=False)
                prepare()
                before = [memory.content() for memory in made.arguments]
                found = self.function(*args, **named)
                if [memory.content() for memory in made.arguments] != before:
                    line = line_of(self.function)
                    where = "" if line is None else f"\n  program: {line[0]}:{line[1]}"
                    raise RecordingError(
                        "the program writes to memory of an argument by a tensor or an array of "
                        f"its own too: pass that, or pass a clone of the argument{where}",
                        reason="shared argument",
                        library=None,
                        line=line,
                    )
                return outcome_on_copies(world, made, leaves, owned, found)
            finally:
                world.leave()
        finally:
            world.leave()

    def _recorded_arguments(
        self,
    ) -> tuple[tuple[Any, ...], dict[str, Any], dict[int, Array]]:
        """The arguments with arrays of a recording, and these by the numbers of their leaves."""
        passed: dict[int, Array] = {}
        by_id: dict[int, Array] = {}
        numbers = iter(range(len(self.leaves)))

        def given(leaf: object) -> object:
            number = next(numbers)
            if type(leaf) is not np.ndarray:
                return leaf
            array = by_id.setdefault(id(leaf), leaf.view(RecordingArray))
            passed.setdefault(number, array)
            return array

        args, named = cast("Any", mapped(given, self._values))
        return args, named, passed

    def _read(self, recorder: Recorder, reader: Reader, found: object) -> tuple[Recording, Outcome]:
        """The recording, and what it has done."""
        world = self.world
        made = Recording(Program(), world.arguments, world.outside)
        for known in recorder.memory.alive.values():
            buffer = recorder.memory.buffers[known.number]
            if buffer.kind is Kind.ARGUMENT or buffer.kind is Kind.OUTSIDE:
                memories = world.arguments if buffer.kind is Kind.ARGUMENT else world.outside
                memory = memories[buffer.position]
                memory.known = known
                memory.written = known.writes > 0
        outcome = reader.read(found, made.memories())
        self._check_tensors(recorder)
        made.program = recorder.program(reader.places)
        made.reads = recorder.reads
        made.leaves = [None if isinstance(x, (TensorBase, np.ndarray)) else x for x in self.leaves]
        made.result, made.grads = outcome.result, outcome.grads
        made.versions = version_changes(world)
        made.beside = self._beside(made)
        made.generators = _generators(made.program)
        made.line = line_of(self.function)
        # A recording of other values is adopted from these lists too.
        world.arguments, world.outside = [], []
        return made, outcome

    def _beside(self, made: Recording) -> list[TensorImpl]:
        """What `Recording.beside` lists."""
        known = [memory.known for memory in made.outside if memory.known is not None]
        found = []
        for impl, array in self.world.arrays():
            meta = impl.autograd_meta
            if type(array) is not np.ndarray or not array.size:
                continue
            if meta is not None and meta.was_produced():
                continue
            low, high = extent_of(array)
            address = address_of(array)
            for memory in known:
                if address + low < memory.stop and memory.start < address + high:
                    found.append(impl)
        return found

    def _check_tensors(self, recorder: Recorder) -> None:
        """Refuse a tensor from before the program that has got other memory or another graph."""
        for impl, array in self.world.arrays():
            if not self.world.is_own(impl):
                continue
            now = impl.array
            if now is not array and (
                now.shape != array.shape
                or now.strides != array.strides
                or now.dtype is not array.dtype
                or address_of(now) != address_of(array)
            ):
                raise recorder.refuse(
                    "the program gives a tensor from before it another geometry or other memory",
                    "geometry",
                )
            meta = impl.autograd_meta
            if meta is not None and meta.needs_gradient() != self.world.needs[id(impl)]:
                raise recorder.refuse(
                    "the program changes whether a tensor from before it requires grad",
                    "requires grad",
                )


def _check_refusals(recorder: Recorder) -> None:
    """Raise what the program may have caught."""
    if recorder.refused is not None:
        raise recorder.refused
    if recorder.caught is not None:
        raise recorder.refuse(
            "the program caught an error of NumPy, and values may decide whether there is one: "
            f"{recorder.caught!r}",
            "caught error",
        )


def _put_settings_back(mode: Mode, default: DType) -> bool:
    """Take the grad mode and the default dtype back; False if they were other ones."""
    if thread.mode is mode and get_default_dtype() is default:
        return True
    thread.mode = switched.silent[thread.ident] = switched.inference[thread.ident] = mode
    settle(thread.ident)
    set_default_dtype(default)
    return False


def _remove_hooks(impls: Iterable[TensorImpl], before: Mapping[int, frozenset[int]]) -> bool:
    """Remove hooks that tensors did not have; False if there were some, or some are missing."""
    same = True
    for impl in impls:
        if _hook_numbers(impl) != before[id(impl)]:
            same = False
            for hooks in _hooks(impl):
                for number in set(hooks.entries) - before[id(impl)]:
                    hooks.entries.pop(number, None)
    return same


def _hook_numbers(impl: TensorImpl) -> frozenset[int]:
    return frozenset([number for hooks in _hooks(impl) for number in hooks.entries])


def _hooks(impl: TensorImpl) -> list[HookDict[Any]]:
    """The hooks of a tensor and of its node."""
    meta = impl.autograd_meta
    if not isinstance(meta, AutogradMeta):
        return []
    found: list[HookDict[Any]] = []
    if meta.cell is not None and meta.cell.post_accumulate is not None:
        found.append(meta.cell.post_accumulate)
    for edge in (meta.grad_accumulator, meta.grad_fn_):
        node = getattr(edge, "function", edge)
        hooks = getattr(node, "hooks", None)
        if hooks is not None:
            found += [hooks.pre, hooks.post, *hooks.tensor_pre.values()]
    return found


def _generators(program: Program) -> list[Generator]:
    found: list[Generator] = []
    for step in program.steps:
        if isinstance(step.function, Draw):
            generator = step.function.generator
            if all(x is not generator for x in found):
                found.append(generator)
    return found
