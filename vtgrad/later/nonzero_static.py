"""Indices of nonzero elements, as many as are asked for."""

from __future__ import annotations

from typing import Final, TypeVar

import numpy as np

from vtgrad.errors import OptionValueError
from vtgrad.graph.tracer import read_value
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.later.store_result import store_result
from vtgrad.later.unravel_index import unravel_index
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.integers import integer
from vtgrad.storage.strides import check_sizes
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["nonzero_static"]


T = TypeVar("T", bound=TensorBase)

_INT64: Final = np.dtype(np.int64)


@explained
def nonzero_static(input: T, *, size: int, fill_value: int = -1, out: T | None = None) -> T:
    """Return the indices of the first nonzero elements, with a row for each.

    Unlike that of `nonzero`, the shape of the result does not depend on the values.

    Parameters
    ----------
    input : Tensor
        The elements.
    size : int
        The number of rows.
    fill_value : int, default -1
        What stands in the rows for which there is no element.
    out : Tensor, optional
        Where the result is stored, of int64.

    Returns
    -------
    Tensor
        A new matrix of int64 with a column for each dimension.

    Raises
    ------
    OptionValueError
        If `size` is negative.
    ResultTypeError
        If `out` is not of int64.

    Examples
    --------
    >>> vt.nonzero_static(vt.tensor([0, 3, 0, 5]), size=3)
    tensor([[ 1],
            [ 3],
            [-1]])
    """
    refuse_names("nonzero_static", input)
    array = array_of(input, "input")
    count = integer(size)
    if count < 0:
        raise OptionValueError(f"nonzero_static() takes no negative size, got {count}", size=count)
    check_sizes((count, array.ndim), 8)
    missing = integer(fill_value)
    if input._impl.key_set:
        result = _sorted_out(input, count, missing)
    else:
        read_value(input)
        places = np.argwhere(array)[:count]
        found: Array = making.full((count, array.ndim), missing, np.int64)
        found[: len(places)] = places
        result = beside(input, found)
    return store_result(result, out, "nonzero_static", input, exact=True, differentiable=False)


def _sorted_out(input: T, count: int, missing: int) -> T:
    """The same by operators, which need no values: zeros are sorted behind all others."""
    shape = input._impl.array.shape
    if not shape or not input._impl.array.size:
        return F.fill_(F.zeros_shaped(F.to_dtype(input, _INT64), (count, len(shape))), missing)
    is_zero = F.reshape(F.eq(input, 0), -1)
    order = F.slice(F.argsort(F.to_dtype(is_zero, _INT64), 0, stable=True), 0, 0, count)
    places = F.stack([F.reshape(x, -1) for x in unravel_index(order, shape)], 1)
    none = F.unsqueeze(F.index_select(is_zero, 0, order), 1)
    found = F.masked_fill(places, none, missing)
    rest = count - found._impl.array.shape[0]
    return F.constant_pad(found, (0, 0, 0, rest), missing) if rest else found
