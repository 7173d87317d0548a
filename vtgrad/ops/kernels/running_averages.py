"""Averages along a dimension, weighted by exponentials: what `logcumsumexp` has as derivatives.

Note [Running averages]

The derivative of element `j` of ``logcumsumexp(x)`` by ``x[i]`` is the share ``exp(x[i])`` has in
the sum up to `j`. So a tangent becomes the running average of the tangents, with these shares as
weights, and a gradient becomes what the transposed weights give. Both are linear in what comes in,
whatever it is: no logarithm is taken of it.

Exponentials are taken relative to the largest element so far. A sum that goes on is multiplied
by the exponential of the step where the largest element changes, which is at most 1. So nothing
overflows, and the shares of one sum add up to 1 however large the elements are. Infinite elements
that are the largest so far have equal shares.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.ops.kernels.support.axes import in_dtype
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.shapes import normalize_dim

from .reductions.exponential_sums import relative_exponentials

__all__ = ["running_average", "running_average_backward"]


_SINGLE: Final[NumpyDType] = np.dtype(np.float32)
_DOUBLE: Final[NumpyDType] = np.dtype(np.float64)
_DOUBLE_COMPLEX: Final[NumpyDType] = np.dtype(np.complex128)
_WIDER: Final[dict[NumpyDType, NumpyDType]] = {
    np.dtype(np.float16): _SINGLE,
    _SINGLE: _DOUBLE,
    np.dtype(np.complex64): _DOUBLE_COMPLEX,
}


def _weights(logits: Array) -> tuple[Array, Array, Array]:
    """Exponentials along the first dimension, their running sums, and what those decay by."""
    top: Array = np.maximum.accumulate(logits.real, 0)
    exponentials = relative_exponentials(logits, top)
    decays: Array = np.empty_like(top)
    decays[0] = 0
    decays[1:] = relative_exponentials(top[:-1], top[1:])
    return exponentials, _decaying_sums(exponentials, decays), decays


def _decaying_sums(terms: Array, decays: Array) -> Array:
    """Running sums along the first dimension; before each step the sum is multiplied by its decay.

    Sums over 1, 2, 4, ... elements are put together, which takes no loop over elements.
    """
    sums, decays = terms.copy(), decays.copy()
    width = 1
    while width < len(sums):
        sums[width:] += decays[width:] * sums[:-width]
        decays[width:] *= decays[:-width]
        width *= 2
    return sums


def running_average(self: Array, logits: Array, dim: int) -> Array:
    """The averages of the elements up to each index, weighted by ``exp(logits)``."""
    if self.ndim == 0 or self.size == 0:
        return self.copy()
    axis = normalize_dim(dim, self.ndim)
    values, wide = _moved(self, axis), _moved(logits, axis)
    exponentials, totals, decays = _weights(wide)
    averages = _decaying_sums(exponentials * values, decays) / totals
    return in_dtype(np.moveaxis(averages, 0, axis), self.dtype)


def running_average_backward(self: Array, logits: Array, dim: int) -> Array:
    """The gradient of the elements of `running_average`, for the gradients of the averages."""
    if self.ndim == 0 or self.size == 0:
        return self.copy()
    axis = normalize_dim(dim, self.ndim)
    grads, wide = _moved(self, axis), _moved(logits, axis)
    exponentials, totals, decays = _weights(wide)
    backwards = np.zeros_like(decays)
    backwards[1:] = decays[:0:-1]
    later = _decaying_sums((grads / totals.conj())[::-1], backwards)[::-1]
    return in_dtype(np.moveaxis(exponentials.conj() * later, 0, axis), self.dtype)


def _moved(x: Array, axis: int) -> Array:
    """The array in the next wider dtype, with a dimension in front."""
    own: NumpyDType = x.dtype
    r: Array = np.moveaxis(in_dtype(x, _WIDER.get(own, own)), axis, 0)
    return r
