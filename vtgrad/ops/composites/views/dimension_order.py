"""Views with their dimensions in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.take_over import call_override, is_keyed_as_whole, is_overridden, take_over
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.operators import MOVEDIM
from vtgrad.storage.geometry import (
    movedim_order,
)
from vtgrad.storage.integers import integer
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["moveaxis", "movedim", "swapaxes", "swapaxes_", "swapdims", "swapdims_"]


T = TypeVar("T", bound=TensorBase)


@explained
def movedim(input: T, source: int | Sequence[int], destination: int | Sequence[int]) -> T:
    """Return a view with dimensions moved to other places.

    The dimensions that are not named keep their order and fill the places that are left. The
    gradient is moved back.

    Parameters
    ----------
    input : Tensor
        Tensor of any dtype.
    source : int or sequence of int
        The dimensions to move.
    destination : int or sequence of int
        Where each of them goes in the result.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    ShapeError
        If a dimension or a place is named twice, or there are not as many places as dimensions.
    DimensionError
        If a dimension or a place does not exist.
    ArgumentTypeError
        If an argument holds something else than integers.

    Examples
    --------
    >>> x = vt.zeros(2, 3, 4)
    >>> vt.movedim(x, 0, 2).shape
    vtgrad.Size([3, 4, 2])
    >>> vt.movedim(x, (0, 1), (2, 0)).shape
    vtgrad.Size([3, 4, 2])
    >>> vt.movedim(x, 0, 2)[1, 2, 0] = 5.0
    >>> x[0, 1, 2]
    tensor(5.)
    """
    if keys.active and is_keyed_as_whole(input):
        return take_over(MOVEDIM, movedim, input, source, destination)
    sources = tuple(source) if isinstance(source, Sequence) else (integer(source),)
    places = tuple(destination) if isinstance(destination, Sequence) else (integer(destination),)
    if input.ndim == 0:
        movedim_order(1, sources, places)
        return F.alias(input)
    return F.permute_dims(input, movedim_order(input.ndim, sources, places))


def moveaxis(
    input: T,
    source: int | Sequence[int],
    destination: int | Sequence[int],
) -> T:
    """Another name of `movedim`."""
    if keys.active and is_overridden(input):
        return call_override(moveaxis, input, source, destination)
    return movedim(input, source, destination)


def swapaxes(input: T, axis0: int, axis1: int) -> T:
    """Exchange two dimensions, as a view.

    `transpose` under NumPy's name.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    axis0 : int
        One dimension; negative numbers count from the last one.
    axis1 : int
        The other.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    DimensionError
        If `input` has no such dimension.

    Examples
    --------
    >>> vt.swapaxes(vt.zeros(2, 3, 4), 0, -1).shape
    vtgrad.Size([4, 3, 2])
    """
    if keys.active and is_overridden(input):
        return call_override(swapaxes, input, axis0, axis1)
    return F.transpose(input, axis0, axis1)


def swapdims(input: T, dim0: int, dim1: int) -> T:
    """Exchange two dimensions, as a view.

    Another name of `transpose`.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    dim0 : int
        One dimension; negative numbers count from the last one.
    dim1 : int
        The other.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    DimensionError
        If `input` has no such dimension.

    Examples
    --------
    >>> vt.swapdims(vt.zeros(2, 3, 4), 0, -1).shape
    vtgrad.Size([4, 3, 2])
    """
    if keys.active and is_overridden(input):
        return call_override(swapdims, input, dim0, dim1)
    return F.transpose(input, dim0, dim1)


def swapaxes_(input: T, axis0: int, axis1: int) -> T:
    """Exchange two dimensions of the tensor itself."""
    return F.transpose_(input, axis0, axis1)


def swapdims_(input: T, dim0: int, dim1: int) -> T:
    """Exchange two dimensions of the tensor itself."""
    return F.transpose_(input, dim0, dim1)
