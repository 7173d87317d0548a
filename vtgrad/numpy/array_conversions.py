"""Arrays in Python and NumPy: numbers, text, copies, pickles."""

# The members that are here have NumPy's types in place of PyTorch's.
# mypy: disable-error-code="override"

from __future__ import annotations

import builtins
import sys
import types
import typing
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, Self, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.errors import AmbiguousTruthError
from vtgrad.graph.batch import batch_of
from vtgrad.graph.set_history import meta_of
from vtgrad.numpy.array_operators import ArrayOperators
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.operands import (
    ArrayLike,
    check_dtype,
    is_differentiated,
    of,
    value_of,
    viewable,
)
from vtgrad.numpy.protocols import call_ufunc
from vtgrad.ops.calling.lost_gradient import NUMBER, note_number
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.key_set import keys
from vtgrad.storage.lasting_arrays import constant
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.tensor.conversion_methods import ConversionMethods
from vtgrad.tensor.subclass_methods import in_class_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["ArrayConversions", "handle_of"]


_EMPTY: Final = constant([])

# For type checkers these are not what they are at run time.
_GRAD: Final[Any] = Tensor.grad
_gradient_facts: Final[Callable[[TensorBase], list[str]]] = typing.cast(
    "Any", ConversionMethods._gradient_facts
)


