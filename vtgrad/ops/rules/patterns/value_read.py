"""A value that a traced function read, and the line that read it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vtgrad.storage.arrays import Array
from vtgrad.storage.recent_writes import CallSite

__all__ = ["ValueRead"]


class ValueRead(NamedTuple):
    """A value that a function read from a tensor that depends on its inputs.

    Attributes
    ----------
    place : CallSite or None
        The line of the program; None if there is none, as in a thread's first function.
    value : ndarray
        A copy of what was read.

    Examples
    --------
    >>> x = vt.tensor([1.0, 2.0])
    >>> pattern = vt.func.sparsity_pattern(lambda x: x * 2 if x[0] > 0 else x, x)
    >>> print(pattern.reads[0])
    <doctest ...>:1 read True
    """

    place: CallSite | None
    value: Array

    def same_as(self, other: ValueRead) -> bool:
        """Whether another run read the same at the same line.

        Parameters
        ----------
        other : ValueRead
            What the other run read.

        Returns
        -------
        bool
            Whether line, shape, dtype and all bits agree.

        Examples
        --------
        >>> read = vt.func.ValueRead(None, np.array(1.0))
        >>> read.same_as(vt.func.ValueRead(None, np.array(2.0)))
        False
        """
        a, b = self.value, other.value
        return (
            self.place == other.place
            and a.shape == b.shape
            and a.dtype == b.dtype
            and a.tobytes() == b.tobytes()
        )

    def __str__(self) -> str:
        place = "a line that is not known" if self.place is None else self.place.short
        with np.printoptions(threshold=6, edgeitems=2):
            return f"{place} read {self.value}"
