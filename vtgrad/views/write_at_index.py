# Compiled by mypyc.
"""The short form of ``x[index] = v`` and ``x[mask] = v``, where nothing is recorded."""

from __future__ import annotations

from collections.abc import Callable

from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.inference_tensors import refuse_outside_inference_mode
from vtgrad.storage.key_set import keys
from vtgrad.storage.layout import PECULIAR
from vtgrad.storage.mark_written import mark_written
from vtgrad.storage.number_arrays import SMALL
from vtgrad.storage.prepared_store import Store
from vtgrad.storage.record_write import SETITEM, record_write
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_state import FREE_THREADED, refuse_second_thread
from vtgrad.storage.version_counter import INFERENCE

__all__ = ["write_at_index"]


def write_at_index(
    impl: TensorImpl,
    index: TensorImpl,
    value: object,
    writer: Callable[[Array, Array, Array | float | int], Store | None],
) -> bool:
    """Store a value at an index array or a mask if steps 1, 2, 4 and 8 have no effect.

    As `write_part`, see Note [The write funnel]: nothing is recorded, because no operand requires
    grad, and no check of memory can fail.

    Parameters
    ----------
    index : TensorImpl
        The index array or the mask.
    value : object
        A tensor of the same dtype, or a number that is stored without a cast; others are not
        handled.
    writer : callable
        Prepares the store, which is one assignment; None for what it does not handle.

    Returns
    -------
    bool
        False if these conditions do not hold, or if the index or the value's shape is wrong; then
        nothing was done.
    """
    if keys.modes:
        return False  # a tangent may have to be written too
    meta = impl.autograd_meta
    if meta is not None and meta.needs_gradient():
        return False
    layout, known = impl.layout, index.layout
    if layout is None:
        layout = impl.find_layout()
    if known is None:
        known = index.find_layout()
    storage = impl._storage
    if (
        layout is PECULIAR
        or known is PECULIAR
        or (storage is not None and index._storage is storage)
    ):
        return False
    content: Array | float | int
    if isinstance(value, TensorBase):
        source = value._impl
        meta = source.autograd_meta
        if (meta is not None and meta.needs_gradient()) or (
            storage is not None and source._storage is storage
        ):
            return False
        content = source.array
        if (
            source is impl
            or content.dtype is not layout.dtype
            or source.extra_meta is not None
            or type(content) not in PLAIN
        ):
            return False
    # Apart: compiled code takes what is an int or a float for a float.
    elif type(value) is float:
        if not abs(value) <= layout.largest:  # larger, or NaN
            return False
        content = value if layout.numbers is None else layout.numbers.operand(value)
    elif type(value) is int:
        if abs(value) > SMALL or layout.largest < 0:
            return False
        content = value if layout.numbers is None else layout.numbers.operand(value)
    else:
        return False
    counter = impl.version_counter
    if counter is None:
        counter = impl.own_counter()
    elif counter is INFERENCE:
        refuse_outside_inference_mode()
    store = writer(impl.array, index.array, content)
    if store is None:
        return False
    function, arguments, written = store
    if FREE_THREADED:
        refuse_second_thread()
    if counter.log is not None:
        # See Note [Marked for the next version].
        while mark_written(impl, counter, written) != counter.value + 1:
            continue
    version = counter.value = counter.value + 1
    function(*arguments)
    record_write(impl, counter, version, "__setitem__", SETITEM)
    return True