def _on_array(
    buffer: TensorBase,
    shape: Any,
    dtype: DTypeLike | None,
    offset: builtins.int,
    strides: Any,
    order: Any,
) -> TensorBase:
    """A view of an array of the namespace that `numpy.ndarray` makes of its memory."""
    x = viewable(of(buffer))
    array = resolved(x._impl.array)
    # What it must be, with NumPy's errors.
    probe: np.ndarray[Any, Any] = making.ndarray(shape, dtype, array, offset, strides, order)
    size = array.itemsize
    if probe.dtype != array.dtype or offset % size or any(step % size for step in probe.strides):
        check_dtype(probe.dtype)
        if is_differentiated(x):
            raise TypeError(
                "the bytes of an array that carries a derivative cannot be read as other elements, "
                "since no gradient passes; use x.detach()"
            )
        return kinds.array._wrap(x._impl.alias(probe, x._impl.byte_offset + offset))
    if probe.shape == array.shape and probe.strides == array.strides:
        return F.alias(x)
    if probe.size == array.size and probe.flags.c_contiguous and array.flags.c_contiguous:
        return F.reshape(x, probe.shape)
    start = x.storage_offset() + offset // size
    return F.as_strided(x, probe.shape, tuple(step // size for step in probe.strides), start)


class ArrayConversions(ArrayOperators):
    """Arrays as numbers and text, and what makes and copies them."""

    __slots__ = ()

    # -- construction ----------------------------------------------------------------------------

    __class_getitem__: ClassVar[Any] = classmethod(types.GenericAlias)

    def __new__(
        cls,
        shape: SupportsIndex | typing.Sequence[SupportsIndex],
        dtype: DTypeLike | None = float,
        buffer: object = None,
        offset: builtins.int = 0,
        strides: typing.Sequence[builtins.int] | None = None,
        order: str | None = None,
    ) -> Self:
        """An array with uninitialised elements, or on memory that is given; as in NumPy.

        On the memory of an array of the namespace it is a view of that one, which is recorded.
        """
        if isinstance(buffer, TensorBase):
            return cls._wrap(_on_array(buffer, shape, dtype, offset, strides, order)._impl)
        made: np.ndarray[Any, Any] = making.ndarray(
            typing.cast("Any", shape),
            dtype,
            typing.cast("Any", buffer),
            offset,
            typing.cast("Any", strides),
            typing.cast("Any", order),
        )
        check_dtype(made.dtype)
        return cls._wrap(TensorImpl(made))

    def __init__(self, *_: object, **__: object) -> None:
        # All is done by `__new__`, as in NumPy. A tensor's own constructor takes elements.
        pass

    # -- numbers ---------------------------------------------------------------------------------

    def item(self, *args: SupportsIndex | tuple[SupportsIndex, ...]) -> int | float:
        """One element as a number of Python.

        Parameters
        ----------
        *args : int or tuple of int
            Its place: none for the only element, one for its row-major position, or all indices.

        Returns
        -------
        bool, int, float or complex
            The element; gradients do not pass through it.

        Raises
        ------
        ValueError
            If there is not exactly one element, and no place is given.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.ndarray((1,), buffer=b"12345678", dtype="i1", offset=2).item()
        51
        """
        number: int | float = value_of(self).item(*typing.cast("Any", args))
        return number

    def tolist(self) -> Any:
        """The elements as nested lists of numbers of Python.

        Returns
        -------
        list or number
            Lists as deep as there are dimensions; a number for a 0-d array.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> np.ndarray((2,), buffer=b"12", dtype="i1").tolist()
        [49, 50]
        """
        return value_of(self).tolist()

    def __bool__(self) -> builtins.bool:
        array = value_of(self)
        if array.size != 1:
            raise AmbiguousTruthError(
                f"The truth value of an array with {array.size} elements is ambiguous. Use "
                "a.any() or a.all()",
                numel=array.size,
            )
        return builtins.bool(array.item())

    def _number(self) -> np.ndarray[Any, Any]:
        """The elements, for a conversion to a number, whose errors are NumPy's."""
        array = resolved(self._impl.array)
        if array.size == 1 and (keys.modes or self._impl.autograd_meta is not None):
            note_number(self, NUMBER)
        return array

    def __int__(self) -> builtins.int:
        return builtins.int(self._number())

    def __float__(self) -> builtins.float:
        return builtins.float(self._number())

    def __complex__(self) -> builtins.complex:
        return builtins.complex(self._number())

    def __index__(self) -> builtins.int:
        return value_of(self).__index__()

    # -- text ------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        batch = batch_of(self)
        if batch is not None:
            return f"one of {batch.level.size} samples of {batch.value!r}"
        text = repr(resolved(self._impl.array))
        facts = self._facts()
        return f"{text[:-1]}, {', '.join(facts)})" if facts else text

    def _facts(self) -> list[str]:
        """What a text says of the gradient and the tangent."""
        return _gradient_facts(self)

    def __str__(self) -> str:
        batch = batch_of(self)
        return repr(self) if batch is not None else str(resolved(self._impl.array))

    def __format__(self, spec: str) -> str:
        if batch_of(self) is not None:
            return object.__format__(self, spec)
        return format(resolved(self._impl.array), spec)

    # -- protocols -------------------------------------------------------------------------------

    def __array_namespace__(self, *, api_version: str | None = None) -> types.ModuleType:
        # NumPy raises for versions that it does not have.
        _EMPTY.__array_namespace__(api_version=typing.cast("Any", api_version))
        # The package is imported, because it has made the array.
        return sys.modules["vtgrad.numpy"]

    def to_device(self, device: str, /, *, stream: None = None) -> Self:
        """The array itself: there is the device ``"cpu"`` only.

        Parameters
        ----------
        device : str
            ``"cpu"``.
        stream : None
            There are no streams.

        Returns
        -------
        ndarray
            The array.

        Raises
        ------
        ValueError
            If another device or a stream is given.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> x = np.zeros(2)
        >>> x.to_device("cpu") is x
        True
        """
        if device != "cpu" or stream is not None:
            raise ValueError(f"Unsupported device or stream: {device!r}, {stream!r}")
        return self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **options: Any) -> Any:
        return call_ufunc(ufunc, method, inputs, options)

    # -- gradients -------------------------------------------------------------------------------

    def backward(
        self,
        gradient: ArrayLike | None = None,
        retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Add the gradients of this array into the ``.grad`` of the leaves.

        Parameters
        ----------
        gradient : array_like, optional
            The gradient of this array, of its shape; numbers and arrays of NumPy are constants.
        retain_graph, create_graph, inputs
            As for `Tensor.backward`.

        Raises
        ------
        RootError, ImplicitGradientError, GradientError, StaleSavedError, GraphFreedError
            As for `Tensor.backward`.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> x = np.array([1.0, 2.0]).requires_grad_()
        >>> (x * x).backward([1.0, 10.0])
        >>> x.grad
        array([ 2., 40.])
        """
        found = None if gradient is None else of(gradient)
        super().backward(found, retain_graph, create_graph, inputs)

    @property
    def grad(self) -> Self | None:
        """The gradient accumulated so far.

        Returns
        -------
        ndarray or None
            An array; None if nothing has arrived yet.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> x = np.ndarray((2,)).requires_grad_()
        >>> (x * 3).sum().backward()
        >>> x.grad
        array([3., 3.])
        """
        return in_class_of(super().grad, self)

    @grad.setter
    def grad(self, value: TensorBase | None) -> None:
        _GRAD.__set__(self, value)

    @grad.deleter
    def grad(self) -> None:
        _GRAD.__delete__(self)

    # -- copies ----------------------------------------------------------------------------------

    def __copy__(self) -> Self:
        return F.clone(self)

    def __deepcopy__(self, memo: dict[builtins.int, object] | None = None) -> Self:
        meta = meta_of(self)
        if meta is not None and meta.grad_fn(self) is not None:
            # A part of a computation: the copy is recorded, as `copy` is.
            return F.clone(self)
        return Tensor.__deepcopy__(self, {} if memo is None else memo)


def handle_of(impl: TensorImpl, cls: type[TensorBase]) -> TensorBase:
    """A tensor of exactly this class on an impl that no other tensor has."""
    made: TensorBase = Tensor.__new__(cls)
    made._impl = impl
    return made
