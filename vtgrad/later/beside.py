"""Constants beside the operands of functions that are made of operators."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.storage.arrays import Array
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["beside"]

T = TypeVar("T", bound=TensorBase)


def beside(tensor: T, array: Array) -> T:
    """A tensor of a new array, of the class and on the device of another tensor."""
    return tensor._wrap(impl_on(array, tensor._impl.device))
