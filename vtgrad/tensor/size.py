"""The sizes of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Self, SupportsIndex, overload

import numpy as np

from vtgrad.errors import ArgumentValueError
from vtgrad.storage.geometry import broadcast_shapes as broadcast
from vtgrad.storage.geometry import numel
from vtgrad.storage.integers import size_of

__all__ = ["Size", "as_size", "broadcast_shapes"]


class Size(tuple[int, ...]):
    """The sizes of a tensor, as `Tensor.shape` gives them: a tuple of integers.

    Sums, multiples and slices of sizes are sizes again.

    Parameters
    ----------
    sizes : iterable of int
        Objects that can be used as an index, such as 0-d integer tensors, are accepted.

    Raises
    ------
    ArgumentTypeError
        If an element is not an integer.

    Examples
    --------
    >>> x = vt.zeros(2, 3, 4)
    >>> x.shape[1:].numel(), x.shape + (5,)
    (12, vtgrad.Size([2, 3, 4, 5]))
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[SupportsIndex] = ()) -> Self:
        """Sizes, each of them checked."""
        return tuple.__new__(cls, [n if type(n) is int else size_of(n, "sizes") for n in sizes])

    def numel(self) -> int:
        """Return the number of elements of a tensor of these sizes.

        Returns
        -------
        int
            The product of the sizes; 1 if there is none.

        Examples
        --------
        >>> vt.Size((2, 3)).numel()
        6
        """
        return numel(self)

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Size: ...
    def __getitem__(self, index: SupportsIndex | slice) -> int | Size:
        found: int | tuple[int, ...] = _part(self, index)
        return as_size(Size, found) if isinstance(found, tuple) else found

    if TYPE_CHECKING:
        # Without it, a type checker takes sizes for a plain tuple after a comparison with one.
        def __eq__(self, other: object, /) -> bool: ...
        def __hash__(self) -> int: ...

    def __add__(self, other: object) -> Size:
        return Size((*self, *other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: object) -> Size:
        return Size((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Size:
        if isinstance(times, np.ndarray):
            # The array multiplies each size, as for other tuples.
            return NotImplemented
        return as_size(Size, super().__mul__(times))

    def __rmul__(self, times: SupportsIndex) -> Size:
        return self * times

    def __repr__(self) -> str:
        return f"vtgrad.Size({list(self)})"


# Makes a `Size` of known integers, without a check of each.
as_size: Callable[[type[Size], Iterable[int]], Size] = tuple.__new__
# As a global it is found faster than through `super`, which matters for ``x.shape[0]``.
_part = tuple.__getitem__


def broadcast_shapes(*shapes: Sequence[int] | int) -> Size:
    """The shape that all shapes broadcast to.

    Parameters
    ----------
    *shapes : sequence of int, or int
        The shapes; an integer stands for a shape of one dimension.

    Returns
    -------
    Size
        The shape of an elementwise operator's result.

    Raises
    ------
    ArgumentTypeError
        If a size is not an integer.
    ArgumentValueError
        If a size is negative.
    ShapeError
        If the shapes do not broadcast.

    Examples
    --------
    >>> vt.broadcast_shapes((3, 1), (4,))
    vtgrad.Size([3, 4])
    """
    given = [Size(n) if isinstance(n, Sequence) else Size((n,)) for n in shapes]
    if any(n < 0 for sizes in given for n in sizes):
        raise ArgumentValueError(f"sizes cannot be negative: {[list(sizes) for sizes in given]}")
    return Size(broadcast(*given))
