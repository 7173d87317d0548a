"""What the tests of elementwise kernels share: short spellings of arrays and of NumPy dtypes."""

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

import numpy as np

from vtgrad.storage.arrays import Array, Number

__all__ = ["arr", "quiet", "strides"]


P = ParamSpec("P")
R = TypeVar("R")


def quiet(kernel: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a kernel as operators do: with floating-point warnings off."""
    with np.errstate(all="ignore"):
        return kernel(*args, **kwargs)


def arr(values: Number | Sequence[object], dtype: str = "float64") -> Array:
    """An array of `values`; a number gives a 0-d array."""
    result: Array = np.array(values, dtype=dtype)
    return result


def strides(a: Array) -> tuple[int, ...]:
    """Strides counted in elements, as tensors show them."""
    return tuple(s // a.itemsize for s in a.strides)
