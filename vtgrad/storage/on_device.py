# Compiled by mypyc.
"""Running code whose new tensors are on a device.

Note [Tensors made on a lane]

The memory of a lane is memory like any other, so kernels know nothing of lanes. An operator of
tensors on a lane runs as always, with the key of lanes excluded (Note [Keys]), and every tensor
that is made meanwhile on this thread is on the lane: results, views, and what a formula computes on
its way. `TensorImpl` looks for that where it looks for inference mode, so a thread that makes
tensors on a lane is listed in `switched.inference` like one in that mode.

Such a tensor has its storage from the start: what is saved for backward keeps a storage if there is
one, so a tensor that backward builds again is on the lane too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from vtgrad.storage.arrays import Array
from vtgrad.storage.device import CPU, Device
from vtgrad.storage.extra_meta import NOTHING, extra_of_lane
from vtgrad.storage.key_set import LANE, keys
from vtgrad.storage.mode import switched
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_mode import settle, thread

__all__ = ["impl_on", "on_device", "placed"]

R = TypeVar("R")
T = TypeVar("T", bound=TensorBase)


def on_device(
    place: Device | None, function: Callable[..., R], /, *args: object, **kwargs: object
) -> R:
    """Call a function; the tensors that it makes are on a device.

    Parameters
    ----------
    place : Device or None
        A lane as `lane_of` returns it, or the CPU or None for the CPU.
    """
    extra = None if place is None or place is CPU else extra_of_lane(place)
    if extra is not None:
        keys.active = True
    ident = thread.ident
    excluded, before = thread.excluded_keys, thread.extra_of_new
    try:
        switched.inference[ident] = thread.mode
        thread.excluded_keys = excluded | LANE
        thread.extra_of_new = extra
        return function(*args, **kwargs)
    finally:
        thread.excluded_keys = excluded
        thread.extra_of_new = before
        settle(ident)


def placed(tensor: T, lane: Device | None) -> T:
    """A new tensor, whose memory is from now on that of a lane; the CPU's for None."""
    if lane is not None:
        impl = tensor._impl
        impl.set_extra_meta((impl.extra_meta or NOTHING).with_device(lane))
        impl.storage.device = lane
    return tensor


def impl_on(array: Array, device: Device) -> TensorImpl:
    """A new impl of an array, on a device as `TensorImpl.device` returns it."""
    impl = TensorImpl(array)
    if device is not CPU:
        impl.set_extra_meta(extra_of_lane(device))
        impl.own_storage()
    return impl
