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
from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.composites.views.reshaping import flatten
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.key_set import keys
from vtgrad.storage.strides import MAX_DIMS, check_sizes
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.warn import warn

__all__ = ["cartesian_prod", "combinations", "meshgrid"]


T = TypeVar("T", bound=TensorBase)


def meshgrid(*tensors: T | Sequence[T], indexing: str | None = None) -> tuple[T, ...]:
    """Return the coordinates of a grid that vectors span.

    There is one result for each vector, in which its values vary along one dimension and are
    repeated along the others. No memory is copied. With ``'ij'`` dimension k belongs to vector
    k; with ``'xy'`` the first two dimensions are exchanged, as plots have them.

    Parameters
    ----------
    *tensors : Tensor or sequence of Tensor
        Vectors of one dtype, one by one or as one sequence; a 0-d tensor counts as a vector of
        one element.
    indexing : str, optional
        ``'ij'`` or ``'xy'``. Not to give it means ``'ij'`` and warns.

    Returns
    -------
    tuple of Tensor
        Views, one of each vector, all of one shape: writing to them writes to the vectors.

    Raises
    ------
    ShapeError
        If a tensor has more than 1 dimension, there is none, or `indexing` is another text.
    DTypeError
        If the dtypes differ.
    ArgumentTypeError
        If an argument is not a tensor.

    Examples
    --------
    >>> rows, columns = vt.meshgrid(vt.tensor([1, 2]), vt.tensor([10, 20, 30]), indexing='ij')
    >>> rows
    tensor([[1, 1, 1],
            [2, 2, 2]])
    >>> columns
    tensor([[10, 20, 30],
            [10, 20, 30]])
    >>> vt.meshgrid(vt.ones(2), vt.ones(3), indexing='xy')[0].shape
    vtgrad.Size([3, 2])
    """
    if keys.active and is_overridden(*tensors):
        return call_override(meshgrid, *tensors, indexing=indexing)
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
    axes = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        axes[:2] = 1, 0
    sizes = [1] * len(given)
    for axis, x in zip(axes, given, strict=True):
        sizes[axis] = x.numel()
    grids: list[T] = []
    for axis, x in zip(axes, given, strict=True):
        shape = [1] * len(given)
        shape[axis] = x.numel()
        grids.append(F.expand_sizes(F.view_shape(x, shape), sizes))
    return tuple(grids)


def cartesian_prod(*tensors: T) -> T:
    """Return all ways to take one element of each vector, one way in each row.

    The last vector varies fastest. One vector alone is returned itself. Each element gets the
    sum of the gradients of the rows in which it stands.

    Parameters
    ----------
    *tensors : Tensor
        Vectors of one dtype.

    Returns
    -------
    Tensor
        A new matrix with one row for each way and one column for each vector; for one vector
        that vector.

    Raises
    ------
    ShapeError
        If there are no tensors, or one is not a vector.
    DTypeError
        If the dtypes differ.
    ArgumentTypeError
        If an argument is not a tensor.

    Examples
    --------
    >>> vt.cartesian_prod(vt.tensor([1, 2]), vt.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    if keys.active and is_overridden(*tensors):
        return call_override(cartesian_prod, *tensors)
    vectors = sequence_of_tensors(tensors, "cartesian_prod")
    for x in vectors:
        if x.ndim != 1:
            raise ShapeError(
                f"cartesian_prod takes vectors, got shape {list(x.shape)}", shape=x.shape
            )
    if len(vectors) == 1:
        return vectors[0]
    return F.stack([flatten(x) for x in meshgrid(*vectors, indexing="ij")], 1)


@explained
def combinations(input: T, r: int = 2, with_replacement: bool = False) -> T:
    """Return all ways to take `r` elements of a vector, one way in each row.

    The elements of a row stand in the order of the vector, and the rows are ordered by their
    indices. Equal elements at different indices are different. Each element gets the sum of the
    gradients of the rows in which it stands.

    Parameters
    ----------
    input : Tensor
        A vector of any dtype.
    r : int, default 2
        How many elements are taken.
    with_replacement : bool, default False
        Whether an element may be taken several times.

    Returns
    -------
    Tensor
        A new matrix of `r` columns; for an `r` of 0 a vector without elements.

    Raises
    ------
    ShapeError
        If `input` is not a vector, `r` is negative, or there are more ways than memory can
        have.
    ArgumentTypeError
        If `r` is not an integer.

    Examples
    --------
    >>> x = vt.tensor([1, 2, 3])
    >>> vt.combinations(x)
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    >>> vt.combinations(x, r=3)
    tensor([[1, 2, 3]])
    >>> vt.combinations(x[:2], with_replacement=True)
    tensor([[1, 1],
            [1, 2],
            [2, 2]])
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
    mask = making.ones((count,) * r, np.bool_)
    grids = [making.arange(count).reshape((-1,) + (1,) * (r - 1 - d)) for d in range(r)]
    for one, following in itertools.pairwise(grids):
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
    chosen = making.fromiter(each, np.int64, rows * r)
    index = input._wrap(TensorImpl(chosen))
    return F.view_shape(F.index_select(input, 0, index), (rows, r))
