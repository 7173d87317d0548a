# Compiled by mypyc.
"""Writers that overwrite a tensor without reading it."""

from __future__ import annotations

from operator import setitem

import numpy as np

from vtgrad.errors import ShapeError
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, Number
from vtgrad.storage.lazy_array import resolved, without_repeats
from vtgrad.storage.prepared_store import Store, copied
from vtgrad.storage.promotion import number_dtype
from vtgrad.storage.warn import warn

__all__ = ["copy_", "fill_", "zero_"]


def fill_(self: Array, value: Array | Number) -> Store:
    """Set every element to one value: a number must fit the dtype, a 0-d array is cast.

    Raises
    ------
    ShapeError
        If the value is an array with dimensions.
    ResultTypeError
        If it is a number that cannot be stored in the array's dtype.
    """
    if 0 in self.strides:
        # Elements of an expanded tensor that are one in memory are written once.
        self = without_repeats(self)
    if not isinstance(value, np.ndarray):
        return setitem, (self, ..., as_element(value, self.dtype)), None
    if value.ndim:
        raise ShapeError(
            f"fill_ takes a number or a 0-d tensor, not one of shape {list(value.shape)}",
            shape=value.shape,
        )
    if value.dtype is self.dtype:
        return setitem, (self, ..., resolved(value)), None
    return copy_(self, value)


def zero_(self: Array) -> Store:
    """Set every element to zero."""
    return without_repeats(self).fill, (0,), None


def copy_(self: Array, src: Array | Number, non_blocking: bool = False) -> Store:
    """Overwrite with another array or a number, broadcast to the shape and cast to the dtype.

    Warns
    -----
    UserWarning
        If imaginary parts are dropped.
    """
    if not isinstance(src, np.ndarray):
        src = making.asarray(src, number_dtype(src))
    if src.shape != self.shape:
        lead = self.ndim - src.ndim
        if lead < 0 or any(
            n not in (1, m) for n, m in zip(src.shape, self.shape[lead:], strict=True)
        ):
            raise ShapeError(
                f"a tensor of shape {list(src.shape)} cannot be copied into one of shape "
                f"{list(self.shape)}",
                expected=self.shape,
                found=src.shape,
            )
    if src.dtype is self.dtype:
        # See Note [Lazy conjugates]; a copy by NumPy's function would take longer.
        return setitem, (self, ..., src if type(src) in PLAIN else resolved(src)), None
    if src.dtype.kind == "c" and self.dtype.kind not in "cb":
        warn(f"a copy from {src.dtype.name} to {self.dtype.name} drops the imaginary part")
        src = src.real
    return copied(self, src)
