"""Places in sorted sequences."""

from __future__ import annotations

from typing import Final, TypeVar, cast

import numpy as np

from vtgrad.errors import DTypeError, NotSupportedError, OptionValueError, ShapeError
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.later.store_result import store_result
from vtgrad.ops.calling.arguments import array_of, is_array
from vtgrad.ops.calling.constants import constant
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Number
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["bucketize", "searchsorted"]


T = TypeVar("T", bound=TensorBase)

_INT32: Final = np.dtype(np.int32)


@explained
def searchsorted(
    sorted_sequence: T,
    input: TensorBase | Number,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: TensorBase | None = None,
    out: T | None = None,
) -> T:
    """Return where values go into sorted sequences so that these stay sorted.

    Place i lies in front of element i, so there is one place more than there are elements. A nan
    counts as larger than every number.

    Parameters
    ----------
    sorted_sequence : Tensor
        Elements in ascending order along the last dimension: one sequence, or many.
    input : Tensor or number
        The values, of any shape for one sequence. For many, the leading dimensions are those of
        the sequences, and the last one holds the values for each.
    out_int32 : bool, default False
        Whether the result is of int32 in place of int64.
    right : bool, default False
        Whether a value goes behind equal elements in place of before them.
    side : str, optional
        ``"left"`` or ``"right"``: another way to say `right`.
    sorter : Tensor, optional
        The int64 indices that sort the sequences, which may then be in any order.
    out : Tensor, optional
        Where the result is stored; it must have its dtype.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`. It has no derivative.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    DTypeError
        If the dtypes of the two tensors differ, or that of `sorter` is not int64.
    NotSupportedError
        If the sequences are of bools or complex numbers.
    OptionValueError
        If `side` is another text, or contradicts `right`.
    ResultTypeError
        If `out` does not have the dtype of the result.

    Examples
    --------
    >>> x = vt.tensor([1, 3, 5, 7])
    >>> vt.searchsorted(x, vt.tensor([[3, 4], [0, 9]]))
    tensor([[1, 2],
            [0, 4]])
    >>> vt.searchsorted(x, 3, right=True)
    tensor(2)
    >>> rows = vt.tensor([[1, 3], [2, 4]])
    >>> vt.searchsorted(rows, vt.tensor([[2], [2]]))
    tensor([[1],
            [0]])
    """
    refuse_names("searchsorted", sorted_sequence, input, sorter)
    right = _side(check_flag(right, "right"), side)
    rows = array_of(sorted_sequence, "sorted_sequence")
    if not rows.ndim:
        raise ShapeError("searchsorted() takes sequences of one dimension at least")
    if rows.dtype.kind in "bc" and isinstance(input, TensorBase):
        raise NotSupportedError(
            f"searchsorted() has no meaning for {sorted_sequence.dtype.name}",
            dtype=sorted_sequence.dtype,
        )
    values = _values(sorted_sequence, input)
    wanted = values._impl.array
    if not wanted.ndim and rows.ndim > 1:
        raise ShapeError("searchsorted() looks for one value in one sequence only")
    if rows.ndim > 1 and rows.shape[:-1] != wanted.shape[:-1]:
        raise ShapeError(
            f"searchsorted() takes values of the leading sizes {list(rows.shape[:-1])}, got shape "
            f"{list(wanted.shape)}",
            expected=rows.shape[:-1],
            found=wanted.shape,
        )
    if isinstance(input, TensorBase) and rows.dtype != wanted.dtype:
        raise DTypeError(
            f"searchsorted() takes values of the dtype of the sequences, {rows.dtype}, not "
            f"{wanted.dtype}"
        )
    if sorter is not None:
        sorted_sequence = _in_order(sorted_sequence, sorter)
    found = F.search_rows(sorted_sequence, values, right)
    if check_flag(out_int32, "out_int32"):
        found = F.to_dtype(found, _INT32)
    return store_result(
        found, out, "searchsorted", sorted_sequence, input, exact=True, differentiable=False
    )


def _side(right: bool, side: str | None) -> bool:
    if side is None:
        return right
    if side not in ("left", "right"):
        raise OptionValueError(f'side must be "left" or "right", not {side!r}', side=side)
    if right and side == "left":
        raise OptionValueError('right=True and side="left" say the opposite', side=side)
    return side == "right"


def _values(like: T, input: TensorBase | Number) -> T:
    """The values as a tensor."""
    if isinstance(input, TensorBase):
        return cast("T", input)
    if is_array(input):
        return cast("T", constant(input))
    return beside(like, making.asarray(input))


def _in_order(sequence: T, sorter: TensorBase) -> T:
    array = array_of(sorter, "sorter")
    if array.shape != sequence._impl.array.shape:
        raise ShapeError(
            f"sorter must have the shape of the sequences, {list(sequence._impl.array.shape)}, "
            f"not {list(array.shape)}",
            expected=sequence._impl.array.shape,
            found=array.shape,
        )
    if array.dtype != np.int64:
        raise DTypeError(f"sorter must be of int64, not {array.dtype}", dtype=sorter.dtype)
    return F.gather(sequence, array.ndim - 1, sorter)


@explained
def bucketize(
    input: TensorBase | Number,
    boundaries: T,
    *,
    out_int32: bool = False,
    right: bool = False,
    out: T | None = None,
) -> T:
    """Return the numbers of the buckets into which values fall.

    Bucket i ends at boundary i: with it, or just before it if `right` is set. The last bucket is
    what is beyond all boundaries. `searchsorted` does the same with the arguments exchanged.

    Parameters
    ----------
    input : Tensor or number
        The values.
    boundaries : Tensor
        A vector in ascending order.
    out_int32 : bool, default False
        Whether the result is of int32 in place of int64.
    right : bool, default False
        Whether a boundary belongs to the bucket above it.
    out : Tensor, optional
        Where the result is stored; it must have its dtype.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`. It has no derivative.

    Raises
    ------
    ShapeError
        If `boundaries` is not a vector.
    DTypeError
        If the dtypes of the two tensors differ.
    NotSupportedError
        If `boundaries` are bools or complex numbers.
    ResultTypeError
        If `out` does not have the dtype of the result.

    Examples
    --------
    >>> edges = vt.tensor([1.0, 2.0])
    >>> vt.bucketize(vt.tensor([0.5, 1.0, 1.5, 9.0]), edges)
    tensor([0, 0, 1, 2])
    >>> vt.bucketize(1.0, edges, right=True)
    tensor(1)
    """
    refuse_names("bucketize", input, boundaries)
    if array_of(boundaries, "boundaries").ndim != 1:
        raise ShapeError(
            f"bucketize() takes a vector of boundaries, got {list(boundaries._impl.array.shape)}",
            shape=boundaries._impl.array.shape,
        )
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, out=out)
