"""Types of arrays and numbers.

Note [Plain arrays]

Quick ways of kernels are for arrays whose values are in memory as they are, and of which indices,
methods and ufuncs are NumPy's: not for the subclasses of users, nor for `LazyArray`. They ask
``type(x) in PLAIN``, which takes less time than a comparison with ``np.ndarray``, so that a
recording can add the type of its arrays and take the same ways. What gives memory away without
NumPy's knowledge, to a loop in C or to a file, asks for ``np.ndarray`` itself.

Type checkers do not follow that test. An assertion under ``if TYPE_CHECKING`` states its outcome.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

# NumPy cannot state "an array of one of our dtypes" without a type parameter per function;
# kernels and the engine are dtype-generic, so the element type is left open in one alias.
# `np.dtype[Any]` would be closer, but pyright finds neither `real` nor `imag` in such an array.
Array: TypeAlias = np.ndarray[Any, Any]
NumpyDType: TypeAlias = np.dtype[Any]

Number: TypeAlias = bool | int | float | complex
Shape: TypeAlias = tuple[int, ...]

# The types of plain arrays; see Note [Plain arrays].
PLAIN: Final[set[type[object]]] = {np.ndarray}
