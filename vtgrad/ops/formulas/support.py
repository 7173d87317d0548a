"""What derivative formulas compute with shapes and numbers, the same in both evaluations."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import TypeVar

from vtgrad.errors import NotSupportedError
from vtgrad.ops.kernels.axes import axes_of, reduced_shape
from vtgrad.ops.types import Dims, Geometry3
from vtgrad.storage.arrays import Number, Shape
from vtgrad.storage.geometry import has_self_overlap, is_contiguous, reach, steps_through

__all__ = [
    "is_column_major",
    "is_plain_part",
    "kept_shape",
    "log_of_number",
    "no_derivative",
    "number_of_elements",
    "other_dims",
    "output_geometry",
    "reduced_count",
    "reduces_all",
    "sinc_slope",
]

G = TypeVar("G")


def output_geometry(
    input_geometry: Geometry3,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None,
) -> Geometry3:
    """The geometry that `as_strided` makes; without an offset it keeps its argument's."""
    offset = input_geometry[2] if storage_offset is None else storage_offset
    return tuple(size), tuple(stride), offset


def is_plain_part(
    input_geometry: Geometry3,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None,
) -> bool:
    """Whether the result of `as_strided` names elements of the input, each at most once.

    Then the gradient of the input can be written through a view. Of inputs that are not
    contiguous this recognises the parts that slices and selections make.
    """
    sizes, strides, start = input_geometry
    if 0 in size or has_self_overlap(tuple(size), tuple(stride)):
        return False
    part = output_geometry(input_geometry, size, stride, storage_offset)
    if not is_contiguous(sizes, strides):
        return steps_through(input_geometry, part) is not None
    low, high = reach(*part)
    first, last = reach(sizes, strides, start)
    return first <= low and high <= last


def kept_shape(sizes: Shape, dim: Dims) -> Shape:
    """The shape of a reduction over `dim` that keeps the dimensions, with size 1."""
    return reduced_shape(sizes, axes_of(dim, len(sizes)), True)


def reduced_count(sizes: Shape, dim: Dims) -> int:
    """How many elements a reduction over `dim` merges into one."""
    if dim is None:
        return math.prod(sizes)
    return math.prod([sizes[d] for d in axes_of(dim, len(sizes))])


def number_of_elements(sizes: Shape) -> int:
    """How many elements a shape has."""
    return math.prod(sizes)


def other_dims(ndim: int, dim: int) -> tuple[int, ...]:
    """All dimensions but one, which may be counted from the back."""
    return tuple(d for d in range(ndim) if d != dim % ndim)


def is_column_major(geometry: Geometry3) -> bool:
    """Whether a matrix lies in memory column by column, without gaps."""
    sizes, strides, _ = geometry
    return strides[0] == 1 and strides[1] == sizes[0]


def log_of_number(value: Number) -> Number:
    """The natural logarithm of a number, as arrays have it: -inf at 0, nan for negative reals."""
    if isinstance(value, complex):
        return cmath.log(value) if value else complex(-math.inf)
    if value > 0:
        return math.log(value)
    return -math.inf if value == 0 else math.nan


def no_derivative(grad: G, message: str) -> G:
    """Raise in the place of a gradient that PyTorch does not have either.

    Raises
    ------
    NotSupportedError
        Always.
    """
    raise NotSupportedError(message)


def reduces_all(sizes: Shape, dim: Dims) -> bool:
    """Whether a reduction over `dim` was asked for without naming dimensions."""
    return not sizes or dim is None or (not isinstance(dim, int) and len(dim) == 0)


def sinc_slope() -> tuple[float, ...]:
    """The coefficients of ``t ** (2 * n - 1)`` in the derivative of ``sin(t) / t``, the last first.

    Together they give it in double precision for magnitudes of `t` up to 1/2.
    """
    return tuple((-1) ** n * 2 * n / math.factorial(2 * n + 1) for n in range(8, 0, -1))
