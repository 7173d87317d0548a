"""What a recording is: a program, and what its buffers are for the caller.

`record` leaves the world as it was: memory, versions, ``.grad`` and generators are those from
before the call, so a caller that wants the effects runs the program once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from vtgrad.generator import Generator
from vtgrad.jit.interpret import Checksums
from vtgrad.jit.provenance import Known, is_writable, memory_at
from vtgrad.jit.steps import Line, Place, Program
from vtgrad.jit.values import clear_padding
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = [
    "GradChange",
    "Memory",
    "ResultTree",
    "Recording",
    "Result",
    "Same",
    "Source",
    "VersionChange",
]


@dataclass(frozen=True, slots=True)
class Source:
    """A tensor or an array from which a program has memory.

    Attributes
    ----------
    holder : int or TensorImpl
        The number of a leaf of the arguments, in the order of `containers.flatten`; or the tensor
        that was met outside of the arguments.
    is_grad : bool
        Whether it is not this tensor but its ``.grad`` when the program is called.
    """

    holder: int | TensorImpl
    is_grad: bool = False


@dataclass(slots=True)
class Memory:
    """The memory of a buffer of kind `ARGUMENT` or `OUTSIDE`, by its position.

    It goes from the lowest byte of an element of its sources to the highest: sources that share
    memory have one buffer, and lie in it as `places` say.

    Attributes
    ----------
    sources : list of Source
        What has elements in it.
    places : list of Place
        The geometry of each source when it was recorded. A call with another one is another
        recording.
    written : bool
        Whether the program writes to it.
    known : Known or None
        Where it was while the program was recorded.
    """

    sources: list[Source]
    places: list[Place]
    written: bool = False
    known: Known | None = None

    def bytes_now(self) -> Array:
        """The live bytes that were recorded."""
        known = self.known
        assert known is not None
        assert known.held is not None
        return memory_at(known.held, known.start, known.stop)

    def content(self) -> bytes:
        """A copy of the live bytes, as `bits` has them."""
        return self.bits(self.bytes_now())

    def bits(self, content: Array) -> bytes:
        """A copy of some bytes of this memory, with zeros for the padding of its elements."""
        if all(place.dtype.char not in "gG" for place in self.places):
            return content.tobytes()
        own = content.copy()
        for place in self.places:
            clear_padding(own, place.dtype, place.shape, place.strides, place.offset)
        return own.tobytes()

    def is_writable(self) -> bool:
        """Whether NumPy allows a write to the memory."""
        known = self.known
        return known is not None and known.held is not None and is_writable(known.held)


@dataclass(frozen=True, slots=True)
class Result:
    """A tensor or an array that the program returns and that it made.

    A tensor that is returned twice has one number. Results that are views of each other become
    tensors on memory of their own.

    Attributes
    ----------
    number : int
        Its number among `Program.results`.
    type : type
        The class of the tensor, or `numpy.ndarray`; `numpy.generic` for a NumPy scalar.
    requires_grad : bool
        Whether it is a leaf that requires grad.
    """

    number: int
    type: type
    requires_grad: bool = False


@dataclass(frozen=True, slots=True)
class Same:
    """A result that *is* an argument or a tensor from outside."""

    source: Source


@dataclass(frozen=True, slots=True)
class VersionChange:
    """How far a call moves the version of a source, and those of all its aliases.

    Attributes
    ----------
    source : Source
        One of the tensors on the counter.
    by : int
        The number of writes, at least 1.
    """

    source: Source
    by: int


@dataclass(frozen=True, slots=True)
class GradChange:
    """A ``.grad`` that is another object after the program than before.

    A ``.grad`` that is written in place is no change of this kind, but a written `Memory`.

    Attributes
    ----------
    holder : int or TensorImpl
        As in `Source`.
    number : int or None
        The new one's number among `Program.results`; None if it is set to None.
    """

    holder: int | TensorImpl
    number: int | None


# Tuples, lists and dicts of `Result`, `Same` and Python values.
ResultTree: TypeAlias = object


@dataclass(slots=True)
class Recording:
    """A program and what it is for the caller.

    Attributes
    ----------
    program : Program
        The steps.
    arguments : list of Memory
        Buffers of kind `ARGUMENT`, by position.
    outside : list of Memory
        Buffers of kind `OUTSIDE`, by position.
    leaves : list of object
        The leaves of the arguments: None in the place of a tensor or an array, else the Python
        value, which a call must have too.
    result : object
        Tuples, lists and dicts of `Result`, `Same` and Python values.
    versions : list of VersionChange
        Each counter that the program moves, once.
    grads : list of GradChange
        Each ``.grad`` that is replaced.
    generators : list of Generator
        Those that steps of the program draw from.
    line : Line or None
        The line of the function that was recorded.
    beside : list of TensorImpl
        Tensors that share the memory of those met outside, and have no history. The program may use
        any of them: their gradients, and whether they require them, are guarded.
    unchecked : list of Source
        Memory for which no other values could be tried, since guards hold for the recorded ones
        only.
    reads : array of int or None
        The checksums of what its steps have read, if it was compared with an earlier recording.
    """

    program: Program
    arguments: list[Memory] = field(default_factory=list)
    outside: list[Memory] = field(default_factory=list)
    leaves: list[object] = field(default_factory=list)
    result: ResultTree = None
    versions: list[VersionChange] = field(default_factory=list)
    grads: list[GradChange] = field(default_factory=list)
    generators: list[Generator] = field(default_factory=list)
    line: Line | None = None
    beside: list[TensorImpl] = field(default_factory=list)
    unchecked: list[Source] = field(default_factory=list)
    reads: Checksums | None = None

    def memories(self) -> list[Memory]:
        """The memory of the arguments, then that met outside."""
        return [*self.arguments, *self.outside]
