"""Pickles and deep copies of tensors.

NOTE [ Copies keep aliasing ]

A tensor is stored as its storage, its version counter and its geometry. The first two are objects
that `pickle` and `copy.deepcopy` meet once for all tensors that share them, so tensors that
shared memory, and noticed each other's writes, do so after the trip, and no longer with those
that did not make it. What comes back is a leaf and no view. A geometry from a pickle is not
believed: it must lie inside its storage.
"""

from __future__ import annotations

import copy
import copyreg
from collections.abc import Callable

import numpy as np

from .errors import ArgumentTypeError, NotALeafError, OutOfBoundsError
from .graph.functions import meta_of, own_meta
from .ops.from_python import request_grad
from .storage.arrays import Array, Shape
from .storage.dtypes import DType, dtype_of
from .storage.geometry import check_in_bounds
from .storage.storage import Storage
from .storage.tensor_base import TensorBase
from .storage.tensor_impl import TensorImpl
from .storage.version_counter import VersionCounter

__all__ = ["deep_copy", "reduce_tensor"]

State = tuple[type[TensorBase], Storage, VersionCounter, DType, Shape, Shape, int, bool]


def reduce_tensor(tensor: TensorBase) -> tuple[object, State]:
    """How to make the tensor again, for `pickle`."""
    impl = tensor._impl
    meta = impl.autograd_meta
    return _rebuilt, (
        type(tensor),
        impl.storage,
        impl.counter,
        dtype_of(impl.dtype),
        impl.sizes,
        impl.strides,
        impl.storage_offset,
        meta is not None and meta.requires_grad(),
    )


def deep_copy(tensor: TensorBase, memo: dict[int, object]) -> TensorBase:
    """A copy on memory of its own, with a copy of ``.grad``.

    Raises
    ------
    NotALeafError
        If the tensor has a producer, which cannot be copied.
    """
    known = memo.get(id(tensor))
    if known is not None:
        assert isinstance(known, TensorBase)
        return known
    meta = meta_of(tensor)
    if meta is not None and meta.grad_fn(tensor) is not None:
        raise NotALeafError(
            "only leaves can be copied deeply: the graph that produced this tensor would not be "
            "copied; use x.detach().clone(), or x.clone() to stay in the graph"
        )
    _, (cls, storage, counter, dtype, sizes, strides, offset, grad) = reduce_tensor(tensor)
    own_storage, own_counter = copy.deepcopy(storage, memo), copy.deepcopy(counter, memo)
    new = _rebuilt(cls, own_storage, own_counter, dtype, sizes, strides, offset, grad)
    memo[id(tensor)] = new
    if meta is not None and meta.cell is not None and meta.cell.grad is not None:
        own_meta(new).own_cell().grad = copy.deepcopy(meta.cell.grad, memo)
    return new


def _rebuilt(
    cls: object,
    storage: object,
    counter: object,
    dtype: object,
    sizes: object,
    strides: object,
    offset: object,
    requires_grad: object,
) -> TensorBase:
    """The tensor that `reduce_tensor` took apart; whatever a pickle holds may arrive here."""
    if not (
        isinstance(cls, type)
        and issubclass(cls, TensorBase)
        and isinstance(storage, Storage)
        and isinstance(counter, VersionCounter)
        and isinstance(dtype, DType)
        and isinstance(sizes, tuple)
        and isinstance(strides, tuple)
        and type(offset) is int
        and all(type(n) is int for n in (*sizes, *strides))
    ):
        raise ArgumentTypeError("this is not a pickled tensor")
    nbytes = storage.nbytes()
    if storage.data_ptr() % dtype.itemsize and nbytes:
        raise OutOfBoundsError(f"the storage is not aligned for {dtype.name}", dtype=dtype)
    check_in_bounds(sizes, strides, offset, nbytes // dtype.itemsize)
    root = TensorImpl(storage.strided(np.dtype(np.uint8), (nbytes,), (1,), 0))
    root._storage = storage
    root.version_counter = counter
    array = storage.strided(dtype.numpy, sizes, strides, offset)
    tensor = cls._wrap(root.alias(array, offset * dtype.itemsize, strides))
    if requires_grad is True:
        request_grad(tensor)
    return tensor


def _storage_of(content: bytes) -> Storage:
    array: Array = np.frombuffer(content, np.uint8).copy()
    return Storage(array)


def _reduce_storage(storage: Storage) -> tuple[Callable[[bytes], Storage], tuple[bytes]]:
    whole = storage.strided(np.dtype(np.uint8), (storage.nbytes(),), (1,), 0)
    return _storage_of, (whole.tobytes(),)


def _reduce_counter(counter: VersionCounter) -> tuple[type[VersionCounter], tuple[()]]:
    """The copy's memory has not been written yet."""
    return VersionCounter, ()


copyreg.pickle(Storage, _reduce_storage)
copyreg.pickle(VersionCounter, _reduce_counter)
