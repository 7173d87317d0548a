"""Elements without repeats, and which elements are among others."""

from __future__ import annotations

import math
from typing import Literal, TypeVar, overload

import numpy as np

from vtgrad.errors import (
    ArgumentTypeError,
    DimensionError,
    DTypeError,
    NotSupportedError,
    ShapeError,
)
from vtgrad.graph.tracer import read_value
from vtgrad.later.beside import beside
from vtgrad.later.is_plain import is_plain
from vtgrad.later.refuse_names import refuse_names
from vtgrad.later.store_result import store_result
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag, checked_dim
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number
from vtgrad.storage.shapes import normalize_dim
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["isin", "unique", "unique_consecutive"]


T = TypeVar("T", bound=TensorBase)


@overload
def unique(
    input: T,
    sorted: bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> T: ...
@overload
def unique(
    input: T,
    sorted: bool = True,
    *,
    return_inverse: Literal[True],
    return_counts: bool = False,
    dim: int | None = None,
) -> tuple[T, ...]: ...
@overload
def unique(
    input: T,
    sorted: bool = True,
    *,
    return_counts: Literal[True],
    return_inverse: bool = False,
    dim: int | None = None,
) -> tuple[T, ...]: ...
@overload
def unique(
    input: T,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> T | tuple[T, ...]: ...
@explained
def unique(
    input: T,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> T | tuple[T, ...]:
    """Return the elements without repeats, in ascending order.

    No nan equals another. The gradient of an element goes to the first of those that are equal.

    Parameters
    ----------
    input : Tensor
        Real values.
    sorted : bool, default True
        Whether the order must be ascending; it is anyway.
    return_inverse : bool, default False
        Whether the place of each element in the result is returned too.
    return_counts : bool, default False
        Whether it is returned how often each element occurs.
    dim : int, optional
        The dimension whose slices are compared as wholes; by default single elements are.

    Returns
    -------
    Tensor or tuple of Tensor
        A new vector, or a tensor that is shorter along `dim`; behind it the int64 places, in the
        shape of `input` or a vector, and the int64 counts, if they are asked for.

    Raises
    ------
    NotSupportedError
        If `input` is complex.
    DimensionError
        If there is no dimension `dim`.
    ShapeError
        If the slices along `dim` have no elements.
    BatchedTensorError
        Inside of `vmap`: the shape of the result depends on the values.

    Examples
    --------
    >>> x = vt.tensor([3, 1, 3, 2])
    >>> vt.unique(x)
    tensor([1, 2, 3])
    >>> values, places, counts = vt.unique(x, return_inverse=True, return_counts=True)
    >>> places, counts
    (tensor([2, 0, 2, 1]), tensor([1, 1, 2]))
    >>> vt.unique(vt.tensor([[1, 2], [1, 2], [0, 5]]), dim=0)
    tensor([[0, 5],
            [1, 2]])
    """
    check_flag(sorted, "sorted")
    return _unique("unique", input, return_inverse, return_counts, dim)


@overload
def unique_consecutive(
    input: T,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: int | None = None,
) -> T: ...
@overload
def unique_consecutive(
    input: T,
    *,
    return_inverse: Literal[True],
    return_counts: bool = False,
    dim: int | None = None,
) -> tuple[T, ...]: ...
@overload
def unique_consecutive(
    input: T,
    *,
    return_counts: Literal[True],
    return_inverse: bool = False,
    dim: int | None = None,
) -> tuple[T, ...]: ...
@overload
def unique_consecutive(
    input: T,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> T | tuple[T, ...]: ...
@explained
def unique_consecutive(
    input: T,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> T | tuple[T, ...]:
    """Return the first element of each run of equal neighbours.

    The gradient of an element goes to the first of its run.

    Parameters
    ----------
    input : Tensor
        The values.
    return_inverse : bool, default False
        Whether the number of the run of each element is returned too.
    return_counts : bool, default False
        Whether the lengths of the runs are returned.
    dim : int, optional
        The dimension whose slices are compared as wholes; by default single elements are.

    Returns
    -------
    Tensor or tuple of Tensor
        A new vector, or a tensor that is shorter along `dim`; behind it the int64 numbers, in the
        shape of `input` or a vector, and the int64 lengths, if they are asked for.

    Raises
    ------
    NotSupportedError
        If `input` is complex.
    DimensionError
        If there is no dimension `dim`.
    ShapeError
        If the slices along `dim` have no elements.
    BatchedTensorError
        Inside of `vmap`: the shape of the result depends on the values.

    Examples
    --------
    >>> x = vt.tensor([1, 1, 2, 1])
    >>> vt.unique_consecutive(x, return_counts=True)
    (tensor([1, 2, 1]), tensor([2, 1, 1]))
    >>> vt.unique_consecutive(vt.tensor([7, 7]))
    tensor([7])
    """
    return _unique("unique_consecutive", input, return_inverse, return_counts, dim)


def _unique(
    name: str, input: T, return_inverse: bool, return_counts: bool, dim: int | None
) -> T | tuple[T, ...]:
    refuse_names(name, input)
    array = array_of(input, "input")
    if array.dtype.kind == "c":
        raise NotSupportedError(f"{name}() has no meaning for complex values", dtype=input.dtype)
    wanted = [check_flag(return_inverse, "return_inverse")]
    wanted.append(check_flag(return_counts, "return_counts"))
    axis = None if dim is None else normalize_dim(checked_dim(dim), array.ndim)
    if dim is not None and not array.ndim:
        raise DimensionError(f"{name}() finds no dimension {dim} in a 0-d tensor", dim=dim)
    find = _among_all if name == "unique" else _among_neighbours
    read_value(input)
    if axis is None and name == "unique" and not any(wanted) and is_plain(input):
        return beside(input, np.unique(array, equal_nan=False))
    if axis is None:
        first, places, counts = find(array.reshape(-1, 1))
        places = places.reshape(array.shape)
        elements = F.index_select(F.reshape(input, -1), 0, beside(input, first))
    else:
        slices = np.moveaxis(array, axis, 0)
        if not array.size and slices.shape[0]:
            raise ShapeError(
                f"{name}() along dimension {axis} of shape {list(array.shape)} would compare slices"
                " without elements",
                shape=array.shape,
            )
        width = math.prod(slices.shape[1:])
        first, places, counts = find(slices.reshape(slices.shape[0], width))
        elements = F.index_select(input, axis, beside(input, first))
    found = [a for a, is_wanted in zip((places, counts), wanted, strict=True) if is_wanted]
    return (elements, *[beside(input, a) for a in found]) if found else elements


def _among_all(rows: Array) -> tuple[Array, Array, Array]:
    """For distinct rows in order: the first of each, and how many; the place of each row."""
    count = rows.shape[0]
    if rows.shape[1] == 1:
        order = np.argsort(rows[:, 0], kind="stable")
    else:
        order = np.lexsort(rows.T[::-1]) if rows.shape[1] else making.arange(count)
    ordered = rows[order]
    first, number, counts = _among_neighbours(ordered)
    places: Array = making.empty(count, np.int64)
    places[order] = number
    return order[first], places, counts


def _among_neighbours(rows: Array) -> tuple[Array, Array, Array]:
    """For runs of equal rows: the first of each, and how many; the run of each row."""
    count = rows.shape[0]
    begins = making.ones(count, np.bool_)
    begins[1:] = (rows[1:] != rows[:-1]).any(1)
    first = np.flatnonzero(begins)
    number = np.cumsum(begins) - 1
    counts = np.diff(first, append=count)
    return first.astype(np.int64), number.astype(np.int64), counts.astype(np.int64)


@overload
def isin(
    elements: T,
    test_elements: TensorBase | Number,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: T | None = None,
) -> T: ...
@overload
def isin(
    elements: Number,
    test_elements: T,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: T | None = None,
) -> T: ...
@explained
def isin(
    elements: T | Number,
    test_elements: TensorBase | Number,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: T | None = None,
) -> T | TensorBase:
    """Return for each element whether it is among others.

    Parameters
    ----------
    elements : Tensor or number
        The elements. One of the two must be a tensor.
    test_elements : Tensor or number
        Those among which they are looked for.
    assume_unique : bool, default False
        Whether neither has an element twice. It changes nothing.
    invert : bool, default False
        Whether the answer is whether an element is not among the others.
    out : Tensor, optional
        Where the result is stored, of bools.

    Returns
    -------
    Tensor
        A new tensor of bools in the shape of `elements`.

    Raises
    ------
    DTypeError
        If a tensor is of bools or complex numbers.
    ArgumentTypeError
        If neither is a tensor.

    Examples
    --------
    >>> vt.isin(vt.tensor([[1, 2], [3, 4]]), vt.tensor([2, 3]))
    tensor([[False,  True],
            [ True, False]])
    """
    tensors = [x for x in (elements, test_elements) if isinstance(x, TensorBase)]
    if not tensors:
        raise ArgumentTypeError("isin() takes a tensor for elements or test_elements")
    refuse_names("isin", *tensors)
    for x in tensors:
        if x._impl.array.dtype.kind in "bc":
            raise DTypeError(f"isin() has no meaning for {x.dtype.name}", dtype=x.dtype)
    check_flag(assume_unique, "assume_unique")
    like = tensors[0]
    given, among = [
        x if isinstance(x, TensorBase) else beside(like, making.asarray(x))
        for x in (elements, test_elements)
    ]
    if not (given._impl.key_set or among._impl.key_set):
        for x in tensors:
            read_value(x)
        found = beside(like, np.isin(given._impl.array, among._impl.array))
    else:
        pairs = F.eq(F.unsqueeze(given, -1), F.reshape(among, -1))
        found = F.any_dim(pairs, -1)
    if check_flag(invert, "invert"):
        found = F.logical_not(found)
    return store_result(found, out, "isin", *tensors, exact=True, differentiable=False)
