"""Pickles and deep copies of tensors.

Note [Copies keep aliasing]

A tensor is stored as its storage, its version counter and its geometry. `pickle` and
`copy.deepcopy` store the first two once for all tensors that share them. So tensors that shared
memory and a version counter share copies of them afterwards, but not with tensors that were not
copied. The copy is a leaf and not a view. A geometry from a pickle is checked: it must be inside
its storage.

Whether the copy is an inference tensor depends on the mode in which the copy is made, as for all
new memory. So a counter is restored as `INFERENCE` in inference mode; and outside, `INFERENCE` is
restored as None, which means one counter for each storage.

The attributes of a subclass, in ``__dict__`` or in its slots, are copied as for all Python objects,
by the subclass's ``__getstate__`` and ``__setstate__`` if it has them.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable
from functools import partial
from typing import Final, cast

import numpy as np

from vtgrad.errors import ArgumentTypeError, NotALeafError, OutOfBoundsError
from vtgrad.graph.operators import operators
from vtgrad.graph.set_history import meta_of, own_meta
from vtgrad.graph.tracer import refuse_traced
from vtgrad.ops.calling.from_python import request_grad
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.dtypes import DType, bool_, dtype_of
from vtgrad.storage.extra_meta import Names
from vtgrad.storage.geometry import check_in_bounds
from vtgrad.storage.key_set import keys
from vtgrad.storage.lazy_array import is_conjugated, is_negated, with_bits
from vtgrad.storage.names import checked_names, unnamed
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_name import name_of
from vtgrad.storage.version_counter import VersionCounter
from vtgrad.tensor.subclass_methods import SubclassMethods

__all__ = ["deep_copy", "facts_of", "give_state", "rebuild_tensor", "reduce_tensor", "state_of"]

State = tuple[
    type[TensorBase] | None,
    Storage,
    VersionCounter,
    DType,
    Shape,
    Shape,
    int,
    bool,
    bool,
    bool,
    Names | None,
]


def reduce_tensor(tensor: TensorBase) -> tuple[object, State] | tuple[object, State, object]:
    """For `pickle`: the function that rebuilds the tensor, its arguments, and any state."""
    attributes = _attributes_of(tensor)
    facts = facts_of(tensor)
    return (rebuild_tensor, facts) if attributes is None else (rebuild_tensor, facts, attributes)


def _attributes_of(tensor: TensorBase) -> object:
    """The attributes of a subclass, in the form that `pickle` takes; None if there are none."""
    return type(tensor).__getstate__(tensor)


def state_of(tensor: TensorBase) -> object:
    """``__getstate__`` of tensors whose class has none of its own: attributes and the name.

    Tensors define it because native classes have one that repeats the content of the facts.
    """
    state = object.__getstate__(tensor)
    attributes, slots = cast(
        "tuple[dict[str, object] | None, dict[str, object]]",
        state if isinstance(state, tuple) else (state, {}),
    )
    name = name_of(tensor)
    if name is not None:
        attributes = {**(attributes or {}), "name": name}
    # The slots of the library are in the facts.
    kept = {name: value for name, value in slots.items() if name != "_impl"}
    return (attributes, kept) if kept else attributes


def give_state(tensor: TensorBase, state: object) -> None:
    """``__setstate__`` of tensors whose class has none of its own: as `pickle` does it."""
    parts = cast(
        "tuple[dict[str, object] | None, ...]", state if isinstance(state, tuple) else (state,)
    )
    for attributes in parts:
        for name, value in (attributes or {}).items():
            object.__setattr__(tensor, name, value)


def facts_of(tensor: TensorBase, what: str = "copying or pickling a tensor") -> State:
    """What a copy of a tensor is made of; errors say what copies it."""
    impl = tensor._impl
    if keys.modes:
        refuse_traced(impl, what)
    meta = impl.autograd_meta
    cls = type(tensor)
    return (
        None if cls is operators().tensor_class else cls,
        impl.storage,
        impl.counter,
        dtype_of(impl.dtype),
        impl.sizes,
        impl.strides,
        impl.storage_offset,
        meta is not None and meta.needs_gradient(),
        is_conjugated(impl.array),
        is_negated(impl.array),
        None if unnamed(impl.names) else impl.names,
    )


def deep_copy(tensor: TensorBase, memo: dict[int, object]) -> TensorBase:
    """A copy on memory of its own, with copies of ``.grad`` and of a subclass's attributes.

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
    cls, storage, counter, dtype, sizes, strides, offset, grad, *bits = facts_of(tensor)
    own_storage: Storage = copy.deepcopy(storage, memo)
    own_counter: object = copy.deepcopy(counter, memo)
    new = rebuild_tensor(cls, own_storage, own_counter, dtype, sizes, strides, offset, grad, *bits)
    memo[id(tensor)] = new
    if meta is not None and meta.cell is not None and meta.cell.grad is not None:
        own_meta(new).own_cell().grad = copy.deepcopy(meta.cell.grad, memo)
    attributes = _attributes_of(tensor)
    if attributes is not None:
        give: Callable[[object], None] = new.__setstate__  # type: ignore[attr-defined]  # tensors have one, see `give_state`
        give(copy.deepcopy(attributes, memo))
    return new


