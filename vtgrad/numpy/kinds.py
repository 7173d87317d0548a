"""Which classes arrays and scalars are of, for the files below these classes."""

from __future__ import annotations

from typing import Final

from vtgrad.storage.tensor_base import TensorBase

__all__ = ["Kinds", "kinds"]


class Kinds:
    """The classes that results get.

    The files of functions stand below the classes, whose methods call the functions. So the classes
    enter themselves here when they are made.

    Attributes
    ----------
    array : type
        `vtgrad.numpy.ndarray`.
    scalar : type
        The class of 0-d results that carry a derivative.
    """

    __slots__ = ("array", "scalar")

    array: type[TensorBase]
    scalar: type[TensorBase]


kinds: Final[Kinds] = Kinds()
