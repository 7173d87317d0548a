"""Whether an object that users made of a tensor shares its memory. This file is never compiled.

Note [Does it share the memory]

A pack function returns any object. What can be reached from it, through containers, attributes and
closures, is looked at as far as the garbage collector knows it; modules and classes are left out.
An array or a tensor there shares the memory if its bytes lie in the same buffer.

Something else may keep the memory: the pack function may put the tensor in a table, and return its
key. Then there are more references to the memory after the call than before. That counts as sharing
unless other data were found (tensors, arrays, bytes, floating numbers): a function that adds what
it is given to a list, and returns a clone, has made a copy.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from sys import getrefcount
from types import FunctionType, ModuleType
from typing import Final

import numpy as np

from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import physical
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["References", "shares_memory"]

# The number of objects that are looked at. If there are more, the rest counts as no data.
_MOST: Final = 1_000

# Objects that refer to large parts of the program, or to nothing.
_OPAQUE: Final = (type, ModuleType, str, int, type(None))
# Objects that may be the saved value in another form. Keys of a table are none of these.
_DATA: Final = (bytes, bytearray, float, complex, np.generic)


class References:
    """The number of references to the memory of a tensor, at the call of `count` and now.

    Both methods are to be called by one function, whose variables and arguments count too.
    """

    __slots__ = ("_count", "_held")

    _held: tuple[object, ...]
    _count: int

    def __init__(self, tensor: TensorBase) -> None:
        impl = tensor._impl
        storage = impl.storage
        held: list[object] = [tensor, impl, impl.counter, storage, storage.flat]
        array: object = impl.array
        while isinstance(array, np.ndarray):
            held.append(array)
            array = array.base
        self._held = tuple(held)
        self._count = 0

    def count(self) -> None:
        """Remember the present number."""
        self._count = sum(map(getrefcount, self._held))

    def have_grown(self) -> bool:
        """Whether there are more by now."""
        return sum(map(getrefcount, self._held)) > self._count


def shares_memory(value: object, impl: TensorImpl, has_grown: bool) -> bool:
    """Whether an object counts as sharing a tensor's memory; see Note [Does it share the memory].

    Parameters
    ----------
    value : object
        What was made of the tensor.
    has_grown : bool
        Whether there are more references to the memory than before.
    """
    memory = impl.storage.flat
    has_data = False
    seen: set[int] = set()
    # Objects stay alive while they are in `path`, so that their identities are not used twice.
    path: list[object] = [value]
    for one in path:
        if isinstance(one, _OPAQUE) or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, TensorBase):
            one = one._impl.array
        if isinstance(one, np.ndarray):
            if _overlap(one, memory):
                return True
            has_data = True
            if one.dtype.hasobject:
                path += one.ravel().tolist()
        elif isinstance(one, _DATA):
            has_data = True
        elif isinstance(one, memoryview):
            path.append(one.obj)
        else:
            path += _referents(one)
        if len(path) > _MOST:
            break
    return has_grown and not has_data


def _overlap(array: Array, memory: Array) -> bool:
    return np.may_share_memory(physical(array), memory)


def _referents(one: object) -> Iterable[object]:
    """The objects that an object refers to."""
    if isinstance(one, FunctionType):
        # Without its globals.
        return [*(one.__closure__ or ()), one.__defaults__, one.__kwdefaults__]
    return gc.get_referents(one)
