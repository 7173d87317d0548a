"""The methods of arrays that reduce, with NumPy's signatures. Each is the function of its name."""

# The members that are here have NumPy's signatures in place of PyTorch's.
# mypy: disable-error-code="override"

from __future__ import annotations

import builtins
from typing import SupportsIndex

from numpy.typing import DTypeLike

from vtgrad.numpy import reductions
from vtgrad.numpy.array_conversions import ArrayConversions
from vtgrad.numpy.deliver import NO_VALUE, Axis, NoValue
from vtgrad.numpy.operands import ArrayLike
from vtgrad.numpy.public_ndarray import ndarray

__all__ = ["ArrayReductions"]


class ArrayReductions(ArrayConversions):
    """Sums, means, extremes and their like."""

    __slots__ = ()

    def sum(
        self,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
        keepdims: builtins.bool = False,
        initial: ArrayLike | NoValue = NO_VALUE,
        where: ArrayLike = True,
    ) -> ndarray:
        """``np.sum(x, ...)``."""
        return reductions.sum(self, axis, dtype, out, keepdims, initial, where)

    def prod(
        self,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
        keepdims: builtins.bool = False,
        initial: ArrayLike | NoValue = NO_VALUE,
        where: ArrayLike = True,
    ) -> ndarray:
        """``np.prod(x, ...)``."""
        return reductions.prod(self, axis, dtype, out, keepdims, initial, where)

    def max(
        self,
        axis: Axis = None,
        out: ndarray | None = None,
        keepdims: builtins.bool = False,
        initial: ArrayLike | NoValue = NO_VALUE,
        where: ArrayLike = True,
    ) -> ndarray:
        """``np.max(x, ...)``."""
        return reductions.max(self, axis, out, keepdims, initial, where)

    def min(
        self,
        axis: Axis = None,
        out: ndarray | None = None,
        keepdims: builtins.bool = False,
        initial: ArrayLike | NoValue = NO_VALUE,
        where: ArrayLike = True,
    ) -> ndarray:
        """``np.min(x, ...)``."""
        return reductions.min(self, axis, out, keepdims, initial, where)

    def mean(
        self,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
        keepdims: builtins.bool = False,
        *,
        where: ArrayLike = True,
    ) -> ndarray:
        """``np.mean(x, ...)``."""
        return reductions.mean(self, axis, dtype, out, keepdims, where=where)

    def var(
        self,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
        ddof: float = 0,
        keepdims: builtins.bool = False,
        *,
        where: ArrayLike = True,
        mean: ArrayLike | NoValue = NO_VALUE,
    ) -> ndarray:
        """``np.var(x, ...)``: of all elements, with ``ddof=0``."""
        return reductions.var(
            self,
            axis,
            dtype,
            out,
            ddof,
            keepdims,
            where=where,
            mean=mean,
        )

    def std(
        self,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
        ddof: float = 0,
        keepdims: builtins.bool = False,
        *,
        where: ArrayLike = True,
        mean: ArrayLike | NoValue = NO_VALUE,
    ) -> ndarray:
        """``np.std(x, ...)``: of all elements, with ``ddof=0``."""
        return reductions.std(
            self,
            axis,
            dtype,
            out,
            ddof,
            keepdims,
            where=where,
            mean=mean,
        )

    def all(
        self,
        axis: Axis = None,
        out: ndarray | None = None,
        keepdims: builtins.bool = False,
        *,
        where: ArrayLike = True,
    ) -> ndarray:
        """``np.all(x, ...)``."""
        return reductions.all(self, axis, out, keepdims, where=where)

    def any(
        self,
        axis: Axis = None,
        out: ndarray | None = None,
        keepdims: builtins.bool = False,
        *,
        where: ArrayLike = True,
    ) -> ndarray:
        """``np.any(x, ...)``."""
        return reductions.any(self, axis, out, keepdims, where=where)

    def argmax(
        self,
        axis: SupportsIndex | None = None,
        out: ndarray | None = None,
        *,
        keepdims: builtins.bool = False,
    ) -> ndarray:
        """``np.argmax(x, ...)``."""
        return reductions.argmax(self, axis, out, keepdims=keepdims)

    def argmin(
        self,
        axis: SupportsIndex | None = None,
        out: ndarray | None = None,
        *,
        keepdims: builtins.bool = False,
    ) -> ndarray:
        """``np.argmin(x, ...)``."""
        return reductions.argmin(self, axis, out, keepdims=keepdims)

    def cumsum(
        self,
        axis: SupportsIndex | None = None,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
    ) -> ndarray:
        """``np.cumsum(x, ...)``."""
        return reductions.cumsum(self, axis, dtype, out)

    def cumprod(
        self,
        axis: SupportsIndex | None = None,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
    ) -> ndarray:
        """``np.cumprod(x, ...)``."""
        return reductions.cumprod(self, axis, dtype, out)
