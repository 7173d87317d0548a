"""NumPy's arrays and numbers as operands.

Note [Arrays as constants]

Where an operator takes a tensor, it takes what NumPy can make an array of memory of: an array, a
column of a data frame. It is a constant of the array's dtype, which promotes as a tensor of that
dtype does, on the device of the tensors beside it. Arrays are met when a call has failed
(Note [A failed call]) or when nothing else has fitted, so calls with tensors pay nothing. Only
where a key takes over (Note [Keys]) they are looked for, because its handler must see all operands.

A constant stands on the array's memory, as the tensor of `from_numpy` does, and what a node saves
of it is a copy (Note [Borrowed memory]). It is copied at once where that would not be right: where
the memory may be that of another operand, which the operator may write before it reads the
constant; and where a result may be a view of its operand, which must not write to a read-only
array.

What an operator writes into is never made of an array.

Note [Numbers as operands]

An operator that computes element by element takes a number for each of its tensors but one, and
what joins tensors takes it for one of them. The number is a 0-d tensor, in the dtype that all
operands promote to, so it adds at most its category: a float beside integers makes the result
floating, in the default dtype, and beside float32 it is a float32. NumPy's scalars are the numbers
that they are, whatever their dtype; long floats, dates and durations are none. A bool is one where
a condition or a mask is expected, and a number of the promoted dtype otherwise.

An integer that the promoted dtype cannot hold is refused. Only the operators that stand for
Python's ones let it wrap around, as in all arithmetic: these have a kernel for numbers, or
`number_first` in the tables.

A tensor is no element, so `cat` refuses a number as it refuses a 0-d tensor: it has no dimension
along which it could be joined. `stack` and `hstack` take 0-d tensors, and so numbers.

Numbers are met when a call has failed (Note [A failed call]), or where a key takes over, because
its handler must see all operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, cast

import numpy as np

from vtgrad.errors import ArgumentTypeError, ArgumentValueError
from vtgrad.graph.audit import audit, show_to_numpy
from vtgrad.graph.operators import operators
from vtgrad.ops.calling.arguments import is_array
from vtgrad.ops.operator import Operator, described
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, Number
from vtgrad.storage.device import CPU
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.on_device import impl_on, placed
from vtgrad.storage.promotion import python_number, result_dtype
from vtgrad.storage.strides import reach
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = [
    "as_tensors",
    "check_meaning",
    "computes_as_numpy",
    "constant",
    "each_as_tensor",
    "exact_beside",
    "holds_array",
    "impl_of_array",
    "impl_of_constant",
    "tensor_beside",
    "tensors_for_numbers",
    "with_constants",
]

# The parameters that say where something is done.
_CONDITIONS: Final = frozenset({"condition", "mask"})


def computes_as_numpy(array: Array) -> bool:
    """Whether ufuncs of an array are those of plain ones; see Note [Plain arrays]."""
    own = type(array).__array_ufunc__
    return any(own is vars(kind)["__array_ufunc__"] for kind in PLAIN)


def check_meaning(array: Array) -> None:
    """Refuse an array whose operators mean something else than those of NumPy's.

    Raises
    ------
    ArgumentTypeError
        For a masked array, a matrix, or one that has its own `__array_ufunc__`.
    """
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
    if not computes_as_numpy(array):
        raise ArgumentTypeError(
            f"{type(array).__name__} is no operand: it computes in a way of its own, which its "
            "numbers do not show; pass np.asarray(array)"
        )


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
    array: Array = making.asanyarray(value)
    if type(array) not in PLAIN:
        check_meaning(array)
        array = making.plain_view(array)
    dtype = array.dtype
    dtype_of(dtype if dtype.isnative else dtype.newbyteorder("="))
    model = next((x for x in beside if isinstance(x, TensorBase)), None)
    impl = impl_of_constant(array, *beside)
    if model is None:
        return operators().wrap(impl)
    device = model._impl.device
    return placed(model._wrap(impl), None if device is CPU else device)


def impl_of_constant(array: Array, *beside: object) -> TensorImpl:
    """What a constant consists of; see Note [Arrays as constants].

    Parameters
    ----------
    array : numpy.ndarray
        Its memory, of a dtype that vtgrad has.
    *beside : object
        The other operands.
    """
    if not _is_usable(array) or any(_may_write(x, array) for x in beside):
        return TensorImpl(array.astype(array.dtype.newbyteorder("=")))
    impl = impl_of_array(array)
    impl.storage.borrowed = True
    return impl


def _is_usable(array: Array) -> bool:
    """Whether a tensor that can be written can stand on an array."""
    flags = array.flags
    if not array.dtype.isnative or not flags.behaved:
        return False
    item = array.itemsize
    return flags.c_contiguous or not any(stride % item for stride in array.strides)


def _may_write(operand: object, array: Array) -> bool:
    """Whether a write to an operand may change an array."""
    if not isinstance(operand, TensorBase):
        return False
    extra = operand._impl.extra_meta
    if extra is not None and extra.stands_for is not None:
        # A sample of a batch, which is not asked for its memory.
        return True
    return np.may_share_memory(operand._impl.array, array)


def holds_array(value: object) -> bool:
    """Whether a value is an array, or a sequence in which one is."""
    if isinstance(value, (list, tuple)):
        return any(map(is_array, value))
    return value is not None and is_array(value)


def with_constants(
    operator: Operator, args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[object, ...] | None:
    """The arguments by position with tensors for arrays and numbers; None if all stay as they are.

    See Note [Arrays as constants] and Note [Numbers as operands].

    Parameters
    ----------
    operator : Operator
        Its record.
    args, kwargs
        The arguments, in the order of its parameters.
    """
    made = _with_arrays(operator, args, kwargs)
    if operator.takes_numbers:
        return _with_numbers(operator, args if made is None else made) or made
    return made


def _with_arrays(
    operator: Operator, args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[object, ...] | None:
    """The arguments by position with tensors for arrays; None if there is nothing to convert."""
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


def each_as_tensor(values: Sequence[object]) -> Sequence[object]:
    """A sequence of tensors for one in which arrays, or numbers beside tensors, are.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As of `constant` and `exact_beside`.
    """
    with_arrays = _as_sequence(values, _tensors_of(values))
    return cast("Sequence[object]", tensors_for_numbers(with_arrays))


def _as_sequence(value: object, beside: Sequence[TensorBase]) -> object:
    """A sequence of tensors for one in which arrays are, or for an array along its first axis."""
    if isinstance(value, np.ndarray) and value.ndim:
        value = [value[nr, ...] for nr in range(len(value))]
    if not isinstance(value, (list, tuple)) or not any(map(is_array, value)):
        return value
    return [constant(x, *beside) if is_array(x) else x for x in value]


def tensor_beside(value: Number, other: TensorBase, *others: TensorBase) -> TensorBase:
    """A 0-d tensor of a number, in the dtype that it has beside other tensors.

    Raises
    ------
    ArgumentValueError
        If it is an integer that does not fit 64 bits.
    """
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ArgumentValueError("an integer operand does not fit 64 bits", value=value)
    dtype = result_dtype(*[x._impl.array for x in (other, *others)], value)
    # Integers that are out of range wrap around, as in all arithmetic with numbers.
    # A number that is too large for a floating dtype is infinite there.
    with np.errstate(over="ignore"):
        array = (
            making.asarray(value).astype(dtype)
            if dtype.kind in "iu"
            else making.asarray(value, dtype)
        )
    return other._wrap(TensorImpl(array))


def exact_beside(value: Number, other: TensorBase, *others: TensorBase) -> TensorBase:
    """The same for an operator that compares: an integer out of range does not wrap around.

    Raises
    ------
    ArgumentValueError
        If the dtype cannot hold it.
    """
    tensor = tensor_beside(value, other, *others)
    array = tensor._impl.array
    if isinstance(value, int) and array.dtype.kind in "iu" and array.item() != value:
        raise ArgumentValueError(f"{value} is no {array.dtype.name}", value=value)
    return tensor


def _is_number(value: object) -> bool:
    if isinstance(value, (int, float, complex)):
        return True
    return isinstance(value, np.generic) and python_number(value) is not value


def _with_numbers(operator: Operator, args: tuple[object, ...]) -> tuple[object, ...] | None:
    """The arguments by position with 0-d tensors for numbers; None if there is nothing to convert.

    Raises
    ------
    ArgumentTypeError
        If all operands are numbers.
    ArgumentValueError
        If an integer does not fit.
    """
    alone, sequences = _operands(operator)
    if len(args) != len(operator.positional):
        return None
    made = list(args)
    found = False
    for nr in sequences:
        made[nr] = tensors_for_numbers(args[nr])
        found = found or made[nr] is not args[nr]
    numbers = [nr for nr in alone if _is_number(args[nr])]
    if numbers:
        beside = _tensors_of(args)
        if not beside:
            if len(numbers) == len(alone):
                raise ArgumentTypeError(
                    f"at least one operand of {operator.spoken} must be a tensor"
                ) from None
            return None
        for nr in numbers:
            value = cast("Number | np.generic", args[nr])
            number: Number = value.item() if isinstance(value, np.generic) else value
            if operator.positional[nr] not in _CONDITIONS:
                made[nr] = exact_beside(number, *beside)
            elif isinstance(number, bool):
                made[nr] = beside[0]._wrap(TensorImpl(making.asarray(number)))
            else:
                return None
        found = True
    return tuple(made) if found else None


def tensors_for_numbers(values: object) -> object:
    """A sequence of tensors for one in which numbers stand beside tensors; else the same object.

    Raises
    ------
    ArgumentValueError
        If an integer does not fit.
    """
    if not isinstance(values, (list, tuple)) or not any(_is_number(x) for x in values):
        return values
    beside = _tensors_of(values)
    if not beside:
        return values
    return [_part_for_number(x, beside) if _is_number(x) else x for x in values]


def _part_for_number(value: Number | np.generic, beside: Sequence[TensorBase]) -> TensorBase:
    """The part of a sequence, which may get dimensions, and so is on the device of the others."""
    number: Number = value.item() if isinstance(value, np.generic) else value
    made = exact_beside(number, *beside)
    device = beside[0]._impl.device
    return made if device is CPU else made._wrap(impl_on(made._impl.array, device))


@lru_cache(maxsize=1024)
def _operands(operator: Operator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The positions of tensors for which numbers may stand, and of sequences of such tensors."""
    kinds = dict(described(operator.stated))
    places = [
        (nr, kind)
        for nr, kind in enumerate(list(kinds.values())[: len(operator.positional)])
        if not (operator.writes and nr == 0)
    ]
    sequences = tuple([nr for nr, kind in places if kind == "Tensors"])
    return tuple([nr for nr, kind in places if kind == "Tensor"]), sequences


def impl_of_array(array: Array) -> TensorImpl:
    """What a tensor on the memory of a NumPy array consists of, if there can be one."""
    impl = TensorImpl(array.view(np.ndarray))
    if not array.flags.c_contiguous:
        # With a negative stride the first element is not the lowest one.
        impl.byte_offset = -reach(array.shape, array.strides)[0]
    impl.storage.exported = True
    if audit.locks:
        show_to_numpy(impl.storage, array)
    return impl
