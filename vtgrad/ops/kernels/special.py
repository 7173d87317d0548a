"""Functions composed of elementary ones, but safe where the plain composition is not."""

from __future__ import annotations

from math import pi
from typing import Final

import numpy as np

from vtgrad.errors import DTypeError
from vtgrad.ops.kernels.arithmetic import mul
from vtgrad.ops.kernels.elementwise import Operand, finish, floating, number, place, refuse, run
from vtgrad.ops.kernels.elementwise import working as working_dtype
from vtgrad.ops.kernels.layout import (
    broadcast_shapes,
    empty_like_elementwise,
    empty_like_preserving,
)
from vtgrad.storage.arrays import Array
from vtgrad.storage.dtypes import result_dtype

__all__ = [
    "deg2rad",
    "hypot",
    "logaddexp",
    "logaddexp2",
    "logit",
    "rad2deg",
    "sinc",
    "xlogy",
]

_DEGREE: Final = pi / 180


def deg2rad(input: Array, *, out: Array | None = None) -> Array:
    """Degrees in radians."""
    return _scaled("deg2rad", input, _DEGREE, out)


def rad2deg(input: Array, *, out: Array | None = None) -> Array:
    """Radians in degrees."""
    return _scaled("rad2deg", input, 180 / pi, out)


def _scaled(name: str, a: Array, factor: float, out: Array | None) -> Array:
    if a.dtype.kind == "c":
        raise DTypeError(f"{name} of complex values, which are no angles")
    if out is None:
        # PyTorch allocates the result before it multiplies.
        out = empty_like_preserving(floating(a.dtype), a)
    return mul(a, factor, out=out)


def hypot(input: Array, other: Array, *, out: Array | None = None) -> Array:
    """The length of the hypotenuse of a right triangle with these legs."""
    dtype = result_dtype(input, other)
    refuse("hypot", dtype, "buic", input, other)
    return run(np.hypot, dtype, out, input, other)


def sinc(input: Array, *, out: Array | None = None) -> Array:
    """``sin(pi x) / (pi x)``, and 1 at 0."""
    dtype = floating(input.dtype)
    work = working_dtype(dtype)
    angle = empty_like_elementwise(work, input.shape, input)
    np.multiply(input, pi, out=angle, dtype=work, casting="unsafe")
    zero = angle == 0
    np.copyto(angle, 1, where=zero)
    value = np.sin(angle)
    np.true_divide(value, angle, out=angle)
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
    product = np.where((factor == 0) & ~np.isnan(base), factor.dtype.type(0), factor * np.log(base))
    return place(product, dtype, out, input, other)


def logaddexp(input: Array, other: Array, *, out: Array | None = None) -> Array:
    """``log(exp(input) + exp(other))``, safe against overflow."""
    dtype = result_dtype(input, other)
    refuse("logaddexp", dtype, "bui", input, other)
    if dtype.kind != "c":
        return run(np.logaddexp, dtype, out, input, other)
    broadcast_shapes(input.shape, other.shape)
    a, b = input.astype(dtype, copy=False), other.astype(dtype, copy=False)
    first = a.real >= b.real
    larger, smaller = np.where(first, a, b), np.where(first, b, a)
    # The result for two equal infinities is one of them; their difference would be nan.
    infinite = np.isinf(larger.real) & (larger == smaller)
    gap = np.where(infinite, 0, smaller - np.where(infinite, 0, larger))
    total = np.where(infinite, larger, larger + np.log1p(np.exp(gap)))
    return place(total, dtype, out, input, other)


def logaddexp2(input: Array, other: Array, *, out: Array | None = None) -> Array:
    """``log2(2 ** input + 2 ** other)``, safe against overflow."""
    dtype = result_dtype(input, other)
    refuse("logaddexp2", dtype, "buic", input, other)
    return run(np.logaddexp2, dtype, out, input, other)
