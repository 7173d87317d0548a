"""Operands of filters: coefficients that users pass, and the dtype of the computation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.errors import DTypeError
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.dtypes import get_default_dtype
from vtgrad.storage.promotion import promote
from vtgrad.tensor.from_data import as_tensor, from_numpy
from vtgrad.tensor.tensor import Tensor

__all__ = ["coefficients_of", "first_tensor", "in_one_dtype"]


def first_tensor(given: object) -> Tensor | None:
    """The first tensor in sequences, at any depth; None if there is none."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        return next((x for x in map(first_tensor, given) if x is not None), None)
    return given if isinstance(given, Tensor) else None


def coefficients_of(given: object, x: Tensor) -> Tensor:
    """Coefficients as a tensor; numbers of Python take on the precision of the values."""
    if isinstance(given, Tensor):
        return given
    if isinstance(given, Sequence) and first_tensor(given) is not None:
        rows = [coefficients_of(one, x) for one in given]
        return F.stack(in_one_dtype(*rows), 0)
    if isinstance(given, np.ndarray):
        return as_tensor(given)
    numbers = making.asarray(given)
    of_values = x._impl.array.real.dtype
    floats = of_values if of_values.kind == "f" else get_default_dtype().numpy
    dtype = np.result_type(floats, np.complex64) if numbers.dtype.kind == "c" else floats
    return from_numpy(numbers.astype(dtype))


def in_one_dtype(*operands: Tensor) -> list[Tensor]:
    """The operands, cast to the dtype that holds all of them; integers to the default dtype.

    Raises
    ------
    DTypeError
        If it is float16.
    """
    dtype = operands[0]._impl.array.dtype
    for x in operands[1:]:
        dtype = promote(dtype, x._impl.array.dtype)
    if dtype.kind not in "fc":
        dtype = get_default_dtype().numpy
    if dtype == np.float16:
        raise DTypeError("filters have no float16; cast the values to float32 first", dtype=dtype)
    return [x if x._impl.array.dtype == dtype else F.to_dtype(x, dtype) for x in operands]
