"""Recording a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from vtgrad.errors import RecordingError
from vtgrad.jit.check import Outcome, Value, check, value_of_array
from vtgrad.jit.containers import flatten, mapped
from vtgrad.jit.creators import MAKERS, users_functions_replaced
from vtgrad.jit.provenance import address_of
from vtgrad.jit.recorder import Recorder, recording
from vtgrad.jit.recording import GradChange, Recording, Result, Same, Source, VersionChange
from vtgrad.jit.recording_array import RecordingArray, RecordingNumber
from vtgrad.jit.steps import Kind, Place
from vtgrad.jit.world import World, plain_array
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_state import changed, run_with
from vtgrad.storage.version_counter import INFERENCE

__all__ = ["record"]

PLAIN.add(RecordingArray)

_PYTHON: Final = (type(None), bool, int, float, complex, str, bytes, np.dtype, type)


def record(
    function: Callable[..., object],
    arguments: tuple[object, ...] = (),
    keywords: Mapping[str, object] | None = None,
) -> Recording:
    """Run a program on its arguments, and write down what NumPy is asked to do.

    Memory, versions, ``.grad`` and generators are afterwards as they were before.

    Parameters
    ----------
    function : callable
        The program. It is called several times; see Note [Accepting a recording].
    arguments, keywords : tuple, mapping
        What it is called with: containers of tensors, arrays and Python values.

    Returns
    -------
    Recording
        The program and what its buffers are.

    Raises
    ------
    RecordingError
        If something is not known to the recording, or it is not accepted.
    """
    if recording.recorder is not None:
        raise RecordingError(
            "a program that is being recorded records another one; record the inner one by itself",
            reason="nested",
            library=None,
            line=None,
        )
    call = Call(function, arguments, dict(keywords or {}))
    return check(call)


class Call:
    """A program with its arguments, which can be run in several ways.

    Attributes
    ----------
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
        self.values = arguments, keywords
        self.leaves = flatten(self.values)
        for leaf in self.leaves:
            if not isinstance(leaf, (TensorBase, np.ndarray, *_PYTHON)):
                continue
        self.world = World(self.leaves)

    def record(self, prepare: Callable[[], None]) -> tuple[Recording, Outcome]:
        """Run the program and write it down.

        Parameters
        ----------
        prepare : callable
            Called when the world has been entered, before the program.
        """
        world = self.world
        recorder = Recorder(world.adopt, world.keep, (RecordingArray, RecordingNumber))
        passed: dict[int, int] = {}
        try:
            try:
                world.enter(as_recording=True)
                prepare()
                world.register(recorder)
                numbers = iter(range(len(self.leaves)))

                def given(leaf: object) -> object:
                    number = next(numbers)
                    if type(leaf) is not np.ndarray:
                        return leaf
                    array = leaf.view(RecordingArray)
                    passed[id(array)] = number
                    kept.append(array)
                    return array

                kept: list[Array] = []
                args, named = _taken_apart(mapped(given, self.values))
                with users_functions_replaced():
                    found = making.run_with(
                        MAKERS,
                        run_with,
                        changed(recorder=recorder),
                        self.function,
                        *args,
                        **named,
                    )
                if recorder.refused is not None:
                    raise recorder.refused
                if recorder.caught is not None:
                    raise recorder.refuse(
                        "an error of NumPy was caught in the program, and the values decide "
                        f"whether there is one: {recorder.caught!r}",
                        "caught error",
                    )
                return _Reading(self.world, recorder, passed, self.leaves).read(found)
            finally:
                world.leave()
        finally:
            world.leave()

    def run(self, prepare: Callable[[], None], made: Recording) -> Outcome:
        """Run the program eagerly, and return what it does, to be compared with a recording."""
        world = self.world
        try:
            try:
                world.enter(as_recording=False)
                prepare()
                args, named = self.values
                found = self.function(*args, **named)
                return _outcome(world, found, made)
            finally:
                world.leave()
        finally:
            world.leave()


