"""NumPy's arrays as operands.

Note [Arrays as constants]

Where an operator takes a tensor, it takes what NumPy can make an array of memory of: an array, a
column of a data frame. It is a constant of the array's dtype, which promotes as a tensor of that
dtype does, on the device of the tensors beside it. Arrays are met when a call has failed
(Note [A failed call]) or when nothing else has fitted, so calls with tensors pay nothing. Only
where a key takes over (Note [Keys]) they are looked for, because its handler must see all operands.

A constant stands on the array's memory, as the tensor of `from_numpy` does. It is copied where that
would not be right: NumPy's writes are not seen, so what a node may save must be a value of its own;
a lane computes later; and a result may be a view of its operand, which must not write to a
read-only array.

What an operator writes into is never made of an array.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.errors import ArgumentTypeError
from vtgrad.graph.audit import audit, show_to_numpy
from vtgrad.graph.operators import operators
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import requires_grad
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import CPU
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.key_set import keys
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.strides import reach
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["constant", "impl_of_array"]


def constant(value: object, *beside: object) -> TensorBase:
    """A tensor of an array, for an operator; see Note [Arrays as constants].

    Parameters
    ----------
    value : ndarray or what holds one
        The array.
    *beside : object
        The other operands. The tensor is of the class of the first tensor among them, on its
        device.

    Raises
    ------
    ArgumentTypeError
        If vtgrad does not have its dtype, or it is an array whose operators mean something else:
        a masked array, a matrix, or one that has its own `__array_ufunc__`.
    """
    array: Array = np.asanyarray(value)
    if hasattr(array, "mask"):
        raise ArgumentTypeError(
            "a masked array is no operand: the tensor would not have its mask; pass its data, or "
            "array.filled(value)"
        )
    if isinstance(array, np.matrix):
        raise ArgumentTypeError(
            "a np.matrix is no operand: its `*` and `**` are products of matrices, and those of "
            "tensors are not; pass np.asarray(matrix)"
        )
    if type(array).__array_ufunc__ is not np.ndarray.__array_ufunc__:
        raise ArgumentTypeError(
            f"{type(array).__name__} is no operand: it computes in a way of its own, which its "
            "numbers do not show; pass np.asarray(array)"
        )
    array = array.view(np.ndarray)
    native = array.dtype.newbyteorder("=")
    dtype_of(native)
    model = next((x for x in beside if isinstance(x, TensorBase)), None)
    if _is_own(array, beside):
        impl = TensorImpl(array.astype(native))
    else:
        impl = impl_of_array(array)
    if model is None:
        return operators().wrap(impl)
    if model._impl.device is not CPU:
        impl = impl_on(impl.array, model._impl.device)
    return model._wrap(impl)


def _is_own(array: Array, beside: Sequence[object]) -> bool:
    """Whether a constant has memory of its own."""
    if not array.flags.writeable or not array.flags.aligned or not array.dtype.isnative:
        return True
    if any(stride % array.itemsize for stride in array.strides):
        return True
    if keys.modes:
        return True
    return is_recording() and any(isinstance(x, TensorBase) and _may_record(x) for x in beside)


def _may_record(tensor: TensorBase) -> bool:
    # The sample of a batch does not tell whether the batch requires grad.
    return requires_grad(tensor) or tensor._impl.extra_meta is not None


def impl_of_array(array: Array) -> TensorImpl:
    """What a tensor on the memory of a NumPy array consists of, if there can be one."""
    impl = TensorImpl(array.view(np.ndarray))
    # With a negative stride the first element is not the lowest one.
    impl.byte_offset = -reach(array.shape, array.strides)[0]
    impl.storage.exported = True
    if audit.locks:
        show_to_numpy(impl.storage, array)
    return impl
