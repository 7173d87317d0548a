"""Products of a vector with the Hessian of a function, from either side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from vtgrad.autograd.functional.call import (
    Call,
    Inputs,
    Tensors,
    TensorT,
    Ts,
    checked_vector,
    filled,
    like,
    result,
)
from vtgrad.autograd.functional.hessian import gradient_of
from vtgrad.autograd.functional.pushed import pushed
from vtgrad.autograd.reverse_call import gradients_by, in_transform, runs_users_code
from vtgrad.tensor.tensor import Tensor

__all__ = ["hvp", "vhp"]


@overload
def vhp(
    func: Callable[[TensorT], Tensor],
    inputs: TensorT,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def vhp(
    func: Callable[[*Ts], Tensor],
    inputs: tuple[*Ts],
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]: ...
def vhp(
    func: Callable[..., Tensor],
    inputs: Inputs,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensors]:
    """The product of a vector with the Hessian of a function, and the function's output.

    Parameters
    ----------
    func : callable
        Takes the inputs as separate arguments, and returns a tensor with one element.
    inputs : Tensor or tuple of Tensor
        Floating or complex tensors.
    v : Tensor or tuple of Tensor, optional
        The vector, like the inputs. It may be left out if there is one, with one element.
    create_graph, strict
        As for `jacobian`; with `strict` the gradient must depend on the inputs as well.

    Returns
    -------
    output : Tensor
        What `func` returned.
    product : Tensor or tuple of Tensor
        ``v @ H``, like the inputs.

    Raises
    ------
    ArgumentTypeError, TransformError, IndependentError
        As for `hessian`; a TransformError too if `v` does not fit.

    Examples
    --------
    >>> from vtgrad.autograd.functional import vhp
    >>> vhp(lambda x: (x**3).sum(), vt.tensor([1.0, 2.0]), vt.tensor([1.0, 10.0]))
    (tensor(9.), tensor([  6., 120.]))
    """

    def body() -> tuple[Tensor, Tensors]:
        made, gradient = gradient_of(func, inputs, "vhp", create_graph, strict)
        vector = checked_vector(v, made.arguments.given, "input")
        product = _from_the_left(made, gradient, vector, create_graph=create_graph, strict=strict)
        (output,) = result(made.outputs, create_graph=create_graph)
        return output, like(made.one_input, result(product, create_graph=create_graph))

    return in_transform(body)


@overload
def hvp(
    func: Callable[[TensorT], Tensor],
    inputs: TensorT,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def hvp(
    func: Callable[[*Ts], Tensor],
    inputs: tuple[*Ts],
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]: ...
def hvp(
    func: Callable[..., Tensor],
    inputs: Inputs,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensors]:
    """The product of the Hessian of a function with a vector, and the function's output.

    The Hessian is symmetric, so that this is `vhp`, unless the gradient is computed by a user's
    code: by a custom Function or a hook. The matrix of its derivatives need not be symmetric, and
    the product from this side takes one pass more.

    Parameters
    ----------
    func, inputs, v, create_graph, strict
        As for `vhp`.

    Returns
    -------
    output : Tensor
        What `func` returned.
    product : Tensor or tuple of Tensor
        ``H @ v``, like the inputs.

    Raises
    ------
    ArgumentTypeError, TransformError, IndependentError
        As for `vhp`.

    Examples
    --------
    >>> from vtgrad.autograd.functional import hvp
    >>> hvp(lambda x: (x**3).sum(), vt.tensor([1.0, 2.0]), vt.tensor([1.0, 10.0]))
    (tensor(9.), tensor([  6., 120.]))
    """

    def body() -> tuple[Tensor, Tensors]:
        made, gradient = gradient_of(func, inputs, "hvp", create_graph, strict)
        vector = checked_vector(v, made.arguments.given, "input")
        # With `strict` the two ask for different things; complex ones differ by conjugates.
        symmetric = not (
            strict
            or any(x._impl.array.dtype.kind == "c" for x in made.arguments.given)
            or runs_users_code(made.outputs, made.arguments.edges)
        )
        product = (
            _from_the_left(made, gradient, vector, create_graph=create_graph, strict=strict)
            if symmetric
            else pushed(
                made.arguments.edges,
                gradient,
                made.arguments.given,
                vector,
                create_graph=create_graph,
                strict=strict,
            )
        )
        (output,) = result(made.outputs, create_graph=create_graph)
        return output, like(made.one_input, result(product, create_graph=create_graph))

    return in_transform(body)


def _from_the_left(
    made: Call,
    gradient: Sequence[Tensor],
    vector: Sequence[Tensor],
    *,
    create_graph: bool,
    strict: bool,
) -> list[Tensor]:
    """The derivative of the gradient's product with a vector."""
    return filled(
        gradients_by(
            made.arguments.edges, gradient, vector, recorded=create_graph, keep_graph=False
        ),
        made.arguments.given,
        strict=strict,
        constants=create_graph,
        what="the gradient of the function",
    )
