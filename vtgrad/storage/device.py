"""The device of a tensor's memory. NumPy has one."""

from __future__ import annotations

__all__ = ["CPU", "Device"]


class Device:
    """A device that holds memory.

    Attributes
    ----------
    type : str
        Always ``"cpu"``.
    index : int or None
        Always None: there is one CPU device.
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
