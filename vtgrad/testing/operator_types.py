"""The types of the functions that a `Rule` has.

They take as many operands as the rule says, and options by keyword. A union of signatures with one,
two and three operands gives type checkers the types of a lambda's parameters; a last member takes
all other functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeVar, overload

from vtgrad.tensor.tensor import Tensor
from vtgrad.testing.jets import FloatArray

__all__ = ["AnyFunction", "ArrayFunction", "GradientFunction", "TensorFunction"]

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class AnyFunction(Protocol[R_co]):
    """A function of any parameters, as ``Callable[..., R]`` is.

    pyright takes the parameters of a lambda from that member of a union that has as many. For
    ``...`` it counts one, as many as a function of one operand has, and finds no types. It passes
    over a function with overloads.
    """

    @overload
    def __call__(self, first: Any, /, *args: Any, **kwargs: Any) -> R_co: ...
    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> R_co: ...


TensorFunction: TypeAlias = (
    Callable[[Tensor], object]
    | Callable[[Tensor, Tensor], object]
    | Callable[[Tensor, Tensor, Tensor], object]
    | AnyFunction[object]
)
ArrayFunction: TypeAlias = (
    Callable[[FloatArray], R]
    | Callable[[FloatArray, FloatArray], R]
    | Callable[[FloatArray, FloatArray, FloatArray], R]
    | AnyFunction[R]
)
# The gradient of the result goes first.
GradientFunction: TypeAlias = (
    Callable[[FloatArray, FloatArray], object]
    | Callable[[FloatArray, FloatArray, FloatArray], object]
    | Callable[[FloatArray, FloatArray, FloatArray, FloatArray], object]
    | AnyFunction[object]
)
