"""The class of functions that return their gradient with the value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from vtgrad.tensor.tensor import Tensor

__all__ = ["ValueWithGradient"]

P = TypeVar("P")


class ValueWithGradient(ABC, Generic[P]):
    """A function of parameters that is called for its value and its gradient at once.

    What takes functions asks for this class, and so does not import the package that makes them.
    """

    @abstractmethod
    def __call__(self, parameters: P) -> tuple[Tensor, P]:
        """The value, a 0-d tensor, and the gradient in the containers of the parameters."""
