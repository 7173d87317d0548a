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
from vtgrad.ops.calling.arguments import is_array
from vtgrad.ops.operator import Operator, described
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import CPU
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.key_set import keys
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.strides import reach
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["as_tensors", "constant", "holds_array", "impl_of_array", "with_constants"]


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


def holds_array(value: object) -> bool:
    """Whether a value is an array, or a sequence in which one is."""
    if isinstance(value, (list, tuple)):
        return any(map(is_array, value))
    return value is not None and is_array(value)


def with_constants(
    operator: Operator, args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[object, ...] | None:
    """The arguments by position with tensors for arrays; None if there is nothing to convert.

    Parameters
    ----------
    operator : Operator
        Its record.
    args, kwargs
        The arguments, in the order of its parameters.
    """
    values = [*args, *kwargs.values()]
    if not any(map(holds_array, values)):
        return None
    known = [kind for _, kind in described(operator.stated)][: len(args)]
    if len(known) < len(args):
        # Written by hand: it takes its arguments in another way than the record states.
        return None
    # By name nothing is passed that an array can stand for.
    kinds = known + ["object"] * len(kwargs)
    made = as_tensors(kinds, values, written=operator.writes or operator.changes_geometry)
    return tuple(made[: len(args)]) if made else None


def as_tensors(kinds: Sequence[str], values: Sequence[object], *, written: bool) -> list[object]:
    """The arguments of a call with tensors for arrays, where tensors are taken.

    Parameters
    ----------
    kinds : sequence of str
        The types of the parameters, as records state them.
    values : sequence of object
        The arguments.
    written : bool
        Whether the first argument is written, and so must be a tensor.

    Returns
    -------
    list of object
        The same objects where nothing is to be made; empty if that is everywhere.
    """
    beside = _tensors_of(values)
    made: list[object] = []
    found = False
    for nr, (kind, value) in enumerate(zip(kinds, values, strict=True)):
        new = value
        if not (written and nr == 0):
            # Where one tensor is taken too, an array is one.
            one = "Tensor" in kind.split("|")
            if ("Tensors" in kind or "Pair" in kind) and not (one and is_array(value)):
                new = _as_sequence(value, beside)
            elif "Tensor" in kind and is_array(value):
                new = constant(value, *beside)
        found = found or new is not value
        made.append(new)
    return made if found else []


def _tensors_of(values: Sequence[object]) -> list[TensorBase]:
    """The tensors among the arguments, also in sequences of them."""
    found: list[TensorBase] = []
    for value in values:
        if isinstance(value, TensorBase):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found.extend(x for x in value if isinstance(x, TensorBase))
    return found


def _as_sequence(value: object, beside: Sequence[TensorBase]) -> object:
    """A sequence of tensors for one in which arrays are, or for an array along its first axis."""
    if isinstance(value, np.ndarray) and value.ndim:
        value = [value[nr, ...] for nr in range(len(value))]
    if not isinstance(value, (list, tuple)) or not any(map(is_array, value)):
        return value
    return [constant(x, *beside) if is_array(x) else x for x in value]


def impl_of_array(array: Array) -> TensorImpl:
    """What a tensor on the memory of a NumPy array consists of, if there can be one."""
    impl = TensorImpl(array.view(np.ndarray))
    # With a negative stride the first element is not the lowest one.
    impl.byte_offset = -reach(array.shape, array.strides)[0]
    impl.storage.exported = True
    if audit.locks:
        show_to_numpy(impl.storage, array)
    return impl
