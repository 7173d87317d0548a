"""Arguments whose elements share memory."""

from __future__ import annotations

from vtgrad.autograd.gradcheck.arrangements import ALONE
from vtgrad.autograd.gradcheck.check import check
from vtgrad.autograd.gradcheck.placement import Placement, outputs_of
from vtgrad.autograd.gradcheck.settings import Settings
from vtgrad.autograd.gradcheck.subject import Subject
from vtgrad.errors import GradcheckError
from vtgrad.tensor.tensor import Tensor

__all__ = ["check_overlapping"]


def check_overlapping(subject: Subject, nr: int, settings: Settings) -> None:
    """Check that a written argument is refused if it is expanded, or that all gradients are right.

    They are right where one constant is stored in all elements, and where each store is to elements
    of different locations. The function may refuse the call, or backward what the call recorded.

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
        If a gradient is wrong.
    """
    x = subject.arguments[nr]
    assert isinstance(x, Tensor)
    shape = tuple(x.shape)
    long = [dim for dim, size in enumerate(shape) if size > 1]
    if not long:
        return
    row = x.detach().narrow(long[0], 0, 1).clone().requires_grad_(x.requires_grad)
    try:
        check(_with_expanded(subject, x, row), settings)
    except GradcheckError:
        raise
    except RuntimeError:
        # A refusal, in forward or in backward.
        return


def _with_expanded(subject: Subject, x: Tensor, row: Tensor) -> Subject:
    """The function of a row of an argument, for which it gets the row expanded."""
    arguments = tuple(row if y is x else y for y in subject.arguments)
    inputs = tuple(row if y is x else y for y in subject.inputs)
    names = tuple(
        f"{name} (expanded)" if y is row else name
        for name, y in zip(subject.input_names, inputs, strict=True)
    )
    placement = Placement.of(Subject(subject.function, arguments, inputs, names), ALONE)

    def function(*given: object) -> list[Tensor]:
        placed = placement.place(given)
        own = next(nr for nr, y in enumerate(given) if y is row)
        short, wide = placed.arguments[own], placed.memories[own].expand(tuple(x.shape))
        called = tuple(wide if y is short else y for y in placed.arguments)
        return [*outputs_of(subject.function(*called)), *placed.memories.values()]

    return Subject(function, arguments, inputs, names)
