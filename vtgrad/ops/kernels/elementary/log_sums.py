"""Logarithms of sums of exponentials, which do not overflow."""

from __future__ import annotations

import numpy as np

from vtgrad.ops.kernels.support.elementwise import finish_like, refuse, run, working
from vtgrad.ops.kernels.support.result_strides import broadcast_shapes
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.promotion import result_dtype

__all__ = ["logaddexp", "logaddexp2", "share_of_two"]


def logaddexp(input: Array, other: Array, *, out: Array | None = None) -> Array:
    """``log(exp(input) + exp(other))``, safe against overflow."""
    dtype = result_dtype(input, other)
    refuse("logaddexp", dtype, "bui", input, other)
    if dtype.kind != "c":
        return run(np.logaddexp, dtype, out, input, other)
    broadcast_shapes(input.shape, other.shape)
    a: Array = input.astype(dtype, copy=False)
    b: Array = other.astype(dtype, copy=False)
    first = a.real >= b.real
    larger: Array = np.where(first, a, b)
    smaller: Array = np.where(first, b, a)
    # The result for two equal infinities is one of them; their difference would be nan. So it would
    # be for logarithms of zero, whatever their imaginary parts are.
    zero = larger.real == -np.inf
    infinite = (np.isinf(larger.real) & (larger == smaller)) | zero
    gap = np.where(infinite, 0, smaller - np.where(infinite, 0, larger))
    total = np.where(infinite, smaller, larger + np.log1p(np.exp(gap)))
    return finish_like(total, dtype, out, input, other)


def logaddexp2(input: Array, other: Array, *, out: Array | None = None) -> Array:
    """``log2(2 ** input + 2 ** other)``, safe against overflow."""
    dtype = result_dtype(input, other)
    refuse("logaddexp2", dtype, "buic", input, other)
    return run(np.logaddexp2, dtype, out, input, other)


def share_of_two(self: Array, other: Array, scale: float) -> Array:
    """The share that ``exp(scale * self)`` has in its sum with ``exp(scale * other)``.

    It keeps its digits, however small it is. Equal infinities have equal shares.
    """
    dtype = result_dtype(self, other)
    # By how much the other is larger.
    gap: Array = making.asarray(np.subtract(other, self, dtype=working(dtype)))
    if not np.isfinite(gap).all():
        np.copyto(gap.real, 0, where=np.isinf(self.real) & (self.real == other.real))
    if scale != 1:
        np.multiply(gap, scale, gap)
    if dtype.kind == "c":
        share = _complex_share(gap)
    else:
        # An exponential that overflows is that of a share below the smallest number.
        np.exp(gap, gap)
        np.add(gap, 1, gap)
        share = np.reciprocal(gap, gap)
    return finish_like(share, dtype, None, self, other)


def _complex_share(gap: Array) -> Array:
    """``1 / (exp(gap) + 1)``: an infinite complex number has no inverse, so none overflows."""
    larger = gap.real <= 0
    small = np.exp(np.where(larger, gap, -gap))
    share: Array = making.asarray(np.where(larger, 1, small) / (small + 1))
    return share
