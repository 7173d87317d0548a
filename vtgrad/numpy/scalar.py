"""The class of 0-d results that carry a derivative."""

from __future__ import annotations

from typing import Any

from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.ndarray import ndarray
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["scalar"]


def _make_array(_: type[Any]) -> TensorBase:
    """The object of a result of an operator on a scalar, which is an array at first."""
    return TensorBase.__new__(kinds.array)


class scalar(ndarray):
    """One number that carries a derivative, as arithmetic and indexing with integers give it."""

    __slots__ = ()

    # See Note [Objects of results]. Which of the results are scalars, `operands.result` says.
    _make = staticmethod(_make_array)


kinds.scalar = scalar
