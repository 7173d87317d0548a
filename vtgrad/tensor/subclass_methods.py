"""Tensors of classes of users.

Note [Classes of gradients]

Formulas compute gradients on arrays, which become plain tensors, so a gradient is a `Tensor`,
whatever class the differentiated tensor has. A class whose operators mean something else may state
another one in `TensorBase._gradient_class`: `grad`, the transforms of functions and ``.grad`` then
give gradients of that class. Hooks of tensors and backward of a custom Function get such gradients,
and saved tensors of the class that was saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast

from vtgrad.errors import ArgumentTypeError
from vtgrad.graph.operators import operators
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_mixin import TensorMixin

__all__ = ["SubclassMethods", "class_of_saved", "in_class_of", "in_classes_of", "shown_in"]

S = TypeVar("S", bound=TensorBase)
G = TypeVar("G")


class SubclassMethods(TensorMixin):
    """The method that makes tensors of another class."""

    __slots__ = ()

    def as_subclass(self, cls: type[S]) -> S:
        """The tensor as an object of a class that inherits from `Tensor`.

        The ``__init__`` of the class does not run. Operators return tensors of the class of their
        first tensor; gradients are of the class `Tensor`.

        Parameters
        ----------
        cls : type
            A subclass of `Tensor`, or `Tensor` itself.

        Returns
        -------
        Tensor
            A view of the whole tensor: writing to one writes to the other, and gradients pass.

        Raises
        ------
        ArgumentTypeError
            If `cls` is no such class.

        Examples
        --------
        >>> class Weight(vt.Tensor):
        ...     decay = 0.01
        >>> w = vt.ones(2, requires_grad=True)
        >>> type(w.as_subclass(Weight) * 2).decay
        0.01
        """
        given: object = cls
        if not isinstance(given, type) or not issubclass(given, SubclassMethods):
            name = given.__name__ if isinstance(given, type) else f"a {type(given).__name__}"
            raise ArgumentTypeError(
                f"as_subclass takes a class that inherits from vtgrad.Tensor, not {name}",
                argument="cls",
            )
        return cls._wrap(F.alias(self)._impl)


def in_class_of(gradient: G, model: object) -> G:
    """A gradient, a plain tensor so far, in the class that belongs to the class of `model`."""
    if isinstance(model, TensorBase) and type(gradient) is operators().tensor_class:
        cls = type(model)._gradient_class
        if cls is not None:
            gradient.__class__ = cls
    return gradient


def class_of_saved(tensor: object) -> type[TensorBase] | None:
    """The class in which backward gets a tensor that forward saves; None if that is `Tensor`."""
    if not isinstance(tensor, TensorBase):
        return None
    number: type[TensorBase] | None = tensor._number_class
    stated: type[TensorBase] | None = tensor._gradient_class
    return number if type(tensor) is number else stated


def shown_in(cls: type[TensorBase] | None, tensor: G) -> G:
    """A tensor that others may hold, for users' code: in a class, if it is a plain tensor.

    It is a view of the whole tensor then, so that writes and gradients pass.
    """
    if cls is None or type(tensor) is not operators().tensor_class:
        return tensor
    assert isinstance(tensor, TensorBase)
    shown: Any = F.alias(tensor)
    shown.__class__ = cls
    return cast("G", shown)


def in_classes_of(gradients: Iterable[G], models: Sequence[object]) -> list[G]:
    """Each gradient in the class that belongs to the class of its model."""
    return [in_class_of(x, model) for x, model in zip(gradients, models, strict=True)]
