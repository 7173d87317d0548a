"""What arrays of `vtgrad.numpy` are without operators and methods."""

# The members that are here have NumPy's types in place of PyTorch's.
# mypy: disable-error-code="override"

from __future__ import annotations

import builtins
from typing import ClassVar

import numpy as np

from vtgrad.numpy.kinds import kinds
from vtgrad.storage.arrays import NumpyDType
from vtgrad.tensor.tensor import Tensor

__all__ = ["ArrayBase", "ArrayType"]


class ArrayType(type):
    """The class of the classes of arrays: what ``isinstance(x, np.ndarray)`` means.

    A scalar is no ``ndarray``, as in NumPy, and an array of NumPy itself is one.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        if cls is not kinds.array:
            return super().__instancecheck__(instance)
        return isinstance(instance, np.ndarray) or (
            super().__instancecheck__(instance) and type(instance) is not kinds.scalar
        )

    def __subclasscheck__(cls, subclass: type) -> bool:
        if cls is not kinds.array:
            return super().__subclasscheck__(subclass)
        return issubclass(subclass, np.ndarray) or (
            super().__subclasscheck__(subclass) and subclass is not kinds.scalar
        )


class ArrayBase(Tensor):
    """A tensor whose attributes mean what they mean in NumPy.

    The class of this class is `type`, so that ``isinstance`` with it, which the functions of the
    namespace ask at each call, is quick.
    """

    __slots__ = ()

    __array_priority__: ClassVar[builtins.int] = 2000

    @property
    def dtype(self) -> NumpyDType:
        """Element type, one of NumPy's."""
        dtype: NumpyDType = self._impl.array.dtype
        return dtype

    @property
    def shape(self) -> tuple[builtins.int, ...]:
        """Length of each dimension."""
        shape: tuple[builtins.int, ...] = self._impl.array.shape
        return shape
