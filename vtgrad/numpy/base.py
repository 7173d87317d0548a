"""What arrays of `vtgrad.numpy` are without operators and methods."""

# The members that are here have NumPy's types in place of PyTorch's.
# mypy: disable-error-code="override"

from __future__ import annotations

import builtins
import typing
from collections.abc import Sequence
from typing import Any, ClassVar, Self, SupportsIndex

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.memory_flags import MemoryFlags
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import NumpyDType, Shape
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.tensor.tensor import Tensor

__all__ = ["ArrayBase", "ArrayType", "viewable"]


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


def viewable(x: TensorBase) -> TensorBase:
    """The array itself; a copy of a scalar, since a view of a scalar may not write to it."""
    return F.clone(x) if type(x) is kinds.scalar else x


def _real_part(value: object) -> Any:
    """What of a value a real array takes where NumPy discards the imaginary part."""
    given: Any = value
    if isinstance(given, (int, float, complex)):
        # An array, which is cast as NumPy casts here, where a number would have to fit.
        given = making.asarray(given)
    return given.real if getattr(given, "dtype", np.dtype(int)).kind == "c" else given


class ArrayBase(Tensor):
    """A tensor whose attributes mean what they mean in NumPy.

    The class of this class is `type`, so that ``isinstance`` with it, which the functions of the
    namespace ask at each call, is quick.
    """

    __slots__ = ()

    __array_priority__: ClassVar[builtins.int] = 2000

    @property
    def dtype(self) -> NumpyDType:
        """Element type.

        Returns
        -------
        dtype
            One of NumPy's.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.ndarray((2,)).dtype.kind
        'f'
        """
        dtype: NumpyDType = self._impl.array.dtype
        return dtype

    @property
    def shape(self) -> Shape:
        """Length of each dimension.

        Assigned to, it gives the same elements another shape, in place.

        Returns
        -------
        tuple of int
            A plain tuple.

        Raises
        ------
        AttributeError
            If an assigned shape would need a copy.
        ValueError
            If it has another number of elements.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> x = np.ndarray((2, 3))
        >>> x.shape = 3, -1
        >>> x.shape
        (3, 2)
        """
        shape: Shape = self._impl.array.shape
        return shape

    @shape.setter
    def shape(self, shape: SupportsIndex | Sequence[SupportsIndex]) -> None:
        if type(self) is kinds.scalar:
            raise AttributeError("the shape of a scalar cannot be set")
        array = resolved(self._impl.array)
        given: object = shape
        if given is None:
            raise TypeError("expected a sequence of integers or a single integer, got 'None'")
        probe = array.reshape(shape)
        if array.size and not np.may_share_memory(probe, array):
            raise AttributeError(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy "
                "with the desired shape."
            )
        strides = tuple(step // array.itemsize for step in probe.strides)
        if min(strides, default=0) < 0:
            raise NotSupportedError(
                "the shape of an array that is read backward, as x[::-1], cannot be set; reshape it"
            )
        F.as_strided_(self, probe.shape, strides)

    @property
    def strides(self) -> Shape:
        """Step between neighbours along each dimension, in bytes.

        Returns
        -------
        tuple of int
            As in NumPy; `stride()` counts elements.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.ndarray((2, 3)).strides
        (24, 8)
        """
        strides: Shape = self._impl.array.strides
        return strides

    @property
    def size(self) -> builtins.int:
        """Number of elements.

        Returns
        -------
        int
            The product of the shape.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.ndarray((2, 3)).size
        6
        """
        return self._impl.array.size

    @property
    def itemsize(self) -> builtins.int:
        """Bytes per element.

        Returns
        -------
        int
            8 for float64.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.ndarray((2, 3)).itemsize
        8
        """
        return self._impl.array.itemsize

    @property
    def nbytes(self) -> builtins.int:
        """Bytes of all elements.

        Returns
        -------
        int
            The number of elements times `itemsize`.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.ndarray((2, 3)).nbytes
        48
        """
        return self._impl.array.nbytes

    @property
    def flags(self) -> MemoryFlags:
        """How the elements lie in memory, and whether they can be written.

        Returns
        -------
        MemoryFlags
            As NumPy's. What is assigned to its `writeable` holds for the array.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.ndarray((2, 3)).flags.c_contiguous
        True
        """
        # Of an object of its own: what is assigned goes to the array by `setflags`.
        return MemoryFlags(typing.cast("Any", self), resolved(self._impl.array).view().flags)

    @property
    def base(self) -> Self | None:
        """The array that a view is of.

        Returns
        -------
        ndarray or None
            None for what is not known as a view.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> x = np.ndarray((2, 3))
        >>> x[0].base is x
        True
        """
        return self._base

    @property
    def T(self) -> Self:
        """The dimensions in reverse order.

        Returns
        -------
        ndarray
            A view.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.ndarray((2, 3, 4)).T.shape
        (4, 3, 2)
        """
        view = viewable(self)
        dims = tuple(range(self._impl.array.ndim))[::-1]
        return typing.cast("Self", F.permute(view, dims))

    @property
    def mT(self) -> Self:
        """The last two dimensions exchanged.

        Returns
        -------
        ndarray
            A view.

        Raises
        ------
        ValueError
            If there are fewer than two.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.ndarray((2, 3, 4)).mT.shape
        (2, 4, 3)
        """
        if self._impl.array.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return F.transpose(self, -2, -1)

    @property
    def real(self) -> Self:
        """The real parts.

        Assigned to, it writes them.

        Returns
        -------
        ndarray
            A view of a complex array; a real array itself.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.ndarray((2,)).real.shape
        (2,)
        """
        if self._impl.array.dtype.kind != "c":
            return self
        return typing.cast("Self", F.real(viewable(self)))

    @real.setter
    def real(self, value: object) -> None:
        part = self.real if self._impl.array.dtype.kind == "c" else self
        part[...] = _real_part(value)

    @property
    def imag(self) -> Self:
        """The imaginary parts.

        Assigned to, it writes them.

        Returns
        -------
        ndarray
            A view of a complex array; zeros, which cannot be written, for a real one.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.ndarray((2,)).imag.shape
        (2,)
        """
        if self._impl.array.dtype.kind == "c":
            return typing.cast("Self", F.imag(viewable(self)))
        array = self._impl.array
        zeros = making.zeros(array.shape, array.dtype, "F" if array.flags.fnc else "C")
        zeros.flags.writeable = False
        return typing.cast("Self", kinds.array._wrap(TensorImpl(zeros)))

    @imag.setter
    def imag(self, value: object) -> None:
        if self._impl.array.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self.imag[...] = _real_part(value)

    @property
    def device(self) -> str:
        """Where the elements are, as the array API names it.

        Returns
        -------
        str
            ``"cpu"``, or the name of a lane of it.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.ndarray((2,)).device
        'cpu'
        """
        return str(self._impl.device)
