"""Numbers as operands: a number before a tensor, and a 0-d tensor instead of a number."""

from __future__ import annotations

from typing import TypeVar, cast

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError
from vtgrad.ops.calling.arguments import is_array
from vtgrad.ops.calling.constants import constant, tensor_beside
from vtgrad.ops.calling.lost_gradient import ARGUMENT, note_number
from vtgrad.ops.calling.take_over import override_handler
from vtgrad.storage import making
from vtgrad.storage.arrays import Number
from vtgrad.storage.key_set import keys
from vtgrad.storage.promotion import python_number
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = [
    "as_first_operand",
    "as_number",
    "has_number_tensor",
    "out_of_context",
    "python_operand",
    "refuse_tensor",
]


def python_operand(tensor: TensorBase, other: object) -> TensorBase | Number | None:
    """The other operand of a tensor; None if it can be none.

    NumPy's scalars are the numbers they are, its arrays constants (Note [Arrays as constants]).
    """
    if isinstance(other, TensorBase):
        return other
    if isinstance(other, np.generic):
        other = python_number(other)
    if isinstance(other, (int, float, complex)):
        return other
    overrides = override_handler()
    if overrides is not None and overrides.takes((other,)):
        # The operator fails with it, and hands over; see Note [Overridden functions].
        return cast("TensorBase", other)
    return constant(other, tensor) if is_array(other) else None


def as_first_operand(
    operator: str, first: object, second: object, *, inexact: bool = False
) -> TensorBase | None:
    """A tensor for a first operand that is a number beside a tensor; None for other operands.

    Parameters
    ----------
    operator : str
        The operator's name, for the error.
    first, second
        Its operands.
    inexact : bool
        Whether the operator computes with floating numbers, from integers too.

    Raises
    ------
    ArgumentTypeError
        If both are numbers.

    Notes
    -----
    Called when an operator has failed, which takes its first operand for a tensor: see
    Note [Arguments are looked at when a call has failed].
    """
    number = python_number(first) if isinstance(first, np.generic) else first
    if not isinstance(number, (bool, int, float, complex)):
        return None
    if not isinstance(second, TensorBase):
        if isinstance(second, (int, float, complex, np.number, np.bool_)):
            raise ArgumentTypeError(
                f"at least one operand of {operator} must be a tensor"
            ) from None
        return None
    if isinstance(number, bool):
        # Any other dtype prevails over bool; an operator may have no bools.
        return second._wrap(TensorImpl(making.asarray(number)))
    if inexact and isinstance(number, int) and abs(number) < 2**63:
        number = float(number)
    return tensor_beside(number, second)


class out_of_context:
    """A block of a handler whose errors do not show the handled one as their context.

    It is for the call that was meant, where the handled error is that of a first attempt, which
    tells users nothing.

    Parameters
    ----------
    handled : Exception
        What the first attempt has raised.
    """

    __slots__ = ("handled",)

    handled: Exception

    def __init__(self, handled: Exception) -> None:
        self.handled = handled

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, raised: BaseException | None, traceback: object) -> None:
        while raised is not None:
            if raised.__context__ is self.handled:
                raised.__context__ = None
            raised = raised.__context__


N = TypeVar("N")


def has_number_tensor(*values: object) -> bool:
    """Whether one of an operator's numbers is a 0-d tensor that may stand for it.

    A tensor that requires grad may not: its gradient would be lost.

    Notes
    -----
    Called when an operator has failed, which takes numbers for what they are: see
    Note [Arguments are looked at when a call has failed].
    """
    return any(map(_stands_for_a_number, values))


def as_number(value: N) -> N:
    """The element of such a tensor; anything else as it is."""
    if _stands_for_a_number(value):
        tensor = cast("TensorBase", value)
        if keys.modes:
            note_number(tensor, ARGUMENT)
        return cast("N", tensor._impl.array.item())
    return value


def refuse_tensor(value: object) -> None:
    """Let a call with a tensor for a number fail, before anything takes it for an operand.

    Raises
    ------
    DTypeError
        If it is one; the call is tried again or explained then.
    """
    if isinstance(value, TensorBase):
        raise DTypeError("a number was expected, not a tensor")


def _stands_for_a_number(value: object) -> bool:
    if not isinstance(value, TensorBase) or value.ndim:
        return False
    meta = value._impl.autograd_meta
    return meta is None or not meta.needs_gradient()
