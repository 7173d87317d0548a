# Compiled by mypyc.
"""From what users pass to what kernels take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.errors import ArgumentTypeError
from vtgrad.storage.argument_types import T
from vtgrad.storage.arrays import Array, Number, NumpyDType
from vtgrad.storage.dtypes import numpy_dtype
from vtgrad.storage.promotion import python_number
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "array_of",
    "array_or_none",
    "arrays_of",
    "is_array",
    "leading",
    "numpy_or_none",
    "operand_of",
]


def array_of(value: object, name: str) -> Array:
    """The array of a tensor.

    Raises
    ------
    ArgumentTypeError
        If `value` is no tensor.
    """
    if isinstance(value, TensorBase):
        return value._impl.array
    raise ArgumentTypeError(
        f"argument {name!r} must be a tensor, not {type(value).__name__}", argument=name
    )


def array_or_none(value: object, name: str) -> Array | None:
    """The array of a tensor, or None."""
    return None if value is None else array_of(value, name)


def arrays_of(values: Sequence[TensorBase], name: str) -> list[Array]:
    """The arrays of a sequence of tensors."""
    if isinstance(values, TensorBase) or not isinstance(values, Sequence):
        raise ArgumentTypeError(
            f"argument {name!r} must be a sequence of tensors, not {type(values).__name__}",
            argument=name,
        )
    return [array_of(x, name) for x in values]


def leading(tensors: Sequence[T]) -> T:
    """The tensor whose class a result of all of them has.

    That is the first, unless the class of another one inherits from its class, as of the operands
    of an operator of Python.
    """
    first = tensors[0]
    cls = type(first)
    for x in tensors:
        if type(x) is not cls and issubclass(type(x), cls):
            first, cls = x, type(x)
    return first


def operand_of(value: object, name: str) -> Array | Number:
    """The array of a tensor, or a Python number, which promotes less.

    Raises
    ------
    ArgumentTypeError
        If `value` is neither.
    """
    if isinstance(value, TensorBase):
        return value._impl.array
    # NumPy's float64 is a float, but promotes like an array: it must become a plain number.
    if isinstance(value, np.generic):
        value = python_number(value)
    if isinstance(value, (bool, int, float, complex)):
        return value
    raise ArgumentTypeError(
        f"argument {name!r} must be a tensor or a number, not {type(value).__name__}",
        argument=name,
    )


def numpy_or_none(dtype: object) -> NumpyDType | None:
    """The NumPy dtype of a vtgrad dtype, or None."""
    return None if dtype is None else numpy_dtype(dtype)


def is_array(value: object) -> bool:
    """Whether a value is NumPy's array, or holds one as a column of a data frame does.

    An operand that is one becomes a tensor, see Note [Arrays as constants].
    """
    if isinstance(value, (int, float, complex, TensorBase, np.generic)):
        return False
    return isinstance(value, np.ndarray) or (
        hasattr(value, "__array__") and hasattr(value, "__len__")
    )
