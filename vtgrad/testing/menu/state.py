"""What the menu may know of a program: its tensors, and what its judges can express."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol

from vtgrad.testing.custom import Rule

__all__ = ["Abilities", "State", "TensorState", "functions_of"]


@dataclass(frozen=True, slots=True)
class TensorState:
    """A tensor as it is now. As text it is its name, so that it stands in texts of steps.

    Attributes
    ----------
    index : int
        Its number: the name is ``t`` and the number.
    strides, offset, room : tuple of int, int, int
        In elements; `room` is how many its memory holds.
    is_leaf : bool
        Whether it is a leaf that requires grad, and no view.
    is_protected : bool
        Whether a recorded write is refused: to a leaf that requires grad, or a view of one.
    is_restricted : bool
        Whether it is known to be a view that must not be written.
    is_part : bool
        Whether it shows some elements, not all, of a tensor that was computed.
    is_lazy : bool
        Whether its values are conjugates or negatives of what is in its memory.
    is_tame : bool
        Whether the values are finite and of moderate size.
    has_gradient : bool
        Whether it is a leaf that holds a gradient without a graph.
    refuses_retaining : bool
        Whether a judge cannot bear that it retains its gradient.
    producer : str
        The class of the node of a result that is no view, where that is known.
    has_tangent : bool
        Whether it has a tangent at the open level.
    """

    index: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    room: int
    requires_grad: bool
    is_view: bool
    is_leaf: bool
    is_protected: bool
    is_part: bool
    dtype: str = "float64"
    is_restricted: bool = False
    is_lazy: bool = False
    is_tame: bool = True
    has_gradient: bool = False
    refuses_retaining: bool = False
    producer: str = ""
    has_tangent: bool = False

    def __str__(self) -> str:
        return f"t{self.index}"


class State(Protocol):
    """The program so far."""

    @property
    def made(self) -> int:
        """The number of the next tensor."""
        ...

    @property
    def has_level(self) -> bool:
        """Whether a level of forward mode is open."""
        ...

    def describe(self) -> Sequence[TensorState]:
        """Describe the tensors that are alive, oldest first."""
        ...

    def has_room(self, numel: int) -> bool:
        """Whether there may be so many elements more that require grad."""
        ...

    def look(self, text: str) -> tuple[tuple[int, ...], str] | None:
        """Shape and dtype of what an expression would give; None if it raises, or is not known."""
        ...

    def beside_saves(self) -> Sequence[tuple[int, int | slice]]:
        """Tensors and parts of them that lie beside what nodes have saved, where that is known."""
        ...


def functions_of(module: ModuleType) -> frozenset[str]:
    """Return the names of a library's functions."""
    found = vars(module).items()
    return frozenset(name for name, value in found if callable(value) and name[0] != "_")


@dataclass(frozen=True)
class Abilities:
    """What all judges of a program can express.

    Attributes
    ----------
    known : frozenset of str, optional
        The operators and liberties of the menu that they know; all by default.
    missing : frozenset of str
        Operators that the library under test does not have.
    functions : frozenset of str
        Methods that are functions of the library too.
    rules : sequence of Rule
        Operators of the user's.
    most_tensors, most_elements, most_dims : int
        Of a program; of a tensor.
    """

    known: frozenset[str] | None = None
    missing: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    rules: Sequence[Rule] = ()
    most_tensors: int = 14
    most_elements: int = 64
    most_dims: int = 64

    def can(self, what: str) -> bool:
        """Whether steps of this kind may be drawn."""
        return what not in self.missing and (self.known is None or what in self.known)

    def fits_together(self, shapes: Sequence[tuple[int, ...]]) -> bool:
        """Whether what is made of several tensors is small enough."""
        total = sum(map(math.prod, shapes))
        return total <= self.most_elements and all(map(self.fits, shapes))

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether a tensor of this shape is small enough."""
        return len(shape) <= self.most_dims and math.prod(shape) <= self.most_elements
