"""Calling a function with copies of its arguments that lie in memory in a chosen way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vtgrad.autograd.gradcheck.arrangements import Arrangement
from vtgrad.autograd.gradcheck.directions import direction_like
from vtgrad.autograd.gradcheck.subject import Subject, is_differentiable, listed_outputs
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.from_data import from_numpy
from vtgrad.tensor.tensor import Tensor

__all__ = ["Placed", "Placement", "Snapshot", "outputs_of"]


class Placed(NamedTuple):
    """The arguments of one call.

    Attributes
    ----------
    arguments : tuple
        What the function is called with.
    memories : dict of int to Tensor
        By the number of the argument, the whole memory that it is a part of. An object that is
        passed twice is here once.
    """

    arguments: tuple[object, ...]
    memories: dict[int, Tensor]


class Snapshot:
    """Memory, versions and geometry at one moment.

    Attributes
    ----------
    bytes : dict of int to bytes
        The content of each memory.
    versions : dict of int to int
        Its version.
    geometries : dict of int to tuple
        Shape, strides and offset of each argument.
    """

    __slots__ = ("bytes", "geometries", "versions")

    bytes: dict[int, bytes]
    versions: dict[int, int]
    geometries: dict[int, tuple[object, ...]]

    def __init__(self, placed: Placed) -> None:
        self.bytes = {
            nr: memory._impl.storage.flat.tobytes() for nr, memory in placed.memories.items()
        }
        self.versions = {nr: memory._version for nr, memory in placed.memories.items()}
        self.geometries = {
            nr: (tuple(x.shape), x.stride(), x.storage_offset())
            for nr, x in enumerate(placed.arguments)
            if isinstance(x, Tensor)
        }


class Placement(NamedTuple):
    """Copies of the arguments of a function, all of one arrangement.

    Attributes
    ----------
    subject : Subject
        The function and its arguments.
    arrangement : Arrangement
        How copies lie in memory.
    surroundings : dict of int to Tensor
        By the number of the argument, what its memory holds before the argument is stored there.
        It requires grad if the argument does.
    """

    subject: Subject
    arrangement: Arrangement
    surroundings: dict[int, Tensor]

    @staticmethod
    def of(subject: Subject, arrangement: Arrangement) -> Placement:
        """The placement of a function's arguments."""
        first: dict[int, int] = {}
        surroundings = {}
        for nr, x in enumerate(subject.arguments):
            if isinstance(x, Tensor) and first.setdefault(id(x), nr) == nr:
                shape = arrangement.shape(tuple(x.shape))
                values = _values_like(x, shape, nr)
                around = from_numpy(values).to(x.device)
                if is_differentiable(x) and not arrangement.is_alone:
                    around.requires_grad_()
                surroundings[nr] = around
        return Placement(subject, arrangement, surroundings)

    @property
    def varied(self) -> dict[int, Tensor]:
        """The surroundings that require grad."""
        return {nr: around for nr, around in self.surroundings.items() if around.requires_grad}

    def place(
        self, arguments: Sequence[object], surroundings: dict[int, Tensor] | None = None
    ) -> Placed:
        """Copy arguments into new memory; that is recorded.

        Parameters
        ----------
        arguments : sequence
            Those of the function.
        surroundings : dict of int to Tensor, optional
            Instead of those of the placement.
        """
        found: dict[int, object] = {}
        memories: dict[int, Tensor] = {}
        placed: list[object] = []
        around = self.surroundings if surroundings is None else surroundings
        for nr, x in enumerate(arguments):
            if not isinstance(x, Tensor):
                placed.append(x)
                continue
            if id(x) not in found:
                shape = tuple(x.shape)
                if self.arrangement.is_alone:
                    memories[nr] = x.clone()
                else:
                    memories[nr] = around[nr].clone()
                    self.arrangement.part(memories[nr], shape).copy_(x)
                found[id(x)] = self.arrangement.part(memories[nr], shape)
            placed.append(found[id(x)])
        return Placed(tuple(placed), memories)

    def beside(self, nr: int, content: bytes) -> bytes:
        """The content of a memory with zeros where the argument lies."""
        around, x = self.surroundings[nr], self.subject.arguments[nr]
        assert isinstance(x, Tensor)
        values = making.frombuffer(content, around._impl.dtype).reshape(tuple(around.shape)).copy()
        self.arrangement.part(from_numpy(values), tuple(x.shape)).zero_()
        return values.tobytes()


def outputs_of(returned: object) -> list[Tensor]:
    """The outputs of a function that may write and return nothing."""
    return [] if returned is None else listed_outputs(returned)


def _values_like(x: Tensor, shape: tuple[int, ...], nr: int) -> Array:
    """What lies beside an argument: numbers near one, or zeros of integers and truth values."""
    if not (x.is_floating_point() or x.is_complex()):
        return making.zeros(shape, x._impl.dtype)
    values = 1 + direction_like(shape, nr, is_complex=x.is_complex()) / 8
    return making.asarray(values, x._impl.dtype)
