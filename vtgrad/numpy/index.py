"""Indexing with NumPy's meanings: ``x[index]`` and ``x[index] = value``.

Note [Indices by NumPy]

Integers, slices, None and ``...`` are applied by the operators that make views. An expression with
index arrays or masks is applied by NumPy, to an array with the number of each element: what comes
out is where each element of the result is, by whatever rules NumPy has for the expression.
`index_at` and `put_` read and write there, one recorded operator each, which keeps no values.

A full set of integers names one element, which is a copy: a `scalar`.
"""

from __future__ import annotations

import operator
import typing
from types import EllipsisType
from typing import Any, Final, TypeAlias

import numpy as np

from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.operands import (
    any_tensor,
    as_array,
    cast,
    fresh,
    is_differentiated,
    is_keyed,
    of,
    overlap,
    result,
    value_of,
)
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.lasting_arrays import lasting, register
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "Basic",
    "at_positions",
    "getitem",
    "index_by_numpy",
    "positions_of",
    "setitem",
    "stored_value",
]

Basic: TypeAlias = int | slice | EllipsisType | None

_NUMBERS: Final = (bool, int, float, complex)


def getitem(x: TensorBase, index: object) -> ndarray:
    """What ``x[index]`` means, but for a single integer and the usual slices."""
    if keyed_index(index):
        return as_array(F.getitem(x, index))
    parts = _parts(index)
    if any(isinstance(part, np.ndarray) for part in parts):
        if not is_differentiated(x):
            return fresh(making.asarray(resolved(x._impl.array)[parts]))
        return _gathered(x, parts)
    basic = _expanded(typing.cast("tuple[Basic, ...]", parts), x._impl.array.shape)
    if len(basic) == x._impl.array.ndim and all(type(part) is int for part in basic):
        if Ellipsis not in parts:
            return _element(x, typing.cast("tuple[int, ...]", basic))
    view = _view(x, basic)
    if any(map(_is_array_of_one, index if type(index) is tuple else (index,))):
        # As arrays of indices it gives a copy.
        return as_array(F.clone(view))
    return as_array(F.alias(x) if view is x else view)


def _is_array_of_one(part: object) -> bool:
    """Whether a part of an index is an array without axes, which is no integer."""
    if type(part) is int or type(part) is slice or part is None:
        return False
    if isinstance(part, TensorBase):
        return type(part) is not kinds.scalar
    return isinstance(part, np.ndarray)


def setitem(x: TensorBase, index: object, value: object) -> None:
    """What ``x[index] = value`` means, but for what the operator does alike."""
    if keyed_index(index):
        F.setitem(x, index, stored_value(x, value))
        return
    parts = _parts(index)
    by_arrays = any(isinstance(part, np.ndarray) for part in parts)
    source = stored_value(x, value, casts_scalars=by_arrays)
    if by_arrays:
        positions = positions_of(x._impl.array.shape)[parts]
        if _is_whole_mask(x, parts) and len(source.shape) > 1:
            raise TypeError(
                "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, "
                f"input has {len(source.shape)} dimensions"
            )
        source = _broadcast(source, positions.shape)
        if overlap(source, x):
            source = as_array(F.clone(source))
        F.put_(x, fresh(making.ascontiguousarray(positions)), source)
        return
    basic = _expanded(typing.cast("tuple[Basic, ...]", parts), x._impl.array.shape)
    view = _view(x, basic)
    source = _broadcast(source, view._impl.array.shape)
    if overlap(source, x):
        source = as_array(F.clone(source))
    F.copy_(view, source)


def keyed_index(index: object) -> bool:
    """Whether an index differs from sample to sample, or has another key."""
    parts = index if type(index) is tuple else (index,)
    return any(isinstance(part, TensorBase) and is_keyed(part) for part in parts)


