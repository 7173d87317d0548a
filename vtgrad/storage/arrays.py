"""Type aliases for NumPy arrays and Python numbers."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

# NumPy cannot state "an array of one of our dtypes" without a type parameter per function;
# kernels and the engine are dtype-generic, so the element type is left open in one alias.
# `np.dtype[Any]` would be closer, but pyright finds neither `real` nor `imag` in such an array.
Array: TypeAlias = np.ndarray[Any, Any]
NumpyDType: TypeAlias = np.dtype[Any]

Number: TypeAlias = bool | int | float | complex
Shape: TypeAlias = tuple[int, ...]
