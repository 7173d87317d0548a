"""How values come into the functions of the namespace, and how results go out."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Final, Protocol, SupportsIndex, TypeAlias, TypeGuard, TypeVar

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.graph.batch import is_batched, note_made
from vtgrad.graph.recording import is_recording
from vtgrad.graph.sample_array import SampleArray, refuse_values
from vtgrad.graph.thread_levels import thread
from vtgrad.graph.tracer import read_value
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.calling.constants import check_meaning, impl_of_constant
from vtgrad.ops.calling.take_over import keys_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, Number, NumpyDType
from vtgrad.storage.key_set import keys
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "ArrayLike",
    "Index",
    "SequenceOf",
    "all_of",
    "any_tensor",
    "array_of_class",
    "as_array",
    "cast",
    "check_dtype",
    "check_keeps",
    "fresh",
    "has_dtype",
    "is_differentiated",
    "is_keyed",
    "is_wide",
    "noted",
    "of",
    "of_any_dtype",
    "of_numbers",
    "on_memory",
    "overlap",
    "owned",
    "places_in",
    "result",
    "value_of",
    "viewable",
]

T = TypeVar("T", covariant=True)


class SequenceOf(Protocol[T]):
    """A sequence whose elements are asked for by number; no text, which holds texts only."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> T: ...
    def __contains__(self, value: object, /) -> bool: ...


# What functions of the namespace take for an array.
ArrayLike: TypeAlias = (
    TensorBase
    | np.ndarray[tuple[int, ...], np.dtype[np.generic]]
    | np.generic
    | Number
    | SequenceOf["ArrayLike"]
)
# What stands between the brackets of an array.
Index: TypeAlias = (
    SupportsIndex
    | slice
    | EllipsisType
    | ArrayLike
    | tuple[SupportsIndex | slice | EllipsisType | ArrayLike | None, ...]
    | None
)

# The dtypes that tensors have.
_KINDS: Final = frozenset("?bBhilqefdFD")


def of(value: object, dtype: NumpyDType | None = None) -> ndarray:
    """An array of the namespace with the elements of anything that NumPy makes an array of.

    Parameters
    ----------
    value : array_like
        An array of the namespace is returned itself. A tensor gives a view. An array of NumPy is
        a constant on its memory, see Note [Borrowed memory]. Nested sequences that hold tensors are
        stacked, which is recorded.
    dtype : numpy.dtype, optional
        The dtype of the result.

    Raises
    ------
    NotSupportedError
        If tensors cannot have the dtype.
    ArgumentTypeError
        For masked arrays, matrices, and arrays that compute in a way of their own.
    TypeError, ValueError
        What NumPy raises for what is no array.
    """
    found: ndarray
    if isinstance(value, ndarray):
        found = value
    elif isinstance(value, TensorBase):
        found = array_of_class(F.alias(value))
    elif isinstance(value, (list, tuple)) and any_tensor(value):
        found = _stacked(value, dtype)
    else:
        if isinstance(value, np.ndarray) and type(value) not in PLAIN:
            check_meaning(value)
        array = making.asarray(value, dtype)
        # Of lists and numbers NumPy makes a new array; anything else may have shared its memory.
        own = isinstance(value, (list, tuple, int, float, complex, np.generic))
        found = fresh(array) if own else on_memory(array)
    return found if dtype is None else cast(found, dtype)


def all_of(values: Sequence[object]) -> list[ndarray]:
    """Each value as by `of`; unsigned integers that tensors do not have become floats among floats.

    These are the floats that NumPy's promotion makes of them there: float32 of uint16.

    Raises
    ------
    NotSupportedError
        If tensors cannot have a dtype.
    """
    found = [x if is_wide(x) else of(x) for x in values]
    if any(map(is_wide, found)) and any(x.dtype.kind in "fc" for x in found):
        found = [
            making.asarray(x).astype(np.result_type(x.dtype, np.float16)) if is_wide(x) else x
            for x in found
        ]
    return [of(x) for x in found]