def positions_of(shape: Shape) -> Array:
    """The row-major number of each element of an array of a shape; read-only."""
    count = 1
    for n in shape:
        count *= n
    if count > _LARGE:
        return making.arange(count).reshape(shape)
    known = _small.get(shape)
    if known is None:
        known = lasting(making.arange, count).reshape(shape)
        known.flags.writeable = False
        if len(_small) >= _BOUND:
            _small.clear()
        _small[shape] = known
    # An index with an array of a recording asks for the class of the indexed array.
    return making.asarray(known)


_LARGE: Final = 2**16
# The positions in shapes that were met before; see Note [Lasting arrays].
_small: Final[dict[Shape, Array]] = {}
_BOUND: Final = 64
register(_small.values())


def _is_whole_mask(x: TensorBase, parts: tuple[Any, ...]) -> bool:
    """Whether an index is one mask with as many dimensions as the array."""
    if len(parts) != 1 or not isinstance(parts[0], np.ndarray):
        return False
    return parts[0].dtype == np.bool_ and parts[0].ndim == x._impl.array.ndim > 0


def _gathered(x: TensorBase, parts: tuple[Any, ...]) -> ndarray:
    """What an index with arrays names, recorded by one operator that keeps no values."""
    shape = x._impl.array.shape
    positions = _positions_in_memory_of(x)[parts]
    if not shape:
        return as_array(F.index_at(F.reshape(x, -1), [fresh(positions)], (0,)))
    if len(parts) == 1 and parts[0].dtype != np.bool_:
        # One array of integers, which the operator takes as it is.
        return as_array(F.index_at(x, [fresh(parts[0].astype(np.int64))], (0,)))
    return at_positions(x, positions)


def _positions_in_memory_of(x: TensorBase) -> Array:
    """The row-major numbers in the memory order of an array, so that what is taken of both has one.

    What they are taken by, and in what order, NumPy decides.
    """
    array = resolved(x._impl.array)
    numbers = positions_of(array.shape)
    if array.flags.c_contiguous:
        return numbers
    found = making.empty_like(array, np.intp, subok=False)
    found[...] = numbers
    return found


def at_positions(x: TensorBase, positions: Array) -> ndarray:
    """The elements at row-major positions, recorded by one operator that keeps no values."""
    shape = x._impl.array.shape
    indices = [fresh(index) for index in np.unravel_index(positions, shape)]
    return as_array(F.index_at(x, indices, tuple(range(len(shape)))))


def _element(x: TensorBase, index: tuple[int, ...]) -> ndarray:
    """A copy of one element."""
    array = x._impl.array
    if not is_differentiated(x):
        return typing.cast("ndarray", resolved(array)[index])
    if not index:
        return result(F.clone(x))
    view: TensorBase = x
    for part in index[:-1]:
        view = F.select(view, 0, part)
    return result(F.select_copy(view, 0, index[-1]))


def index_by_numpy(index: object) -> tuple[Any, ...]:
    """An index with arrays of NumPy in place of tensors."""
    return _parts(index)


def _parts(index: object) -> tuple[Any, ...]:
    """The parts of an index, each None, ``...``, a slice, an int, or an array of NumPy."""
    return tuple([_part(part) for part in (index if type(index) is tuple else (index,))])


def _part(part: object) -> object:
    if part is None or part is Ellipsis or type(part) is slice or type(part) is int:
        return part
    if isinstance(part, TensorBase):
        part = value_of(part)
    if isinstance(part, (bool, np.bool_)):
        return making.asarray(part)
    if isinstance(part, np.ndarray) and (part.ndim or part.dtype.kind == "b"):
        return part
    if isinstance(part, (list, tuple)):
        array = making.asarray(_of_list(part))
        return array.astype(np.intp) if not array.size and array.dtype.kind == "f" else array
    try:
        return operator.index(typing.cast("int", part))
    except TypeError:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
            "boolean arrays are valid indices"
        ) from None


