"""Where the largest element of each window is.

Note [The largest of a window]

A window is a product of intervals, so its largest element is found one dimension at a time: the
largest of each interval of the last dimension, then the largest of these over the dimension before,
with its place. Of equal elements the first one counts, and of several nan the last, in the order of
memory, as in PyTorch; going from the last dimension to the first keeps both.

Where all windows have one shape and no nan, Note [Largest elements by passes] is quicker.

The places have no derivative. The elements are gathered from them by an operator, which has all
others: values, gradients and tangents are those of the elements that were the largest.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from vtgrad.errors import ShapeError
from vtgrad.function.batched_apply import VmapInfo
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.later.beside import beside
from vtgrad.nn.functional.largest_by_passes import choose, places_of, pooled
from vtgrad.nn.functional.pooling_geometry import adaptive_bounds
from vtgrad.nn.functional.traced import is_traced
from vtgrad.nn.functional.traced_windows import traced_columns
from vtgrad.nn.functional.window_geometry import Geometry
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.key_set import keys
from vtgrad.storage.lazy_array import resolved
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "Places",
    "largest",
    "largest_in_windows",
    "largest_of_adaptive",
    "largest_of_pooling",
    "places_of_windows",
]

T = TypeVar("T", bound=Tensor)

# Some places of a dimension: a range where neighbours have the same distance.
Row: TypeAlias = tuple[int, ...] | range
# Of each dimension the places of the first elements of all windows, of the second, and so on.
Places: TypeAlias = tuple[tuple[Row, ...], ...]


def largest_in_windows(x: T, places: Places, geometry: Geometry | None = None) -> tuple[T, Tensor]:
    """The largest element of each window, and its place among all elements of space.

    Parameters
    ----------
    x : Tensor
        Of shape ``(..., *size)``.
    places : tuple
        The windows, by dimension of space.
    geometry : Geometry, optional
        The same, if all windows have one shape.
    """
    shape = x._impl.array.shape
    lead = shape[: len(shape) - len(places)]
    out = tuple([len(rows[0]) for rows in places])
    indices = _Largest.apply(F.detach(x), places, geometry)
    flat = F.reshape(x, (*lead, math.prod(shape[len(lead) :])))
    found = F.gather(flat, -1, F.reshape(indices, (*lead, math.prod(out))))
    return F.reshape(found, (*lead, *out)), indices


def largest_of_pooling(
    name: str, x: T, geometry: Geometry, with_places: bool
) -> T | tuple[T, Tensor]:
    """The largest element of each window of pooling, and its place if that is wanted.

    Parameters
    ----------
    name : str
        The function, for errors.
    x : Tensor
        Of shape ``(..., *size)``.
    geometry : Geometry
        The windows.

    Raises
    ------
    ShapeError
        If a window has no element.
    """
    return _largest_of(x, places_of_windows(name, geometry), geometry, with_places)


def largest_of_adaptive(
    x: T, size: Sequence[int], out: Sequence[int], with_places: bool
) -> T | tuple[T, Tensor]:
    """The largest element of each window that splits space evenly, and its place if wanted."""
    geometry = None
    if all(m and n % m == 0 for n, m in zip(size, out, strict=True)):
        kernel = tuple([n // m for n, m in zip(size, out, strict=True)])
        ones, zeros = (1,) * len(kernel), (0,) * len(kernel)
        geometry = Geometry(1, tuple(size), kernel, tuple(out), kernel, ones, zeros)
    return _largest_of(x, adaptive_places(size, out), geometry, with_places)


def _largest_of(
    x: T, places: Places, geometry: Geometry | None, with_places: bool
) -> T | tuple[T, Tensor]:
    if geometry is not None and not with_places and x._impl.array.dtype.kind == "f" and is_traced():
        # Each element of a window may be chosen: Note [Windows while a pattern is found].
        chosen, _ = F.max_dim(traced_columns(x, geometry, -math.inf), -2)
        lead = chosen._impl.array.shape[:-1]
        return typing.cast("T", F.reshape(chosen, (*lead, *geometry.out)))
    has_keys = bool(keys.modes or x._impl.key_set)
    if geometry is not None and not (with_places or has_keys) and x._impl.array.size:
        found = pooled(x, geometry)
        if found is not None:
            return typing.cast("T", found)
    values, indices = largest_in_windows(x, places, geometry)
    return (values, indices) if with_places else values


def places_of_windows(name: str, geometry: Geometry) -> Places:
    """The windows of pooling; elements outside are replaced by neighbours in the same window.

    Raises
    ------
    ShapeError
        If a window has no element.
    """
    found = []
    for nr, (size, step) in enumerate(zip(geometry.size, geometry.dilation, strict=True)):
        if (rows := _rows_inside(geometry, nr)) is not None:
            found.append(rows)
            continue
        starts = making.arange(geometry.out[nr]) * geometry.stride[nr] - geometry.padding[nr]
        ends = starts + (geometry.kernel[nr] - 1) * step
        # The first and the last element of each window that are inside.
        first = np.where(starts < 0, starts % step, starts)
        last = np.where(ends >= size, size - 1 - (size - 1 - starts) % step, ends)
        if (first > last).any() or (first >= size).any():
            raise ShapeError(
                f"{name}() has a window without an element in dimension {nr} of space, of size "
                f"{size}",
                size=geometry.size,
            )
        clipped = [np.clip(starts + k * step, first, last) for k in range(geometry.kernel[nr])]
        found.append(tuple([_row_of(row) for row in clipped]))
    return tuple(found)


def adaptive_places(size: Sequence[int], out: Sequence[int]) -> Places:
    """The windows that split each dimension evenly; the last element of a short one is repeated."""
    found = []
    for n, count in zip(size, out, strict=True):
        starts, ends = adaptive_bounds(n, count)
        most = int((ends - starts).max(initial=1))
        rows = [np.minimum(starts + k, ends - 1) for k in range(most)]
        found.append(tuple([_row_of(row) for row in rows]))
    return tuple(found)


def _rows_inside(geometry: Geometry, nr: int) -> tuple[Row, ...] | None:
    """The windows along a dimension if all are inside of the input."""
    count, stride, step = geometry.out[nr], geometry.stride[nr], geometry.dilation[nr]
    start = -geometry.padding[nr]
    over = (count - 1) * stride + 1
    if (
        start < 0
        or start + over + (geometry.kernel[nr] - 1) * step > geometry.size[nr]
        or not count
    ):
        return None
    firsts = [start + k * step for k in range(geometry.kernel[nr])]
    return tuple([range(first, first + over, stride) for first in firsts])


def _row_of(places: Array) -> Row:
    """Places as Python's numbers, of which a range has three however many windows there are."""
    if places.size > 1:
        step = int(places[1] - places[0])
        if step > 0 and (np.diff(places) == step).all():
            return range(int(places[0]), int(places[-1]) + 1, step)
    return tuple(places.tolist())


