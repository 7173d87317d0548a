"""Copies with a memory order."""

from __future__ import annotations

from vtgrad.numpy.operands import as_array
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["copied"]


def copied(x: TensorBase, order: str) -> ndarray:
    """A recorded copy.

    Parameters
    ----------
    x : TensorBase
        The array.
    order : {"C", "F", "A", "K"}
        Which index runs fastest in memory: the last, the first, the first if it does so in `x`, or
        as in `x`.
    """
    array = resolved(x._impl.array)
    if order == "K":
        return as_array(F.clone(x))
    if order == "F" or (order == "A" and array.flags.fnc):
        dims = tuple(range(array.ndim))[::-1]
        return as_array(F.permute(F.contiguous(F.clone(F.permute(x, dims))), dims))
    found = F.clone(x)
    return as_array(found if found._impl.array.flags.c_contiguous else F.contiguous(found))
