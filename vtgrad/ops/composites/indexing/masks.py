"""The places of the elements that are not zero."""

from __future__ import annotations

from typing import Literal, TypeVar, overload

from vtgrad.errors import OptionValueError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.generated import functional as F
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["argwhere", "nonzero"]


T = TypeVar("T", bound=TensorBase)


def argwhere(input: T) -> T:
    """Return the places of the elements that are not 0, one in each row.

    The rows come in row-major order of the elements. A nan is not 0. A 0-d tensor has places
    without coordinates: one or none. There is no gradient. See `nonzero` for one vector per
    dimension.

    Parameters
    ----------
    input : Tensor
        The values to look through, of any dtype.

    Returns
    -------
    Tensor
        A new tensor of int64 of shape ``(count, input.ndim)``.

    Raises
    ------
    ArgumentTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> vt.argwhere(vt.tensor([[0, 2], [3, 0]]))
    tensor([[0, 1],
            [1, 0]])
    >>> vt.argwhere(vt.tensor([0.5, -1.0, 2.0]) > 0)
    tensor([[0],
            [2]])
    >>> vt.argwhere(vt.tensor(5)).shape
    vtgrad.Size([1, 0])
    """
    if keys.active and is_overridden(input):
        return call_override(argwhere, input)
    return F.nonzero_rows(input)


@overload
def nonzero(input: T, *, as_tuple: Literal[False] = False, out: T | None = None) -> T: ...
@overload
def nonzero(input: T, *, as_tuple: Literal[True], out: None = None) -> tuple[T, ...]: ...
def nonzero(input: T, *, as_tuple: bool = False, out: T | None = None) -> T | tuple[T, ...]:
    """Return the indices of the elements that are not zero, in row-major order.

    nan is not zero, True is. The result has no gradient.

    Parameters
    ----------
    input : Tensor
        Values of any dtype and shape.
    as_tuple : bool, default False
        Whether the indices come as one vector per dimension, which can index `input`, instead
        of as one matrix. A 0-d tensor then counts as a vector of one element.
    out : Tensor, optional
        Where the matrix is written; only without `as_tuple`.

    Returns
    -------
    Tensor or tuple of Tensor
        A new int64 matrix with a row for each element and a column for each dimension; with
        `as_tuple` its columns.

    Raises
    ------
    OptionValueError
        If `out` comes together with `as_tuple`.
    ArgumentTypeError
        If `as_tuple` is no bool.
    ResultTypeError
        If `out` is not of int64.

    Examples
    --------
    >>> x = vt.tensor([[0, 3], [1, 0]])
    >>> vt.nonzero(x)
    tensor([[0, 1],
            [1, 0]])
    >>> x[vt.nonzero(x, as_tuple=True)]
    tensor([3, 1])
    """
    if not check_flag(as_tuple, "as_tuple"):
        return F.nonzero_rows(input, out=out)
    if out is not None:
        raise OptionValueError("nonzero() has no out= for a tuple of vectors")
    if keys.active and is_overridden(input):
        return call_override(nonzero, input, as_tuple=True)
    rows = F.nonzero_rows(input if array_of(input, "input").ndim else F.reshape(input, (1,)))
    return tuple(F.unbind(rows, 1))
