"""How an argument may lie in memory: alone, or as a part of something larger."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final, NamedTuple

from vtgrad.storage.arrays import Shape
from vtgrad.tensor.tensor import Tensor

__all__ = ["ALONE", "IN_LARGER_MEMORY", "Arrangement"]

_OFFSET: Final = 3


class Arrangement(NamedTuple):
    """A way to lie in memory.

    Attributes
    ----------
    name : str
        What reports call it; empty for an argument that is alone.
    shape : callable
        From the shape of an argument to the shape of the memory.
    part : callable
        From the memory and the shape of the argument to the argument.
    """

    name: str
    shape: Callable[[Shape], Shape]
    part: Callable[[Tensor, Shape], Tensor]

    @property
    def is_alone(self) -> bool:
        """Whether the memory is the argument."""
        return not self.name


def _same(shape: Shape) -> Shape:
    return shape


def _all(memory: Tensor, shape: Shape) -> Tensor:
    return memory


def _twice_as_much(shape: Shape) -> Shape:
    return (*shape, 2)


def _every_second(memory: Tensor, shape: Shape) -> Tensor:
    return memory.select(-1, 1)


def _longer(shape: Shape) -> Shape:
    return (prod(shape) + _OFFSET,)


def _end(memory: Tensor, shape: Shape) -> Tensor:
    return memory.narrow(0, _OFFSET, prod(shape)).view(shape)


def _backwards(shape: Shape) -> Shape:
    return shape[::-1]


def _transposed(memory: Tensor, shape: Shape) -> Tensor:
    return memory.permute(tuple(range(len(shape)))[::-1])


ALONE: Final = Arrangement("", _same, _all)
IN_LARGER_MEMORY: Final = (
    Arrangement("a view with gaps", _twice_as_much, _every_second),
    Arrangement("a view with an offset", _longer, _end),
    Arrangement("a transposed view", _backwards, _transposed),
)
