"""Special functions that are made of elementary ones, each safe where those are not."""

from __future__ import annotations

from math import pi

import numpy as np

from vtgrad.ops.kernels.support.elementwise import (
    Operand,
    finish,
    finish_like,
    floating,
    number,
    refuse,
    run,
    zero_of,
)
from vtgrad.ops.kernels.support.elementwise import working as working_dtype
from vtgrad.ops.kernels.support.result_strides import broadcast_shapes, empty_like_elementwise
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.promotion import result_dtype

__all__ = ["logit", "sinc", "xlogy"]


def sinc(input: Array, *, out: Array | None = None) -> Array:
    """``sin(pi x) / (pi x)``, and 1 at 0.

    The sine is that of the distance from the nearest whole number, which is exact, with the sign of
    odd multiples of pi. The product of a large `x` and pi has lost the digits of its sine.
    """
    dtype = floating(input.dtype)
    work = working_dtype(dtype)
    x = input.astype(work, copy=False)
    real = x.real if work.kind == "c" else x
    whole, half = (empty_like_elementwise(real.dtype, input.shape, input) for _ in range(2))
    np.rint(real, out=whole)
    value, angle = (empty_like_elementwise(work, input.shape, input) for _ in range(2))
    np.subtract(x, whole, out=value)
    np.multiply(value, pi, out=value)
    np.sin(value, out=value)
    # Half of the number differs from a whole number by 0, or by 1/2 if it is odd.
    np.multiply(whole, 0.5, out=half)
    np.rint(half, out=whole)
    np.subtract(half, whole, out=half)
    np.multiply(half, half, out=half)
    np.multiply(half, -8, out=half)
    np.add(half, 1, out=half)
    np.multiply(value, half, out=value)
    np.multiply(x, pi, out=angle)
    zero = np.equal(angle, 0)
    has_zero = np.count_nonzero(zero) > 0
    if has_zero:
        np.copyto(angle, 1, where=zero)
    np.true_divide(value, angle, out=angle)
    if has_zero:
        np.copyto(angle, 1, where=zero)
    return finish(angle, dtype, out)


def logit(input: Array, eps: float | None = None, *, out: Array | None = None) -> Array:
    """``log(x / (1 - x))``, with values clamped to ``[eps, 1 - eps]`` if `eps` is given."""
    dtype = floating(input.dtype)
    refuse("logit", dtype, "c")
    value = run(np.positive, working_dtype(dtype), None, input)
    if eps is not None:
        np.maximum(value, eps, out=value)
        np.minimum(value, 1 - eps, out=value)
    np.true_divide(value, 1 - value, out=value)
    np.log(value, out=value)
    return finish(value, dtype, out)


def xlogy(input: Operand, other: Operand, *, out: Array | None = None) -> Array:
    """``input * log(other)``, which is 0 where `input` is 0 and `other` is not nan."""
    dtype = floating(result_dtype(input, other))
    refuse("xlogy", dtype, "c", input, other)
    work = working_dtype(dtype)
    factor = (
        input.astype(work, copy=False) if isinstance(input, np.ndarray) else number(input, work)
    )
    base = other.astype(work, copy=False) if isinstance(other, np.ndarray) else number(other, work)
    broadcast_shapes(factor.shape, base.shape)
    product = making.asarray(factor * np.log(base))
    zero = np.equal(factor, 0)
    if np.count_nonzero(zero):
        product = np.where(zero & ~np.isnan(base), zero_of(factor.dtype), product)
    return finish_like(product, dtype, out, input, other)
