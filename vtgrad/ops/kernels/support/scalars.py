"""Storing one Python number in an array of a given dtype, checked."""

from __future__ import annotations

import math

import numpy as np

from vtgrad.errors import ArgumentTypeError, ResultTypeError
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number, NumpyDType
from vtgrad.storage.dtypes import FLOAT_MAX

__all__ = ["as_element"]


def as_element(value: Number, dtype: NumpyDType) -> Array:
    """The 0-d array of `dtype` that holds `value`.

    A fraction is cut off when the dtype is an integer one, and unsigned dtypes wrap negative
    integers of their width, as in PyTorch.

    Raises
    ------
    ArgumentTypeError
        If it is a duration, which NumPy's classes call an integer.
    ResultTypeError
        If the number is outside the dtype's range, is NaN or infinite where integers are
        stored, or has an imaginary part where real numbers are stored.
    """
    if type(value) is float and dtype.char in "fd":
        _check_range(abs(value), value, dtype)
        return making.array(value, dtype)
    given: object = value
    if type(given) is not float and isinstance(given, np.timedelta64):
        raise ArgumentTypeError("a number can be stored in a tensor, not timedelta64")
    kind = dtype.kind
    if kind == "b":
        return making.array(value != 0, dtype)
    if isinstance(value, complex):
        if kind == "c":
            _check_range(max(abs(value.real), abs(value.imag)), value, dtype)
            return making.array(value, dtype)
        if value.imag != 0:
            raise _refusal(value, dtype)
        value = value.real
    if kind in "fc":
        _check_range(abs(value), value, dtype)
        return making.array(value, dtype)
    if isinstance(value, float) and not math.isfinite(value):
        raise _refusal(value, dtype)
    whole = int(value)
    info = np.iinfo(dtype)
    lowest = -int(info.max) if kind == "u" and isinstance(value, int) else int(info.min)
    if value < lowest or not lowest <= whole <= int(info.max):
        raise _refusal(value, dtype)
    return making.array(whole % (int(info.max) + 1) if kind == "u" else whole, dtype)


def _check_range(size: float, value: Number, dtype: NumpyDType) -> None:
    if size > FLOAT_MAX[dtype.char] and size != math.inf:
        raise _refusal(value, dtype)


def _refusal(value: Number, dtype: NumpyDType) -> ResultTypeError:
    return ResultTypeError(
        f"{value!r} cannot be stored as {dtype.name}", value=value, dtype=dtype.name
    )
