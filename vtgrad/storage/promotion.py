"""The rules of type promotion.

Promotion follows PyTorch: a value's *category* (bool < integer < floating < complex) and its
*standing* (tensors with dimensions, then 0-d tensors, then Python numbers) decide. A lower
standing changes the result only when it brings a higher category.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from vtgrad.errors import ArgumentTypeError
from vtgrad.storage.arrays import PLAIN, Array, Number, NumpyDType
from vtgrad.storage.dtypes import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    get_default_dtype,
    int64,
)

__all__ = ["can_cast", "category", "number_dtype", "promote", "python_number", "result_dtype"]

_CATEGORY: Final[dict[str, int]] = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
# The types of NumPy's scalars that are numbers of Python.
_OF_NUMBERS: Final = frozenset("?bhilqnpBHILQNPefdFD")
_BOOL: Final = bool_.numpy
_INT64: Final = int64.numpy
_COMPLEX_OF: Final[dict[NumpyDType, NumpyDType]] = {
    float16.numpy: complex64.numpy,
    float32.numpy: complex64.numpy,
    float64.numpy: complex128.numpy,
}


def category(dtype: NumpyDType) -> int:
    """0 for bool, 1 for integers, 2 for floating, 3 for complex."""
    return _CATEGORY[dtype.kind]


def promote(a: NumpyDType, b: NumpyDType) -> NumpyDType:
    """The dtype to which two tensors of equal standing are promoted.

    Differs from NumPy's in one rule: an integer never widens a floating dtype.
    """
    if a == b:
        return a
    ka, kb = _CATEGORY[a.kind], _CATEGORY[b.kind]
    if ka != kb:
        low, high = (a, b) if ka < kb else (b, a)
        if high.kind == "c" and low == float64.numpy:
            return complex128.numpy
        return high
    return np.promote_types(a, b)


def python_number(value: np.generic) -> object:
    """The number of Python that a scalar of NumPy is, or the scalar itself if it is none.

    Dates, durations, texts and long floats are none: ``item()`` makes an integer of a date.
    """
    return value.item() if value.dtype.char in _OF_NUMBERS else value


def number_dtype(value: object) -> NumpyDType:
    """The dtype that a Python number has when it stands alone.

    Raises
    ------
    ArgumentTypeError
        If `value` is not a number.
    """
    if isinstance(value, bool):
        return _BOOL
    if isinstance(value, int):
        return _INT64
    if isinstance(value, float):
        return get_default_dtype().numpy
    if isinstance(value, complex):
        return _COMPLEX_OF[get_default_dtype().numpy]
    if isinstance(value, np.generic) and value.dtype.char in _OF_NUMBERS:
        return number_dtype(value.item())
    raise ArgumentTypeError(
        f"expected a tensor or a number, not {type(value).__name__}", value=value
    )


def result_dtype(*operands: Array | Number) -> NumpyDType:
    """The dtype that an operator of these operands computes in.

    Arrays with dimensions count most, 0-d arrays less, Python numbers least.

    Raises
    ------
    ArgumentTypeError
        If there is no operand.
    """
    common: NumpyDType | None = None
    for x in operands:
        if type(x) not in PLAIN:
            break
        if TYPE_CHECKING:
            assert isinstance(x, np.ndarray)
        if common is not None and x.dtype is not common:
            break
        common = x.dtype
    else:
        if common is not None:
            return common
    tops: list[NumpyDType | None] = [None, None, None]
    for x in operands:
        if isinstance(x, np.ndarray):
            standing, own = (0 if x.ndim else 1), x.dtype
        else:
            standing, own = 2, number_dtype(x)
        seen = tops[standing]
        tops[standing] = own if seen is None else promote(seen, own)
    result: NumpyDType | None = None
    for top in reversed(tops):
        if top is None:
            continue
        result = top if result is None else _weigh(top, result)
    if result is None:
        raise ArgumentTypeError("an operator needs at least one operand to find its dtype")
    return result


def _weigh(higher: NumpyDType, lower: NumpyDType) -> NumpyDType:
    """The dtype of a higher and a lower standing: the lower adds at most its category."""
    if _CATEGORY[higher.kind] >= _CATEGORY[lower.kind]:
        return higher
    if higher.kind == "f":
        return _COMPLEX_OF[higher]
    return promote(higher, lower)


def can_cast(source: NumpyDType, target: NumpyDType) -> bool:
    """Whether an in-place operator may store `source` results in a `target` tensor.

    A cast within a category or to a higher category is allowed, a cast to a lower one never. Signed
    integers may go into uint8, as in PyTorch.
    """
    return _CATEGORY[source.kind] <= _CATEGORY[target.kind]
