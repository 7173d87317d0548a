"""What a run of a program has done: results, gradients, written memory and versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np

from vtgrad.errors import RecordingError
from vtgrad.jit.containers import mapped
from vtgrad.jit.recorder import Recorder
from vtgrad.jit.recording import (
    GradChange,
    Memory,
    Result,
    ResultTree,
    Same,
    Source,
    VersionChange,
)
from vtgrad.jit.recording_array import RecordingNumber
from vtgrad.jit.steps import Kind, Place
from vtgrad.jit.values import bits_of
from vtgrad.jit.world import World, plain_array
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import LazyArray
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import INFERENCE

__all__ = ["PYTHON_VALUES", "Outcome", "Reader", "Value", "value_of_array", "version_changes"]

# dtype, shape, strides of dimensions longer than 1, and bytes.
Value: TypeAlias = tuple[str, tuple[int, ...], tuple[int, ...], bytes]

# Types of values that are compared by value.
PYTHON_VALUES: Final = (type(None), bool, int, float, complex, str, bytes, np.dtype, type)


@dataclass
class Outcome:
    """What a run of a program has done.

    Attributes
    ----------
    values : list of Value
        Results that it made, then new gradients.
    memory : list of bytes
        The memory of arguments and of what was met outside, afterwards.
    versions : list of (str, int)
        How far the versions of tensors from before have moved.
    result, grads : object, list
        As in `Recording`.
    """

    values: list[Value]
    memory: list[bytes]
    versions: list[tuple[str, int]] = field(default_factory=list)
    result: ResultTree = None
    grads: list[GradChange] = field(default_factory=list)


def value_of_array(array: Array) -> Value:
    """What is compared of an array."""
    strides = tuple([s for n, s in zip(array.shape, array.strides, strict=True) if n > 1])
    return array.dtype.str, array.shape, strides if array.size else (), bits_of(array)


def version_changes(world: World) -> list[VersionChange]:
    """Each counter that has moved, once."""
    moved = world.versions()
    changes: dict[int, VersionChange] = {}
    for impl in sorted(world.impls, key=lambda x: id(x) not in world.numbers):
        by = moved.get(id(impl))
        if by is not None and id(impl.version_counter) not in changes:
            changes[id(impl.version_counter)] = VersionChange(world.source(impl), by)
    return list(changes.values())


class Reader:
    """Reads what a run has done, before the world is as it was.

    Parameters
    ----------
    world : World
        What existed before.
    passed : mapping of int to int
        The numbers of the arrays among the leaves of the arguments, by ``id``.
    recorder : Recorder, optional
        The recorder of the run, if it was recorded.

    Attributes
    ----------
    places : list of Place
        Where the results of a recorded run are.
    """

    places: list[Place]

    def __init__(
        self, world: World, passed: Mapping[int, int], recorder: Recorder | None = None
    ) -> None:
        self.places = []
        self._world = world
        self._passed = passed
        self._recorder = recorder
        self._values: list[Value] = []
        self._made: dict[int, Result] = {}
        self._before = {id(x) for x in world.impls}
        counters = [x.version_counter for x in world.impls]
        self._counters = {id(x) for x in counters if x is not None and x is not INFERENCE}

    def read(self, found: object, memories: Sequence[Memory]) -> Outcome:
        """What was returned and done."""
        result = mapped(self._result, found)
        grads = self._grads()
        versions = sorted([(repr(x.source), x.by) for x in version_changes(self._world)])
        contents = [memory.content() for memory in memories]
        return Outcome(self._values, contents, versions, result, grads)

    def _add(self, array: Array) -> int:
        """Return an array: a copy, also if it shares memory with an argument."""
        if isinstance(array, LazyArray):
            raise self._refuse(
                "a result is a lazy conjugate, which a replay does not return; resolve it",
                "lazy array",
            )
        if self._recorder is not None:
            self.places.append(self._recorder.place(array))
        self._values.append(value_of_array(plain_array(array)))
        return len(self._values) - 1

    def _result(self, leaf: object) -> object:
        if isinstance(leaf, TensorBase):
            return self._tensor(leaf)
        if isinstance(leaf, (np.ndarray, np.generic)):
            return self._array(leaf)
        if isinstance(leaf, PYTHON_VALUES):
            return leaf
        raise self._refuse(
            f"a result of type {type(leaf).__name__} cannot be recorded", "unknown result"
        )

    def _tensor(self, tensor: TensorBase) -> Result | Same:
        impl = tensor._impl
        if id(impl) in self._before:
            return Same(self._world.source(impl))
        if id(impl.version_counter) in self._counters:
            raise self._refuse_view()
        if impl.is_inference:
            raise self._refuse("a result of inference mode cannot be recorded", "inference")
        made = self._made.get(id(impl))
        if made is None:
            meta = impl.autograd_meta
            needs = meta is not None and meta.needs_gradient() and not meta.was_produced()
            made = self._made[id(impl)] = Result(self._add(impl.array), type(tensor), needs)
        return made

    def _array(self, value: Array | np.generic) -> Result | Same:
        if isinstance(value, np.generic):
            if self._recorder is not None:
                raise self._refuse(f"a scalar of NumPy, {value!r}, is not known", "unknown scalar")
            return Result(self._add(np.asarray(value)), np.generic)
        number = self._passed.get(id(value))
        if number is not None:
            return Same(Source(number))
        kind = np.generic if isinstance(value, RecordingNumber) else np.ndarray
        made = Result(self._add(value), kind)
        if self._recorder is not None:
            buffer = self._recorder.memory.buffers[self.places[-1].buffer]
            if buffer.kind in (Kind.ARGUMENT, Kind.OUTSIDE):
                raise self._refuse_view()
        return made

    def _grads(self) -> list[GradChange]:
        """Each ``.grad`` that is another object than before."""
        changes = []
        found: list[Array] = []
        for impl, after in self._world.changed_grads():
            if after is not None:
                array = plain_array(after._impl.array)
                if any(np.may_share_memory(array, other) for other in found):
                    raise self._refuse(
                        "two tensors get one .grad, or share its memory; give each a clone()",
                        "grad",
                    )
                found.append(array)
            holder: int | TensorImpl = self._world.numbers.get(id(impl), impl)
            if after is None:
                changes.append(GradChange(holder, None))
            elif id(after._impl) in self._before:
                raise self._refuse("a .grad is set to a tensor from before the program", "grad")
            else:
                changes.append(GradChange(holder, self._add(after._impl.array)))
        return changes

    def _refuse_view(self) -> RecordingError:
        return self._refuse(
            "a result is a view of memory from before the program; return a copy of it",
            "view of an argument",
        )

    def _refuse(self, sentence: str, reason: str) -> RecordingError:
        if self._recorder is not None:
            return self._recorder.refuse(sentence, reason)
        return RecordingError(sentence, reason=reason, library=None, line=None)
