"""The operators of Python on arrays."""

# The operators take what NumPy's take. Ufuncs give arrays, or what has the operators of arrays.
# mypy: disable-error-code="override, no-any-return"

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Final, Self, TypeAlias

import numpy as np

from vtgrad.errors import ResultTypeError
from vtgrad.numpy import ufuncs
from vtgrad.numpy.base import ArrayBase
from vtgrad.numpy.deliver import handed_over
from vtgrad.numpy.index import getitem, setitem
from vtgrad.numpy.operands import ArrayLike, Index, fresh, is_keyed, of, result, value_of
from vtgrad.numpy.ufunc import Binary, Ufunc
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import PLAIN
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.operator_methods import OperatorMethods

__all__ = ["ArrayOperators"]

# What the operators are here: they look at their operands first.
_Operator: TypeAlias = Callable[[Any, Any], Any]
_ADD: Final[_Operator] = F.add
_SUB: Final[_Operator] = F.sub
_MUL: Final[_Operator] = F.mul
_TRUE_DIVIDE: Final[_Operator] = F.true_divide
_POW: Final[_Operator] = F.pow
_RSUB: Final[_Operator] = F.rsub
_IADD: Final[_Operator] = OperatorMethods.__iadd__
_IMUL: Final[_Operator] = OperatorMethods.__imul__
_ISUB: Final[_Operator] = OperatorMethods.__isub__
_ITRUEDIV: Final[_Operator] = OperatorMethods.__itruediv__
_OPERANDS: Final = (TensorBase, int, float, complex, np.ndarray, np.generic, list, tuple)
_FLOAT64: Final = np.dtype(np.float64)


def _is_apart(x: TensorBase, y: TensorBase) -> bool:
    """Whether two tensors are on different storages; one without is on memory of its own."""
    storage = x._impl._storage
    return storage is None or storage is not y._impl._storage


def _compute(ufunc: Ufunc, a: object, b: object) -> Any:
    """A ufunc for an operator of Python; NotImplemented for what can be no operand."""
    if not (isinstance(a, _OPERANDS) and isinstance(b, _OPERANDS)):
        return NotImplemented
    return ufunc.of_pair(a, b) if isinstance(ufunc, Binary) else ufunc.compute((a, b))


def _write(ufunc: Ufunc, target: TensorBase, other: object) -> Any:
    """A ufunc for an operator that writes."""
    if not isinstance(other, _OPERANDS):
        return NotImplemented
    return ufunc.compute((target, other), (target,))


