"""Choosing between arrays by conditions, and writing where a condition is true."""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from vtgrad.numpy.deliver import NO_VALUE, NoValue, handed_over
from vtgrad.numpy.function import function
from vtgrad.numpy.index import getitem, keyed_index, setitem
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.memory_order import in_order_of_all, in_rows
from vtgrad.numpy.on_values import (
    Target,
    any_differentiated,
    holds_tensor,
    on_values,
    refuse_derivatives,
    values_in,
)
from vtgrad.numpy.operands import (
    ArrayLike,
    as_array,
    cast,
    fresh,
    has_dtype,
    is_differentiated,
    of,
    overlap,
    value_of,
)
from vtgrad.numpy.picking import take
from vtgrad.numpy.promotion import common, result_type
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.write import store
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["copyto", "extract", "piecewise", "place", "putmask", "select", "where"]

Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]

_BOOL: Final = np.dtype(np.bool_)
_WEAK: Final = (int, float, complex)


@function
def where(
    condition: ArrayLike, x: ArrayLike | NoValue = NO_VALUE, y: ArrayLike | NoValue = NO_VALUE, /
) -> ndarray:
    """The elements of one array where a condition is true, and of another elsewhere.

    The gradient of an element that is not chosen is zero. A function that computed it multiplies
    this zero by its derivative: where that is infinite, change the operand of the function.

    Parameters
    ----------
    condition : array_like of bool
        What decides.
    x, y : array_like, optional
        The elements, which broadcast. Without them the result is that of `nonzero`.

    Returns
    -------
    ndarray
        A new array; without `x` and `y` a tuple of arrays of indices.

    Raises
    ------
    ValueError
        If one of `x` and `y` is given alone, or the shapes do not broadcast.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.where([True, False], np.array([1.0, 2.0]), 0.0)
    array([1., 0.])
    """
    if isinstance(x, NoValue) and isinstance(y, NoValue):
        return on_values(np.where, condition)
    if isinstance(x, NoValue) or isinstance(y, NoValue):
        raise ValueError("either both or neither of x and y should be given")
    given = (condition, x, y)
    tensors = [v for v in given if isinstance(v, TensorBase)]
    if not (
        any(map(is_differentiated, tensors)) or (len(tensors) < 3 and any_differentiated(*given))
    ):
        # Values that NumPy chooses among give no warnings.
        return handed_over(np.where(*map(values_in, given)))
    mask = of(condition, _BOOL)
    one, two = (x, y) if _agree(x, y) else common([x, y])
    one, two = of(one), of(two)
    try:
        return as_array(in_order_of_all(F.where(mask, one, two), mask, one, two))
    except RuntimeError:
        # NumPy says what does not broadcast.
        np.broadcast_shapes(mask.shape, one.shape, two.shape)
        raise


def _agree(x: object, y: object) -> bool:
    """Whether two values are tensors of one dtype."""
    if not isinstance(x, TensorBase) or not isinstance(y, TensorBase):
        return False
    return bool(x._impl.array.dtype == y._impl.array.dtype)


@function
def select(
    condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0
) -> ndarray:
    """The elements of the first of several arrays whose condition is true.

    Parameters
    ----------
    condlist : sequence of array_like of bool
        The conditions, which broadcast.
    choicelist : sequence of array_like
        An array for each condition; they broadcast.
    default : array_like
        What stands where no condition is true.

    Returns
    -------
    ndarray
        A new array.

    Raises
    ------
    ValueError
        If the lists differ in length, or are empty.
    TypeError
        If a condition is not of bools.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> np.select([x < 2, x > 2], [x, 10 * x], -1.0)
    array([ 1., -1., 30.])
    """
    conditions, choices = [of(x) for x in condlist], list(choicelist)
    if not any_differentiated(conditions, choices, default):
        return on_values(np.select, conditions, choices, default)
    if len(conditions) != len(choices):
        raise ValueError("list of cases must be same length as list of conditions")
    for nr, x in enumerate(conditions):
        if x._impl.array.dtype != _BOOL:
            raise TypeError(f"invalid entry {nr} in condlist: should be boolean ndarray")
    kind = result_type(*choices, default)
    values = [of(x, kind) for x in choices]
    found = of(default, kind)
    shapes = [x.shape for x in (*conditions, *values, found)]
    shape = np.broadcast_shapes(*shapes)
    found = as_array(F.clone(F.broadcast_to(found, shape)))
    for mask, x in zip(reversed(conditions), reversed(values), strict=True):
        found = as_array(F.where(mask, x, found))
    return as_array(in_rows(found))


