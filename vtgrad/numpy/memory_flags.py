"""The flags of an array: how its elements lie in memory, and whether they can be written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, cast

if TYPE_CHECKING:
    from numpy._core.multiarray import flagsobj

__all__ = ["MemoryFlags"]

# The names in brackets of the flags that can be set, each with its argument of `setflags`.
_SETTABLE: Final = {
    "W": "write",
    "WRITEABLE": "write",
    "A": "align",
    "ALIGNED": "align",
    "X": "uic",
    "WRITEBACKIFCOPY": "uic",
}


class _HasFlags(Protocol):
    """An array."""

    def setflags(
        self, write: bool | None = None, align: bool | None = None, uic: bool | None = None
    ) -> None: ...


class MemoryFlags:
    """The flags that an array has; what is assigned to `writeable` holds for the array.

    As NumPy's, the object itself stays what it was.

    Parameters
    ----------
    array : ndarray
        The array.
    found : numpy.flagsobj
        NumPy's flags of its memory.
    """

    __slots__ = ("_array", "_found")

    def __init__(self, array: _HasFlags, found: flagsobj) -> None:
        self._array = array
        self._found = found

    @property
    def c_contiguous(self) -> bool:
        """Whether the elements are rows without gaps."""
        return self._found.c_contiguous

    contiguous = c_contiguous

    @property
    def f_contiguous(self) -> bool:
        """Whether the elements are columns without gaps."""
        return self._found.f_contiguous

    fortran = f_contiguous

    @property
    def fnc(self) -> bool:
        """Whether they are columns and not rows."""
        return self._found.fnc

    @property
    def forc(self) -> bool:
        """Whether they are columns or rows."""
        return self._found.forc

    @property
    def owndata(self) -> bool:
        """Whether the memory is the array's own."""
        return self._found.owndata

    @property
    def behaved(self) -> bool:
        """Whether the elements can be written, and are where the processor wants them."""
        return self._found.behaved

    @property
    def carray(self) -> bool:
        """Whether they are rows as well."""
        return self._found.carray

    @property
    def farray(self) -> bool:
        """Whether they are columns, and not rows, as well."""
        return self._found.farray

    @property
    def num(self) -> int:
        """All flags as the bits of a number."""
        return self._found.num

    @property
    def aligned(self) -> bool:
        """Whether the elements are where the processor wants them."""
        return self._found.aligned

    @aligned.setter
    def aligned(self, value: bool) -> None:
        self["ALIGNED"] = value

    @property
    def writeable(self) -> bool:
        """Whether the elements can be written; assigned to, it lets them be, or refuses it.

        Raises
        ------
        ValueError
            If the memory cannot be written, or the array is a scalar.
        """
        return self._found.writeable

    @writeable.setter
    def writeable(self, value: bool) -> None:
        self["WRITEABLE"] = value

    @property
    def writebackifcopy(self) -> bool:
        """Whether the array is a copy that is to be written back; never."""
        return self._found.writebackifcopy

    @writebackifcopy.setter
    def writebackifcopy(self, value: bool) -> None:
        self["WRITEBACKIFCOPY"] = value

    def __getitem__(self, name: str) -> bool:
        """A flag by NumPy's name or letter, as ``"WRITEABLE"`` or ``"W"``."""
        # Any name, of which NumPy says whether it is one.
        return self._found[cast("Any", name)]

    def __setitem__(self, name: str, value: bool) -> None:
        """Set a flag of the array.

        Raises
        ------
        KeyError
            If the flag cannot be set, or there is none of this name.
        """
        argument = _SETTABLE.get(name)
        if argument is None:
            raise KeyError("Unknown flag")
        self._array.setflags(**{argument: value})

    def __eq__(self, other: object) -> bool:
        return self._found == (other._found if isinstance(other, MemoryFlags) else other)

    def __hash__(self) -> int:
        raise TypeError("flags are not hashable")

    def __repr__(self) -> str:
        return repr(self._found)