def _taken_apart(values: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    args, named = values
    return args, named


@dataclass
class _Reading:
    """Reads the results of a recording run."""

    world: World
    recorder: Recorder
    passed: dict[int, int]
    leaves: list[object]

    def read(self, found: object) -> tuple[Recording, Outcome]:
        """The recording, and what it has done."""
        world = self.world
        self.places: list[Place] = []
        self.values: list[Value] = []
        self.ids = {id(x) for x in world.impls}
        self.made: dict[int, Result] = {}
        self.counters = {id(x.version_counter) for x in world.impls} - {id(None), id(INFERENCE)}
        result = mapped(self._result, found)
        grads = self._grads()
        self._check_graphs()
        made = Recording(self.recorder.program(self.places))
        made.arguments, made.outside = world.arguments, world.outside
        made.leaves = [
            None if isinstance(x, (TensorBase, np.ndarray)) else x for x in self.leaves
        ]
        made.result, made.grads = result, grads
        made.versions = _versions(world)
        written = self._written(made)
        made.generators = _generators(made)
        scalars = self.recorder.scalars
        return made, Outcome(self.values, written, _moved(made), result, grads, scalars)

    def _written(self, made: Recording) -> list[bytes]:
        contents = []
        for known in self.recorder.memory.alive.values():
            buffer = made.program.buffers[known.number]
            if buffer.kind in (Kind.ARGUMENT, Kind.OUTSIDE):
                memory = (made.arguments if buffer.kind is Kind.ARGUMENT else made.outside)[
                    buffer.position
                ]
                memory.written = known.writes > 0
                memory.known = known
        for memory in (*made.arguments, *made.outside):
            contents.append(memory.content())
        return contents

    def _add(self, array: Array) -> int:
        """Return an array: a copy, also if it shares memory with an argument."""
        self.places.append(self.recorder.place(array))
        self.values.append(value_of_array(plain_array(array)))
        return len(self.places) - 1

    def _result(self, leaf: object) -> object:
        if isinstance(leaf, TensorBase):
            impl = leaf._impl
            if id(impl) in self.ids:
                return Same(self.world.source(impl))
            meta = impl.autograd_meta
            needs = meta is not None and meta.needs_gradient() and not meta.was_produced()
            if id(impl.version_counter) in self.counters:
                raise self.recorder.refuse(
                    "a result is a view of a tensor from before the program; return a copy of it",
                    "view of an argument",
                )
            if id(impl) not in self.made:
                self.made[id(impl)] = Result(self._add(impl.array), type(leaf), needs)
            return self.made[id(impl)]
        if isinstance(leaf, np.ndarray):
            number = self.passed.get(id(leaf), -1)
            if number >= 0:
                return Same(Source(number))
            kind = np.generic if isinstance(leaf, RecordingNumber) else np.ndarray
            found = Result(self._add(leaf), kind)
            buffer = self.recorder.memory.buffers[self.places[-1].buffer]
            if buffer.kind in (Kind.ARGUMENT, Kind.OUTSIDE):
                raise self.recorder.refuse(
                    "a result is a view of memory from before the program; return a copy of it",
                    "view of an argument",
                )
            return found
        if isinstance(leaf, _PYTHON):
            return leaf
        raise self.recorder.refuse(
            f"a result of type {type(leaf).__name__} cannot be recorded", "unknown result"
        )

    def _grads(self) -> list[GradChange]:
        changes = []
        for impl, before, after in _changed_grads(self.world):
            holder = self.world.numbers.get(id(impl), impl)
            if after is None:
                changes.append(GradChange(holder, None))
                continue
            if id(after._impl) in self.ids:
                raise self.recorder.refuse(
                    "a .grad is set to a tensor from before the program", "grad"
                )
            changes.append(GradChange(holder, self._add(after._impl.array)))
        return changes

    def _check_graphs(self) -> None:
        """Refuse a tensor from before the program that has other memory or another graph after it."""
        for impl, array in self.world.arrays():
            now = impl.array
            if now is not array and (
                now.shape != array.shape
                or now.strides != array.strides
                or now.dtype is not array.dtype
                or address_of(now) != address_of(array)
            ):
                raise self.recorder.refuse(
                    "the program gives a tensor from before it another geometry or other memory",
                    "geometry",
                )
            meta = impl.autograd_meta
            if meta is not None and meta.needs_gradient() != self.world.needs[id(impl)]:
                raise self.recorder.refuse(
                    "the program changes whether a tensor from before it requires grad",
                    "requires grad",
                )


def _changed_grads(world: World) -> list[tuple[Any, TensorBase | None, TensorBase | None]]:
    """Tensors whose ``.grad`` is another object than before, with both."""
    found = []
    for impl in world.impls:
        cell: Any = getattr(impl.autograd_meta, "cell", None)
        _, _, before = world.cells.get(id(impl), (None, None, None))
        after = None if cell is None else cell.grad
        if after is not before:
            found.append((impl, before, after))
    return found


def _versions(world: World) -> list[VersionChange]:
    """Each counter that has moved, once."""
    moved = world.versions()
    changes: dict[int, VersionChange] = {}
    for impl in sorted(world.impls, key=lambda x: id(x) not in world.numbers):
        by = moved.get(id(impl))
        if by is not None and id(impl.version_counter) not in changes:
            changes[id(impl.version_counter)] = VersionChange(world.source(impl), by)
    return list(changes.values())


def _moved(made: Recording) -> list[tuple[object, int]]:
    return sorted([(repr(x.source.holder), x.by) for x in made.versions])


def _generators(made: Recording) -> list[Any]:
    found: list[Any] = []
    for step in made.program.steps:
        generator = getattr(step.function, "generator", None)
        if generator is not None and all(x is not generator for x in found):
            found.append(generator)
    return found


def _outcome(world: World, found: object, made: Recording) -> Outcome:
    """What an eager run has done."""
    values: list[Value] = []
    ids = {id(x) for x in world.impls}
    made_before: dict[int, Result] = {}
    passed = {id(x): number for number, x in enumerate(world.leaves) if type(x) is np.ndarray}

    def add(array: Array) -> int:
        values.append(value_of_array(array))
        return len(values) - 1

    def result(leaf: object) -> object:
        if isinstance(leaf, TensorBase):
            impl = leaf._impl
            if id(impl) in ids:
                return Same(world.source(impl))
            meta = impl.autograd_meta
            needs = meta is not None and meta.needs_gradient() and not meta.was_produced()
            if id(impl) not in made_before:
                made_before[id(impl)] = Result(add(impl.array), type(leaf), needs)
            return made_before[id(impl)]
        if isinstance(leaf, np.generic):
            return Result(add(np.asarray(leaf)), np.generic)
        if isinstance(leaf, np.ndarray):
            if id(leaf) in passed:
                return Same(Source(passed[id(leaf)]))
            return Result(add(leaf), np.ndarray)
        return leaf

    tree = mapped(result, found)
    grads = []
    for impl, _, after in _changed_grads(world):
        holder = world.numbers.get(id(impl), impl)
        grads.append(GradChange(holder, None if after is None else add(after._impl.array)))
    made_now = Recording(made.program, versions=_versions(world))
    written = [memory.content() for memory in (*made.arguments, *made.outside)]
    return Outcome(values, written, _moved(made_now), tree, grads)
