"""The methods of arrays, with NumPy's signatures. Each is the function of its name."""

# The members that are here have NumPy's signatures in place of PyTorch's.
# mypy: disable-error-code="override"

from __future__ import annotations

import builtins
import os
import typing
from collections.abc import Sequence
from typing import IO, Any, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy import picking, shapes, sorting, ufuncs
from vtgrad.numpy.array_reductions import ArrayReductions
from vtgrad.numpy.base import ArrayBase
from vtgrad.numpy.deliver import Axis
from vtgrad.numpy.flat_elements import FlatElements
from vtgrad.numpy.index import setitem
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.memory_order import copied
from vtgrad.numpy.operands import (
    ArrayLike,
    array_of_class,
    as_array,
    check_dtype,
    check_keeps,
    fresh,
    noted,
    result,
    value_of,
)
from vtgrad.numpy.picking import Mode
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.shapes import Order
from vtgrad.numpy.sorting import SortKind
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.layout import PECULIAR
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase

# What is written to: a path, or a file that is open.
_File: TypeAlias = str | os.PathLike[str] | IO[bytes]

__all__ = ["ArrayMethods"]

A = TypeVar("A", bound=ArrayBase)


class ArrayMethods(ArrayReductions):
    """What methods of arrays are called; `vtgrad.numpy` has a function for nearly all of them."""

    __slots__ = ()

    # -- other shapes ----------------------------------------------------------------------------

    def reshape(
        self,
        *shape: SupportsIndex | Sequence[SupportsIndex],
        order: Order = "C",
        copy: builtins.bool | None = None,
    ) -> ndarray:
        """``np.reshape(x, shape, ...)``, where the sizes may be arguments of their own."""
        if not shape:
            raise TypeError("reshape() takes at least 1 argument (0 given)")
        sizes: Any = shape[0] if len(shape) == 1 else shape
        return shapes.reshape(self, sizes, order, copy=copy)

    def ravel(self, order: Order = "C") -> ndarray:
        """``np.ravel(x, order)``."""
        return shapes.ravel(self, order)

    def flatten(self, order: Order = "C") -> ndarray:
        """A copy with all elements along one axis.

        Parameters
        ----------
        order : {"C", "F", "A", "K"}
            Which index runs fastest.

        Returns
        -------
        ndarray
            A new array.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.array([[1.0, 2.0]]).flatten()
        array([1., 2.])
        """
        return as_array(F.clone(shapes.ravel(self, order)))

    def transpose(self, *axes: SupportsIndex | Sequence[SupportsIndex] | None) -> ndarray:
        """``np.transpose(x, axes)``, where the axes may be arguments of their own."""
        order: Any = axes
        if not axes:
            order = None
        elif len(axes) == 1 and not isinstance(axes[0], SupportsIndex):
            order = axes[0]
        return shapes.transpose(self, order)

    def swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex) -> ndarray:
        """``np.swapaxes(x, axis1, axis2)``."""
        return shapes.swapaxes(self, axis1, axis2)

    def squeeze(self, axis: Axis = None) -> ndarray:
        """``np.squeeze(x, axis)``."""
        return shapes.squeeze(self, axis)

    def repeat(self, repeats: ArrayLike, axis: SupportsIndex | None = None) -> ndarray:
        """``np.repeat(x, repeats, axis)``: each element, where `Tensor.repeat` takes the whole."""
        return shapes.repeat(self, repeats, axis)

    def diagonal(
        self, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1
    ) -> ndarray:
        """``np.diagonal(x, ...)``."""
        return shapes.diagonal(self, offset, axis1, axis2)

    def trace(
        self,
        offset: SupportsIndex = 0,
        axis1: SupportsIndex = 0,
        axis2: SupportsIndex = 1,
        dtype: DTypeLike | None = None,
        out: ndarray | None = None,
    ) -> ndarray:
        """``np.trace(x, ...)``."""
        return shapes.trace(self, offset, axis1, axis2, dtype, out)

    # -- order -----------------------------------------------------------------------------------

    def sort(
        self,
        axis: SupportsIndex = -1,
        kind: SortKind | None = None,
        order: None = None,
        *,
        stable: builtins.bool | None = None,
    ) -> None:
        """Sort the array in place.

        Parameters
        ----------
        axis, kind, order, stable
            As of ``np.sort``, which returns a sorted copy.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> x = np.array([3.0, 1.0, 2.0])
        >>> x.sort()
        >>> x
        array([1., 2., 3.])
        """
        self[...] = sorting.sort(self, axis, kind, order, stable=stable)

    def argsort(
        self,
        axis: SupportsIndex | None = -1,
        kind: SortKind | None = None,
        order: None = None,
        *,
        stable: builtins.bool | None = None,
    ) -> ndarray:
        """``np.argsort(x, ...)``."""
        return sorting.argsort(self, axis, kind, order, stable=stable)

    def partition(
        self,
        kth: ArrayLike,
        axis: SupportsIndex = -1,
        kind: typing.Literal["introselect"] = "introselect",
        order: None = None,
    ) -> None:
        """Bring the array into the order of ``np.partition(x, ...)`` in place."""
        self[...] = sorting.partition(self, kth, axis, kind, order)

    def argpartition(
        self,
        kth: ArrayLike,
        axis: SupportsIndex | None = -1,
        kind: typing.Literal["introselect"] = "introselect",
        order: None = None,
    ) -> ndarray:
        """``np.argpartition(x, ...)``."""
        return sorting.argpartition(self, kth, axis, kind, order)

    def searchsorted(
        self,
        v: ArrayLike,
        side: typing.Literal["left", "right"] = "left",
        sorter: ArrayLike | None = None,
    ) -> ndarray:
        """``np.searchsorted(x, v, ...)``."""
        return sorting.searchsorted(self, v, side, sorter)

    # -- places ----------------------------------------------------------------------------------

    def take(
        self,
        indices: ArrayLike,
        axis: SupportsIndex | None = None,
        out: ndarray | None = None,
        mode: Mode = "raise",
    ) -> ndarray:
        """``np.take(x, indices, ...)``."""
        return picking.take(self, indices, axis, out, mode)

    def put(self, indices: ArrayLike, values: ArrayLike, mode: Mode = "raise") -> None:
        """``np.put(x, indices, values, mode)``."""
        picking.put(typing.cast("ndarray", self), indices, values, mode)

    def choose(
        self,
        choices: Sequence[ArrayLike] | ArrayLike,
        out: ndarray | None = None,
        mode: Mode = "raise",
    ) -> ndarray:
        """``np.choose(x, choices, ...)``."""
        return picking.choose(self, choices, out, mode)

    def compress(
        self,
        condition: ArrayLike,
        axis: SupportsIndex | None = None,
        out: ndarray | None = None,
    ) -> ndarray:
        """``np.compress(condition, x, ...)``."""
        return picking.compress(condition, self, axis, out)

    def nonzero(self) -> tuple[ndarray, ...]:
        """``np.nonzero(x)``."""
        return picking.nonzero(self)

    def fill(self, value: ArrayLike) -> None:
        """Store one value in all elements, recorded.

        Parameters
        ----------
        value : array_like
            A number.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> x = np.array([3.0, 1.0])
        >>> x.fill(2)
        >>> x
        array([2., 2.])
        """
        if isinstance(value, TensorBase) and value._impl.array.ndim:
            raise ValueError("setting an array element with a sequence.")
        setitem(self, ..., value)

    # -- values ----------------------------------------------------------------------------------

    def clip(
        self,
        min: ArrayLike | None = None,
        max: ArrayLike | None = None,
        out: ndarray | None = None,
        *,
        dtype: DTypeLike | None = None,
        where: ArrayLike = True,
        casting: str = "same_kind",
    ) -> ndarray:
        """``np.clip(x, min, max, ...)``."""
        return picking.clip(self, min, max, out, dtype=dtype, where=where, casting=casting)

    def round(self, decimals: SupportsIndex = 0, out: ndarray | None = None) -> ndarray:
        """``np.round(x, decimals, out)``."""
        return picking.round(self, decimals, out)

    def conj(self) -> ndarray:
        """``np.conjugate(x)``; a real array itself."""
        if self._impl.array.dtype.kind != "c":
            return typing.cast("ndarray", self)
        return ufuncs.conjugate(self)

    def conjugate(self) -> ndarray:
        """``np.conjugate(x)``; a real array itself."""
        if self._impl.array.dtype.kind != "c":
            return typing.cast("ndarray", self)
        return ufuncs.conjugate(self)

    def dot(self, b: ArrayLike, out: ndarray | None = None) -> ndarray:
        """``np.dot(x, b, out)``."""
        return picking.dot(self, b, out)

    # -- copies and casts ------------------------------------------------------------------------

    def copy(self, order: Order = "C") -> ndarray:
        """A copy on memory of its own, recorded.

        Parameters
        ----------
        order : {"C", "F", "A", "K"}
            Which index runs fastest in memory.

        Returns
        -------
        ndarray
            A new array.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> x = np.array([3.0, 1.0])
        >>> x.copy()
        array([3., 1.])
        """
        return copied(self, order)

    def astype(
        self,
        dtype: DTypeLike,
        order: Order = "K",
        casting: str = "unsafe",
        subok: builtins.bool = True,
        copy: builtins.bool = True,
    ) -> ndarray:
        """The elements in another dtype, recorded.

        Parameters
        ----------
        dtype : dtype
            The dtype.
        order : {"C", "F", "A", "K"}
            Which index runs fastest in memory.
        casting : str
            Which casts are allowed, as in NumPy.
        subok : bool
            Accepted.
        copy : bool
            Whether to copy where the array has the dtype already.

        Returns
        -------
        ndarray
            A new array, or without `copy` the array itself; a scalar for a scalar.

        Raises
        ------
        TypeError
            If the cast is not allowed.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.array([3.7, 1.0]).astype(int)
        array([3, 1])
        """
        own, wanted = self._impl.array.dtype, np.dtype(dtype)
        if not np.can_cast(own, wanted, typing.cast("Any", casting)):
            raise TypeError(
                f"Cannot cast array data from {own!r} to {wanted!r} according to the rule "
                f"{casting!r}"
            )
        if wanted.char not in "?bBhilqefdFD":
            # A dtype that stays NumPy's, such as one of strings: no gradient passes.
            check_keeps(self, wanted)
            numpys = value_of(self).astype(wanted)
            return typing.cast("ndarray", numpys[()] if type(self) is kinds.scalar else numpys)
        if type(self) is kinds.scalar and (own != wanted or copy):
            return result(F.clone(self) if own == wanted else F.to_dtype(self, wanted))
        if own != wanted:
            found = F.to_dtype(self, wanted)
            if order == "K" or found._impl.array.ndim < 2:
                return noted(as_array(found))
            return copied(found, order)
        return copied(self, order) if copy else typing.cast("ndarray", self)

    @overload
    def view(self, dtype: builtins.type[A], type: None = None) -> A: ...
    @overload
    def view(self, dtype: None = None, *, type: builtins.type[A]) -> A: ...
    @overload
    def view(self, dtype: DTypeLike | None = None, type: None = None) -> ndarray: ...
    def view(self, dtype: object = None, type: object = None) -> object:
        """The same elements as another object, or the same memory in another dtype.

        Parameters
        ----------
        dtype : dtype or class, optional
            Another dtype, which has no gradient, or a subclass of the class.
        type : class, optional
            A subclass of the class.

        Returns
        -------
        ndarray
            A view.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> x = np.array([3.0, 1.0])
        >>> x.view()[0] = 5
        >>> x
        array([5., 1.])
        """
        cls: object = type
        if isinstance(dtype, builtins.type) and issubclass(dtype, (ArrayBase, np.ndarray)):
            cls, dtype = dtype, None
        view = as_array(F.alias(self))
        if dtype is not None:
            view = self._memory_as(np.dtype(typing.cast("Any", dtype)))
        if cls is np.ndarray or cls is kinds.array:
            view = array_of_class(F.alias(view))
        elif cls is not None:
            view = typing.cast("Any", cls)._wrap(view._impl)
            finalize = getattr(view, "__array_finalize__", None)
            if finalize is not None:
                finalize(self)
        return view

    def _memory_as(self, dtype: np.dtype[Any]) -> ndarray:
        """The same memory in another dtype."""
        check_dtype(dtype)
        if dtype == self._impl.array.dtype:
            return as_array(F.alias(self))
        if self.requires_grad:
            raise TypeError(
                "the bytes of an array that requires grad cannot be viewed in another dtype, since "
                "no gradient passes; use x.detach().view(dtype)"
            )
        array = resolved(self._impl.array).view(dtype)
        impl = self._impl.alias(array, self._impl.byte_offset)
        return typing.cast("ndarray", kinds.array._wrap(impl))

    def byteswap(self, inplace: builtins.bool = False) -> ndarray:
        """The elements with the bytes of each in reverse order; no gradient passes."""
        found = fresh(value_of(self).byteswap())
        if not inplace:
            return found
        self[...] = found
        return typing.cast("ndarray", self)

    def tobytes(self, order: Order = "C") -> bytes:
        r"""The bytes of the elements.

        Parameters
        ----------
        order : {"C", "F", "A"}
            Which index runs fastest.

        Returns
        -------
        bytes
            A copy.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.array([1], dtype="i1").tobytes()
        b'\x01'
        """
        return value_of(self).tobytes(order)

    def tofile(self, fid: _File, sep: str = "", format: str = "%s") -> None:
        """Write the elements to a file, as NumPy does."""
        value_of(self).tofile(fid, sep, format)

    def dump(self, file: _File) -> None:
        """Pickle the array of NumPy with these elements to a file."""
        value_of(self).dump(file)

    def dumps(self) -> bytes:
        """The array of NumPy with these elements, pickled."""
        return value_of(self).dumps()

    def resize(
        self,
        *new_shape: SupportsIndex | Sequence[SupportsIndex],
        refcheck: builtins.bool = True,
    ) -> None:
        """Give the array another shape in place; only one with as many elements.

        Raises
        ------
        ValueError
            If the number of elements differs: memory that an array shares cannot grow.
        """
        sizes: Any = new_shape[0] if len(new_shape) == 1 else new_shape
        count = int(np.prod(making.atleast_1d(making.asarray(sizes)), dtype=np.int64))
        if count != self._impl.array.size:
            raise ValueError(
                "an array of vtgrad.numpy cannot be resized in place; use np.resize(x, shape)"
            )
        self.shape = sizes

    def setflags(
        self,
        write: bool | None = None,
        align: bool | None = None,
        uic: bool | None = None,
    ) -> None:
        """Let the array be written, or refuse it.

        Raises
        ------
        ValueError
            If it cannot be let, because the memory cannot be written, or the array is a scalar.
        """
        if type(self) is kinds.scalar:
            raise ValueError("Cannot set flags on array scalars.")
        # A read-only array has another one, see Note [Read-only memory]. Until it is looked up
        # again none is stated, for other threads and after an interrupt.
        self._impl.layout = PECULIAR
        self._impl.array.setflags(write=write, align=align, uic=uic)
        self._impl.layout = None

    @property
    def flat(self) -> FlatElements:
        """The elements in row-major order: to iterate over, to index, and to write.

        Assigned to, the elements get the values.

        Returns
        -------
        FlatElements
            What NumPy calls ``flatiter``.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
        >>> x.flat[2] = 5
        >>> x
        array([[1., 2.],
               [5., 4.]])
        """
        return FlatElements(typing.cast("ndarray", self))

    @flat.setter
    def flat(self, values: ArrayLike) -> None:
        FlatElements(typing.cast("ndarray", self))[...] = values
