"""Linear recurrences along a dimension.

Note [Linear recurrences]

Sums of products over neighbouring elements, ``b[0] * a[1] * a[2] + b[1] * a[2] + b[2]`` and so on,
obey ``s[i] = b[i] + a[i] * s[i - 1]``. Derivatives of running products, and of products of all
elements but one, are such sums. The recurrence takes no division, so it is right for zeros, and
linear time; its own derivatives are recurrences with the same factors, in one direction or the
other.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.ops.kernels.support.axes import in_dtype
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.shapes import normalize_dim

__all__ = ["linear_recurrence"]


_REAL: Final[NumpyDType] = np.dtype(np.float64)
_COMPLEX: Final[NumpyDType] = np.dtype(np.complex128)
# Python's numbers take less time than NumPy's calls for so few series side by side.
_FEW: Final = 8


def linear_recurrence(self: Array, factors: Array, dim: int, reverse: bool) -> Array:
    """At each index the value plus a factor times the result before.

    ``s[i] = self[i] + factors[i] * s[i - 1]``. If `reverse`, it is the transposed map, ``s[i] =
    self[i] + factors[i + 1] * s[i + 1]``. The first factor does not matter. Computed in double
    precision.
    """
    if self.ndim == 0 or self.size == 0:
        return self.copy()
    self, factors = resolved(self), resolved(factors)
    axis = normalize_dim(dim, self.ndim)
    dtype = _COMPLEX if "c" in (self.dtype.kind, factors.dtype.kind) else _REAL
    sums: Array = making.array(np.moveaxis(self, axis, 0), dtype)
    steps = in_dtype(np.moveaxis(factors, axis, 0), dtype)[1:]
    if reverse:
        _run(sums[::-1], steps[::-1])
    else:
        _run(sums, steps)
    return in_dtype(np.moveaxis(sums, 0, axis), self.dtype)


def _run(sums: Array, steps: Array) -> None:
    """The recurrence in the array of its values; the first of them has no step."""
    if sums.dtype == _REAL and sums[0].size <= _FEW:
        for place in np.ndindex(sums.shape[1:]):
            series = (slice(None), *place)
            sums[series] = _series(sums[series].tolist(), steps[series].tolist())
        return
    for i, step in enumerate(steps, 1):
        sums[i] += step * sums[i - 1]


def _series(values: list[float], steps: list[float]) -> list[float]:
    total = values[0]
    for i, step in enumerate(steps, 1):
        values[i] = total = values[i] + step * total
    return values
