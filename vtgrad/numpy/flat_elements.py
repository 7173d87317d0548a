"""What ``x.flat`` is."""

from __future__ import annotations

import typing
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy import picking
from vtgrad.numpy.operands import ArrayLike, as_array, value_of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making

__all__ = ["FlatElements"]


class FlatElements:
    """The elements of an array in row-major order, by their numbers.

    Parameters
    ----------
    base : ndarray
        The array.
    """

    __slots__ = ("base", "index")

    base: ndarray
    index: int

    def __init__(self, base: ndarray) -> None:
        self.base = base
        self.index = 0

    def __len__(self) -> int:
        return self.base._impl.array.size

    def __iter__(self) -> FlatElements:
        return self

    def __next__(self) -> ndarray:
        if self.index >= self.base._impl.array.size:
            raise StopIteration
        self.index += 1
        return self[self.index - 1]

    @property
    def coords(self) -> tuple[int, ...]:
        """The indices of the next element."""
        return tuple([int(n) for n in np.unravel_index(self.index, self.base.shape)])

    def copy(self) -> ndarray:
        """A copy of all elements along one axis."""
        return as_array(F.clone(F.reshape(self.base, -1)))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Any:
        return making.asarray(value_of(self.base).reshape(-1), dtype)

    def __getitem__(self, index: object) -> ndarray:
        found = F.reshape(self.base, -1)[typing.cast("Any", index)]
        # A number of NumPy where there is no derivative, which the type does not show.
        is_array: bool = isinstance(typing.cast("object", found), ndarray)
        return as_array(F.clone(found)) if is_array and found.shape else found

    def __setitem__(self, index: object, values: ArrayLike) -> None:
        places = making.arange(self.base._impl.array.size)[typing.cast("Any", index)]
        picking.put(self.base, places, values)
