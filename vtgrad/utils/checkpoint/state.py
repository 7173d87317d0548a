"""The state that a loop hands from step to step: tensors in tuples, lists and dicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import BinaryIO, Final, NamedTuple, TypeAlias

import numpy as np

from vtgrad.errors import ArgumentTypeError, BatchedTensorError, NotSupportedError
from vtgrad.graph.batch import is_batched
from vtgrad.graph.tracer import refuse_traced
from vtgrad.ops.calling.take_over import keys_of
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.extra_meta import Names
from vtgrad.storage.key_set import DUAL, keys
from vtgrad.storage.lazy_array import physical, resolved
from vtgrad.storage.strides import reach
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.tensor.subclass_methods import made_of

__all__ = ["KeptArray", "KeptTensor", "State", "flatten", "has_tangent"]

# Values that never change, so that a reference to one is a copy.
_CONSTANTS: Final = (int, float, complex, bool, str, bytes, type(None), np.generic)
# Elements that `np.shares_memory` may look at before two tensors count as sharing memory.
_MAX_WORK: Final = 100_000

Build: TypeAlias = Callable[[Sequence[TensorBase]], object]


class State(NamedTuple):
    """A state taken apart.

    Attributes
    ----------
    tensors : tuple of TensorBase
        Its tensors, each once.
    build : callable
        Puts tensors in the places of these.
    """

    tensors: tuple[TensorBase, ...]
    build: Build

    def whole(self) -> object:
        """The state itself."""
        return self.build(self.tensors)


def flatten(value: object, where: str, *, copied: bool = True) -> State:
    """Take a state apart.

    Parameters
    ----------
    value : object
        A tensor, or a tuple, list or dict of states and constants.
    where : str
        What the value is, for messages.
    copied : bool, default True
        Whether arrays of its tensors will be copied, without tangents.

    Raises
    ------
    ArgumentTypeError
        If it contains an object of another type.
    BatchedTensorError
        If it contains a tensor of one sample.
    NotSupportedError
        If two of its tensors share memory, or one has a tangent and is to be copied.
    """
    tensors: list[TensorBase] = []
    build = _taken_apart(value, tensors, {}, where)
    if copied and any(map(has_tangent, tensors)):
        raise NotSupportedError(
            f"{where} has a tensor with a tangent, and the first state has none: copies of this "
            "one would have none either. Use a plain loop over the steps"
        )
    for nr, one in enumerate(tensors):
        for other in tensors[:nr]:
            if _share_memory(one, other):
                raise NotSupportedError(
                    f"two tensors of {where}, of shapes {list(other.shape)} and "
                    f"{list(one.shape)}, share memory: a write to one would change the other, but "
                    "not once they were restored from a snapshot. Clone one of them"
                )
    return State(tuple(tensors), build)


def has_tangent(tensor: TensorBase) -> bool:
    """Whether operators see a tangent of forward mode."""
    return bool(keys.modes and keys_of(tensor) & DUAL)


def _taken_apart(
    value: object, tensors: list[TensorBase], known: dict[int, int], where: str
) -> Build:
    if isinstance(value, TensorBase):
        if is_batched(value):
            raise BatchedTensorError(
                f"{where} has a tensor of one sample, of which there are no copies: call "
                "checkpoint_loop with the state of all samples, and vmap in the step"
            )
        nr = known.setdefault(id(value), len(tensors))
        if nr == len(tensors):
            tensors.append(value)
        return lambda found: found[nr]
    if isinstance(value, tuple):
        parts = [_taken_apart(x, tensors, known, where) for x in value]
        if type(value) is tuple:
            return lambda found: tuple([part(found) for part in parts])
        make = getattr(type(value), "_make", None)
        if make is not None:
            return lambda found: make([part(found) for part in parts])
    if type(value) is list:
        parts = [_taken_apart(x, tensors, known, where) for x in value]
        return lambda found: [part(found) for part in parts]
    if type(value) is dict:
        items = {key: _taken_apart(x, tensors, known, where) for key, x in value.items()}
        return lambda found: {key: part(found) for key, part in items.items()}
    if isinstance(value, _CONSTANTS):
        return lambda found: value
    raise ArgumentTypeError(
        f"{where} must be made of tensors, numbers, strings, None, tuples, lists and dicts, not "
        f"of {type(value).__name__}",
        found=type(value).__name__,
    )


def _share_memory(one: TensorBase, other: TensorBase) -> bool:
    a, b = physical(one._impl.array), physical(other._impl.array)
    if not np.may_share_memory(a, b):
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=_MAX_WORK))  # type: ignore[arg-type]  # the stub knows two of all numbers
    except np.exceptions.TooHardError:
        return True


class KeptArray:
    """A copy of an array, without the gaps that the array has.

    Note [A restored array has the strides of the first]

    Some functions of NumPy round differently on strided memory, and sums follow the order of
    memory. So a restored array has the strides of the copied one, gaps included.
    """

    __slots__ = ("_strides", "_values")

    _values: Array
    _strides: Shape

    def __init__(self, values: Array, strides: Shape) -> None:
        self._values = values
        self._strides = strides

    @staticmethod
    def of(array: Array) -> KeptArray:
        """A copy of the present values."""
        return KeptArray(making.array(resolved(array), order="K"), array.strides)

    def without_values(self) -> KeptArray:
        """All but the values, which are in a file."""
        values = self._values
        # One element, for the shape and the dtype.
        return KeptArray(
            making.broadcast_to(making.empty((), values.dtype), values.shape), self._strides
        )

    def save(self, file: BinaryIO) -> bytes:
        """Write the values to a file, in row-major order, and give what was written."""
        content = self._values.tobytes()
        file.write(content)
        return content

    def loaded(self, file: BinaryIO) -> KeptArray:
        """The values of a file, with this shape, dtype and these strides."""
        known = self._values
        content = file.read(known.size * known.itemsize)
        values: Array = making.frombuffer(content, known.dtype).reshape(known.shape)
        return KeptArray(values, self._strides)

    def restored(self) -> TensorImpl:
        """The values in memory of their own."""
        values = self._values
        if values.size == 0:
            return TensorImpl(values.copy())
        copy = values.copy(order="K")
        if copy.strides == self._strides:
            return TensorImpl(copy)
        item = values.itemsize
        low, high = reach(values.shape, self._strides, 0)
        memory: Array = making.empty(high - low + item, np.uint8)
        array: Array = making.ndarray(values.shape, values.dtype, memory, -low, self._strides)
        array[...] = values
        impl = TensorImpl(array)
        impl.byte_offset = -low
        return impl


class KeptTensor(NamedTuple):
    """A copy of a tensor."""

    kind: type[TensorBase]
    array: KeptArray
    names: Names

    @staticmethod
    def of(tensor: TensorBase) -> KeptTensor:
        """A copy of the present values."""
        impl = tensor._impl
        if keys.modes:
            refuse_traced(impl, "checkpoint_loop")
        return KeptTensor(type(tensor), KeptArray.of(impl.array), impl.names)

    def without_values(self) -> KeptTensor:
        """All but the values, which are in a file."""
        return self._replace(array=self.array.without_values())

    def loaded(self, file: BinaryIO) -> KeptTensor:
        """The tensor with the values of a file."""
        return self._replace(array=self.array.loaded(file))

    def restored(self) -> TensorBase:
        """A new tensor with these values, without history."""
        impl = self.array.restored()
        impl.set_names(self.names)
        return tensor_of(self.kind, impl)


def tensor_of(kind: type[TensorBase], impl: TensorImpl) -> TensorBase:
    """A tensor of a class on an impl that no other tensor has."""
    return made_of(kind, impl)
