"""The device of a tensor's memory. NumPy has one."""

from __future__ import annotations

__all__ = ["CPU", "Device"]


class Device:
    """A device that holds memory; there is only the CPU.

    Functions that take ``device=`` also take its name.

    Parameters
    ----------
    type : str, default "cpu"
        The name of the kind of device.

    Attributes
    ----------
    type : str
        The name.
    index : int or None
        Always None: there is one device of a kind.

    Examples
    --------
    >>> vt.device("cpu") == vt.zeros(2).device
    True
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: str = "cpu") -> None:
        self.type = type
        self.index = None

    def __repr__(self) -> str:
        return f"device(type={self.type!r})"

    def __str__(self) -> str:
        return self.type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.type == self.type

    def __hash__(self) -> int:
        return hash(self.type)


CPU = Device()