def _of_list(part: object) -> object:
    """Nested lists with the arrays in them in NumPy's form."""
    if isinstance(part, TensorBase):
        return value_of(part)
    return [_of_list(x) for x in part] if isinstance(part, (list, tuple)) else part


def _expanded(parts: tuple[Basic, ...], shape: Shape) -> tuple[Basic, ...]:
    """The parts without ``...``, one for each dimension or None for a new one; slices complete.

    Raises
    ------
    IndexError
        If there are too many parts, or two ``...``.
    """
    named = sum(part is not None and part is not Ellipsis for part in parts)
    if named > len(shape):
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but {named} were "
            "indexed"
        )
    if parts.count(Ellipsis) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    found: list[Basic] = []
    whole = (slice(None),) * (len(shape) - named)
    at = parts.index(Ellipsis) if Ellipsis in parts else len(parts)
    dim = 0
    for part in (*parts[:at], *whole, *parts[at + 1 :]):
        if part is None:
            found.append(None)
            continue
        size = shape[dim]
        if isinstance(part, int):
            if not -size <= part < size:
                raise IndexError(f"index {part} is out of bounds for axis {dim} with size {size}")
            found.append(part)
        else:
            assert isinstance(part, slice)
            found.append(slice(*part.indices(size)))
        dim += 1
    return tuple(found)


def _view(x: TensorBase, parts: tuple[Basic, ...]) -> TensorBase:
    """The view that the parts name; `x` itself if that is all of it, in its order."""
    view: TensorBase = x
    dim = 0
    for part in parts:
        if part is None:
            view = F.unsqueeze(view, dim)
        elif isinstance(part, int):
            view = F.select(view, dim, part)
            dim -= 1
        else:
            assert isinstance(part, slice)
            start, stop, step = part.start, part.stop, part.step
            count = len(range(start, stop, step))
            if not count:
                view = F.slice(view, dim, 0, 0)
            elif step < 0:
                # -1 is the end of a range that goes down to the first element.
                view = F.slice(view, dim, start, None if stop < 0 else stop, step)
            elif count != view._impl.array.shape[dim]:
                view = F.slice(view, dim, start, stop, step)
        dim += 1
    return view


def stored_value(x: TensorBase, value: object, *, casts_scalars: bool = True) -> ndarray:
    """A value as it is stored: cast to the dtype of `x`, however much it loses.

    Parameters
    ----------
    casts_scalars : bool
        Whether scalars of NumPy are cast as arrays are, as where arrays say which elements are
        written, or converted as numbers.

    Raises
    ------
    TypeError, ValueError
        What NumPy raises for a number of Python that does not fit, as a complex one.
    """
    dtype = x._impl.array.dtype
    if isinstance(value, TensorBase) or (isinstance(value, (list, tuple)) and any_tensor(value)):
        return cast(of(value), dtype)
    # NumPy's casts, with its errors for what does not fit: numbers, and those in sequences, are
    # converted, as NaN, which is no integer; arrays are cast.
    if isinstance(value, (list, tuple)):
        return fresh(making.array(value, dtype))
    given = making.asarray(value)
    stored = making.empty(given.shape, dtype)
    is_number = type(value) in _NUMBERS or (isinstance(value, np.generic) and not casts_scalars)
    stored[...] = typing.cast("Any", value if is_number else given)
    return fresh(stored)


def _broadcast(source: ndarray, shape: Shape) -> ndarray:
    """A value in the shape of what is written; leading dimensions of size 1 may be too many."""
    found = source._impl.array.shape
    if found == shape:
        return source
    while len(found) > len(shape) and found[0] == 1:
        source, found = as_array(F.select(source, 0, 0)), found[1:]
    try:
        return as_array(F.broadcast_to(source, shape)) if found != shape else source
    except RuntimeError:
        raise ValueError(
            f"could not broadcast input array from shape {_text(found)} into shape {_text(shape)}"
        ) from None


def _text(shape: Shape) -> str:
    return str(shape).replace(" ", "")
