"""The class of 0-d results that carry a derivative."""

# Members of scalars refuse what those of arrays do.
# mypy: disable-error-code="override"

from __future__ import annotations

import typing
from typing import Any, ClassVar, NoReturn, Self, SupportsIndex

import numpy as np

from vtgrad.graph.batch import batch_of
from vtgrad.numpy import picking
from vtgrad.numpy.array_conversions import handle_of
from vtgrad.numpy.index import getitem
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.ndarray import ndarray
from vtgrad.numpy.operands import ArrayLike, as_array, result, value_of
from vtgrad.numpy.shapes import Order
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.tensor import Tensor

__all__ = ["scalar"]


def _make_array(_: type[Any]) -> TensorBase:
    """The object of a result of an operator on a scalar, which is an array at first."""
    return Tensor.__new__(kinds.array)


def _is_truth(index: object) -> bool:
    """Whether an index is one truth value, which says whether the number is taken."""
    if isinstance(index, TensorBase):
        index = index._impl.array
    return isinstance(index, (bool, np.bool)) or (
        isinstance(index, np.ndarray) and index.dtype == np.bool and not index.ndim
    )


def _as_scalar(x: ndarray) -> ndarray:
    """A number from a pickle."""
    x.__class__ = typing.cast("Any", kinds.scalar)
    return x


