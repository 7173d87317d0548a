"""A program with its arguments, which is run in several ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from vtgrad.generator import Generator
from vtgrad.jit.containers import flatten, mapped
from vtgrad.jit.creators import MAKERS, users_functions_replaced
from vtgrad.jit.draws import Draw
from vtgrad.jit.fresh_run import copies_of_arguments, outcome_on_copies
from vtgrad.jit.outcomes import Outcome, Reader, version_changes
from vtgrad.jit.provenance import address_of
from vtgrad.jit.recorder import Recorder
from vtgrad.jit.recording import Recording
from vtgrad.jit.recording_array import RecordingArray, RecordingNumber
from vtgrad.jit.steps import Kind, Line, Program
from vtgrad.jit.world import World
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.tensor_base import TensorBase
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
        self.leaves = flatten(self._values)
        self.world = World(self.leaves)

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
                with users_functions_replaced():
                    found = making.run_with(
                        MAKERS,
                        run_with,
                        changed(recorder=recorder),
                        self.function,
                        *args,
                        **named,
                    )
                _check_refusals(recorder)
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
                found = self.function(*args, **named)
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
        made.leaves = [None if isinstance(x, (TensorBase, np.ndarray)) else x for x in self.leaves]
        made.result, made.grads = outcome.result, outcome.grads
        made.versions = version_changes(world)
        made.generators = _generators(made.program)
        made.line = _line_of(self.function)
        # A recording of other values is adopted from these lists too.
        world.arguments, world.outside = [], []
        return made, outcome

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


def _generators(program: Program) -> list[Generator]:
    found: list[Generator] = []
    for step in program.steps:
        if isinstance(step.function, Draw):
            generator = step.function.generator
            if all(x is not generator for x in found):
                found.append(generator)
    return found


def _line_of(function: object) -> Line | None:
    code = getattr(function, "__code__", None)
    return None if code is None else (code.co_filename, code.co_firstlineno)
