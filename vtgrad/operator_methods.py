"""The Python operators of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self, TypeVar, cast

import numpy as np

from .errors import ArgumentTypeError, ShapeError
from .ops.generated import functional as F
from .ops.types import Index
from .storage.arrays import Number
from .storage.native import mypyc_attr
from .storage.tensor_base import TensorBase

__all__ = ["OperatorMethods"]

S = TypeVar("S", bound=TensorBase)
N = TypeVar("N", bound=TensorBase | Number)


_NUMBERS = (int, float, complex)
# What the operators of inner loops pass on at once, without a look at NumPy's scalars.
_QUICK = (TensorBase, float, int)


def _apply(function: Callable[[S, N], S], tensor: S, other: object) -> S:
    """Call an operator if the other operand is one, NumPy's scalars as the numbers they are."""
    if not isinstance(other, TensorBase):
        if isinstance(other, np.generic):
            other = other.item()
        if not isinstance(other, _NUMBERS):
            return cast("S", NotImplemented)
    return function(tensor, cast("N", other))


@mypyc_attr(allow_interpreted_subclasses=True)
class OperatorMethods(TensorBase):
    """What ``+``, ``@``, ``[]``, ``<`` and the others do.

    Operators give NotImplemented for operands that are neither tensors nor numbers, so that the
    other operand has its turn.
    """

    __slots__ = ()

    def __add__(self, other: TensorBase | Number) -> Self:
        return F.add(self, other) if isinstance(other, _QUICK) else _apply(F.add, self, other)

    def __sub__(self, other: TensorBase | Number) -> Self:
        return F.sub(self, other) if isinstance(other, _QUICK) else _apply(F.sub, self, other)

    def __mul__(self, other: TensorBase | Number) -> Self:
        return F.mul(self, other) if isinstance(other, _QUICK) else _apply(F.mul, self, other)

    def __truediv__(self, other: TensorBase | Number) -> Self:
        return F.div(self, other) if isinstance(other, _QUICK) else _apply(F.div, self, other)

    def __floordiv__(self, other: TensorBase | Number) -> Self:
        return _apply(F.floor_divide, self, other)

    def __mod__(self, other: TensorBase | Number) -> Self:
        return _apply(F.remainder, self, other)

    def __pow__(self, other: TensorBase | Number) -> Self:
        return F.pow(self, other) if isinstance(other, _QUICK) else _apply(F.pow, self, other)

    def __and__(self, other: TensorBase | Number) -> Self:
        return _apply(F.bitwise_and, self, other)

    def __or__(self, other: TensorBase | Number) -> Self:
        return _apply(F.bitwise_or, self, other)

    def __xor__(self, other: TensorBase | Number) -> Self:
        return _apply(F.bitwise_xor, self, other)

    def __lshift__(self, other: TensorBase | Number) -> Self:
        return _apply(F.bitwise_left_shift, self, other)

    def __rshift__(self, other: TensorBase | Number) -> Self:
        return _apply(F.bitwise_right_shift, self, other)

    def __lt__(self, other: TensorBase | Number) -> Self:
        return _apply(F.lt, self, other)

    def __le__(self, other: TensorBase | Number) -> Self:
        return _apply(F.le, self, other)

    def __gt__(self, other: TensorBase | Number) -> Self:
        return _apply(F.gt, self, other)

    def __ge__(self, other: TensorBase | Number) -> Self:
        return _apply(F.ge, self, other)

    def __eq__(self, other: object) -> Self:  # type: ignore[override]  # element by element
        if isinstance(other, np.ndarray):
            # Nobody else would answer, and Python would compare identities.
            raise ArgumentTypeError("a tensor cannot be compared with an array", argument="other")
        return _apply(F.eq, self, other)

    def __ne__(self, other: object) -> Self:  # type: ignore[override]  # element by element
        if isinstance(other, np.ndarray):
            raise ArgumentTypeError("a tensor cannot be compared with an array", argument="other")
        return _apply(F.ne, self, other)

    def __hash__(self) -> int:
        return id(self)

    def __radd__(self, other: Number) -> Self:
        return F.add(self, other) if isinstance(other, _QUICK) else _apply(F.add, self, other)

    def __rmul__(self, other: Number) -> Self:
        return F.mul(self, other) if isinstance(other, _QUICK) else _apply(F.mul, self, other)

    def __rsub__(self, other: Number) -> Self:
        return _apply(F.rsub, self, other)

    def __rtruediv__(self, other: Number) -> Self:
        return _apply(lambda a, b: F.mul(F.reciprocal(a), b), self, other)

    def __rpow__(self, other: Number) -> Self:
        return _apply(lambda a, b: F.pow(b, a), self, other)

    def __rfloordiv__(self, other: Number) -> Self:
        return _apply(lambda a, b: F.floor_divide(b, a), self, other)

    def __rmod__(self, other: Number) -> Self:
        return _apply(lambda a, b: F.remainder(b, a), self, other)

    def __rand__(self, other: Number) -> Self:
        return _apply(F.bitwise_and, self, other)

    def __ror__(self, other: Number) -> Self:
        return _apply(F.bitwise_or, self, other)

    def __rxor__(self, other: Number) -> Self:
        return _apply(F.bitwise_xor, self, other)

    def __rlshift__(self, other: Number) -> Self:
        return _apply(lambda a, b: F.bitwise_left_shift(F.full_like(a, b), a), self, other)

    def __rrshift__(self, other: Number) -> Self:
        return _apply(lambda a, b: F.bitwise_right_shift(F.full_like(a, b), a), self, other)

    def __rmatmul__(self, other: object) -> Self:
        return (
            F.matmul(cast("Self", other), self) if isinstance(other, TensorBase) else NotImplemented
        )

    def __matmul__(self, other: object) -> Self:
        return F.matmul(self, other) if isinstance(other, TensorBase) else NotImplemented

    def __neg__(self) -> Self:
        return F.neg(self)

    def __pos__(self) -> Self:
        return F.positive(self)

    def __abs__(self) -> Self:
        return F.abs(self)

    def __invert__(self) -> Self:
        if self._impl.array.dtype.kind in "fc":
            raise ArgumentTypeError(f"~ needs integers or bools, not {self.dtype.name}")
        return F.bitwise_not(self)

    def __iadd__(self, other: TensorBase | Number) -> Self:
        return F.add_(self, other) if isinstance(other, _QUICK) else _apply(F.add_, self, other)

    def __isub__(self, other: TensorBase | Number) -> Self:
        return F.sub_(self, other) if isinstance(other, _QUICK) else _apply(F.sub_, self, other)

    def __imul__(self, other: TensorBase | Number) -> Self:
        return F.mul_(self, other) if isinstance(other, _QUICK) else _apply(F.mul_, self, other)

    def __itruediv__(self, other: TensorBase | Number) -> Self:
        return F.div_(self, other) if isinstance(other, _QUICK) else _apply(F.div_, self, other)

    def __ifloordiv__(self, other: TensorBase | Number) -> Self:
        return _apply(F.floor_divide_, self, other)

    def __imod__(self, other: TensorBase | Number) -> Self:
        return _apply(F.remainder_, self, other)

    def __ipow__(self, other: TensorBase | Number) -> Self:
        return _apply(F.pow_, self, other)

    def __iand__(self, other: TensorBase | Number) -> Self:
        return _apply(F.bitwise_and_, self, other)

    def __ior__(self, other: TensorBase | Number) -> Self:
        return _apply(F.bitwise_or_, self, other)

    def __ixor__(self, other: TensorBase | Number) -> Self:
        return _apply(F.bitwise_xor_, self, other)

    def __ilshift__(self, other: TensorBase | Number) -> Self:
        return _apply(F.bitwise_left_shift_, self, other)

    def __irshift__(self, other: TensorBase | Number) -> Self:
        return _apply(F.bitwise_right_shift_, self, other)

    def __getitem__(self, index: Index) -> Self:
        return F.getitem(self, index)

    def __setitem__(self, index: Index, value: TensorBase | Number) -> None:
        F.setitem(self, index, value)

    def where(self, condition: TensorBase, other: TensorBase | Number) -> Self:
        """The tensor's elements where `condition` is true, `other` elsewhere."""
        return cast("Self", F.where(condition, self, other))

    @property
    def T(self) -> Self:
        """All dimensions in reverse order; a view."""
        return F.permute(self, tuple(reversed(range(self.ndim))))

    @property
    def mT(self) -> Self:
        """The last two dimensions exchanged; a view.

        Raises
        ------
        ShapeError
            If there is one dimension only.
        """
        if self.ndim == 0:
            return self
        if self.ndim == 1:
            raise ShapeError(
                f"mT needs a matrix or a batch of them, not {self.ndim} dimensions",
                shape=self.shape,
            )
        return F.transpose(self, -2, -1)
