"""Arguments whose elements share memory."""

from __future__ import annotations

from dataclasses import replace

from ...errors import GradcheckError
from ...tensor.tensor import Tensor
from .arrangements import ALONE
from .check import check
from .placement import Placed, Placement, Snapshot, outputs_of
from .settings import Settings
from .subject import Subject

__all__ = ["check_overlapping"]


def check_overlapping(subject: Subject, nr: int, settings: Settings) -> None:
    """Check that a written argument is refused if it is expanded, or that its gradient is right.

    It is right where one constant is stored in all elements, and where only elements of different
    locations are written.

    Parameters
    ----------
    subject : Subject
        The function.
    nr : int
        The number of an argument that it writes.
    settings : Settings
        The options.

    Raises
    ------
    GradcheckError
        If it is not, or if the function is refused when it has written already.
    """
    x = subject.arguments[nr]
    assert isinstance(x, Tensor)
    shape = tuple(x.shape)
    long = [dim for dim, size in enumerate(shape) if size > 1]
    if not long:
        return
    row = x.detach().narrow(long[0], 0, 1).clone().requires_grad_(x.requires_grad)
    narrowed = tuple(row if y is x else y for y in subject.arguments)
    inputs = tuple(row if y is x else y for y in subject.inputs)
    expanded = _Expanded(replace(subject, arguments=narrowed, inputs=inputs), row, shape)
    if not _refused(expanded, nr) and inputs:
        names = tuple(
            f"{name}, expanded," if y is row else name
            for name, y in zip(subject.input_names, inputs, strict=True)
        )
        subject = Subject(expanded.call, narrowed, inputs, names)
        check(subject, settings)


class _Expanded:
    """The function with one argument expanded.

    Attributes
    ----------
    placement : Placement
        The function, whose argument is a row.
    row : Tensor
        The argument before it is expanded.
    shape : tuple of int
        The shape to expand it to.
    """

    __slots__ = ("placement", "row", "shape")

    placement: Placement
    row: Tensor
    shape: tuple[int, ...]

    def __init__(self, subject: Subject, row: Tensor, shape: tuple[int, ...]) -> None:
        self.placement = Placement.of(subject, ALONE)
        self.row = row
        self.shape = shape

    def place(self, arguments: tuple[object, ...]) -> Placed:
        """Copies of the arguments, one of them expanded."""
        placed = self.placement.place(arguments)
        own = next(nr for nr, y in enumerate(arguments) if y is self.row)
        short = placed.arguments[own]
        wide = placed.memories[own].expand(self.shape)
        return Placed(tuple(wide if y is short else y for y in placed.arguments), placed.memories)

    def call(self, *arguments: object) -> list[Tensor]:
        """The function, with all memory that it can write as results."""
        placed = self.place(arguments)
        outputs = outputs_of(self.placement.subject.function(*placed.arguments))
        return [*outputs, *placed.memories.values()]


def _refused(expanded: _Expanded, nr: int) -> bool:
    """Whether the function refuses the expanded argument.

    Raises
    ------
    GradcheckError
        If it has changed something before.
    """
    placed = expanded.place(expanded.placement.subject.arguments)
    before = Snapshot(placed)
    try:
        expanded.placement.subject.function(*placed.arguments)
    except RuntimeError as error:
        after = Snapshot(placed)
        if (after.bytes, after.versions) != (before.bytes, before.versions):
            raise GradcheckError(
                f"the function refuses argument {nr} when its elements share memory, but has "
                "written before it does",
                check="late-refusal",
                argument=nr,
            ) from error
        return True
    return False
