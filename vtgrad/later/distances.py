"""Distances of points."""

from __future__ import annotations

import math
from typing import Final, TypeVar

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
from vtgrad.ops.generated import functional as F
from vtgrad.storage.shapes import broadcast_shapes
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["cdist", "pdist"]


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
    lead = broadcast_shapes(shapes[0][:-2], shapes[1][:-2])
    if not shapes[0][-1]:
        return F.zeros_shaped(x1, (*lead, shapes[0][-2], shapes[1][-2]))
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
    first, second = [i.astype(np.int64) for i in np.triu_indices(array.shape[0], 1)]
    if not array.size:
        return F.zeros_shaped(input, (len(first),))
    pairs = [F.index_select(input, 0, beside(input, i)) for i in (first, second)]
    return _norms(F.sub(*pairs), order)


def _order(name: str, p: float) -> float:
    order = number_of(p, "p")
    if isinstance(order, complex):
        raise ArgumentTypeError("argument 'p' must be a real number", argument="p")
    if not order >= 0:
        raise OptionValueError(f"{name}() takes no negative p, got {p}", p=p)
    return math.inf if order == math.inf else float(order)


def _norms(difference: T, order: float) -> T:
    """The norms along the last dimension; where all is zero, derivatives of any order are too."""
    same = F.logical_not(F.any_dim(difference, -1, True))
    apart = F.masked_fill(difference, same, 1)
    norms = F.linalg_vector_norm(apart, order, (-1,))
    return F.masked_fill(norms, F.squeeze_dim(same, -1), 0)
