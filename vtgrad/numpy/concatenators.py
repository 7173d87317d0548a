"""``r_`` and ``c_``: arrays and ranges joined by indexing."""

from __future__ import annotations

import typing
from typing import Any, Final

import numpy as np

from vtgrad.numpy.creation import array
from vtgrad.numpy.deliver import dims_of
from vtgrad.numpy.grids import range_of_slice
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import as_array, cast, of
from vtgrad.numpy.promotion import result_type
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Shape

__all__ = ["Concatenator", "c_", "r_"]


class Concatenator:
    """An object that joins what it is indexed with.

    Parameters
    ----------
    axis : int
        The axis along which parts are joined.
    ndmin : int
        The least number of axes of a part.
    place : int
        Which axis of the result the first axis of a part becomes; by -1 the last.
    numpys : object
        NumPy's object of the same name.
    """

    __slots__ = ("axis", "ndmin", "numpys", "place")

    axis: int
    ndmin: int
    numpys: Any
    place: int

    def __init__(self, axis: int, ndmin: int, place: int, numpys: Any) -> None:
        self.axis = axis
        self.ndmin = ndmin
        self.place = place
        self.numpys = numpys

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: Any) -> Any:
        """The parts joined, recorded.

        Parameters
        ----------
        key : array_like, slice or tuple of them
            A slice is a range, as ``start:stop:step``; a step ``5j`` is a number of values, with
            the end. The first part may be a string ``"axis"``, ``"axis,ndmin"`` or
            ``"axis,ndmin,place"``.

        Returns
        -------
        ndarray
            A new array. By the strings ``"r"`` and ``"c"`` it is a matrix of NumPy's.

        Raises
        ------
        ValueError
            If a string stands elsewhere, or says nothing.
        """
        if not any_differentiated(key):
            return on_values(self.numpys.__getitem__, key)
        parts = key if isinstance(key, tuple) else (key,)
        axis, ndmin, place = self.axis, self.ndmin, self.place
        if isinstance(parts[0], str):
            axis, ndmin, place = _directive(parts[0], (axis, ndmin, place))
            parts = parts[1:]
        arrays: list[ndarray] = []
        kinds: list[object] = []
        for part in parts:
            if isinstance(part, str):
                raise ValueError("special directives must be the first entry.")
            found = range_of_slice(part) if isinstance(part, slice) else of(part)
            # Python's numbers decide the kind only.
            kinds.append(part if type(part) in (bool, int, float, complex) else found)
            arrays.append(_extended(found, ndmin, place))
        kind = result_type(*kinds)
        (dim,) = dims_of(axis, arrays[0]._impl.array.ndim)
        return as_array(F.cat([cast(x, kind) for x in arrays], dim))


def _directive(text: str, given: tuple[int, int, int]) -> tuple[int, int, int]:
    """What a string says about the axis, the least number of axes and the place."""
    if text in ("r", "c"):
        raise ValueError("a matrix of NumPy's carries no derivative; leave out the directive")
    try:
        numbers = [int(x) for x in text.split(",")]
    except ValueError:
        raise ValueError(f"unknown special directive {text!r}") from None
    if len(numbers) > 3:
        raise ValueError(f"unknown special directive {text!r}")
    return typing.cast("tuple[int, int, int]", (*numbers, *given[len(numbers) :]))


def _extended(x: ndarray, ndmin: int, place: int) -> ndarray:
    """An array with new axes of size 1, before it, or so that its first axis is at a place."""
    found: Shape = x._impl.array.shape
    missing = ndmin - len(found)
    if missing <= 0:
        return x
    if place == -1:
        return array(x, copy=None, ndmin=ndmin)
    # New axes stand before it, and the others behind it.
    before = place + missing + 1 if place < 0 else place
    if not 0 <= before <= missing:
        raise ValueError("repeated axis in transpose")
    return as_array(F.reshape(x, (*(1,) * before, *found, *(1,) * (missing - before))))


r_: Final = Concatenator(0, 1, -1, np.r_)
c_: Final = Concatenator(-1, 2, 0, np.c_)
