"""The Fourier transforms of `numpy.fft`: NumPy's arguments, and the operators of `vtgrad.fft`."""

from __future__ import annotations

import operator
import typing
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from vtgrad.fft.transform import OTHER_DIRECTION, in_size, scale_of
from vtgrad.numpy.deliver import deliver
from vtgrad.numpy.memory_order import in_order, order_of_memory
from vtgrad.numpy.operands import ArrayLike, as_array, cast, of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "of_two",
    "transform",
    "transforms",
    "transforms_of_halves",
    "transforms_of_reals",
    "turned_half",
    "turned_real",
]

_Norm = str | None


def transform(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: _Norm = None,
    out: ndarray | None = None,
    *,
    inverse: bool = False,
) -> ndarray:
    """`numpy.fft.fft`, or `ifft`, with derivatives."""
    x = _complex(of(a))
    return deliver(_along(x, n, _dim(x, axis), norm, inverse), out)


def transforms(
    a: ArrayLike,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm = None,
    out: ndarray | None = None,
    *,
    inverse: bool = False,
) -> ndarray:
    """`numpy.fft.fftn`, or `ifftn`, with derivatives."""
    given = of(a)
    steps = _steps(given, s, axes)
    if not steps:
        # NumPy gives what it was given.
        return as_array(given)
    x: TensorBase = _complex(given)
    for size, dim in steps:
        x = _along(x, size, dim, norm, inverse)
    return deliver(x, out)


def turned_real(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: _Norm = None,
    out: ndarray | None = None,
    *,
    turned: bool = False,
) -> ndarray:
    """`numpy.fft.rfft`, or `ihfft`, with derivatives."""
    x = of(a)
    found = _half(x, n, _dim(x, axis), _turned(norm) if turned else norm)
    return deliver(F.conj_physical(found) if turned else found, out)


def turned_half(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: _Norm = None,
    out: ndarray | None = None,
    *,
    turned: bool = False,
) -> ndarray:
    """`numpy.fft.irfft`, or `hfft`, with derivatives."""
    x: TensorBase = _complex(of(a))
    if turned:
        x, norm = F.conj_physical(x), _turned(norm)
    return deliver(_real(x, n, _dim(x, axis), norm), out)


def transforms_of_reals(
    a: ArrayLike,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm = None,
    out: ndarray | None = None,
) -> ndarray:
    """`numpy.fft.rfftn` with derivatives."""
    x = of(a)
    *others, (size, dim) = _some_steps(x, s, axes)
    found = _half(x, size, dim, norm)
    for size, dim in others:
        found = _along(found, size, dim, norm, False)
    return deliver(found, out)


def transforms_of_halves(
    a: ArrayLike,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm = None,
    out: ndarray | None = None,
) -> ndarray:
    """`numpy.fft.irfftn` with derivatives."""
    x: TensorBase = _complex(of(a))
    *others, (last, dim) = _some_steps(x, s, axes)
    for size, at in others:
        x = _along(x, size, at, norm, True)
    return deliver(_real(x, None if s is None else last, dim, norm), out)


def _complex(x: ndarray) -> ndarray:
    """The elements in the complex dtype in which NumPy transforms them."""
    return cast(x, np.fft.fft(making.zeros(1, x._impl.array.dtype)).dtype)


def _dim(x: TensorBase, axis: SupportsIndex) -> int:
    return int(np.lib.array_utils.normalize_axis_index(typing.cast("int", axis), len(x.shape)))


def _steps(
    x: TensorBase, s: Sequence[SupportsIndex] | None, axes: Sequence[SupportsIndex] | None
) -> list[tuple[int, int]]:
    """The size and the dimension of each transform, in the order in which NumPy makes them."""
    if s is None:
        dims = list(range(len(x.shape))) if axes is None else [_dim(x, axis) for axis in axes]
        sizes = [x.shape[dim] for dim in dims]
    else:
        sizes = [operator.index(size) for size in s]
        given: Sequence[Any] = list(range(-len(sizes), 0)) if axes is None else axes
        dims = [_dim(x, axis) for axis in given]
        if len(sizes) != len(dims):
            raise ValueError("Shape and axes have different lengths.")
        sizes = [
            x.shape[dim] if size == -1 else size for size, dim in zip(sizes, dims, strict=True)
        ]
    return list(zip(sizes, dims, strict=True))[::-1]


def _some_steps(
    x: TensorBase, s: Sequence[SupportsIndex] | None, axes: Sequence[SupportsIndex] | None
) -> list[tuple[int, int]]:
    """The same from the first to the last, of which there must be one."""
    steps = _steps(x, s, axes)[::-1]
    if not steps:
        raise IndexError("there is no axis to transform")
    return steps


def _along(
    x: TensorBase, n: SupportsIndex | None, dim: int, norm: _Norm, inverse: bool
) -> TensorBase:
    """One transform of complex elements along one dimension, with its factor."""
    size = _size(x.shape[dim] if n is None else n)
    return F.fft_c2c(in_size(x, size, dim), (dim,), _scale(norm, inverse), inverse)


def _half(x: ndarray, n: SupportsIndex | None, dim: int, norm: _Norm) -> TensorBase:
    """The transform of real elements: its first half, of which the other one is the conjugate."""
    size = _size(x.shape[dim] if n is None else n)
    scale = _scale(norm, False)
    if x._impl.array.dtype.kind == "c":
        raise TypeError("the transform of real elements takes no complex ones")
    floats = cast(x, np.fft.rfft(making.zeros(1, x._impl.array.dtype)).real.dtype)
    found = F.fft_r2c(in_size(floats, size, dim), (dim,), scale, True)
    return in_order(found, order_of_memory(x))


def _real(x: TensorBase, n: SupportsIndex | None, dim: int, norm: _Norm) -> TensorBase:
    """The real elements of which `x` is the first half of the transform."""
    size = _size(2 * (x.shape[dim] - 1) if n is None else n)
    half = in_size(x, size // 2 + 1, dim)
    found = F.fft_c2r(half, (dim,), _scale(norm, True), size)
    return in_order(found, order_of_memory(x))


def _size(n: SupportsIndex) -> int:
    size = operator.index(n)
    if size < 1:
        raise ValueError(f"Invalid number of FFT data points ({size}) specified.")
    return size


def _scale(norm: _Norm, inverse: bool) -> str:
    """What the operators call the factor, or NumPy's error."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return scale_of(norm, inverse)


def _turned(norm: _Norm) -> _Norm:
    """The factor of the other direction."""
    return OTHER_DIRECTION.get("backward" if norm is None else norm, norm)


def of_two(recorded: Callable[..., ndarray]) -> Callable[..., ndarray]:
    """The same along two axes, the last ones by default."""

    def found(
        a: ArrayLike,
        s: Sequence[SupportsIndex] | None = None,
        axes: Sequence[SupportsIndex] | None = (-2, -1),
        norm: _Norm = None,
        out: ndarray | None = None,
    ) -> ndarray:
        return recorded(a, s, axes, norm, out)

    return found