@function
def piecewise(
    x: ArrayLike,
    condlist: Sequence[ArrayLike] | ArrayLike,
    funclist: Sequence[Callable[..., ArrayLike] | ArrayLike],
    *args: object,
    **kw: object,
) -> ndarray:
    """A function that is given by several functions, each where a condition is true.

    Parameters
    ----------
    x : array_like
        The operand.
    condlist : sequence of array_like of bool
        The conditions; where several are true, the last decides.
    funclist : sequence of callable or number
        What is computed where each condition is true. One more serves all other elements, which
        are 0 without it.
    *args, **kw : object
        What the functions are called with, behind the elements.

    Returns
    -------
    ndarray
        A new array of the dtype of `x`.

    Raises
    ------
    ValueError
        If there are not as many functions as conditions, or one more.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.piecewise(np.array([-1.0, 4.0]), [[True, False]], [lambda x: -x, lambda x: x * x])
    array([ 1., 16.])
    """
    if isinstance(x, np.ndarray) and not has_dtype(x.dtype):
        return on_values(np.piecewise, x, condlist, funclist, *args, **kw)
    given = of(x)
    count = len(funclist)
    conditions = _conditions(given, condlist)
    if len(conditions) == count - 1:
        others = conditions[0]
        for mask in conditions[1:]:
            others = as_array(F.logical_or(others, mask))
        conditions.append(as_array(F.logical_not(others)))
    elif len(conditions) != count:
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or "
            f"{len(conditions) + 1} functions are expected"
        )
    found = as_array(F.zeros_like(given))
    for mask, part in zip(conditions, funclist, strict=True):
        if keyed_index(mask):
            found = _with_part(found, given, mask, part, args, kw)
        elif not callable(part):
            setitem(found, mask, part)
        else:
            taken = getitem(given, mask)
            if taken._impl.array.size:
                setitem(found, mask, part(taken, *args, **kw))
    return found


def _conditions(x: ndarray, given: Sequence[ArrayLike] | ArrayLike) -> list[ndarray]:
    """The conditions of `piecewise`, which may be one array that is no list."""
    if isinstance(given, (bool, int, float, np.generic)):
        return [of(given, _BOOL)]
    whole = of(given)
    first = typing.cast("Sequence[ArrayLike]", given)[0] if len(whole.shape) else None
    nested = isinstance(first, (list, np.ndarray, TensorBase)) and len(of(first).shape) > 0
    if not len(whole.shape) or (not nested and len(x.shape) != 0):
        return [cast(whole, _BOOL)]
    return [of(whole[nr], _BOOL) for nr in range(len(whole))]


def _with_part(
    found: ndarray,
    x: ndarray,
    mask: ndarray,
    part: Callable[..., ArrayLike] | ArrayLike,
    args: tuple[Any, ...],
    kw: dict[str, Any],
) -> ndarray:
    """One function for the elements of samples, each of which has a mask of its own.

    It is computed everywhere. Elsewhere its operand is a constant, which drops a gradient that is
    not finite.
    """
    if callable(part):
        part = part(as_array(F.where(mask, x, F.detach(x))), *args, **kw)
    return as_array(F.where(mask, cast(of(part), found.dtype), found))


@function
def extract(condition: ArrayLike, arr: ArrayLike) -> ndarray:
    """The elements at which a condition is true, in row-major order.

    Parameters
    ----------
    condition : array_like of bool
        As many as there are elements.
    arr : array_like
        The elements.

    Returns
    -------
    ndarray
        One axis.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.extract([[True, False], [False, True]], np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([1., 4.])
    """
    if not any_differentiated(arr):
        return on_values(np.extract, condition, arr)
    return take(arr, np.flatnonzero(value_of(of(condition))))


# -- writing ---------------------------------------------------------------------------------------


def _target(name: str, x: object) -> TensorBase | Array:
    """What a function writes.

    Raises
    ------
    TypeError
        If it is no array.
    """
    if not isinstance(x, (TensorBase, np.ndarray)) or type(x) is kinds.scalar:
        raise TypeError(f"{name}: argument 1 must be an array, not {type(x).__name__}")
    return x


def _written_by_numpy(
    function: Callable[..., object], x: TensorBase | Array, mask: object, values: object
) -> None:
    """NumPy writes into an array of its own, or into a copy that is stored."""
    if isinstance(x, TensorBase):
        own = value_of(x).copy()
        function(own, values_in(mask), values_in(values))
        store(x, fresh(own))
    else:
        refuse_derivatives(values)
        function(x, values_in(mask), values_in(values))


def _cycled(values: ArrayLike, x: TensorBase, places: Array) -> ndarray:
    """The values at numbers, which begin anew behind the last, in the dtype of what is written."""
    flat = F.reshape(of(values, x._impl.dtype), -1)
    return as_array(F.index_select(flat, 0, fresh(places % flat._impl.array.size)))


