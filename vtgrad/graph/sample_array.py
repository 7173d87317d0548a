"""The array of a batched tensor: it has the geometry of one sample, and refuses to be read.

This file is never compiled, because it has a subclass of ndarray: Note [One source, two builds].
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

import numpy as np

from vtgrad.errors import BatchedTensorError
from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["SampleArray", "refuse_values", "sample_array"]

# Methods and attributes that look at the geometry only.
_GEOMETRY: Final = frozenset(
    {"diagonal", "reshape", "resize", "setflags", "squeeze", "swapaxes", "transpose", "view"}
)


def refuse_values(*_: object, **__: object) -> NoReturn:
    """Refuse to read the values of a sample.

    Raises
    ------
    BatchedTensorError
        Always.
    """
    raise BatchedTensorError(
        "a tensor inside of vmap stands for one sample of a batch, and has no values of its own "
        "that could be read here: item(), bool(), numpy(), a data-dependent index and the like "
        "need one tensor. Compute with operators (where() in place of if), or return the tensor "
        "and read it after vmap"
    )


class SampleArray(np.ndarray[Any, np.dtype[Any]]):
    """Sizes, strides and dtype of one sample; see Note [Batched tensors].

    Reading or writing values raises `BatchedTensorError`, whatever function does it: a function
    that forgets to ask for batched tensors fails, and never computes with one of the samples.
    """

    def __array_ufunc__(self, *_: object, **__: object) -> NoReturn:
        """Refuse to be read."""
        refuse_values()

    def __array_function__(self, *_: object, **__: object) -> NoReturn:
        """Refuse to be read."""
        refuse_values()


def _methods_that_look_at_values() -> list[str]:
    kept = {"__array_ufunc__", "__array_function__", "__array_finalize__", "__len__", "__sizeof__"}
    kept |= set(vars(object)) - {"__reduce__", "__reduce_ex__"}
    kept |= {"__array_priority__", "__array_struct__", "__class_getitem__", "__array_wrap__"}
    return [
        name
        for name, member in vars(np.ndarray).items()
        if callable(member) and name not in _GEOMETRY and name not in kept
    ]


for _name in _methods_that_look_at_values():
    setattr(SampleArray, _name, refuse_values)
# The attributes that lead to the memory.
for _name in ("__array_interface__", "__array_struct__", "ctypes", "data", "flat"):
    setattr(SampleArray, _name, property(refuse_values))


def sample_array(whole: Array) -> SampleArray:
    """The array of one sample.

    Parameters
    ----------
    whole : numpy.ndarray
        All samples, along the first dimension.
    """
    if whole.shape[0]:
        sample: Array = np.ndarray.__getitem__(whole, (0, Ellipsis))
    else:
        # There is no sample whose geometry could be taken.
        sample = making.empty(whole.shape[1:], whole.dtype)
    return np.ndarray.view(sample, SampleArray)
