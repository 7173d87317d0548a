"""Angles in degrees and in radians."""

from __future__ import annotations

from math import pi
from typing import Final

from vtgrad.errors import DTypeError
from vtgrad.ops.kernels.arithmetic.basic import mul
from vtgrad.ops.kernels.support.elementwise import floating
from vtgrad.ops.kernels.support.result_strides import empty_like_preserving
from vtgrad.storage.arrays import Array

__all__ = ["deg2rad", "rad2deg"]


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
