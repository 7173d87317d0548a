# Compiled by mypyc.
"""Copies of gradients for observers, which may keep them and write to them."""

from __future__ import annotations

from vtgrad.graph.operators import operators
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import CPU, Device
from vtgrad.storage.geometry import has_self_overlap
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["own_copy", "own_expanded", "wrapped"]


def wrapped(array: Array, device: Device) -> TensorBase:
    """A gradient as a tensor on the device of its value, for users."""
    return operators().wrap(TensorImpl(array) if device is CPU else impl_on(array, device))


def own_copy(array: Array, device: Device) -> TensorBase:
    """A copy of a gradient that an observer may keep and write to; expanded if the gradient is."""
    if has_self_overlap(array.shape, array.strides):
        return wrapped(own_expanded(array), device)
    return operators().clone(wrapped(array, device))


def own_expanded(array: Array) -> Array:
    """A copy of an expanded array that is expanded too, which an observer may fill."""
    once = tuple([slice(None) if step else slice(0, 1) for step in array.strides])
    own = array[once].copy(order="K")
    strides = [new if step else 0 for step, new in zip(array.strides, own.strides, strict=True)]
    return making.as_strided(own, array.shape, strides)
