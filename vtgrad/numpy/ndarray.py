"""The class of arrays."""

from __future__ import annotations

from vtgrad.numpy.array_methods import ArrayMethods
from vtgrad.numpy.base import ArrayType
from vtgrad.numpy.kinds import kinds

__all__ = ["ndarray"]


class ndarray(ArrayMethods, metaclass=ArrayType):
    """An array with NumPy's meanings and with gradients."""

    __slots__ = ()


kinds.array = ndarray
ndarray._gradient_class = ndarray
