"""Arrays of what is in memory or comes one by one, and arrays with properties that are required."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy.creation import array, asarray
from vtgrad.numpy.deliver import handed_over
from vtgrad.numpy.function import function
from vtgrad.numpy.memory_order import copied
from vtgrad.numpy.on_values import any_differentiated, on_values, values_in
from vtgrad.numpy.operands import (
    ArrayLike,
    as_array,
    has_dtype,
    is_differentiated,
    of,
    owned,
    value_of,
)
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.shapes import Order
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.tensor_base import TensorBase

if TYPE_CHECKING:
    import mmap
    from array import array as stdlib_array

    # What has memory that is read as numbers.
    _Buffer: TypeAlias = (
        bytes
        | bytearray
        | memoryview
        | mmap.mmap
        | stdlib_array[int]
        | stdlib_array[float]
        | np.ndarray[tuple[int, ...], np.dtype[np.generic]]
        | np.generic
        | TensorBase
    )


class _HasDLPack(Protocol):
    """An array that follows the protocol DLPack."""

    def __dlpack__(self, *, stream: None = None) -> object: ...


__all__ = ["asarray_chkfinite", "from_dlpack", "frombuffer", "fromiter", "fromstring", "require"]

_FLOAT: Final = float

# What each name of a requirement stands for.
_REQUIREMENTS: Final = {
    **dict.fromkeys(("C", "C_CONTIGUOUS", "CONTIGUOUS"), "C"),
    **dict.fromkeys(("F", "F_CONTIGUOUS", "FORTRAN"), "F"),
    **dict.fromkeys(("A", "ALIGNED"), "A"),
    **dict.fromkeys(("W", "WRITEABLE"), "W"),
    **dict.fromkeys(("O", "OWNDATA"), "O"),
    **dict.fromkeys(("E", "ENSUREARRAY"), "E"),
}


@function
def fromiter(
    iter: Iterable[ArrayLike], dtype: DTypeLike, count: int = -1, *, like: ArrayLike | None = None
) -> ndarray:
    """An array of the numbers that an iterator gives, which record.

    Parameters
    ----------
    iter : iterable of number
        The numbers.
    dtype : dtype
        The dtype.
    count : int
        How many to take, all by default.
    like : array_like, optional
        Accepted.

    Returns
    -------
    ndarray
        A new array of one axis.

    Raises
    ------
    ValueError
        If there are fewer numbers.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.fromiter((n * n for n in range(3)), float)
    array([0., 1., 4.])
    """
    items = list(iter if count < 0 else islice(iter, count))
    if not any_differentiated(items):
        return on_values(making.fromiter, items, dtype, count)
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)}")
    return array(items, dtype)


@function
def frombuffer(
    buffer: _Buffer,
    dtype: DTypeLike = _FLOAT,
    count: int = -1,
    offset: int = 0,
    *,
    like: ArrayLike | None = None,
) -> ndarray:
    """An array of what is in the memory of an object.

    Parameters
    ----------
    buffer : buffer
        The object, such as bytes.
    dtype : dtype
        The dtype of the elements.
    count : int
        How many elements, all by default.
    offset : int
        Where they start, in bytes.
    like : array_like, optional
        Accepted.

    Returns
    -------
    ndarray
        An array on the memory itself, if that is bytes, or nothing is recorded; else a copy.

    Raises
    ------
    ValueError
        If the memory does not hold so many elements.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.frombuffer(b"abc", np.uint8)
    array([97, 98, 99], dtype=uint8)
    """
    if isinstance(buffer, TensorBase):
        if is_differentiated(buffer):
            raise TypeError("the memory of an array carries no derivative; pass x.detach()")
        buffer = value_of(buffer)
    found: Any = making.frombuffer(buffer, dtype, count, offset)
    if isinstance(buffer, bytes) or not has_dtype(found.dtype):
        return handed_over(found)
    return owned(of(found))


@function
def fromstring(
    string: str,
    dtype: DTypeLike = _FLOAT,
    count: int = -1,
    *,
    sep: str = "",
    like: ArrayLike | None = None,
) -> ndarray:
    """An array of the numbers in a text.

    Parameters
    ----------
    string : str
        The text.
    dtype : dtype
        The dtype.
    count : int
        How many to read, all by default.
    sep : str
        What stands between them.
    like : array_like, optional
        Accepted.

    Returns
    -------
    ndarray
        A new array of one axis.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.fromstring("1, 2", sep=",")
    array([1., 2.])
    """
    call: Any = making.fromstring
    return handed_over(call(string, dtype, count, sep=sep))


@function
def from_dlpack(
    x: _HasDLPack, /, *, device: str | None = None, copy: bool | None = None
) -> ndarray:
    """An array on the memory of an array of another library.

    Parameters
    ----------
    x : object
        An array that follows the protocol DLPack. A tensor of this library is recorded.
    device : str, optional
        ``"cpu"``.
    copy : bool, optional
        Whether to copy always or never; by default only if needed.

    Returns
    -------
    ndarray
        An array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.from_dlpack(np.array([1.0, 2.0]))
    array([1., 2.])
    """
    if not isinstance(x, TensorBase):
        found = making.from_dlpack(
            typing.cast("Any", x), device=typing.cast("Any", device), copy=copy
        )
        return owned(of(found)) if has_dtype(found.dtype) else typing.cast("ndarray", found)
    if device not in (None, "cpu"):
        raise ValueError(f"unsupported device {device!r}")
    return copied(x, "K") if copy else as_array(F.alias(of(x)))


@function
def require(
    a: ArrayLike,
    dtype: DTypeLike | None = None,
    requirements: str | Sequence[str] | None = None,
    *,
    like: ArrayLike | None = None,
) -> ndarray:
    """An array that has properties, a copy where it does not have them.

    Parameters
    ----------
    a : array_like
        The values.
    dtype : dtype, optional
        The dtype.
    requirements : sequence of str, optional
        Of ``"C"``, ``"F"`` (order in memory), ``"A"`` (aligned), ``"W"`` (can be written), ``"O"``
        (owns its memory), ``"E"`` (accepted).
    like : array_like, optional
        Accepted.

    Returns
    -------
    ndarray
        `a` itself, or a new array.

    Raises
    ------
    ValueError
        If both orders are required.
    KeyError
        If a requirement is unknown.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.require(np.ones((2, 2)).T, requirements="F").flags.f_contiguous
    True
    """
    names = {_REQUIREMENTS[name.upper()] for name in requirements or ()}
    if names >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    order: Order = "F" if "F" in names else "C" if "C" in names else "K"
    made = asarray(a, dtype, order)
    flags = {"A": "aligned", "W": "writeable", "O": "owndata"}
    if all(getattr(made.flags, flags[name]) for name in names & set(flags)):
        return made
    return copied(made, "A" if order == "K" else order)


@function
def asarray_chkfinite(a: ArrayLike, dtype: DTypeLike | None = None, order: Order = "K") -> ndarray:
    """As `asarray`, for values that are all finite.

    Parameters
    ----------
    a, dtype, order
        As of `asarray`.

    Returns
    -------
    ndarray
        `a` itself, or a new array.

    Raises
    ------
    ValueError
        If a value is infinite or no number.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.asarray_chkfinite([1.0, 2.0])
    array([1., 2.])
    """
    made = asarray(a, dtype, order)
    # An array of a dtype that the namespace does not have is NumPy's.
    values: Any = values_in(made)
    if values.dtype.char in np.typecodes["AllFloat"] and not np.isfinite(values).all():
        raise ValueError("array must not contain infs or NaNs")
    return made
