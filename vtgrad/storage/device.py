"""The device of a tensor's memory: the CPU, or a lane of it."""

from __future__ import annotations

from vtgrad.errors import ArgumentTypeError, DeviceError, NotSupportedError

__all__ = ["CPU", "Device", "lane_of"]


class Device:
    """A device that holds memory: the CPU, or a *lane* of it.

    A lane is memory of the CPU too, but backward runs what belongs to a lane on a thread of that
    lane. Functions that take ``device=`` also take a name, such as ``"cpu"`` or ``"lane:1"``.

    Parameters
    ----------
    type : str, default "cpu"
        The kind of device, ``"cpu"`` or ``"lane"``, with or without a number.
    index : int, optional
        The number, if it is not part of `type`.

    Attributes
    ----------
    type : str
        The kind of device.
    index : int or None
        The number; None if none was given. Tensors of ``"lane"`` are on lane 0.

    Raises
    ------
    DeviceError
        If the number is none, or is given twice.
    ArgumentTypeError
        If `type` is not a string, or `index` not an integer.

    Examples
    --------
    >>> vt.device("cpu") == vt.zeros(2).device
    True
    >>> vt.device("lane:1") == vt.device("lane", 1)
    True
    >>> vt.zeros(2, device="lane").device
    device(type='lane', index=0)
    """

    __slots__ = ("_index", "_type")

    _type: str
    _index: int | None

    def __init__(self, type: str = "cpu", index: int | None = None) -> None:
        if not isinstance(type, str):
            raise ArgumentTypeError(
                f"a device is named by a string, not by {type.__class__.__name__}", argument="type"
            )
        kind, colon, number = type.partition(":")
        if colon:
            if index is not None:
                raise DeviceError(f"device {type!r} has a number, and {index!r} is another one")
            if not number.isdecimal() or not number.isascii():
                raise DeviceError(f"device {type!r} has no number after the colon")
            index = int(number)
        elif index is not None:
            given: object = index
            if not isinstance(given, int) or isinstance(given, bool):
                raise ArgumentTypeError(
                    f"the number of a device is an integer, not {index.__class__.__name__}",
                    argument="index",
                )
            if index < 0:
                raise DeviceError(f"the number of a device cannot be {index}")
        self._type = kind
        self._index = index

    @property
    def type(self) -> str:
        """The kind of device."""
        return self._type

    @property
    def index(self) -> int | None:
        """The number of the lane."""
        return self._index

    def __repr__(self) -> str:
        if self.index is None:
            return f"device(type={self.type!r})"
        return f"device(type={self.type!r}, index={self.index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Device) and other._type == self._type and other._index == self._index
        )

    def __hash__(self) -> int:
        return hash((self._type, self._index))


CPU = Device()


def lane_of(device: object) -> Device | None:
    """The lane that an argument names; None if it is None, or the CPU.

    Raises
    ------
    NotSupportedError
        If there is no such kind of device.
    DeviceError
        If there is no such CPU.
    ArgumentTypeError
        If the argument is neither a device nor a name.
    """
    if device is None or device is CPU:
        return None
    if not isinstance(device, Device):
        if not isinstance(device, str):
            raise ArgumentTypeError(
                f"argument 'device' must be a device or its name, not {type(device).__name__}",
                argument="device",
            )
        device = Device(device)
    if device.type == "cpu":
        if device.index:
            raise DeviceError(f"there is one CPU, and no {device}", device=device)
        return None
    if device.type != "lane":
        raise NotSupportedError(
            f"the devices of vtgrad are 'cpu' and 'lane:0', 'lane:1', ..., not {str(device)!r}",
            device=device,
        )
    return device if device.index is not None else Device("lane", 0)
