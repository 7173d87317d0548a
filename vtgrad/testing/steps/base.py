"""What a step is, and the pieces of text that steps are written with."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from vtgrad.testing.geometry import contiguous
from vtgrad.testing.jets import FloatArray
from vtgrad.testing.libraries import TensorLike
from vtgrad.testing.model import ModelTensor, SkippedError
from vtgrad.testing.world import World

__all__ = [
    "NOTHING",
    "Expected",
    "Extras",
    "Line",
    "Literal",
    "Number",
    "Step",
    "Value",
    "extra_source",
    "mask_source",
    "named",
    "operand",
    "under",
    "value_source",
]

#: Arguments of an operator that are no tensors: numbers, places, masks, or text.
Extras = tuple[int | tuple[int, ...] | tuple[bool, ...] | str, ...]

#: An array of any dtype.
AnyArray = npt.NDArray[np.generic]

#: An element. The model knows those that are whole.
Number = int | float | complex


@dataclass(frozen=True)
class Expected:
    """Values of names that the step leaves behind, to be compared.

    Attributes
    ----------
    exact : mapping
        Arrays that must agree exactly; None where the library must say None.
    close : mapping
        Arrays that must agree to rounding; the library may say None for zeros.
    tangents : mapping
        Tangents that what is named in `exact` must have; the library may say None for zeros.
    dtypes : mapping
        The dtypes that what is named in `close` must have.
    factors : mapping
        By how large numbers what is in `close` was multiplied; 1 if not said. A derivative that is
        zero is a tiny number if it is computed by differences; its product with these is not tiny.
    """

    exact: Mapping[str, Sequence[FloatArray | None]]
    close: Mapping[str, Sequence[AnyArray]]
    tangents: Mapping[str, Sequence[FloatArray]] = field(default_factory=dict)
    dtypes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    factors: Mapping[str, Sequence[float]] = field(default_factory=dict)


NOTHING = Expected({}, {})


@dataclass(frozen=True)
class Step:
    """One statement of a program."""

    def source(self, careful: bool) -> list[str]:
        """Return the text of the step.

        Parameters
        ----------
        careful : bool
            Leave out what is known to be wrong in, or to crash, the library the text is for.
        """
        raise NotImplementedError

    def predict(self, world: World) -> Expected:
        """Do to the model what the text does to the library."""
        raise NotImplementedError

    @property
    def is_pass(self) -> bool:
        """Whether the step walks the graph: where it fails, a library may have done half of it."""
        return False

    @property
    def rounding(self) -> float:
        """How far numbers may be apart from here on, because of its dtype."""
        return 0.0

    def line(self) -> "Line":
        """Return the step as text: what judges that have no model see of it."""
        mode, targets, text = "", "", "; ".join(self.source(careful=True))
        single = _ASSIGNMENT.fullmatch(text)
        if single is not None:
            mode, targets, text = (part or "" for part in single.groups())
        names = tuple(_NAME.findall(targets))
        return Line(text, names, mode, _operator(text), self.is_pass)

    def observe(self, world: World, tensor: Callable[[int], TensorLike]) -> str | None:
        """Look at what the library has done, before it is compared.

        Parameters
        ----------
        tensor : callable
            The library's tensor of a number.

        Returns
        -------
        str or None
            What cannot be right, if anything.
        """
        return None


def _operator(text: str) -> str:
    """Return the name of the operator that a statement ends with."""
    last = text.rpartition("; ")[2]
    if re.match(r"t\d+\[", last):
        return "setitem" if re.search(r"\] [-+*]?= ", last) else "getitem"
    found = re.search(r"\b(?:vt\.(?:autograd\.(?:forward_ad\.)?)?|t\d+\.)(\w+)", last)
    return last.partition(" ")[0] if found is None else found[1]


_NAME = re.compile(r"\bt\d+\b")
#: The grad mode of a statement, the names that it binds, and the rest.
_ASSIGNMENT = re.compile(r"(?:with vt\.([^:]*): )?(?:((?:t\d+,? ?)+)= )?([^;]*)")


@dataclass(frozen=True)
class Line(Step):
    """A statement that is given as text: the model makes no prediction for it.

    Attributes
    ----------
    text : str
        The statement, without the names that it binds; the library is called ``vt``.
    defs : tuple of str
        The names that it binds: none, one, or one for each output.
    mode : str
        A context manager of the library around the statement, such as ``no_grad()``, or empty.
    op : str
        Name of the operator, for reports.
    backward : bool
        See `is_pass`.
    uses : frozenset of str
        The names of tensors that it reads.
    """

    text: str
    defs: tuple[str, ...] = ()
    mode: str = ""
    op: str = ""
    backward: bool = False
    uses: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Collect the names that the text reads."""
        object.__setattr__(self, "uses", frozenset(_NAME.findall(self.text)))

    def source(self, careful: bool) -> list[str]:
        """See `Step`."""
        statement = f"{', '.join(self.defs)} = {self.text}" if self.defs else self.text
        return [f"with vt.{self.mode}: {statement}" if self.mode else statement]

    def predict(self, world: World) -> Expected:
        """See `Step`."""
        raise SkippedError

    @property
    def is_pass(self) -> bool:
        """See `Step`."""
        return self.backward

    def line(self) -> "Line":
        """See `Step`."""
        return self


