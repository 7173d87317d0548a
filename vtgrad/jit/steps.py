"""What a recording is: buffers of memory, and calls of NumPy on places in them.

Note [Steps are data]

A recorded program is a list of steps, and a step is a call of NumPy: a function, its arguments, and
the places that its results go to or that it writes to. A place is a geometry on a numbered buffer;
no step holds an array. So the same steps are run by a table of calls, run in C, written as source,
and drawn, and passes are functions from one program to another.

Views are not steps. A slice of a buffer is a place, with an offset and strides of its own.

A function of a step is one of: a ufunc; a method of a ufunc that is bound to it, such as
``np.add.reduce``; a function of NumPy; a method of `numpy.ndarray` that is not bound, such as
``np.ndarray.cumsum``, with the array as first argument; `operator.setitem` or `operator.getitem`;
a method of a random generator. `interpret.py` has the meaning of each step; whatever else runs a
program must have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from vtgrad.storage.arrays import Array, NumpyDType, Shape

__all__ = [
    "Buffer",
    "Fixed",
    "Group",
    "Guard",
    "Kind",
    "Line",
    "Operand",
    "Place",
    "Program",
    "Step",
    "places_in",
]

# A line of the user's program: file name and number.
Line: TypeAlias = tuple[str, int]


class Kind(Enum):
    """Where the memory of a buffer comes from."""

    # An array argument of the program, by its position among them; read or written in place.
    ARGUMENT = "argument"
    # A tensor that existed before the program and is reached otherwise, as through a closure.
    OUTSIDE = "outside"
    # Made by the program, anew in each run; its first content is written by steps.
    FRESH = "fresh"
    # Memory with a content that no run changes.
    CONSTANT = "constant"


@dataclass(slots=True)
class Buffer:
    """One piece of memory.

    Attributes
    ----------
    kind : Kind
        Where it comes from.
    nbytes : int
        Its size.
    position : int
        The number of the argument or of the outside tensor; -1 for others.
    content : numpy.ndarray or None
        The bytes of a constant, one-dimensional, uint8.
    name : str or None
        The user's name for it, where it is known.
    """

    kind: Kind
    nbytes: int
    position: int = -1
    content: Array | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """An array in a buffer. Strides and offset are in bytes."""

    buffer: int
    dtype: NumpyDType
    shape: Shape
    strides: Shape
    offset: int


@dataclass(frozen=True, slots=True)
class Fixed:
    """An argument that is the same in each run: a number, a dtype, a tuple of integers, None."""

    value: object


@dataclass(frozen=True, slots=True)
class Group:
    """A list or a tuple with places in it, as the arrays of `numpy.concatenate`."""

    type: type[list[object]] | type[tuple[object, ...]]
    parts: tuple[Operand, ...]


Operand: TypeAlias = Place | Fixed | Group


@dataclass(slots=True)
class Step:
    """One call.

    Attributes
    ----------
    function : callable
        What is called; see Note [Steps are data].
    inputs : tuple of Operand
        Its positional arguments.
    keywords : tuple of (str, Operand)
        Its named arguments, without ``out``.
    outputs : tuple of Place
        Where its results go. A ufunc and its methods compute there, as with ``out=``. The results
        of other functions are copied there without a cast. Empty if the function returns nothing
        that is read.
    writes : tuple of Place
        What it writes besides: arguments that the function changes, as the target of `setitem`.
    line : Line or None
        The user's line that led to it.
    operator : str
        The name of the library's operator or node that made the call; "" if it is not known,
        as in the compiled build, whose functions have no frames.
    """

    function: Callable[..., object]
    inputs: tuple[Operand, ...]
    keywords: tuple[tuple[str, Operand], ...] = ()
    outputs: tuple[Place, ...] = ()
    writes: tuple[Place, ...] = ()
    line: Line | None = None
    operator: str = ""

    def changed(
        self,
        *,
        function: Callable[..., object] | None = None,
        inputs: tuple[Operand, ...] | None = None,
        keywords: tuple[tuple[str, Operand], ...] | None = None,
        outputs: tuple[Place, ...] | None = None,
        writes: tuple[Place, ...] | None = None,
    ) -> Step:
        """A step that differs in what is given: `dataclasses.replace`, in a fifth of the time."""
        return Step(
            self.function if function is None else function,
            self.inputs if inputs is None else inputs,
            self.keywords if keywords is None else keywords,
            self.outputs if outputs is None else outputs,
            self.writes if writes is None else writes,
            self.line,
            self.operator,
        )


@dataclass(slots=True)
class Guard:
    """A Python value that left the recording, and must be the same in each run.

    Attributes
    ----------
    before : int
        It is checked before the step of this number runs; the number of steps for "at the end".
    function : callable
        What was asked, as ``bool`` or ``numpy.ndarray.item``.
    inputs : tuple of Operand
        Of what.
    value : object
        The answer while it was recorded; compared by type and by bits.
    line : Line or None
        The user's line at which it left.
    """

    before: int
    function: Callable[..., object]
    inputs: tuple[Operand, ...]
    value: object
    line: Line | None = None


@dataclass(slots=True)
class Program:
    """A recording.

    Attributes
    ----------
    buffers : list of Buffer
        All memory, by number.
    steps : list of Step
        In the order of the recording.
    guards : list of Guard
        In the order of ``before``.
    results : list of Place
        What a run returns, as new arrays that do not share memory with the next run's.
    """

    buffers: list[Buffer] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    results: list[Place] = field(default_factory=list)


def places_in(operand: Operand) -> Iterator[Place]:
    """The places that an operand consists of."""
    if isinstance(operand, Place):
        yield operand
    elif isinstance(operand, Group):
        for part in operand.parts:
            yield from places_in(part)