@function
def place(arr: Target, mask: ArrayLike, vals: ArrayLike) -> None:
    """Store values at the elements where a mask is true, one behind the other.

    Parameters
    ----------
    arr : ndarray
        What is written.
    mask : array_like of bool
        As many as there are elements.
    vals : array_like
        The values, repeated if there are fewer than places.

    Raises
    ------
    ValueError
        If the mask has another size, or there are no values.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> np.place(x, x > 1, [7.0, 8.0])
    >>> x
    array([1., 7., 8.])
    """
    x = _target("place", arr)
    if not isinstance(x, TensorBase) or not any_differentiated(x, vals):
        _written_by_numpy(np.place, x, mask, vals)
        return
    chosen = value_of(of(mask, _BOOL))
    # NumPy says what is wrong.
    np.place(_blank(x), chosen, _blank_values(vals, x))
    places = np.flatnonzero(chosen)
    if places.size:
        F.put_(x, fresh(places), _cycled(vals, x, making.arange(places.size)))


@function
def putmask(a: Target, /, mask: ArrayLike, values: ArrayLike) -> None:
    """Store values at the elements where a mask is true, each from its own place.

    Parameters
    ----------
    a : ndarray
        What is written.
    mask : array_like of bool
        As many as there are elements.
    values : array_like
        A value for each element, repeated if there are fewer.

    Raises
    ------
    ValueError
        If the mask has another size.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> np.putmask(x, x > 1, [6.0, 7.0, 8.0])
    >>> x
    array([1., 7., 8.])
    """
    x = _target("putmask", a)
    if not isinstance(x, TensorBase) or not any_differentiated(x, mask, values):
        _written_by_numpy(np.putmask, x, mask, values)
        return
    chosen, size = of(mask, _BOOL), x._impl.array.size
    # NumPy says what is wrong.
    blank = _blank_values(values, x)
    np.putmask(_blank(x), _blank(chosen), blank)
    if not size or not blank.size:
        return
    shape = x._impl.array.shape
    whole = F.reshape(_cycled(values, x, making.arange(size)), shape)
    store(x, as_array(whole), as_array(F.reshape(chosen, shape)))


@function
def copyto(
    dst: Target, src: ArrayLike, casting: Casting = "same_kind", where: ArrayLike = True
) -> None:
    """Store the elements of one array in another.

    Parameters
    ----------
    dst : ndarray
        What is written.
    src : array_like
        The elements, which broadcast.
    casting : str
        Which casts are allowed, as in NumPy.
    where : array_like of bool
        Where to write; a number stands for its truth, as in NumPy.

    Raises
    ------
    TypeError
        If the cast is not allowed, or `dst` is no array.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> np.copyto(x, 0.0, where=[True, False, True])
    >>> x
    array([0., 2., 0.])
    """
    x = _target("copyto", dst)
    if isinstance(where, (bool, *_WEAK, np.generic)):
        where = bool(where)
    if isinstance(x, np.ndarray):
        refuse_derivatives(src)
        np.copyto(x, values_in(src), casting=casting, where=values_in(where))
        return
    given: Any = src if type(src) in (bool, *_WEAK) else _source(src, x, casting)
    mask: ndarray | bool = True if where is True else of(where)
    _check_copy(x, given, casting, mask)
    value = of(given)
    value, shape = cast(value, x._impl.dtype), x.shape
    while len(value.shape) > len(shape):
        value = as_array(F.select(value, 0, 0))
    if overlap(value, x):
        value = as_array(F.clone(value))
    store(x, value, mask)


def _source(src: ArrayLike, x: TensorBase, casting: Casting) -> ndarray:
    """What is copied, of a dtype that tensors have."""
    if isinstance(src, np.ndarray) and not has_dtype(src.dtype):
        return of(src.astype(x._impl.dtype, casting=casting))
    return of(src)


def _check_copy(x: TensorBase | Array, src: object, casting: Casting, mask: ndarray | bool) -> None:
    """NumPy says what is wrong with a copy, from arrays of the same dtypes and shapes."""
    target = _blank(x)
    chosen: Any = True if mask is True else making.zeros_like(_blank(mask))
    np.copyto(
        target,
        _blank(src) if isinstance(src, TensorBase) else typing.cast("Any", src),
        casting=casting,
        where=chosen,
    )


def _blank(x: object) -> Array:
    """An array of NumPy of the dtype and the shape of an array, of any elements."""
    array = x._impl.array if isinstance(x, TensorBase) else typing.cast("Array", x)
    shape: Shape = array.shape
    return making.zeros(shape, array.dtype)


def _blank_values(values: ArrayLike, x: TensorBase) -> Array:
    """The same of values that are written: lists and numbers are cast as they are stored."""
    if isinstance(values, np.ndarray):
        return making.zeros_like(values)
    blank = _blank(of(values))
    if isinstance(values, np.generic) or type(values) is kinds.scalar:
        # NumPy casts a scalar as a number of Python.
        return typing.cast("Array", blank[()])
    if isinstance(values, TensorBase):
        return blank
    # NumPy says which numbers do not fit.
    plain = not holds_tensor(values)
    return making.asarray(values if plain else making.zeros(blank.shape), x._impl.dtype)
