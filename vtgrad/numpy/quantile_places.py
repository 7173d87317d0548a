"""Where the quantiles of sorted lanes lie.

Note [Positions of quantiles]

A quantile lies between two elements of the sorted values. Where it lies is computed by the rules of
the definitions that NumPy has by name, from the number of elements and `q`; the elements there are
read by one recorded operator and interpolated. Of the continuous definitions the position is
recorded too, so a `q` with a derivative gets its gradient. The number of elements that are not NaN
differs from lane to lane, so it may be an array.
"""

from __future__ import annotations

import math
import typing
from typing import Final

import numpy as np

from vtgrad.numpy.deliver import Axis, dims_of
from vtgrad.numpy.operands import as_array, fresh
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Shape
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["Lanes", "count_of", "elements_at", "lanes_of", "places_of", "position", "where_nan"]

_INT64: Final = np.dtype(np.int64)

# The two parameters of the definitions that interpolate.
_PARAMETERS: Final = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}


class Lanes(typing.NamedTuple):
    """The values with what is reduced as one last axis."""

    values: ndarray
    # The shape of a result.
    shape: Shape


def lanes_of(x: ndarray, axis: Axis, keepdims: bool) -> Lanes:
    """The values with the axes of a reduction as one last axis."""
    sizes = x._impl.array.shape
    dims = dims_of(axis, len(sizes))
    kept = [dim for dim in range(len(sizes)) if dim not in dims]
    moved = F.permute(x, (*kept, *dims)) if dims else x
    count = math.prod([sizes[dim] for dim in dims])
    joined = as_array(F.reshape(moved, (*[sizes[dim] for dim in kept], count)))
    if keepdims:
        return Lanes(joined, tuple([1 if d in dims else n for d, n in enumerate(sizes)]))
    return Lanes(joined, tuple([sizes[dim] for dim in kept]))


def elements_at(ordered: TensorBase, places: TensorBase) -> TensorBase:
    """The elements of sorted lanes at places, the same for all lanes or for each its own."""
    if places._impl.array.ndim == 1:
        return F.index_select(ordered, ordered._impl.array.ndim - 1, places)
    return F.gather(ordered, ordered._impl.array.ndim - 1, places)


def count_of(lanes: ndarray) -> TensorBase:
    """How many elements of each lane are no NaN, as a last axis of size 1."""
    number = F.to_dtype(F.logical_not(F.isnan(lanes)), _INT64)
    return F.sum_dim_IntList(number, (lanes._impl.array.ndim - 1,), True)


def where_nan(mask: TensorBase, x: TensorBase) -> TensorBase:
    """The array with NaN where a mask is true."""
    return F.where(mask, fresh(making.asarray(math.nan, x._impl.array.dtype)), x)


def position(count: TensorBase | int, q: TensorBase, method: str) -> tuple[TensorBase, ...]:
    """The place below, the place above, and how far it is from the one to the other.

    Parameters
    ----------
    count : tensor or int
        The number of elements, if it is a tensor with a last axis of size 1.
    q : tensor
        One axis, between 0 and 1.

    Returns
    -------
    tuple of tensor
        The places in the dtype of `q`; one place alone for what is not interpolated.
    """
    less: TensorBase = F.mul(q, F.sub(count, 1) if isinstance(count, TensorBase) else count - 1)
    scaled = F.mul(q, count)
    if method == "lower":
        return (F.floor(less),)
    if method == "higher":
        return (F.ceil(less),)
    if method == "nearest":
        return (F.round(less),)
    if method == "inverted_cdf":
        return (F.ceil(F.sub(scaled, 1)),)
    if method == "closest_observation":
        # Between two places the one whose number, counted from 1, is even.
        near = F.sub(scaled, 1.5)
        below = F.floor(near)
        stays = F.logical_and(F.eq(near, below), F.eq(F.remainder(below, 2), 1))
        return (F.where(stays, below, F.add(below, 1)),)
    if method == "midpoint":
        below = F.floor(less)
        return below, F.add(below, 1), F.mul(F.sub(F.ceil(less), below), 0.5)
    if method == "averaged_inverted_cdf":
        near = F.sub(scaled, 1)
        below = F.floor(near)
        part = F.where(F.eq(near, below), 0.5, F.ones_like(near))
        return below, F.add(below, 1), part
    if method == "linear":
        near = less
    else:
        alpha, beta = _PARAMETERS[method]
        near = F.sub(F.add(scaled, F.add(F.mul(q, 1 - alpha - beta), alpha)), 1)
    below = F.floor(near)
    return below, F.add(below, 1), F.sub(near, below)


def places_of(where: TensorBase, count: TensorBase | int) -> TensorBase:
    """Places as integers, the nearest element for those beyond the ends."""
    last = F.sub(count, 1) if isinstance(count, TensorBase) else count - 1
    return F.to_dtype(F.clamp_min(F.clamp_max(where, last), 0), _INT64)
