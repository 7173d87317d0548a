"""Writes into arrays: ``x[...] = v``, ``out=`` and operators in place."""

from __future__ import annotations

import typing

import numpy as np

from vtgrad.graph.recording import is_recording
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.operands import as_array, cast, is_differentiated, of, value_of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.check_inplace import check_inplace, check_memory

__all__ = ["check_target", "store"]


def store(target: object, value: ndarray, mask: ndarray | bool = True) -> ndarray:
    """Write a value into an array, recorded, cast to its dtype.

    Parameters
    ----------
    target : ndarray or tensor
        What is written; an array of NumPy cannot hold a derivative.
    value : ndarray
        Broadcast to the shape of the target.
    mask : ndarray of bool or True
        Where to write.

    Raises
    ------
    TypeError
        If a value with a derivative would be stored in an array of NumPy, or the target is a
        scalar.
    ValueError
        If the value does not broadcast, or the target is read-only.
    WriteRefusedError
        If the target is a leaf that requires grad, or the like.
    """
    _check(target, value)
    if not isinstance(target, TensorBase):
        assert isinstance(target, np.ndarray)
        np.copyto(target, value_of(value), where=_values(mask), casting="unsafe")
        return typing.cast("ndarray", target)
    shape, found = target._impl.array.shape, value._impl.array.shape
    value = cast(of(value), target._impl.dtype)
    if mask is not True:
        value = as_array(F.where(typing.cast("TensorBase", mask), value, F.clone(target)))
    if found != shape:
        value = as_array(F.broadcast_to(value, shape))
    F.copy_(target, value)
    return typing.cast("ndarray", target)


def check_target(target: object, value: ndarray) -> None:
    """Raise what `store` would raise, where another target is written before; see there."""
    _check(target, value)
    if isinstance(target, TensorBase):
        check_memory(target)
        if is_recording() and (is_differentiated(target) or is_differentiated(value)):
            check_inplace(target)
    elif not typing.cast("Array", target).flags.writeable:
        raise ValueError("output array is read-only")


def _check(target: object, value: ndarray) -> None:
    if isinstance(target, TensorBase):
        array = target._impl.array
        if type(target) is kinds.scalar:
            raise TypeError("'out' must be an array, not a scalar: scalars are not written")
    else:
        assert isinstance(target, np.ndarray)
        array = target
        if is_differentiated(value):
            raise TypeError(
                "a value with a derivative cannot be stored in an array of NumPy; make the array "
                "with vtgrad.numpy, e.g. np.zeros"
            )
    shape, found = array.shape, value._impl.array.shape
    try:
        fits = np.broadcast_shapes(shape, found) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"non-broadcastable output operand with shape {_text(shape)} doesn't match the "
            f"broadcast shape {_text(found)}"
        )


def _values(mask: ndarray | bool) -> typing.Any:
    return True if mask is True else value_of(typing.cast("ndarray", mask))


def _text(shape: tuple[int, ...]) -> str:
    return str(shape).replace(" ", "")