class _Largest(Function):
    """See Note [The largest of a window]."""

    @staticmethod
    def forward(x: Tensor, places: Places, geometry: Geometry | None) -> Tensor:
        array = resolved(x._impl.array)
        chosen = None if geometry is None else choose(array, geometry)
        if geometry is None or chosen is None:
            return beside(x, largest(array, places))
        return beside(x, places_of(chosen.at, geometry))

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[object, ...], output: object) -> None:
        ctx.mark_non_differentiable(typing.cast("Tensor", output))

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[None, None, None]:
        return None, None, None

    @staticmethod
    def jvp(ctx: FunctionCtx, tangent: Tensor, *_: None) -> None:
        return None

    @staticmethod
    def vmap(
        info: VmapInfo,
        in_dims: Sequence[int | None],
        x: Tensor,
        places: Places,
        geometry: Geometry | None,
    ) -> tuple[Tensor, int]:
        assert in_dims[0] is not None
        return _Largest.apply(F.movedim(x, in_dims[0], 0), places, geometry), 0


def largest(x: Array, places: Places) -> Array:
    """The place of the largest element of each window, among all elements of space."""
    lead = x.ndim - len(places)
    values: Array = x
    indices: Array | None = None
    has_nan = x.dtype.kind == "f"
    stride = 1
    for nr in reversed(range(len(places))):
        axis = lead + nr
        behind = (1,) * (x.ndim - axis - 1)
        best, at = None, None
        for row in places[nr]:
            one = _taken(values, row, axis)
            place = _as_array(row).reshape(-1, *behind) * stride
            if indices is not None:
                place = place + _taken(indices, row, axis)
            if best is None or at is None:
                best = making.array(one, order="C")
                at = making.array(making.broadcast_to(place, best.shape), order="C")
                continue
            larger = one > best
            if has_nan:
                larger |= np.isnan(one)
            np.copyto(best, one, where=larger)
            np.copyto(at, place, where=larger)
        assert best is not None
        assert at is not None
        values, indices = best, at
        stride *= x.shape[axis]
    assert indices is not None
    return indices


def _as_array(row: Row) -> Array:
    if isinstance(row, range):
        return making.arange(row.start, row.stop, row.step, dtype=np.int64)
    return making.array(row, np.int64)


def _taken(x: Array, row: Row, axis: int) -> Array:
    """The elements at some places of a dimension: a view where their distance is the same."""
    if isinstance(row, range):
        part: Array = x[(slice(None),) * axis + (slice(row.start, row.stop, row.step),)]
        return part
    return np.take(x, row, axis)
