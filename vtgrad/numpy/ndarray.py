"""The class of arrays."""

from __future__ import annotations

from vtgrad.numpy.base import ArrayBase
from vtgrad.numpy.kinds import kinds

__all__ = ["ndarray"]


class ndarray(ArrayBase):
    """An array with NumPy's meanings and with gradients."""

    __slots__ = ()


kinds.array = ndarray
