"""Sorting along the first dimension."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import DTypeError
from vtgrad.later.store_result import store_result
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["msort"]


T = TypeVar("T", bound=TensorBase)


@explained
def msort(input: T, *, out: T | None = None) -> T:
    """Return the elements in ascending order along the first dimension.

    A nan counts as larger than every number. The gradient of an element goes to the one that it
    came from.

    Parameters
    ----------
    input : Tensor
        Real values; a 0-d tensor is sorted already.
    out : Tensor, optional
        Where the result is stored; it must have its dtype.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    DTypeError
        If `input` is complex.
    ResultTypeError
        If `out` does not have the dtype of `input`.

    Examples
    --------
    >>> vt.msort(vt.tensor([[3, 1], [2, 5]]))
    tensor([[2, 1],
            [3, 5]])
    """
    if array_of(input, "input").dtype.kind == "c":
        raise DTypeError("msort() has no meaning for complex values", dtype=input.dtype)
    return store_result(F.sort_dim(input, 0)[0], out, "msort", input, exact=True)
