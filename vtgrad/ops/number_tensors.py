"""0-d tensors in the place of numbers: ``x.add_(y, alpha=rate)``."""

from __future__ import annotations

from typing import TypeVar, cast

from ..errors import DTypeError
from ..storage.tensor_base import TensorBase

__all__ = ["as_number", "has_number_tensor", "refuse_tensor"]

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
        return cast("N", cast("TensorBase", value)._impl.array.item())
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
    return meta is None or not meta.requires_grad()