def rebuild_tensor(
    cls: object,
    storage: object,
    counter: object,
    dtype: object,
    sizes: object,
    strides: object,
    offset: object,
    requires_grad: object,
    conjugated: object = False,
    negated: object = False,
    names: object = None,
) -> TensorBase:
    """The tensor from the result of `reduce_tensor`; a pickle may contain any arguments.

    Parameters
    ----------
    cls : type or None
        The class of the tensor; None for `vtgrad.Tensor`.
    storage, counter, dtype
        As `vtgrad.pickles` rebuilds them; no counter stands for one of the storage.
    sizes, strides, offset
        The geometry, in elements.
    requires_grad, conjugated, negated
        The bits of the tensor.
    names : tuple or None
        The names of dimensions; pickles of earlier versions have none.

    Raises
    ------
    ArgumentTypeError
        If an argument is of another kind.
    NamesError
        If the names do not fit the dimensions.
    OutOfBoundsError
        If the geometry does not fit the storage.
    """
    if cls is None:
        cls = operators().tensor_class
    if not (
        isinstance(cls, type)
        and issubclass(cls, TensorBase)
        and isinstance(storage, Storage)
        and (counter is None or isinstance(counter, VersionCounter))
        and isinstance(dtype, DType)
        and isinstance(sizes, tuple)
        and isinstance(strides, tuple)
        and type(offset) is int
        and all(type(n) is int for n in (*sizes, *strides))
        and isinstance(conjugated, bool)
        and isinstance(negated, bool)
        and dtype.is_complex >= conjugated
        and not (negated and dtype is bool_)
    ):
        raise ArgumentTypeError("this is not a pickled tensor")
    nbytes = storage.nbytes()
    if storage.data_ptr() % dtype.itemsize and nbytes:
        raise OutOfBoundsError(f"the storage is not aligned for {dtype.name}", dtype=dtype)
    check_in_bounds(sizes, strides, offset, nbytes // dtype.itemsize, backwards=True)
    root = impl_on(storage.strided(np.dtype(np.uint8), (nbytes,), (1,), 0), storage.device)
    root._storage = storage
    root.version_counter = _counter_for(storage) if counter is None else counter
    array = storage.strided(dtype.numpy, sizes, strides, offset)
    array = with_bits(array, conjugated, negated)
    given = None if names is None else checked_names(names, len(sizes))
    impl = root.alias(array, offset * dtype.itemsize, strides)
    tensor = cls._of_impl(impl) if issubclass(cls, SubclassMethods) else cls._wrap(impl)
    tensor._impl.set_names(given)
    if requires_grad is True:
        request_grad(tensor)
    return tensor


# Where pickles find it; see Note [Pickles name one module].
rebuild_tensor.__module__ = "vtgrad.pickles"


# The counters of normal storages that were copied from storages of inference tensors, by the
# identity of the storage's array; an entry lives as long as the array.
_counters: Final[dict[int, tuple[weakref.ref[Array], VersionCounter]]] = {}


def _counter_for(storage: Storage) -> VersionCounter:
    """One counter for all normal tensors on a storage that had no counter before it was copied."""
    owner = storage.owner
    key = id(owner)
    known = _counters.get(key)
    if known is not None and known[0]() is owner:
        return known[1]
    counter = VersionCounter()
    # The callback is a C function, which nothing interrupts.
    _counters[key] = weakref.ref(owner, partial(_counters.pop, key)), counter
    return counter
