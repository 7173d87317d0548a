"""Operators of two operands whose first one is a number: ``add(2, x)``, ``bitwise_and(3, x)``."""

from __future__ import annotations

from typing import cast

import numpy as np

from ..errors import ArgumentValueError
from ..storage.arrays import Number
from ..storage.dtypes import result_dtype
from ..storage.tensor_base import TensorBase
from ..storage.tensor_impl import TensorImpl
from ..storage.unchecked import T

__all__ = ["as_first_operand", "tensor_beside"]


def tensor_beside(value: Number, other: TensorBase) -> TensorBase:
    """A 0-d tensor of a number, in the dtype that it has beside the tensor `other`.

    Raises
    ------
    ArgumentValueError
        If it is an integer that does not fit 64 bits.
    """
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ArgumentValueError("an integer operand does not fit 64 bits", value=value)
    dtype = result_dtype(other._impl.array, value)
    # Integers that are out of range wrap around, as in all arithmetic with numbers.
    array = np.asarray(value).astype(dtype) if dtype.kind in "iu" else np.asarray(value, dtype)
    return other._wrap(TensorImpl(array))


def as_first_operand(first: T, second: object, *, inexact: bool = False) -> T | None:
    """A tensor for a first operand that is a number beside a tensor; None for other operands.

    Parameters
    ----------
    inexact : bool
        Whether the operator computes with floating numbers, from integers too.

    Notes
    -----
    Called when an operator has failed, which takes its first operand for a tensor: see
    Note [Arguments are looked at when a call has failed].
    """
    number: object = first
    if isinstance(number, np.generic):
        number = number.item()
    if not isinstance(number, (bool, int, float, complex)) or not isinstance(second, TensorBase):
        return None
    if isinstance(number, bool):
        # Any other dtype prevails over bool; an operator may have no bools.
        return cast("T", second._wrap(TensorImpl(np.asarray(number))))
    if inexact and isinstance(number, int) and abs(number) < 2**63:
        number = float(number)
    return cast("T", tensor_beside(number, second))
