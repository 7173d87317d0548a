"""What functions of `vtgrad.nn.functional` ask of dtypes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vtgrad.errors import ArgumentTypeError, NotSupportedError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import NumpyDType
from vtgrad.tensor.tensor import Tensor

__all__ = ["check_kind", "in_single", "real_of"]

_WORDS = {
    "f": "floats",
    "c": "complex numbers",
    "i": "integers",
    "u": "unsigned integers",
    "b": "bools",
}


def check_kind(function: str, input: Tensor, kinds: str = "f", name: str = "input") -> NumpyDType:
    """The dtype of an operand, which is of one of the kinds, as NumPy's letters name them.

    Raises
    ------
    NotSupportedError
        If it is not.
    ArgumentTypeError
        If the operand is no tensor.
    """
    dtype: NumpyDType = array_of(input, name).dtype
    if dtype.kind not in kinds:
        words = " or ".join([_WORDS[kind] for kind in kinds])
        raise NotSupportedError(
            f"{function}() takes {words}, and {name} is of dtype {dtype.name}", dtype=input.dtype
        )
    return dtype


def real_of(value: object, name: str) -> float:
    """An argument as a real number.

    Raises
    ------
    ArgumentTypeError
        If it is none.
    """
    number = number_of(value, name)
    if isinstance(number, complex):
        raise ArgumentTypeError(f"argument {name!r} must be a real number", argument=name)
    return float(number)


def in_single(input: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """A function of floats, computed in float32 of those of 16 bits.

    Products that a function or its derivative takes of them, as that of an element and its
    gradient, are out of their range, and may be multiplied by 0 next.
    """
    dtype = input._impl.array.dtype
    if dtype.itemsize > 2:
        return function(input)
    return F.to_dtype(function(F.to_dtype(input, np.dtype(np.float32))), dtype)
