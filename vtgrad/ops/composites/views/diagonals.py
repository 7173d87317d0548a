"""Diagonals, as views."""

from __future__ import annotations

from typing import TypeVar, cast

from vtgrad.ops.generated import functional as F
from vtgrad.storage.names import check_unique, checked_name
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["diagonal"]

T = TypeVar("T", bound=TensorBase)


def diagonal(
    input: T,
    offset: int = 0,
    dim1: int | str = 0,
    dim2: int | str = 1,
    *,
    outdim: str | None = None,
) -> T:
    """Return a diagonal over two dimensions of a tensor.

    The two dimensions disappear, and one that goes along the diagonal comes last. A diagonal
    outside of the tensor has no elements. The gradient is 0 beside the diagonal.

    Parameters
    ----------
    input : Tensor
        The tensor, of any dtype and at least 2 dimensions.
    offset : int, default 0
        Which diagonal: 0 is the main one, positive ones lie above it, negative ones below.
    dim1 : int or str, default 0
        The dimension that counts the rows, or its name.
    dim2 : int or str, default 1
        The dimension that counts the columns, or its name.
    outdim : str, optional
        The name of the new dimension; without it, it has none.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    NamesError
        If the name is no identifier, or another dimension has it.
    NameNotFoundError
        If no dimension has a name that is given.
    DimensionError
        If there is no such dimension.
    ShapeError
        If `dim1` and `dim2` are one dimension.
    ArgumentTypeError
        If an offset or dimension is not an integer.

    Examples
    --------
    >>> m = vt.tensor([[1, 2, 3], [4, 5, 6]])
    >>> vt.diagonal(m, 1)
    tensor([2, 6])
    >>> vt.diagonal(m).fill_(0)
    tensor([0, 0])
    >>> m
    tensor([[0, 2, 3],
            [4, 0, 6]])
    >>> vt.diagonal(vt.ones(2, 3, 4), 0, 0, 2).shape
    vtgrad.Size([3, 2])
    """
    name = checked_name(outdim)
    # The overload looks names up.
    view = F.diagonal_default(input, offset, cast("int", dim1), cast("int", dim2))
    if name is not None:
        view._impl.set_names(check_unique((*view._impl.names[:-1], name)))
    return view
