"""Tensors in Python and NumPy: numbers, containers, text, copies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from importlib import import_module
from typing import ClassVar, Self, SupportsIndex, cast, overload

import numpy as np

from vtgrad.errors import (
    AmbiguousTruthError,
    ArgumentTypeError,
    ArgumentValueError,
    DimensionError,
    ElementCountError,
    ForwardModeError,
    NotSupportedError,
    NumpyConversionError,
    ResultTypeError,
    ViewInvalidError,
)
from vtgrad.graph.audit import audit, show_to_numpy
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.batch import batch_of
from vtgrad.graph.recording import is_grad_enabled
from vtgrad.graph.set_history import meta_of, requires_grad
from vtgrad.graph.thread_levels import thread
from vtgrad.graph.tracer import export_value, read_value
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.lost_gradient import ARRAY, NUMBER, note_number
from vtgrad.ops.calling.take_over import call_override, is_overridden, keys_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Array, Number, Shape
from vtgrad.storage.device import CPU
from vtgrad.storage.dtypes import (
    DType,
    bool_,
    complex64,
    complex128,
    float32,
    get_default_dtype,
    int64,
)
from vtgrad.storage.geometry import normalize_dim
from vtgrad.storage.integers import index_of
from vtgrad.storage.key_set import DUAL, keys
from vtgrad.storage.lazy_array import is_conjugated, is_negated, resolved
from vtgrad.storage.names import position_of, unnamed
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_name import name_of
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.tensor.array_ufunc import array_ufunc
from vtgrad.tensor.cast_methods import CastMethods
from vtgrad.tensor.creation_methods import CreationMethods
from vtgrad.tensor.formatting import tensor_text
from vtgrad.tensor.html import tensor_table
from vtgrad.tensor.pickling import deep_copy, reduce_tensor
from vtgrad.tensor.size import Size, as_size

__all__ = ["ConversionMethods", "Nested"]

# The result of `tolist`.
Nested = Number | list["Nested"]


class ConversionMethods(CreationMethods, CastMethods):
    """Conversions of tensors to Python and NumPy objects."""

    __slots__ = ()

    __array_priority__: ClassVar[int] = 1000

    # -- NumPy -------------------------------------------------------------------------------

    def numpy(self, *, force: bool = False) -> Array:
        """The tensor as a NumPy array on the same memory.

        Writes to the array move no version: overwritten saved values are not detected, except under
        `vtgrad.autograd.graph.set_audit`.

        Parameters
        ----------
        force : bool, default False
            Give an array also where the tensor requires grad, or is a lazy conjugate or negative;
            that one's values are copied.

        Returns
        -------
        ndarray
            An array of the tensor's shape, strides and dtype.

        Raises
        ------
        NumpyConversionError
            If the tensor requires grad and recording is on, or memory does not hold its values
            because it is a lazy conjugate or negative; unless forced.

        Examples
        --------
        >>> x = vt.zeros(2)
        >>> x.numpy()[0] = 5
        >>> x
        tensor([5., 0.])
        >>> x.requires_grad_().detach().numpy()
        array([5., 0.], dtype=float32)
        """
        if not force:
            self._check_plain("numpy()")
        impl = self._impl
        if keys.modes:
            export_value(self, "numpy()")
        impl.storage.exported = True
        # A new array object: assigning to its shape must not change the tensor.
        view: Array = resolved(impl.array).view()
        if audit.locks:
            show_to_numpy(impl.storage, view)
        return view

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, /, *inputs: object, **options: object
    ) -> object:
        """What NumPy's ufuncs do with tensors; see Note [Ufuncs of tensors]."""
        return array_ufunc(self, ufunc, method, inputs, options)

    def __array_function__(
        self,
        function: Callable[..., object],
        types: Collection[type],
        args: tuple[object, ...],
        options: dict[str, object],
        /,
    ) -> object:
        """What NumPy's functions do with tensors; see Note [Functions of NumPy]."""
        # The namespace is a tool, see Note [Tools come at first use].
        protocols = import_module("vtgrad.numpy.protocols")
        return cast("object", protocols.call_function(function, types, args, options))

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        self._check_plain("NumPy's conversion")
        if keys.modes:
            note_number(self, ARRAY)
        array = self.numpy(force=True)
        wanted = array.dtype if dtype is None else np.dtype(cast("np.dtype[np.generic]", dtype))
        if wanted != array.dtype:
            if copy is False:
                raise ArgumentValueError(
                    f"{array.dtype} cannot become {wanted} without a copy", dtype=str(wanted)
                )
            return array.astype(wanted)
        return array.copy() if copy else array

    def _check_plain(self, name: str) -> None:
        if is_grad_enabled() and requires_grad(self):
            raise NumpyConversionError(
                f"{name} of a tensor that requires grad would hide its uses from the graph; "
                "call x.detach().numpy()"
            )
        lazy = self._lazy_kind()
        if lazy is not None:
            raise NumpyConversionError(
                f"NumPy knows no lazy {lazy[0]}s, whose values are not in memory; call "
                f"x.resolve_{lazy[1]}().numpy() for a copy"
            )

    def _lazy_kind(self) -> tuple[str, str] | None:
        """How errors call it, and its name, if memory does not hold the tensor's values."""
        array = self._impl.array
        if is_conjugated(array):
            return "conjugate", "conj"
        return ("negative", "neg") if is_negated(array) else None

    # -- Python numbers ------------------------------------------------------------------------

    def item(self) -> Number:
        """The only element as a Python number.

        Returns
        -------
        bool, int, float or complex
            The element; gradients do not pass through it.

        Raises
        ------
        ElementCountError
            If there is not exactly one element.

        Examples
        --------
        >>> vt.tensor([[2.5]]).item()
        2.5
        """
        array = self._impl.array
        if array.size != 1:
            raise ElementCountError(
                f"item() needs exactly one element, and there are {array.size}; tolist() gives all",
                numel=array.size,
            )
        if keys.modes:
            read_value(self)
        number: Number = array.item()
        return number

    def tolist(self) -> Nested:
        """The elements as nested lists of Python numbers.

        Returns
        -------
        list or number
            Lists as deep as there are dimensions; a number for a 0-d tensor.

        Examples
        --------
        >>> vt.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        if keys.modes:
            read_value(self)
        nested: Nested = self._impl.array.tolist()
        return nested

    def _only(self) -> Number:
        """The only element, for conversions by Python, whose error is a ValueError."""
        array = self._impl.array
        if array.size != 1:
            raise ArgumentValueError(
                f"only a tensor of one element is a number, not one of shape {list(array.shape)}",
                shape=array.shape,
            )
        if keys.modes or self._impl.autograd_meta is not None:
            note_number(self, NUMBER)
        number: Number = array.item()
        return number

    def _only_real(self) -> bool | int | float:
        number = self._only()
        if isinstance(number, complex):
            if number.imag:
                raise ResultTypeError(f"{number} is no real number", value=number)
            return number.real
        return number

    def __bool__(self) -> bool:
        array = self._impl.array
        if array.size != 1:
            raise AmbiguousTruthError(
                f"a tensor of {array.size} elements is neither true nor false; use any() or all()",
                numel=array.size,
            )
        if keys.modes:
            read_value(self)
        return bool(array.item())

    def __int__(self) -> int:
        return int(self._only_real())

    def __float__(self) -> float:
        return float(self._only_real())

    def __complex__(self) -> complex:
        return complex(self._only())

    def __index__(self) -> int:
        array = self._impl.array
        if array.size != 1 or array.dtype.kind not in "bui":
            raise ArgumentTypeError(
                f"only an integer tensor of one element is an index, not one of "
                f"{self.dtype.name} and shape {list(array.shape)}",
                dtype=self.dtype,
                shape=array.shape,
            )
        if keys.modes:
            read_value(self)
        return int(array.item())

    # -- a container -----------------------------------------------------------------------------

    def __len__(self) -> int:
        array = self._impl.array
        if array.ndim == 0:
            raise ArgumentTypeError("a 0-d tensor has no len()")
        return int(array.shape[0])

    def __iter__(self) -> Iterator[Self]:
        """The parts along the first dimension, each a separate view, as ``x[i]`` makes it.

        So each part may be written, and is made in its iteration, from the tensor at that time, as
        in NumPy. Only the number of iterations is fixed at the beginning. In PyTorch they are the
        pieces of one `unbind`, which may not be written.

        Raises
        ------
        ArgumentTypeError
            If the tensor has no dimension.
        OutOfRangeError
            In its iteration, if the tensor was made shorter since.

        Examples
        --------
        >>> import vtgrad as vt
        >>> table = vt.zeros(3, 2)
        >>> total = vt.ones(2, requires_grad=True)
        >>> for row in table:
        ...     row += total
        >>> table.sum().backward()
        >>> total.grad
        tensor([3., 3.])
        """
        shape = self._impl.array.shape
        if not shape:
            raise ArgumentTypeError("a 0-d tensor cannot be iterated over")
        return map(partial(F.select, self, 0), range(shape[0]))

    def __reversed__(self) -> Self:
        """A copy with the first dimension in reverse; the tensor itself if it has none."""
        return F.flip(self, 0) if self._impl.array.ndim else self

    def __contains__(self, element: object) -> bool:
        if isinstance(element, (TensorBase, bool, int, float, complex, np.generic)):
            equal = F.eq(self, cast("TensorBase | Number", element))
            return bool(F.any(equal))
        raise NotSupportedError(
            f"a tensor contains numbers and tensors, not {type(element).__name__}"
        )

    # -- text ------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        batch = batch_of(self)
        if batch is not None:
            return f"one of {batch.level.size} samples of {batch.value!r}"
        facts: list[str] = []
        dtype = self.dtype
        plain = {get_default_dtype()} if self.numel() == 0 else _plain_dtypes()
        if dtype not in plain:
            facts.append(f"dtype={dtype!r}")
        device = self._impl.device
        if device is not CPU:
            facts.append(f"device={str(device)!r}")
        return tensor_text(self._impl.array, facts + self._gradient_facts() + self._name_facts())

    def _name_facts(self) -> list[str]:
        """What a text says of names of dimensions: nothing, or one fact."""
        names = self._impl.names
        return [] if unnamed(names) else [f"names={names!r}"]

    def _gradient_facts(self) -> list[str]:
        """What a text says of the gradient and the tangent."""
        meta = meta_of(self)
        if meta is None:
            return []
        return [*self._producer_facts(meta), *(self._tangent_facts() if keys.modes else [])]

    def _tangent_facts(self) -> list[str]:
        """What a text says of the tangent at the highest level: nothing, or one fact."""
        if not keys_of(self) & DUAL:
            return []
        meta = meta_of(self)
        assert meta is not None
        try:
            tangent = meta.fw_grad(meta.fw_level(thread.forward_limit), self)
        except ForwardModeError:
            return ["tangent=<Invalid>"]
        return [f"tangent={tangent}"]

    def _producer_facts(self, meta: AutogradMeta) -> list[str]:
        """What a text says of the producer: nothing, or one fact."""
        if not meta.needs_gradient():
            return []
        try:
            node = meta.grad_fn(self)
        except ViewInvalidError:
            return ["grad_fn=<Invalid>"]
        return ["requires_grad=True" if node is None else f"grad_fn=<{type(node).__name__}>"]

    def _repr_html_(self) -> str | None:
        """A vector or matrix as a table, for notebooks; None for other shapes."""
        counter = self._impl.version_counter
        facts = [f"{self.dtype.name} {list(self.shape)}", *self._gradient_facts()]
        facts += self._name_facts()
        if counter is not None and counter is not INFERENCE and counter.value:
            facts.append(f"version {counter.value}")
        name = name_of(self)
        if name is not None:
            facts.insert(0, name)
        return tensor_table(self._impl.array, ", ".join(facts))

    def __format__(self, spec: str) -> str:
        # A number; the text of a sample says that it is one of several.
        if self.ndim == 0 and (spec or batch_of(self) is None):
            return format(self.item(), spec)
        return object.__format__(self, spec)

    # -- copies ------------------------------------------------------------------------------------

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        result = deep_copy(self, memo)
        assert isinstance(result, type(self))
        return result

    def __reduce_ex__(
        self, protocol: SupportsIndex
    ) -> tuple[object, tuple[object, ...], *tuple[object, ...]]:
        return reduce_tensor(self)

    # -- geometry ----------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """Length of each dimension.

        Returns
        -------
        Size
            A tuple; the same as ``x.size()``.

        Examples
        --------
        >>> vt.zeros(2, 3).shape
        vtgrad.Size([2, 3])
        """
        return as_size(Size, self._impl.array.shape)

    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: int | str) -> int: ...
    def size(self, dim: int | str | None = None) -> Size | int:
        """The shape, or the length of one dimension.

        Parameters
        ----------
        dim : int or str, optional
            The dimension, or its name; negative numbers count from the end.

        Returns
        -------
        Size or int
            The shape, or the length of `dim`.

        Raises
        ------
        DimensionError
            If there is no such dimension.
        NameNotFoundError
            If no dimension has the name.

        Examples
        --------
        >>> x = vt.zeros(2, 3)
        >>> x.size(), x.size(-1)
        (vtgrad.Size([2, 3]), 3)
        """
        sizes = self._impl.sizes
        return as_size(Size, sizes) if dim is None else sizes[self._axis(dim)]

    @overload
    def stride(self, dim: None = None) -> Shape: ...
    @overload
    def stride(self, dim: int | str) -> int: ...
    def stride(self, dim: int | str | None = None) -> Shape | int:
        """Distance of neighbours in memory, in elements, of all dimensions or of one.

        Parameters
        ----------
        dim : int or str, optional
            The dimension, or its name; negative numbers count from the end.

        Returns
        -------
        tuple of int, or int
            0 along a dimension that `expand` has made; negative where an array of NumPy walks
            backwards.

        Raises
        ------
        DimensionError
            If there is no such dimension.
        NameNotFoundError
            If no dimension has the name.

        Examples
        --------
        >>> x = vt.zeros(2, 3)
        >>> x.stride(), x.t().stride(), x[:, ::2].stride(1)
        ((3, 1), (1, 3), 2)
        """
        strides = self._impl.strides
        return strides if dim is None else strides[self._axis(dim)]

    def _axis(self, dim: int | str) -> int:
        """A dimension that was given by number or by name, counted from the first one."""
        if isinstance(dim, str):
            return position_of(dim, self._impl.names)
        return _axis(dim, self._impl.array.ndim)

    def ndimension(self) -> int:
        """Number of dimensions; the same as `ndim`.

        Returns
        -------
        int
            The length of the shape.

        Examples
        --------
        >>> vt.zeros(2, 3).ndimension()
        2
        """
        return self._impl.array.ndim

    @property
    def itemsize(self) -> int:
        """Bytes per element; the same as ``x.element_size()``.

        Returns
        -------
        int
            A number from 1 to 16.

        Examples
        --------
        >>> vt.zeros(2, dtype=vt.float64).itemsize
        8
        """
        return self._impl.array.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements: ``x.numel() * x.itemsize``, also where elements share memory.

        Returns
        -------
        int
            The size of a gapless copy.

        Examples
        --------
        >>> x = vt.zeros(3)
        >>> x.nbytes, x.expand(2, 3).nbytes
        (12, 24)
        """
        return self._impl.array.nbytes

    def is_same_size(self, other: TensorBase) -> bool:
        """Whether another tensor has the same shape.

        Parameters
        ----------
        other : Tensor
            The tensor to compare with.

        Returns
        -------
        bool
            False also for shapes that broadcast.

        Raises
        ------
        ArgumentTypeError
            If `other` is not a tensor.

        Examples
        --------
        >>> vt.zeros(3).is_same_size(vt.zeros(1, 3))
        False
        """
        if keys.active and is_overridden(other):
            return call_override(ConversionMethods.is_same_size, self, other)
        same: bool = self._impl.array.shape == array_of(other, "other").shape
        return same


def _axis(dim: int, ndim: int) -> int:
    """A dimension number from the front; unlike for operators, a 0-d tensor has none."""
    if ndim == 0:
        raise DimensionError(f"a 0-d tensor has no dimension {dim}", dim=dim, ndim=0)
    return normalize_dim(index_of(dim, "dim"), ndim)


def _plain_dtypes() -> set[DType]:
    """The dtypes that the printed values imply."""
    default = get_default_dtype()
    return {default, int64, bool_, complex64 if default is float32 else complex128}
