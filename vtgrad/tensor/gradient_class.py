"""The class that gradients of tensors of a subclass have.

Note [Classes of gradients]

Formulas compute gradients on arrays, which become plain tensors, so a gradient is a `Tensor`,
whatever class the differentiated tensor has. A class whose operators mean something else may state
another one in `TensorBase._gradient_class`: `grad`, the transforms of functions and ``.grad`` then
give gradients of that class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.tensor import Tensor

__all__ = ["in_class_of", "in_classes_of"]

G = TypeVar("G")


def in_class_of(gradient: G, model: object) -> G:
    """A gradient, a plain tensor so far, in the class that belongs to the class of `model`."""
    if isinstance(model, TensorBase) and type(gradient) is Tensor:
        cls = type(model)._gradient_class
        if cls is not None:
            gradient.__class__ = cls
    return gradient


def in_classes_of(gradients: Iterable[G], models: Sequence[object]) -> list[G]:
    """Each gradient in the class that belongs to the class of its model."""
    return [in_class_of(x, model) for x, model in zip(gradients, models, strict=True)]
