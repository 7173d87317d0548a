"""Derivatives of functions of containers, as functions of one vector."""

from __future__ import annotations

from collections.abc import Callable

from vtgrad.autograd.differentiate import grad as gradients
from vtgrad.errors import ArgumentTypeError
from vtgrad.func.grad import grad
from vtgrad.func.hessian import hessian
from vtgrad.func.jacfwd import jacfwd
from vtgrad.func.jacrev import jacrev
from vtgrad.func.jvp import jvp
from vtgrad.func.value_with_gradient import ValueWithGradient
from vtgrad.graph.grad_mode import enable_grad, no_grad
from vtgrad.ops.generated import functional as F
from vtgrad.optim.packing import Packing, flat_outputs
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "dense_hessian",
    "dense_jacobian",
    "hessian_product",
    "number_of",
    "scalar_of",
    "value_and_gradient",
    "value_only",
    "vector_of",
]

Function = Callable[[Tensor], Tensor]


def scalar_of(f: Callable[..., object], packing: Packing) -> Function:
    """A function of a container that returns a number, as one of a vector."""
    return lambda vector: number_of(f(packing.tree(vector)))


def number_of(value: object) -> Tensor:
    """What a function returned, as a 0-d tensor.

    Raises
    ------
    ArgumentTypeError
        If it is no real floating tensor of one element.
    """
    if isinstance(value, Tensor) and value.numel() == 1 and value.is_floating_point():
        return F.reshape(value, ())
    what = type(value).__name__
    if isinstance(value, Tensor):
        what = f"shape {list(value.shape)} and dtype {value.dtype}"
    elif isinstance(value, tuple) and len(value) == 2:
        what = "a pair; jac=True is for a function that returns its value and its gradient"
    raise ArgumentTypeError(
        f"the function must return a real tensor of one element, and returned {what}", argument="f"
    )


def vector_of(f: Callable[..., object], packing: Packing, what: str) -> Function:
    """A function of a container that returns tensors, as one of a vector that returns a vector.

    Raises
    ------
    ArgumentTypeError
        If the function returns its gradient too, which is no part of the vector.
    """
    if isinstance(f, ValueWithGradient):
        raise ArgumentTypeError(
            f"{what} returns tensors, and {f!r} returns a value and its gradient, as minimize "
            "takes it",
            argument="f",
        )
    return lambda vector: flat_outputs(f(packing.tree(vector)), what)


def value_only(function: Function) -> Function:
    """The value alone, without a graph."""

    def evaluate(vector: Tensor) -> Tensor:
        with no_grad():
            return function(vector)

    return evaluate


def value_and_gradient(function: Function) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    """The value of a function that returns a number, and its gradient."""

    def evaluate(vector: Tensor) -> tuple[Tensor, Tensor]:
        with enable_grad():
            leaf = vector.detach().requires_grad_()
            value = function(leaf)
            (found,) = gradients(value, (leaf,), materialize_grads=True)
        assert found is not None
        return value.detach(), found.detach()

    return evaluate


def hessian_product(function: Function) -> Callable[[Tensor, Tensor], Tensor]:
    """The product of the Hessian and a vector: the derivative of the gradient along it."""
    gradient = grad(function)

    def forward(vector: Tensor, direction: Tensor) -> Tensor:
        _, product = jvp(gradient, (vector,), (direction,))
        assert isinstance(product, Tensor)
        return product.detach()

    def reverse(vector: Tensor, direction: Tensor) -> Tensor:
        def along(x: Tensor) -> Tensor:
            found = gradient(x)
            assert isinstance(found, Tensor)
            return F.sum(F.mul(found, direction))

        found = grad(along)(vector)
        assert isinstance(found, Tensor)
        return found.detach()

    has_forward: list[bool] = []

    def product(vector: Tensor, direction: Tensor) -> Tensor:
        if not has_forward:
            try:
                found = forward(vector, direction)
            except NotImplementedError:
                # An operator of the user without a tangent.
                has_forward.append(False)
            else:
                has_forward.append(True)
                return found
        return (forward if has_forward[0] else reverse)(vector, direction)

    return product


def dense_hessian(function: Function) -> Function:
    """The Hessian as a matrix."""
    of = hessian(function)

    def matrix(vector: Tensor) -> Tensor:
        found = of(vector)
        assert isinstance(found, Tensor)
        return found.detach()

    return matrix


def dense_jacobian(function: Function, rows: int, columns: int) -> Function:
    """The Jacobian as a matrix, in the mode that needs fewer passes."""
    of = jacrev(function) if rows < columns else jacfwd(function)

    def matrix(vector: Tensor) -> Tensor:
        found = of(vector)
        assert isinstance(found, Tensor)
        return found.detach()

    return matrix
