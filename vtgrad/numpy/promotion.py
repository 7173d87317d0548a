"""The one rule of promotion in the namespace: `numpy.result_type`."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy.operands import ArrayLike, cast, of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.storage import making
from vtgrad.storage.arrays import NumpyDType
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["common", "common_inexact", "inexact", "result_type"]

_FLOAT64: Final = np.dtype(np.float64)


def result_type(*values: object) -> NumpyDType:
    """The dtype that NumPy gives the result of values together.

    Python's numbers are weak, as in NumPy: they decide the kind only. Dtypes may stand among the
    values.
    """
    return np.result_type(*[_kind(x) for x in values])


def common(values: Sequence[object], dtype: NumpyDType | None = None) -> list[ndarray]:
    """The values as arrays of one dtype: the given one, or what NumPy gives all of them."""
    wanted = result_type(*values) if dtype is None else dtype
    return [of(x, wanted) for x in values]


def inexact(x: ndarray, dtype: NumpyDType | None = None) -> ndarray:
    """The array in a floating or complex dtype: integers and bools become float64, as in `mean`."""
    if dtype is not None:
        return cast(x, dtype)
    return x if x._impl.array.dtype.kind in "fc" else cast(x, _FLOAT64)


def common_inexact(*values: ArrayLike) -> list[ndarray]:
    """The values in the floating or complex dtype in which NumPy's linear algebra computes.

    Integers of every width, and bools, are float64 there, also beside float32.
    """
    arrays = [
        # Tensors do not have all dtypes of integers.
        of(making.asarray(x, _FLOAT64))
        if isinstance(x, np.ndarray) and x.dtype.kind in "iub"
        else of(x)
        for x in values
    ]
    return common([inexact(x) for x in arrays])


def _kind(value: object) -> DTypeLike:
    """What `numpy.result_type` looks at: the dtype of an array, a number itself."""
    if isinstance(value, TensorBase):
        dtype: NumpyDType = value._impl.array.dtype
        return dtype
    if isinstance(value, (list, tuple)):
        return of(value).dtype
    return typing.cast("DTypeLike", value)