def of_numbers(value: object) -> ndarray:
    """As `of`, for functions that compute integers in float64: what `all_of` takes is taken too."""
    array = value
    if isinstance(value, (list, tuple)) and not any_tensor(value):
        array = making.asarray(value)
    return of(making.asarray(array).astype(np.float64) if is_wide(array) else value)


def is_wide(value: object) -> TypeGuard[Array | np.generic]:
    """Whether a value is of unsigned integers of more than 8 bits."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return False
    return value.dtype.kind == "u" and not has_dtype(value.dtype)


def of_any_dtype(value: object) -> ndarray | Array:
    """An array of the namespace, or one of NumPy where tensors do not have the dtype of a value.

    Raises
    ------
    NotSupportedError
        If a sequence holds tensors, and something of a dtype that tensors do not have.
    """
    try:
        return of(value)
    except NotSupportedError:
        if isinstance(value, TensorBase):
            raise
        if isinstance(value, (list, tuple)) and any_tensor(value):
            raise
        return making.asarray(value)


def cast(x: ndarray, dtype: NumpyDType) -> ndarray:
    """The array itself if it has the dtype, else a recorded copy that has it."""
    if x._impl.array.dtype == dtype:
        return x
    check_dtype(dtype)
    return as_array(F.to_dtype(x, dtype))


def has_dtype(dtype: NumpyDType) -> bool:
    """Whether tensors have a dtype."""
    return dtype.char in _KINDS and dtype.isnative


def check_keeps(x: TensorBase, dtype: NumpyDType) -> None:
    """Refuse a cast that would lose a derivative: to inexact numbers or objects that stay NumPy's.

    Raises
    ------
    NotSupportedError
        If `x` carries one.
    """
    if dtype.kind in "fcO" and is_differentiated(x):
        raise NotSupportedError(
            f"an array of dtype {dtype.name} stays NumPy's and would lose the derivative; pass "
            "x.detach() where none is wanted",
            dtype=dtype,
        )


def check_dtype(dtype: NumpyDType) -> None:
    """Refuse a dtype that tensors do not have.

    Raises
    ------
    NotSupportedError
        If so.
    """
    if not has_dtype(dtype):
        raise NotSupportedError(
            f"vtgrad.numpy has no arrays of dtype {dtype}; use numpy itself for them", dtype=dtype
        )


def fresh(array: Array) -> ndarray:
    """A new array of the namespace on memory of NumPy's, as a constant.

    Raises
    ------
    NotSupportedError
        If tensors cannot have its dtype.
    """
    check_dtype(array.dtype)
    if type(array) not in PLAIN:
        # One of a subclass, or a scalar.
        array = making.asarray(array)
    return typing.cast("ndarray", kinds.array._wrap(TensorImpl(array)))


def on_memory(array: Array) -> ndarray:
    """An array of the namespace on an array that programs may write to, see Note [Borrowed memory].

    Raises
    ------
    NotSupportedError
        If tensors cannot have its dtype.
    """
    check_dtype(array.dtype)
    return typing.cast("ndarray", kinds.array._wrap(impl_of_constant(array)))


def owned(x: ndarray) -> ndarray:
    """The array itself, or a copy of one on memory that is not its own, while recording.

    For what programs keep: it is used many times, and what is saved of such memory is copied each
    time.
    """
    storage = x._impl._storage
    borrowed = storage is not None and storage.borrowed
    return fresh(x._impl.array.copy("K")) if borrowed and is_recording() else x


def array_of_class(tensor: TensorBase) -> ndarray:
    """A fresh tensor of any class, which becomes an array of the namespace."""
    return _in_class(tensor, kinds.array)


def _in_class(tensor: TensorBase, cls: type[TensorBase]) -> ndarray:
    """A fresh tensor as an object of a class."""
    if type(tensor) in (Tensor, kinds.array, kinds.scalar):
        tensor.__class__ = cls
        return typing.cast("ndarray", tensor)
    # The object of a user's class has attributes of its own, so its class cannot change.
    made: ndarray = Tensor.__new__(typing.cast("Any", cls))
    made._impl = tensor._impl
    return made


def as_array(x: TensorBase) -> ndarray:
    """A result of an operator as an array, also if it is 0-d.

    For results that are views or the operand itself, and for functions whose result is an array in
    NumPy too, as of ``where`` and ``reshape``.
    """
    if isinstance(x, ndarray) and type(x) is not kinds.scalar:
        return x
    # An operator may return its operand.
    return array_of_class(F.clone(x) if type(x) is kinds.scalar else x)


def noted(found: ndarray) -> ndarray:
    """An array that has memory of its own, which is noted; anything else is returned as it is."""
    if keys.active and thread.batch_levels:
        if isinstance(typing.cast("object", found), TensorBase) and not is_batched(found):
            note_made(found, thread.batch_levels)
    return found


def result(x: TensorBase) -> ndarray:
    """A fresh result of an operator: an array, or a scalar if it is 0-d.

    A 0-d result that carries a derivative is a scalar of the namespace, and any other one is a
    scalar of NumPy, which the type does not show.
    """
    impl = x._impl
    array = impl.array
    if array.ndim:
        return typing.cast("ndarray", x) if type(x) is kinds.array else as_array(x)
    if is_differentiated(x):
        if type(x) is kinds.array:
            x.__class__ = kinds.scalar
            return typing.cast("ndarray", x)
        return _in_class(x, kinds.scalar)
    return typing.cast("ndarray", resolved(array)[()])


def is_keyed(x: TensorBase) -> bool:
    """Whether a tensor is more than an array: one of several samples, dual, traced, on a lane."""
    if not keys.active:
        return False
    # In forward mode only what has a tangent is dual.
    return x._impl.key_set != 0 or (bool(keys.modes) and keys_of(x) != 0)


def is_differentiated(x: TensorBase) -> bool:
    """Whether a value has more than its elements: a gradient, a tangent, samples, a trace."""
    impl = x._impl
    meta = impl.autograd_meta
    if meta is not None and meta.needs_gradient() and is_recording():
        return True
    return keys.active and is_keyed(x)


def value_of(x: TensorBase) -> Array:
    """The elements of an array, for what has no derivative: comparisons, positions, integers."""
    if keys.active:
        if keys.modes:
            read_value(x)
        if isinstance(x._impl.array, SampleArray):
            # Some of NumPy's functions take the array for its memory, which is one sample's.
            refuse_values()
    return resolved(x._impl.array)


def places_in(value: object) -> Array:
    """The elements of what says where or how often; NumPy computes with them, in any dtype.

    Raises
    ------
    NotSupportedError
        If a sequence holds tensors, and something of a dtype that tensors do not have.
    """
    found = of_any_dtype(value)
    return value_of(found) if isinstance(found, TensorBase) else found


def overlap(x: TensorBase, y: TensorBase) -> bool:
    """Whether two arrays may share memory; samples are not asked, and may."""
    if is_keyed(x) or is_keyed(y):
        return True
    return np.may_share_memory(x._impl.array, y._impl.array)


def viewable(x: ndarray) -> ndarray:
    """The array itself; a copy of a scalar, since a view of a scalar may not write to it."""
    return as_array(x) if type(x) is kinds.scalar else owned(x)


def any_tensor(items: Sequence[object]) -> bool:
    """Whether nested lists and tuples hold a tensor."""
    return any(
        isinstance(x, TensorBase) or (isinstance(x, (list, tuple)) and any_tensor(x)) for x in items
    )


def _stacked(items: Sequence[object], dtype: NumpyDType | None) -> ndarray:
    """Nested sequences as one array, which records where their tensors require grad."""
    parts = all_of(items)
    common = np.result_type(*[x._impl.array.dtype for x in parts]) if dtype is None else dtype
    shapes = {x._impl.array.shape for x in parts}
    if len(shapes) > 1:
        raise ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous "
            f"shape: the elements have the shapes {sorted(shapes)}"
        )
    return array_of_class(F.stack([cast(x, common) for x in parts]))
