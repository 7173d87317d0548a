"""Elements that are chosen by their place in the order, or by how often they occur.

A nan counts as larger than every number, and equals no other nan.
"""

from __future__ import annotations

import numpy as np

from vtgrad.errors import NotSupportedError, OptionValueError
from vtgrad.ops.kernels.reductions.extremes import refuse_empty_axis, taken_at
from vtgrad.ops.kernels.support.axes import axis_last, reduced_shape, take_along
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.shapes import normalize_dim

__all__ = ["kthvalue", "mode"]


def _refuse_unordered(name: str, x: Array, kinds: str) -> None:
    if x.dtype.kind in kinds:
        raise NotSupportedError(f"{name}() has no meaning for {x.dtype} values", dtype=x.dtype)


def kthvalue(self: Array, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """The k-th smallest elements along `dim`, counted from 1, and their indices.

    Raises
    ------
    OptionValueError
        If there are fewer than `k` elements, or `k` is not positive.
    """
    axis = normalize_dim(dim, self.ndim)
    refuse_empty_axis("kthvalue", self, axis)
    size = self.shape[axis] if self.ndim else 1
    if not 1 <= k <= size:
        raise OptionValueError(
            f"kthvalue() cannot take number {k} of {size} elements along dimension {axis}",
            k=k,
            size=size,
        )
    if self.ndim == 0:
        return self.copy(), making.zeros((), np.int64)
    _refuse_unordered("kthvalue", self, "cb")
    order = np.argsort(self, axis, kind="stable")
    return taken_at(self, np.take(order, [k - 1], axis), axis, keepdim)


def mode(self: Array, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """The most frequent elements along `dim`, and the last index of each.

    Of several that are equally frequent it is the smallest one.
    """
    axis = normalize_dim(dim, self.ndim)
    refuse_empty_axis("mode", self, axis)
    if self.ndim == 0:
        return self.copy(), making.zeros((), np.int64)
    _refuse_unordered("mode", self, "c")
    order = np.argsort(self, axis, kind="stable")
    ordered = axis_last(take_along(self, order, axis), axis)
    count = ordered.shape[-1]
    place = making.arange(count)
    # The last element of each run of equal ones has the length of the run.
    last = making.ones(ordered.shape, np.bool_)
    np.not_equal(ordered[..., 1:], ordered[..., :-1], out=last[..., :-1])
    ends = np.where(last, place, -1)
    before = np.maximum.accumulate(ends, -1)
    # The length of a run that ends here is the distance to the end of the one before it.
    length = np.where(last, place + 1, 0)
    length[..., 1:] -= np.where(last[..., 1:], before[..., :-1] + 1, 0)
    longest = length.argmax(-1).reshape(reduced_shape(self.shape, (axis,), True))
    return taken_at(self, take_along(order, longest, axis), axis, keepdim)
