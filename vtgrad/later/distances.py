"""Distances of points."""

from __future__ import annotations

from typing import Final, TypeVar, cast

import numpy as np

from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DTypeError,
    OptionValueError,
    ShapeError,
)
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.calling.reduction_arguments import check_flag, checked_dim
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.promotion import result_dtype
from vtgrad.storage.shapes import broadcast_shapes, normalize_dim
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["cdist", "cosine_similarity", "pairwise_distance", "pdist"]


T = TypeVar("T", bound=TensorBase)

_MODES: Final = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


@explained
def cdist(
    x1: T,
    x2: TensorBase,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> T:
    """Return the distance of each point of one set from each of another.

    The gradient of two points at one place is zero, and so is the second derivative.

    Parameters
    ----------
    x1, x2 : Tensor
        Points, floating: the coordinates along the last dimension, the points along the one before
        it. Other dimensions broadcast.
    p : float, default 2.0
        The order of the norm that is the distance, not negative: 0 counts the coordinates that
        differ, infinity is the largest difference.
    compute_mode : str, optional
        How PyTorch computes. It changes nothing: the differences are always formed.

    Returns
    -------
    Tensor
        A new tensor with the points of `x1` along the last dimension but one, and those of `x2`
        along the last.

    Raises
    ------
    DTypeError
        If the points are not floating, or the dtypes differ.
    ShapeError
        If a tensor has fewer than two dimensions, or the numbers of coordinates differ.
    OptionValueError
        If `p` is negative.
    ArgumentValueError
        If `compute_mode` is not one of PyTorch's.

    Examples
    --------
    >>> a = vt.tensor([[0.0, 0.0], [3.0, 4.0]])
    >>> vt.cdist(a, vt.tensor([[0.0, 0.0]]))
    tensor([[0.],
            [5.]])
    >>> vt.cdist(a, vt.tensor([[0.0, 1.0]]), p=1)
    tensor([[1.],
            [6.]])
    """
    refuse_names("cdist", x1, x2)
    if compute_mode not in _MODES:
        raise ArgumentValueError(f"{compute_mode!r} is no compute_mode", compute_mode=compute_mode)
    shapes = []
    for x in (x1, x2):
        array = array_of(x, "x1" if x is x1 else "x2")
        if array.dtype.kind != "f":
            raise DTypeError(f"cdist() takes floating points, not {x.dtype.name}", dtype=x.dtype)
        if array.ndim < 2:
            raise ShapeError(f"cdist() takes points as rows, got shape {list(array.shape)}")
        shapes.append(array.shape)
    if shapes[0][-1] != shapes[1][-1]:
        raise ShapeError(
            f"cdist() takes points of as many coordinates, got {shapes[0][-1]} and {shapes[1][-1]}"
        )
    if x1.dtype != x2.dtype:
        raise DTypeError(f"cdist() takes one dtype, got {x1.dtype.name} and {x2.dtype.name}")
    order = _order("cdist", p)
    return _norms(F.sub(F.unsqueeze(x1, -2), F.unsqueeze(x2, -3)), order)


@explained
def pdist(input: T, p: float = 2.0) -> T:
    """Return the distances of all pairs of points of one set.

    Parameters
    ----------
    input : Tensor
        A matrix of floats, with a point in each row.
    p : float, default 2.0
        As of `cdist`.

    Returns
    -------
    Tensor
        A new vector: the distances of the first point from all behind it, then those of the
        second, and so on.

    Raises
    ------
    ShapeError
        If `input` is not a matrix.
    DTypeError
        If it is not floating.
    OptionValueError
        If `p` is negative.

    Examples
    --------
    >>> vt.pdist(vt.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    tensor([5.0000, 1.0000, 4.2426])
    """
    refuse_names("pdist", input)
    array = array_of(input, "input")
    if array.ndim != 2:
        raise ShapeError(f"pdist() takes a matrix, got shape {list(array.shape)}")
    if array.dtype.kind != "f":
        raise DTypeError(f"pdist() takes floating points, not {input.dtype.name}")
    order = _order("pdist", p)
    first, second = [i.astype(np.int64) for i in making.triu_indices(array.shape[0], 1)]
    pairs = [F.index_select(input, 0, beside(input, i)) for i in (first, second)]
    return _norms(F.sub(*pairs), order)


@explained
def pairwise_distance(
    x1: T, x2: TensorBase, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> T:
    """Return the distance of each point from the one at the same place in another set.

    Parameters
    ----------
    x1, x2 : Tensor
        Points, with the coordinates along the last dimension; they broadcast.
    p : float, default 2.0
        The order of the norm that is the distance.
    eps : float, default 1e-06
        What is added to each difference, so that no distance is zero.
    keepdim : bool, default False
        Whether the last dimension stays, with size 1.

    Returns
    -------
    Tensor
        A new tensor of a floating dtype.

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.

    Examples
    --------
    >>> a = vt.tensor([[0.0, 0.0], [3.0, 4.0]])
    >>> vt.pairwise_distance(a, vt.tensor([[1.0, 0.0], [0.0, 0.0]]))
    tensor([1.0000, 5.0000])
    """
    refuse_names("pairwise_distance", x1, x2)
    array_of(x1, "x1")
    array_of(x2, "x2")
    difference = F.add(F.sub(x1, x2), number_of(eps, "eps"))
    axis = (-1,) if difference._impl.array.ndim else ()
    return F.linalg_vector_norm(difference, _real(p, "p"), axis, check_flag(keepdim, "keepdim"))


@explained
def cosine_similarity(x1: T, x2: TensorBase, dim: int = 1, eps: float = 1e-8) -> T:
    """Return the cosines of the angles between vectors.

    Parameters
    ----------
    x1, x2 : Tensor
        Vectors along the dimension `dim`, floating; they broadcast.
    dim : int, default 1
        The dimension, of the shape that both have together.
    eps : float, default 1e-08
        The least length of a vector by which is divided.

    Returns
    -------
    Tensor
        A new tensor without the dimension.

    Raises
    ------
    DTypeError
        If the tensors are not floating.
    DimensionError
        If there is no dimension `dim`.
    ShapeError
        If the shapes do not broadcast.

    Examples
    --------
    >>> a = vt.tensor([[1.0, 0.0], [1.0, 1.0]])
    >>> vt.cosine_similarity(a, vt.tensor([[0.0, 2.0], [3.0, 3.0]]))
    tensor([0., 1.])
    """
    refuse_names("cosine_similarity", x1, x2)
    shapes = [array_of(x, name).shape for x, name in ((x1, "x1"), (x2, "x2"))]
    kind = result_dtype(x1._impl.array, x2._impl.array)
    if kind.kind != "f":
        raise DTypeError(f"cosine_similarity() takes floats, not {kind.name}")
    whole = broadcast_shapes(*shapes)
    axis = normalize_dim(checked_dim(dim), len(whole))
    least = _real(eps, "eps")
    units = []
    for x in (x1, x2):
        given = F.expand_sizes(F.to_dtype(x, kind) if x._impl.array.dtype != kind else x, whole)
        length = _norms(given, 2.0, axis, keepdim=True) if whole else F.abs(given)
        units.append(F.div(given, F.clamp_min(length, least)))
    found = F.mul(*units)
    return cast("T", F.sum_dim_IntList(found, (axis,)) if whole else found)


def _real(value: float, name: str) -> float:
    number = number_of(value, name)
    if isinstance(number, complex):
        raise ArgumentTypeError(f"argument {name!r} must be a real number", argument=name)
    return float(number)


def _order(name: str, p: float) -> float:
    order = _real(p, "p")
    if not order >= 0:
        raise OptionValueError(f"{name}() takes no negative p, got {p}", p=p)
    return order


def _norms(difference: T, order: float, axis: int = -1, keepdim: bool = False) -> T:
    """The norms along a dimension; where all is zero, derivatives of any order are too."""
    if not difference._impl.array.shape[axis]:
        return F.sum_dim_IntList(difference, (axis,), keepdim)
    same = F.logical_not(F.any_dim(difference, axis, True))
    apart = F.masked_fill(difference, same, 1)
    norms = F.linalg_vector_norm(apart, order, (axis,), keepdim)
    if not order:
        # A count has the derivative 0: that of what is never chosen, whatever its values are.
        every = F.eq(norms, norms)
        norms = F.where(every, norms, F.sum_dim_IntList(apart, (axis,), keepdim))
    return F.masked_fill(norms, same if keepdim else F.squeeze_dim(same, axis), 0)
