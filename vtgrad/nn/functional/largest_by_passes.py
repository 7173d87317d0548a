"""The largest elements of windows of the same shape, by passes over whole arrays.

Note [Largest elements by passes]

The elements at one place of all windows are a view of the input, so the largest ones are found by
``maximum`` of such views, one dimension after the other, without a mask. Which place of its window
an element came from is then a sum over the places: 1 for each that comes before the first equal
one. It takes a byte for each window, and is all that is kept for backward, which adds to each view
the gradients of the windows that chose it.

What this cannot tell is found out and left to Note [The largest of a window]: a nan, which is equal
to nothing, and minus infinity where windows reach beyond the input, since that stands there too.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Iterator
from itertools import product
from types import EllipsisType

import numpy as np

from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.later.beside import beside
from vtgrad.later.is_plain import is_plain
from vtgrad.nn.functional.window_geometry import Geometry
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.lazy_array import resolved
from vtgrad.tensor.tensor import Tensor

__all__ = ["choose", "places_of", "pooled"]


_Index: typing.TypeAlias = tuple[slice | EllipsisType, ...]


class Chosen(typing.NamedTuple):
    """What is known of the largest elements of windows.

    Attributes
    ----------
    values : array
        The elements.
    at : array
        The number of the place in its window, in the order of memory, that each is from.
    """

    values: Array
    at: Array


def choose(x: Array, geometry: Geometry) -> Chosen | None:
    """The largest elements and where they are; None if that takes masks.

    Parameters
    ----------
    x : array
        Of shape ``(..., *size)``.
    geometry : Geometry
        The windows.
    """
    if math.prod(geometry.kernel) > np.iinfo(np.int8).max or x.dtype.kind != "f":
        return None
    x = _with_border(x, geometry)
    values = _maxima(x, geometry)
    if not values.size:
        return None
    if _is_beyond(geometry) and (values == -np.inf).any():
        return None
    parts = _parts(geometry)
    # Whether a window has had none equal to the largest yet.
    missing = making.ones(values.shape, np.bool_)
    at = making.zeros(values.shape, np.int8)
    differs = making.empty(values.shape, np.bool_)
    for part in parts:
        np.not_equal(x[part], values, out=differs)
        missing &= differs
        at += missing.view(np.int8)
    return None if missing.any() else Chosen(values, at)


def places_of(at: Array, geometry: Geometry) -> Array:
    """The places of the chosen elements among all elements of space."""
    ndim = len(geometry.size)
    pitches = [math.prod(geometry.size[nr + 1 :]) for nr in range(ndim)]
    offsets = making.zeros((), np.int64)
    found = making.zeros((), np.int64)
    for nr in range(ndim):
        behind = (1,) * (ndim - nr - 1)
        steps = making.arange(geometry.kernel[nr]) * geometry.dilation[nr] * pitches[nr]
        offsets = offsets + steps.reshape(-1, *behind)
        starts = making.arange(geometry.out[nr]) * geometry.stride[nr] - geometry.padding[nr]
        found = found + (starts * pitches[nr]).reshape(-1, *behind)
    return offsets.reshape(-1).take(at) + found


def pooled(x: Tensor, geometry: Geometry) -> Tensor | None:
    """The largest elements, as one node of the graph; None if that takes masks or more than one.

    Parameters
    ----------
    x : Tensor
        Of shape ``(..., *size)``, without keys.
    geometry : Geometry
        The windows.
    """
    array = resolved(x._impl.array)
    if array.dtype.kind != "f":
        return None
    if is_plain(x):
        return beside(x, _maxima(_with_border(array, geometry), geometry))
    chosen = choose(array, geometry)
    return None if chosen is None else _Pooled.apply(x, chosen, geometry)


class _Context(FunctionCtx):
    at: Array
    geometry: Geometry
    shape: Shape


class _Pooled(Function):
    """See Note [Largest elements by passes]."""

    @staticmethod
    def forward(ctx: _Context, x: Tensor, chosen: Chosen, geometry: Geometry) -> Tensor:
        ctx.at, ctx.geometry, ctx.shape = chosen.at, geometry, x._impl.array.shape
        return beside(x, chosen.values)

    @staticmethod
    def backward(ctx: _Context, grad: Tensor) -> tuple[Tensor, None, None]:
        if is_plain(grad):
            array = resolved(grad._impl.array)
            # 0 times what is not finite is not 0.
            if np.isfinite(array).all():
                return beside(grad, _spread(array, ctx.at, ctx.geometry)), None, None
        lead = ctx.shape[: len(ctx.shape) - len(ctx.geometry.size)]
        flat = (*lead, math.prod(ctx.geometry.out))
        places = beside(grad, places_of(ctx.at, ctx.geometry).reshape(flat))
        whole = F.zeros_shaped(grad, (*lead, math.prod(ctx.geometry.size)))
        found = F.scatter_add(whole, -1, places, F.reshape(grad, flat))
        return F.reshape(found, ctx.shape), None, None


def _spread(grad: Array, at: Array, geometry: Geometry) -> Array:
    """The gradients of windows at the elements that these chose."""
    lead = grad.shape[: grad.ndim - len(geometry.size)]
    whole = making.zeros((*lead, *_bordered(geometry)), grad.dtype)
    apart = all(s >= (k - 1) * d + 1 for s, k, d in _steps(geometry))
    term = making.empty(grad.shape, grad.dtype)
    for number, part in enumerate(_parts(geometry)):
        is_chosen = at == number
        if apart:
            np.multiply(grad, is_chosen, out=whole[part])
        else:
            np.multiply(grad, is_chosen, out=term)
            whole[part] += term
    return making.ascontiguousarray(whole[_inside(geometry)])


def _steps(geometry: Geometry) -> Iterator[tuple[int, int, int]]:
    return zip(geometry.stride, geometry.kernel, geometry.dilation, strict=True)


def _bordered(geometry: Geometry) -> tuple[int, ...]:
    """The sizes with the borders that windows reach into."""
    sizes = zip(geometry.padding, geometry.size, geometry.reached(), strict=True)
    return tuple([max(p + n, far) for p, n, far in sizes])


def _is_beyond(geometry: Geometry) -> bool:
    return _bordered(geometry) != geometry.size


def _with_border(x: Array, geometry: Geometry) -> Array:
    """The elements with minus infinity around them where windows reach."""
    if not _is_beyond(geometry):
        return x
    lead = x.shape[: x.ndim - len(geometry.size)]
    whole = making.full((*lead, *_bordered(geometry)), -np.inf, x.dtype)
    whole[_inside(geometry)] = x
    return whole


def _inside(geometry: Geometry) -> _Index:
    """Where the input is, as an index of what has its border."""
    sizes = zip(geometry.padding, geometry.size, strict=True)
    return (..., *[slice(p, p + n) for p, n in sizes])


def _maxima(x: Array, geometry: Geometry) -> Array:
    ndim = len(geometry.size)
    for nr in reversed(range(ndim)):
        behind: list[slice] = [slice(None)] * (ndim - nr - 1)
        indices: list[_Index] = [(..., part, *behind) for part in _parts_along(geometry, nr)]
        first, *others = [x[index] for index in indices]
        x = first if not others else np.maximum(first, others[0])
        for other in others[1:]:
            np.maximum(x, other, out=x)
    return x if x.base is None and x.flags.c_contiguous else making.array(x, order="C")


def _parts(geometry: Geometry) -> list[_Index]:
    """The elements at each place of all windows, as indices of the bordered input."""
    along = [_parts_along(geometry, nr) for nr in range(len(geometry.size))]
    return [(..., *part) for part in product(*along)]


def _parts_along(geometry: Geometry, nr: int) -> list[slice]:
    step, far = geometry.stride[nr], (geometry.out[nr] - 1) * geometry.stride[nr] + 1
    starts = [k * geometry.dilation[nr] for k in range(geometry.kernel[nr])]
    return [slice(start, start + far, step) for start in starts]