def named(index: int) -> str:
    """Return what a program calls the tensor of that number."""
    return f"t{index}"


def under(grad: bool, statement: str) -> list[str]:
    """Write a statement under a grad mode."""
    return [statement if grad else f"with vt.no_grad(): {statement}"]


@dataclass(frozen=True)
class Literal:
    """A constant tensor, written out where it is used."""

    shape: tuple[int, ...]
    numbers: tuple[Number, ...]
    dtype: str = "float64"

    def nested(self) -> object:
        """Return the numbers in nested lists."""
        nested: object = np.array(self.numbers, dtype=self.dtype).reshape(self.shape).tolist()
        return nested

    def source(self, requires_grad: bool = False) -> str:
        """Return the text of the tensor."""
        end = f"dtype=vt.{self.dtype}{', requires_grad=True' if requires_grad else ''})"
        if not self.numbers:
            return f"vt.zeros({self.shape}, {end}"
        return f"vt.tensor({self.nested()}, {end}"

    def values(self) -> FloatArray:
        """Return the numbers, flat."""
        return np.array(self.numbers, dtype=np.float64)


#: What can be written into a tensor: a number, a tensor of the program or text, a constant tensor.
Value = Number | Literal | str


def value_source(value: Value) -> str:
    """Write a value that is assigned."""
    return value.source() if isinstance(value, Literal) else str(value)


def operand(world: World, value: Value) -> ModelTensor:
    """Return the tensor that is named by a string such as ``"t3"`` or made from a constant."""
    if isinstance(value, str):
        return world.tensors[int(value[1:])]
    if isinstance(value, int):
        return world.fresh(contiguous(()), np.array([value], dtype=np.float64))
    if not isinstance(value, Literal):
        raise SkippedError
    return world.fresh(contiguous(value.shape), value.values())


def mask_source(mask: object, shape: tuple[int, ...]) -> str:
    """Write a mask, given flat, as a tensor of bools."""
    flat = np.array(mask, dtype=np.bool_)
    if not flat.size:
        return f"vt.zeros({shape}, dtype=vt.bool)"
    return f"vt.tensor({flat.reshape(shape).tolist()}, dtype=vt.bool)"


def extra_source(name: str, extra: Sequence[object], shape: tuple[int, ...]) -> list[str]:
    """Write the arguments of an operator that are no tensors of the program."""
    if name == "masked_fill":
        mask, number = extra
        return [mask_source(mask, shape), str(number)]
    if name == "index_select":
        dim, picks = extra
        return [str(dim), f"vt.tensor({list(picks) if isinstance(picks, tuple) else picks})"]
    if name == "flip":
        return [f"({extra[0]},)"]
    return [str(part) for part in extra]
