"""Products with the columns of a convolution whose output has the size of its input.

Note [Columns that are shifts]

The elements under one place of the kernel, for all places of the output, are a row of the matrix of
columns. With steps of 1 and an output of the size of the input, that row is the whole input, moved:
in memory it is one run of elements, which begins a fixed number of elements before or after that of
the input. So the columns are copied in a run for each place of the kernel, not for each line of an
image. What a run takes from the line before or after it is outside of the input, and is set to
zero. Along the first dimension a run leaves the input instead, into zeros around it.

The adjoint goes the same way back: the values outside are set to zero, and the sum over the places
of the kernel, each moved back, is one sum over a dimension.

Lines of a matrix that begin a multiple of 4096 bytes after each other share a few places of the
processor's cache, which makes products of matrices up to twice as slow. So there are gaps between
them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import EllipsisType
from typing import Final, TypeAlias

import numpy as np

from vtgrad.nn.functional.window_geometry import Geometry
from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["FEW_PLACES", "are_shifts", "input_of_shifts", "output_of_shifts", "weight_of_shifts"]

# How many bytes of columns are made at a time: few, so that they are read from a cache.
_BYTES: Final = 1_000_000
# Images of fewer places are put beside each other, since products with few columns are slow.
FEW_PLACES: Final = 32

_Index: TypeAlias = tuple[slice | int | EllipsisType, ...]
_DType: TypeAlias = np.dtype[np.generic]


def are_shifts(geometry: Geometry) -> bool:
    """Whether the columns are shifts of the input, and long enough for products by sample."""
    return (
        geometry.out == geometry.size
        and all(step == 1 for step in geometry.stride)
        and math.prod(geometry.kernel) > 1
        and math.prod(geometry.size) >= FEW_PLACES
        and all(0 <= p <= far for p, far in zip(geometry.padding, _reach(geometry), strict=True))
    )


def _gap_after(places: int, itemsize: int) -> int:
    """How many elements to leave free behind a line, see Note [Columns that are shifts]."""
    return 64 // itemsize if places * itemsize % 1024 == 0 else 0


def output_of_shifts(x: Array, matrix: Array, geometry: Geometry) -> Array:
    """The convolution.

    Parameters
    ----------
    x : numpy.ndarray
        The input, of shape ``(N, C, *size)``.
    matrix : numpy.ndarray
        The weight, of shape ``(groups, rows, inner)``.

    Returns
    -------
    numpy.ndarray
        Of shape ``(N, groups, rows, places)``.
    """
    places = math.prod(geometry.size)
    found = making.empty((x.shape[0], *matrix.shape[:2], places), x.dtype)
    for part, columns in _copied(x, geometry):
        np.matmul(matrix, columns, out=found[part])
    return found


def weight_of_shifts(x: Array, outputs: Array, geometry: Geometry) -> Array:
    """The gradient of the weight, of shape ``(groups, rows, inner)``.

    Parameters
    ----------
    x : numpy.ndarray
        The input, of shape ``(N, C, *size)``.
    outputs : numpy.ndarray
        The gradient of the output, of shape ``(N, groups, rows, places)``.
    """
    groups, rows = outputs.shape[1:3]
    inner = x.shape[1] // groups * math.prod(geometry.kernel)
    found = making.zeros((groups, inner, rows), x.dtype)
    turned = outputs.swapaxes(2, 3)
    for part, columns in _copied(x, geometry):
        for columns_of_one, outputs_of_one in zip(columns, turned[part], strict=True):
            found += np.matmul(columns_of_one, outputs_of_one)
    return making.ascontiguousarray(found.swapaxes(1, 2))


def input_of_shifts(matrix: Array, outputs: Array, geometry: Geometry) -> Array:
    """The transpose, of shape ``(N, C, *size)``.

    Parameters
    ----------
    matrix : numpy.ndarray
        The weight, of shape ``(groups, inner, rows)``.
    outputs : numpy.ndarray
        The gradient of the output, of shape ``(N, groups, rows, places)``.
    """
    channels = matrix.shape[0] * matrix.shape[1] // math.prod(geometry.kernel)
    memory = _Columns(outputs.shape[0], channels, outputs.dtype, geometry)
    moved_back = memory.moved_back()
    found = making.empty((outputs.shape[0], channels, outputs.shape[3]), outputs.dtype)
    kernel = tuple(range(2, moved_back.ndim - 1))
    for part in memory.parts:
        size = part.stop - part.start
        np.matmul(matrix, outputs[part], out=memory.matrix[:size])
        memory.clear_outside()
        np.add.reduce(moved_back[:size], axis=kernel, dtype=found.dtype, out=found[part])
    return found.reshape(*found.shape[:2], *geometry.size)


def _copied(x: Array, geometry: Geometry) -> Iterator[tuple[slice, Array]]:
    """The columns of a few samples at a time, in memory that is used again."""
    memory = _Columns(x.shape[0], x.shape[1], x.dtype, geometry)
    inside, moved = memory.with_zeros_around()
    for part in memory.parts:
        size = part.stop - part.start
        inside[:size] = x[part]
        memory.runs[:size] = moved[:size]
        memory.clear_outside()
        yield part, memory.matrix[:size]


class _Columns:
    """Memory for the columns of a few samples, with gaps before, between and behind the rows.

    Attributes
    ----------
    parts : list of slice
        The samples of which the columns are made at a time.
    runs : numpy.ndarray
        The columns, of shape ``(n, C, *kernel, places)``.
    matrix : numpy.ndarray
        The same elements, of shape ``(n, groups, inner, places)``.
    """

    def __init__(self, count: int, channels: int, dtype: _DType, geometry: Geometry) -> None:
        places = math.prod(geometry.size)
        self._geometry = geometry
        self._before, self._after = _borders(geometry)
        gap = max(self._before, self._after)
        gap += _gap_after(places + gap, dtype.itemsize)
        kernels = channels * math.prod(geometry.kernel)
        number = max(1, min(count, _BYTES // ((places + gap) * max(kernels, 1) * dtype.itemsize)))
        self.parts = [slice(at, min(at + number, count)) for at in range(0, count, number)]
        # The gap before the first row is moved into by that row, as the others are by theirs.
        self._memory = making.empty((gap + number * kernels * (places + gap),), dtype)
        self._gap = gap
        rows = self._memory[gap:]
        lead = (number, channels, *geometry.kernel)
        whole = rows.reshape(*lead, places + gap)[..., :places]
        self.runs = whole
        inner = kernels // geometry.groups
        self.matrix = rows.reshape(number, geometry.groups, inner, places + gap)[..., :places]
        as_images = whole.reshape(*lead, *geometry.size)
        self._outside = [as_images[index] for index in _outside(geometry)]

    def clear_outside(self) -> None:
        """Set to zero what is outside of the input along all dimensions but the first."""
        for part in self._outside:
            part[...] = 0

    def moved_back(self) -> Array:
        """A view of the columns in which each row is moved back, with zeros from the gaps."""
        places, gap = self.runs.shape[-1], self._gap
        self._memory[:gap] = 0
        self._memory[gap:].reshape(-1, places + gap)[:, places:] = 0
        first = self._memory[gap + self._before :]
        runs, kernels = self.runs, self._steps(self.runs.dtype)
        back = [old - step for old, step in zip(runs.strides[2:-1], kernels, strict=True)]
        strides = (*runs.strides[:2], *back, runs.strides[-1])
        return making.as_strided(first, runs.shape, strides, writeable=False)

    def with_zeros_around(self) -> tuple[Array, Array]:
        """Memory for the input, of shape ``(n, C, *size)``, and a view of its columns."""
        runs, size = self.runs, self._geometry.size
        places, dtype = runs.shape[-1], runs.dtype
        around = making.zeros((*runs.shape[:2], self._before + places + self._after), dtype)
        inside = around[..., self._before : self._before + places]
        strides = (*around.strides[:2], *self._steps(dtype), dtype.itemsize)
        moved = making.as_strided(around, runs.shape, strides, writeable=False)
        return inside.reshape(*runs.shape[:2], *size), moved

    def _steps(self, dtype: _DType) -> list[int]:
        """How many bytes the next place of the kernel is away, by dimension."""
        pitches = _strides(self._geometry, dtype)
        return [d * pitch for d, pitch in zip(self._geometry.dilation, pitches, strict=True)]


def _reach(geometry: Geometry) -> list[int]:
    """How far the last place of the kernel is from the first, by dimension."""
    return [d * (k - 1) for d, k in zip(geometry.dilation, geometry.kernel, strict=True)]


def _strides(geometry: Geometry, dtype: _DType) -> list[int]:
    """The strides of an image in one run of memory."""
    ndim = len(geometry.size)
    return [dtype.itemsize * math.prod(geometry.size[nr + 1 :]) for nr in range(ndim)]


def _borders(geometry: Geometry) -> tuple[int, int]:
    """How many elements before and behind the input the columns begin and end."""
    ndim = len(geometry.size)
    pitches = [math.prod(geometry.size[nr + 1 :]) for nr in range(ndim)]
    before = sum([p * pitch for p, pitch in zip(geometry.padding, pitches, strict=True)])
    whole = sum([far * pitch for far, pitch in zip(_reach(geometry), pitches, strict=True)])
    return before, whole - before


def _outside(geometry: Geometry) -> list[_Index]:
    """Where columns of shape ``(n, C, *kernel, *size)`` are outside of the input.

    Outside along the first dimension, they are in the zeros before or behind all places.
    """
    ndim = len(geometry.size)
    found: list[_Index] = []
    for nr in range(1, ndim):
        size = geometry.size[nr]
        for k in range(geometry.kernel[nr]):
            moved = k * geometry.dilation[nr] - geometry.padding[nr]
            if moved:
                part = slice(max(0, size - moved), None) if moved > 0 else slice(0, -moved)
                free = (slice(None),) * ndim
                found.append(
                    (..., *free[:nr], k, *free[nr + 1 :], *free[:nr], part, *free[nr + 1 :])
                )
    return found
