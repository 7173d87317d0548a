"""Fourier transforms of complex and of real elements."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import numpy as np

from vtgrad.errors import DimensionError, DTypeError, OptionValueError
from vtgrad.ops.kernels.support.axes import axis_first, axis_last
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.geometry import normalize_dim
from vtgrad.storage.lazy_array import resolved

__all__ = ["fft_c2c", "fft_c2r", "fft_r2c", "fft_scale_pairs"]

_Scale: TypeAlias = Literal["backward", "ortho", "forward"]

# The same factor in NumPy's words for the inverse transform: the direction that has the factor.
_FOR_INVERSE: Final[dict[str, _Scale]] = {
    "backward": "forward",
    "ortho": "ortho",
    "forward": "backward",
}
_FOR_FORWARD: Final[dict[str, _Scale]] = {
    "backward": "backward",
    "ortho": "ortho",
    "forward": "forward",
}

# Note [Factors of transforms]
#
# `scale` says by what the sums of a transform are multiplied: "backward" by nothing, "ortho" by one
# over the root of their number, "forward" by one over their number. It has that meaning in both
# directions, so that a transform and its adjoint have the same `scale`. The words are those of the
# forward transform in NumPy's `norm`.


def fft_c2c(input: Array, dim: Shape, scale: str, inverse: bool) -> Array:
    """The complex transform along each dimension of `dim`, see Note [Factors of transforms].

    The inverse one has the conjugates of ``exp(-2 pi i k n / size)``: each is the other's adjoint.
    """
    _check_kind("fft_c2c", input, "c")
    norm = _norm(scale, inverse)
    result = resolved(input)
    fresh = False
    for axis in reversed(_axes("fft_c2c", dim, result)):
        _check_size(result.shape[axis])
        # From the second dimension on, the values are those of this call, and may be overwritten.
        out = result if fresh else None
        if inverse:
            result = np.fft.ifft(result, axis=axis, norm=norm, out=out)
        else:
            result = np.fft.fft(result, axis=axis, norm=norm, out=out)
        fresh = True
    return result if fresh else result.copy()


def fft_r2c(input: Array, dim: Shape, scale: str, onesided: bool) -> Array:
    """The transform of real elements.

    Along the last dimension of `dim` the elements of negative frequency are conjugates of others:
    with `onesided` the result does not have them, without it they are copied.
    """
    _check_kind("fft_r2c", input, "f")
    *others, last = _some_axes("fft_r2c", dim, input)
    size = input.shape[last]
    _check_size(size)
    norm = _norm(scale, False)
    if onesided:
        result = np.fft.rfft(resolved(input), axis=last, norm=norm)
    else:
        result = making.empty(
            input.shape, np.complex64 if input.dtype.char == "f" else np.complex128
        )
        along = axis_last(result, last)
        half = along[..., : size // 2 + 1]
        half[...] = np.fft.rfft(axis_last(resolved(input), last), norm=norm)
        np.conjugate(along[..., 1 : (size + 1) // 2][..., ::-1], out=along[..., size // 2 + 1 :])
    for axis in reversed(others):
        _check_size(result.shape[axis])
        result = np.fft.fft(result, axis=axis, norm=norm, out=result)
    return result


def fft_c2r(input: Array, dim: Shape, scale: str, last_size: int) -> Array:
    """The inverse transform, of which the elements are real.

    Along the last dimension of `dim` the result has `last_size` elements, and `input` those that a
    transform with `onesided` has.
    """
    _check_kind("fft_c2r", input, "c")
    *others, last = _some_axes("fft_c2r", dim, input)
    _check_size(last_size)
    norm = _norm(scale, True)
    result = resolved(input)
    fresh = False
    for axis in reversed(others):
        _check_size(result.shape[axis])
        result = np.fft.ifft(result, axis=axis, norm=norm, out=result if fresh else None)
        fresh = True
    return np.fft.irfft(result, last_size, axis=last, norm=norm)


def fft_scale_pairs(input: Array, dim: int, last_size: int, factor: float) -> Array:
    """The elements of a onesided transform that stand for two, multiplied by a number.

    The others are that of frequency zero, and, if `last_size` is even, the last one.
    """
    (dim,) = _axes("fft_scale_pairs", (dim,), input)
    result = making.array(resolved(input))
    pairs = axis_first(result, dim)[1 : (last_size + 1) // 2]
    pairs *= making.asarray(factor, result.real.dtype)
    return result


def _check_kind(name: str, input: Array, kind: str) -> None:
    if input.dtype.kind != kind or input.dtype.char == "e":
        wanted = "complex" if kind == "c" else "float32 or float64"
        raise DTypeError(f"{name}() needs {wanted} values, not {input.dtype}", dtype=input.dtype)


def _norm(scale: str, inverse: bool) -> _Scale:
    norm = (_FOR_INVERSE if inverse else _FOR_FORWARD).get(scale)
    if norm is None:
        raise OptionValueError(f"there is no factor {scale!r} of a Fourier transform", norm=scale)
    return norm


def _check_size(size: int) -> None:
    if size < 1:
        raise OptionValueError(f"a Fourier transform needs at least one value, not {size}", n=size)


def _axes(name: str, dim: Shape, input: Array) -> list[int]:
    if dim and not input.ndim:
        raise DimensionError(f"{name}() needs a dimension, and a 0-d tensor has none", ndim=0)
    return [normalize_dim(one, input.ndim) for one in dim]


def _some_axes(name: str, dim: Shape, input: Array) -> list[int]:
    if not dim:
        raise DimensionError(f"{name}() needs a dimension of which one half is enough", ndim=0)
    return _axes(name, dim, input)