class ArrayOperators(ArrayBase):
    """What the operators of Python do with arrays: NumPy's ufuncs.

    Operands of one floating or complex dtype and one shape, in row-major memory, and such an array
    with a number of Python, go to the operator of the library at once: there NumPy and the library
    agree. See Note [One look at a layout].
    """

    __slots__ = ()

    def __add__(self, other: ArrayLike) -> Self:
        layout = self._impl.layout or self._impl.find_layout()
        if layout.inexact and (
            (other._impl.layout or other._impl.find_layout()) is layout
            if isinstance(other, TensorBase)
            else type(other) is float or type(other) is int
        ):
            return _ADD(self, other)
        return _compute(ufuncs.add, self, other)

    def __sub__(self, other: ArrayLike) -> Self:
        layout = self._impl.layout or self._impl.find_layout()
        if layout.inexact and (
            (other._impl.layout or other._impl.find_layout()) is layout
            if isinstance(other, TensorBase)
            else type(other) is float or type(other) is int
        ):
            return _SUB(self, other)
        return _compute(ufuncs.subtract, self, other)

    def __mul__(self, other: ArrayLike) -> Self:
        layout = self._impl.layout or self._impl.find_layout()
        if layout.inexact and (
            (other._impl.layout or other._impl.find_layout()) is layout
            if isinstance(other, TensorBase)
            else type(other) is float or type(other) is int
        ):
            return _MUL(self, other)
        return _compute(ufuncs.multiply, self, other)

    def __truediv__(self, other: ArrayLike) -> Self:
        layout = self._impl.layout or self._impl.find_layout()
        if layout.inexact and (
            (other._impl.layout or other._impl.find_layout()) is layout
            if isinstance(other, TensorBase)
            else type(other) is float or type(other) is int
        ):
            return _TRUE_DIVIDE(self, other)
        return _compute(ufuncs.divide, self, other)

    def __pow__(self, other: ArrayLike) -> Self:
        layout = self._impl.layout or self._impl.find_layout()
        if layout.inexact and (
            (other._impl.layout or other._impl.find_layout()) is layout
            if isinstance(other, TensorBase)
            else (type(other) is float and abs(other) != 0.5) or type(other) is int
        ):
            return _POW(self, other)
        if layout.inexact and type(other) is float and other == 0.5:
            return typing.cast("Self", ufuncs.sqrt(self))
        if self._impl.array.dtype.kind == "b" and type(other) is int:
            # NumPy has a rule of its own for the power 2.
            return typing.cast("Self", handed_over(value_of(self) ** other))
        return _compute(ufuncs.power, self, other)

    def __mod__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.remainder, self, other)

    def __radd__(self, other: ArrayLike) -> Self:
        layout = self._impl.layout or self._impl.find_layout()
        if layout.inexact and (type(other) is float or type(other) is int):
            return _ADD(self, other)
        return _compute(ufuncs.add, other, self)

    def __rmul__(self, other: ArrayLike) -> Self:
        layout = self._impl.layout or self._impl.find_layout()
        if layout.inexact and (type(other) is float or type(other) is int):
            return _MUL(self, other)
        return _compute(ufuncs.multiply, other, self)

    def __rsub__(self, other: ArrayLike) -> Self:
        layout = self._impl.layout or self._impl.find_layout()
        if layout.inexact and (type(other) is float or type(other) is int):
            return _RSUB(self, other)
        return _compute(ufuncs.subtract, other, self)

    def __rtruediv__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.divide, other, self)

    def __rpow__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.power, other, self)

    def __rmod__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.remainder, other, self)

    def __rfloordiv__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.floor_divide, other, self)

    def __rdivmod__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.divmod, other, self)

    def __rmatmul__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.matmul, other, self)

    def __rand__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.bitwise_and, other, self)

    def __ror__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.bitwise_or, other, self)

    def __rxor__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.bitwise_xor, other, self)

    def __rlshift__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.left_shift, other, self)

    def __rrshift__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.right_shift, other, self)

    def __floordiv__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.floor_divide, self, other)

    def __divmod__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.divmod, self, other)

    def __matmul__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.matmul, self, other)

    def __and__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.bitwise_and, self, other)

    def __or__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.bitwise_or, self, other)

    def __xor__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.bitwise_xor, self, other)

    def __lshift__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.left_shift, self, other)

    def __rshift__(self, other: ArrayLike) -> Self:
        return _compute(ufuncs.right_shift, self, other)

    # -- in place --------------------------------------------------------------------------------

    def __iadd__(self, other: ArrayLike) -> Self:
        layout = self._impl.layout or self._impl.find_layout()
        if layout.inexact and (
            (other._impl.layout or other._impl.find_layout()) is layout
            and (other is self or _is_apart(self, other))
            if isinstance(other, TensorBase)
            else type(other) is float or type(other) is int
        ):
            return _IADD(self, other)
        return _write(ufuncs.add, self, other)

    def __imul__(self, other: ArrayLike) -> Self:
        layout = self._impl.layout or self._impl.find_layout()
        if layout.inexact and (
            (other._impl.layout or other._impl.find_layout()) is layout
            and (other is self or _is_apart(self, other))
            if isinstance(other, TensorBase)
            else type(other) is float or type(other) is int
        ):
            return _IMUL(self, other)
        return _write(ufuncs.multiply, self, other)

    def __isub__(self, other: ArrayLike) -> Self:
        layout = self._impl.layout or self._impl.find_layout()
        if layout.inexact and (
            (other._impl.layout or other._impl.find_layout()) is layout
            and (other is self or _is_apart(self, other))
            if isinstance(other, TensorBase)
            else type(other) is float or type(other) is int
        ):
            return _ISUB(self, other)
        return _write(ufuncs.subtract, self, other)

    def __itruediv__(self, other: ArrayLike) -> Self:
        layout = self._impl.layout or self._impl.find_layout()
        if layout.inexact and (
            (other._impl.layout or other._impl.find_layout()) is layout
            and (other is self or _is_apart(self, other))
            if isinstance(other, TensorBase)
            else type(other) is float or type(other) is int
        ):
            return _ITRUEDIV(self, other)
        return _write(ufuncs.divide, self, other)

    def __ipow__(self, other: ArrayLike) -> Self:
        return _write(ufuncs.power, self, other)

    def __imod__(self, other: ArrayLike) -> Self:
        return _write(ufuncs.remainder, self, other)

    def __ifloordiv__(self, other: ArrayLike) -> Self:
        return _write(ufuncs.floor_divide, self, other)

    def __imatmul__(self, other: ArrayLike) -> Self:
        if isinstance(other, _OPERANDS) and (not self._impl.array.ndim or np.ndim(of(other)) < 2):
            raise ValueError(
                "inplace matrix multiplication requires the first operand to have at least one and "
                "the second at least two dimensions."
            )
        return _write(ufuncs.matmul, self, other)

    def __iand__(self, other: ArrayLike) -> Self:
        return _write(ufuncs.bitwise_and, self, other)

    def __ior__(self, other: ArrayLike) -> Self:
        return _write(ufuncs.bitwise_or, self, other)

    def __ixor__(self, other: ArrayLike) -> Self:
        return _write(ufuncs.bitwise_xor, self, other)

    def __ilshift__(self, other: ArrayLike) -> Self:
        return _write(ufuncs.left_shift, self, other)

    def __irshift__(self, other: ArrayLike) -> Self:
        return _write(ufuncs.right_shift, self, other)

    # -- one operand -----------------------------------------------------------------------------

    def __neg__(self) -> Self:
        return typing.cast("Self", ufuncs.negative(self))

    def __pos__(self) -> Self:
        return typing.cast("Self", ufuncs.positive(self))

    def __abs__(self) -> Self:
        return typing.cast("Self", ufuncs.absolute(self))

    def __invert__(self) -> Self:
        return typing.cast("Self", ufuncs.invert(self))

    # -- comparisons -----------------------------------------------------------------------------

    def __eq__(self, other: object) -> Self:
        return _compare(ufuncs.equal, self, other)

    def __ne__(self, other: object) -> Self:
        return _compare(ufuncs.not_equal, self, other)

    def __lt__(self, other: ArrayLike) -> Self:
        return _compare(ufuncs.less, self, other)

    def __le__(self, other: ArrayLike) -> Self:
        return _compare(ufuncs.less_equal, self, other)

    def __gt__(self, other: ArrayLike) -> Self:
        return _compare(ufuncs.greater, self, other)

    def __ge__(self, other: ArrayLike) -> Self:
        return _compare(ufuncs.greater_equal, self, other)

    # An array is not hashable, as in NumPy.
    __hash__: ClassVar[Any] = None

    # -- elements --------------------------------------------------------------------------------

    def __getitem__(self, index: Index) -> Self:
        impl = self._impl
        if type(index) is int:
            array = impl.array
            if array.ndim == 1:
                meta = impl.autograd_meta
                if (meta is None or not meta.needs_gradient()) and not (
                    keys.active and is_keyed(self)
                ):
                    if type(array) in PLAIN:
                        return typing.cast("Self", array[index])
                return typing.cast("Self", result(F.select_copy(self, 0, index)))
            return F.select(self, 0, index)
        if type(index) is slice and _is_forward(index):
            return F.slice(self, 0, index.start, index.stop, index.step or 1)
        return typing.cast("Self", getitem(self, index))

    def __setitem__(self, index: Index, value: ArrayLike) -> None:
        if (type(index) is int or (type(index) is slice and _is_forward(index))) and (
            type(value) is float or type(value) is int
        ):
            if self._impl.array.dtype.kind == "f":
                try:
                    F.setitem(self, index, value)
                    return
                except ResultTypeError:
                    pass  # It is too large, and infinite in NumPy.
        setitem(self, index, value)

    def __iter__(self) -> Iterator[Self]:
        shape = self._impl.array.shape
        if not shape:
            raise TypeError("iteration over a 0-d array")
        return map(self.__getitem__, range(shape[0]))

    def __len__(self) -> int:
        shape = self._impl.array.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return typing.cast("int", shape[0])

    def __contains__(self, element: object) -> bool:
        return bool(np.any(value_of(self) == _value(element)))

    def __reversed__(self) -> Iterator[Self]:
        return map(self.__getitem__, range(len(self) - 1, -1, -1))


def _is_forward(index: slice) -> bool:
    """Whether a slice is one for the operator: of integers, forward."""
    start, stop, step = index.start, index.stop, index.step
    return (
        (start is None or type(start) is int)
        and (stop is None or type(stop) is int)
        and (step is None or (type(step) is int and step > 0))
    )


def _value(x: object) -> Any:
    return value_of(x) if isinstance(x, TensorBase) else x


def _compare(ufunc: Ufunc, x: TensorBase, other: object) -> Any:
    """A comparison, which has no derivative."""
    if isinstance(other, TensorBase):
        if keys.active and is_keyed(other):
            return ufunc.compute((x, other))
    elif not isinstance(other, _OPERANDS):
        if ufunc.ufunc not in (np.equal, np.not_equal) or type(other) not in (type(None), str):
            return NotImplemented
    if keys.active and is_keyed(x):
        return ufunc.compute((x, other))
    compare: Callable[..., Any] = ufunc.ufunc
    found = compare(value_of(x), _value(other))
    return fresh(found) if type(found) in PLAIN else found
