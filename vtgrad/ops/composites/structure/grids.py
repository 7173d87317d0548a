"""Grids, products and combinations of the elements of vectors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Final, TypeVar

import numpy as np

from vtgrad.errors import DTypeError, ShapeError
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.sequences import given_tensors, sequence_of_tensors
from vtgrad.ops.composites.views.shaping import flatten
from vtgrad.ops.generated import functional as F
from vtgrad.storage.strides import MAX_DIMS, check_sizes
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.warn import warn

__all__ = ["cartesian_prod", "combinations", "meshgrid"]


T = TypeVar("T", bound=TensorBase)


def meshgrid(*tensors: T | Sequence[T], indexing: str | None = None) -> tuple[T, ...]:
    """Each vector repeated over a grid that all of them span; views.

    Parameters
    ----------
    indexing : str
        ``"ij"``: dimension k of the results belongs to vector k. ``"xy"``: the first two are
        exchanged. Say which one: not to say it means ``"ij"`` and warns.

    Raises
    ------
    ShapeError
        If a tensor has more than 1 dimension, there are none, or `indexing` is something else.
    DTypeError
        If their dtypes differ.
    """
    given: Sequence[T] = given_tensors(tensors)
    if not given:
        raise ShapeError("meshgrid needs at least one tensor")
    for x in given:
        if x.ndim > 1:
            raise ShapeError(f"meshgrid takes vectors, got shape {list(x.shape)}", shape=x.shape)
        if x.dtype != given[0].dtype:
            raise DTypeError(
                f"meshgrid takes tensors of one dtype, got {given[0].dtype} and {x.dtype}"
            )
    if indexing is None:
        warn('meshgrid without indexing= takes "ij"; say so, the default may change')
    elif indexing not in ("ij", "xy"):
        raise ShapeError(f'indexing must be "ij" or "xy", not {indexing!r}', indexing=indexing)
    places = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        places[:2] = 1, 0
    sizes = [1] * len(given)
    for place, x in zip(places, given, strict=True):
        sizes[place] = x.numel()
    grids: list[T] = []
    for place, x in zip(places, given, strict=True):
        shape = [1] * len(given)
        shape[place] = x.numel()
        grids.append(F.expand_sizes(F.view_shape(x, shape), sizes))
    return tuple(grids)


def cartesian_prod(*tensors: T) -> T:
    """All ways to take one element of each vector, one way in each row.

    Raises
    ------
    ShapeError
        If a tensor is no vector, or there are none.
    """
    for x in sequence_of_tensors(tensors, "cartesian_prod"):
        if x.ndim != 1:
            raise ShapeError(
                f"cartesian_prod takes vectors, got shape {list(x.shape)}", shape=x.shape
            )
    if len(tensors) == 1:
        return tensors[0]
    return F.stack([flatten(x) for x in meshgrid(*tensors, indexing="ij")], 1)


@explained
def combinations(input: T, r: int = 2, with_replacement: bool = False) -> T:
    """All ways to take `r` elements of a vector in their order, one way in each row.

    Raises
    ------
    ShapeError
        If the tensor is no vector, `r` is negative, or there are more ways than memory can have.
    """
    if input.ndim != 1:
        raise ShapeError(
            f"combinations takes a vector, got shape {list(input.shape)}", shape=input.shape
        )
    if r < 0:
        raise ShapeError(f"combinations takes 0 or more elements, got {r}", r=r)
    if r == 0:
        return F.zeros_shaped(input, (0,))
    count = input.numel()
    if r > MAX_DIMS or count**r > _MOST_WAYS:
        return _chosen(input, r, with_replacement)
    rising = np.less_equal if with_replacement else np.less
    mask = np.ones((count,) * r, np.bool_)
    places = [np.arange(count).reshape((-1,) + (1,) * (r - 1 - d)) for d in range(r)]
    for one, following in itertools.pairwise(places):
        mask &= rising(one, following)
    chosen = input._wrap(TensorImpl(mask))
    return F.stack([F.masked_select(x, chosen) for x in meshgrid(*[input] * r, indexing="ij")], 1)


# From so many ways to take elements, in any order and repeated, not all of them are looked at.
_MOST_WAYS: Final = 2**20


def _chosen(input: T, r: int, with_replacement: bool) -> T:
    """What `combinations` returns, in steps that take no more memory than the result."""
    count = input.numel()
    among = count + r - 1 if with_replacement else count
    # With so many on both sides there are more than 2**63.
    few = min(r, among - r)
    rows = 0 if few < 0 else math.comb(among, min(few, 64))
    if rows >= 2**63:
        raise ShapeError(
            f"combinations of {r} out of {count} elements are more than memory can have",
            count=count,
            r=r,
        )
    check_sizes((rows, r), 8)
    if not rows:
        return F.zeros_shaped(input, (0, r))
    ways = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    each = itertools.chain.from_iterable(ways(range(count), r))
    places = np.fromiter(each, np.int64, rows * r)
    index = input._wrap(TensorImpl(places))
    return F.view_shape(F.index_select(input, 0, index), (rows, r))