class scalar(ndarray):
    """One number that carries a derivative, as arithmetic and indexing with integers give it.

    It is what ``np.float64`` is in NumPy: a number that nothing writes. ``s += 5`` gives the name
    another number.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> a = np.multiply([1.0, 2.0, 3.0], 1).requires_grad_()
    >>> b = a * 1
    >>> b[0], b[1] = b[1], b[0]
    >>> s = b[2]
    >>> s += 5
    >>> b.tolist()
    [2.0, 1.0, 3.0]
    """

    __slots__ = ()

    # See Note [Objects of results]. Which of the results are scalars, `operands.result` says.
    _make: ClassVar[Any] = staticmethod(_make_array)

    # A number cannot be written: ``s += 5`` computes another one.

    def __iadd__(self, other: ArrayLike) -> Self:
        return self.__add__(other)

    def __isub__(self, other: ArrayLike) -> Self:
        return self.__sub__(other)

    def __imul__(self, other: ArrayLike) -> Self:
        return self.__mul__(other)

    def __itruediv__(self, other: ArrayLike) -> Self:
        return self.__truediv__(other)

    def __ifloordiv__(self, other: ArrayLike) -> Self:
        return self.__floordiv__(other)

    def __imod__(self, other: ArrayLike) -> Self:
        return self.__mod__(other)

    def __ipow__(self, other: ArrayLike) -> Self:
        return self.__pow__(other)

    def __imatmul__(self, other: ArrayLike) -> Self:
        return self.__matmul__(other)

    def __iand__(self, other: ArrayLike) -> Self:
        return self.__and__(other)

    def __ior__(self, other: ArrayLike) -> Self:
        return self.__or__(other)

    def __ixor__(self, other: ArrayLike) -> Self:
        return self.__xor__(other)

    def __ilshift__(self, other: ArrayLike) -> Self:
        return self.__lshift__(other)

    def __irshift__(self, other: ArrayLike) -> Self:
        return self.__rshift__(other)

    @property
    def real(self) -> Self:
        """The real part, a number too.

        Returns
        -------
        scalar
            A real number itself.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> z = np.array([1 + 2j]).requires_grad_()
        >>> float(z[0].real.detach())
        1.0
        """
        if self._impl.array.dtype.kind != "c":
            return self
        return typing.cast("Self", result(F.real(self)))

    @real.setter
    def real(self, value: object) -> None:
        raise AttributeError("the parts of a scalar are not writable")

    @property
    def imag(self) -> Self:
        """The imaginary part, a number too.

        Returns
        -------
        scalar
            NumPy's zero for a real number.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> z = np.array([1 + 2j]).requires_grad_()
        >>> float(z[0].imag.detach())
        2.0
        """
        dtype = self._impl.array.dtype
        if dtype.kind != "c":
            return typing.cast("Self", dtype.type(0))
        return typing.cast("Self", result(F.imag(self)))

    @imag.setter
    def imag(self, value: object) -> None:
        raise AttributeError("the parts of a scalar are not writable")

    def __repr__(self) -> str:
        if batch_of(self) is not None:
            return super().__repr__()
        text, facts = repr(value_of(self)[()]), self._facts()
        return f"{text[:-1]}, {', '.join(facts)})" if facts else text

    def __str__(self) -> str:
        return super().__str__() if batch_of(self) is not None else str(value_of(self)[()])

    @typing.overload
    def __round__(self, ndigits: None = None) -> int: ...
    @typing.overload
    def __round__(self, ndigits: SupportsIndex) -> ndarray: ...
    def __round__(self, ndigits: SupportsIndex | None = None) -> int | ndarray:
        if ndigits is None:
            whole: int = round(value_of(self).item())
            return whole
        return picking.round(self, ndigits)

    def is_integer(self) -> bool:
        """Whether a real number is a whole one.

        Returns
        -------
        bool
            False for infinite numbers and NaN too.

        Raises
        ------
        AttributeError
            For complex numbers, which have no such method in NumPy.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> s = np.array([1.5, 2.0]).requires_grad_()
        >>> s[0].is_integer(), s[1].is_integer()
        (False, True)
        """
        number: Any = value_of(self)[()]
        return bool(number.is_integer())

    def __copy__(self) -> scalar:
        return self

    def copy(self, order: Order = "C") -> ndarray:
        """The scalar itself, which nothing writes.

        Parameters
        ----------
        order : str
            Accepted.

        Returns
        -------
        scalar
            Itself.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> s = np.array([1.5, 2.5]).requires_grad_()[0]
        >>> s.copy() is s
        True
        """
        return self

    def view(self, dtype: object = None, type: object = None) -> Any:
        """The scalar itself, or its bytes in another dtype, as the method of arrays gives it.

        Parameters
        ----------
        dtype, type
            As of the method of arrays.

        Returns
        -------
        scalar or ndarray
            Itself without arguments.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> s = np.array([1.5, 2.5]).requires_grad_()[0]
        >>> s.view() is s
        True
        """
        # What the overloads do not take is refused there.
        other: Any = super().view
        return self if dtype is None and type is None else other(dtype, type)

    @property
    def T(self) -> Self:
        """The scalar itself, which has no dimensions.

        Returns
        -------
        scalar
            Itself.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> s = np.array([1.5, 2.5]).requires_grad_()[0]
        >>> s.T is s
        True
        """
        return self

    def __deepcopy__(self, memo: dict[int, object] | None = None) -> scalar:
        # Nothing writes it, so it need not be copied.
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        # An array on the same memory, for as long as it is pickled.
        return _as_scalar, (handle_of(self._impl, kinds.array),)

    def __hash__(self) -> int:
        return hash(value_of(self).item())

    def __getitem__(self, index: object) -> ndarray:
        if type(index) is tuple and not index:
            return self
        if index is Ellipsis or index is None or type(index) is tuple or _is_truth(index):
            return getitem(as_array(F.clone(self)), index)
        raise IndexError("invalid index to scalar variable.")

    def __setitem__(self, index: object, value: object) -> NoReturn:
        raise TypeError(f"'{self.dtype.type.__name__}' object does not support item assignment")

    def __len__(self) -> NoReturn:
        raise TypeError(f"object of type '{self.dtype.type.__name__}' has no len()")

    # Python then says that it is not iterable, and ``isinstance(s, Iterable)`` is False.
    __iter__: ClassVar[Any] = None


kinds.scalar = scalar
ndarray._number_class = scalar
