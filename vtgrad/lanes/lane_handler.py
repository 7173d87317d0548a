"""Operators of tensors that are on a lane.

As in PyTorch, all operands of an operator are on one device, except that a 0-d tensor of the CPU
may stand beside tensors of any device, that the CPU's indices select from any device, and that
`copy_` copies from one device to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from vtgrad.errors import DeviceError
from vtgrad.ops.operator import Operator
from vtgrad.storage.device import CPU, Device, lane_of
from vtgrad.storage.on_device import on_device
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["handle_lane"]

# Operators whose first operand alone says where the result is: its own device.
_BY_THE_FIRST: Final = frozenset({"copy_"})
# Operators that select with indices or masks, and which argument these are.
_INDICES: Final = {"index_at": 1, "index_put_at": 1, "index_put_at_": 1, "index_spread": 2}


def handle_lane(
    operator: Operator,
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    """Run an operator on the device of its operands.

    Raises
    ------
    DeviceError
        If the operands are on different devices.
    """
    wanted = kwargs.get("device")
    if wanted is not None:
        return on_device(lane_of(wanted), function, *args, **{**kwargs, "device": None})
    if operator.name in _BY_THE_FIRST:
        first = args[0]
        assert isinstance(first, TensorBase)
        return on_device(first._impl.device, function, *args, **kwargs)
    return on_device(_device_of(operator.name, args, kwargs), function, *args, **kwargs)


def _device_of(operator: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Device:
    """The device of all operands, of which one at least is on a lane."""
    known: TensorBase | None = None
    indices = _INDICES.get(operator)
    if indices is not None:
        # Those of the CPU may select from any device.
        selecting = [index for index in _tensors((args[indices],)) if index._impl.device is not CPU]
        args = (*args[:indices], selecting, *args[indices + 1 :])
    for tensor in _tensors((*args, *kwargs.values())):
        impl = tensor._impl
        if impl.device is CPU and not impl.array.ndim:
            continue
        if known is None:
            known = tensor
        elif impl.device != known._impl.device:
            raise _mixed(operator, known, tensor)
    assert known is not None
    target = args[0] if operator.endswith("_") and args else kwargs.get("out")
    for written in _tensors((target,)):
        if written._impl.device != known._impl.device:
            raise _mixed(operator, written, known)
    return known._impl.device


def _mixed(operator: str, first: TensorBase, second: TensorBase) -> DeviceError:
    a, b = first._impl, second._impl
    return DeviceError(
        f"{operator} has operands on {a.device} (shape {list(a.sizes)}) and on {b.device} (shape "
        f"{list(b.sizes)}); move one with x.to(device). Only a 0-d tensor of the CPU may stand "
        "beside tensors of another device, and only copy_ writes what another device has",
        operator=operator,
        devices=(a.device, b.device),
    )


def _tensors(values: Sequence[object]) -> Iterator[TensorBase]:
    """The tensors among the values, and in sequences among them."""
    for value in values:
        if isinstance(value, TensorBase):
            yield value
        elif isinstance(value, Sequence) and not isinstance(value, str):
            for part in value:
                if isinstance(part, TensorBase):
                    yield part
