"""Products of a vector with the Jacobian of a function, from either side."""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

from vtgrad.autograd.functional.call import (
    Inputs,
    R,
    Tensors,
    TensorT,
    Ts,
    call,
    checked_vector,
    filled,
    like,
    result,
)
from vtgrad.autograd.functional.pushed import pushed
from vtgrad.autograd.reverse_call import gradients_by, in_transform
from vtgrad.tensor.tensor import Tensor

__all__ = ["jvp", "vjp"]


@overload
def vjp(
    func: Callable[[TensorT], R],
    inputs: TensorT,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[R, Tensor]: ...
@overload
def vjp(
    func: Callable[[*Ts], R],
    inputs: tuple[*Ts],
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[R, tuple[Tensor, ...]]: ...
def vjp(
    func: Callable[..., Tensors],
    inputs: Inputs,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """The product of a vector with the Jacobian of a function, and the function's outputs.

    Parameters
    ----------
    func : callable
        Takes the inputs as separate arguments, and returns a tensor or a tuple of tensors.
    inputs : Tensor or tuple of Tensor
        Floating or complex tensors.
    v : Tensor or tuple of Tensor, optional
        The vector, like the outputs. It may be left out if those are one element; then it is one.
    create_graph : bool, default False
        Record the product, so that it can be differentiated by what the inputs depend on, and by
        other tensors that `func` uses.
    strict : bool, default False
        Refuse an output that does not depend on an input, instead of a product of zeros.

    Returns
    -------
    outputs, product : Tensor or tuple of Tensor
        What `func` returned, and ``v @ J``, like the inputs. They are constants unless
        `create_graph` is set.

    Raises
    ------
    ArgumentTypeError
        If inputs, outputs or `v` are anything but tensors and tuples of them.
    TransformError
        If an input has no derivatives, or `v` does not fit.
    IndependentError
        With `strict`.

    Examples
    --------
    >>> from vtgrad.autograd.functional import vjp
    >>> vjp(lambda x: x**2, vt.tensor([1.0, 2.0]), vt.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """

    def body() -> tuple[Tensors, Tensors]:
        made = call(func, inputs, create_graph=create_graph)
        vector = checked_vector(v, made.outputs, "output")
        found = gradients_by(
            made.arguments.edges, made.outputs, vector, recorded=create_graph, keep_graph=False
        )
        product = filled(
            found,
            made.arguments.given,
            strict=strict,
            constants=create_graph,
            what="the output of the function",
        )
        outputs = result(made.outputs, create_graph=create_graph)
        return like(made.one_output, outputs), like(
            made.one_input, result(product, create_graph=create_graph)
        )

    return in_transform(body)


@overload
def jvp(
    func: Callable[[TensorT], R],
    inputs: TensorT,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[R, R]: ...
@overload
def jvp(
    func: Callable[[*Ts], R],
    inputs: tuple[*Ts],
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[R, R]: ...
def jvp(
    func: Callable[..., Tensors],
    inputs: Inputs,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """The product of the Jacobian of a function with a vector, and the function's outputs.

    It is computed by two passes backward: the product of the Jacobian with a vector from the left
    is linear in that vector, and its derivative by it is the product from the right.

    Parameters
    ----------
    func, inputs, create_graph, strict
        As for `vjp`.
    v : Tensor or tuple of Tensor, optional
        The vector, like the inputs. It may be left out if there is one, with one element.

    Returns
    -------
    outputs, product : Tensor or tuple of Tensor
        What `func` returned, and ``J @ v``, like the outputs.

    Raises
    ------
    ArgumentTypeError, TransformError, IndependentError
        As for `vjp`.
    NoDerivativeError
        If the function uses a custom Function whose backward is ``once_differentiable``.

    Examples
    --------
    >>> from vtgrad.autograd.functional import jvp
    >>> jvp(lambda x, y: x * y, (vt.tensor(2.0), vt.tensor(3.0)), (vt.tensor(1.0), vt.tensor(0.0)))
    (tensor(6.), tensor(3.))
    """

    def body() -> tuple[Tensors, Tensors]:
        made = call(func, inputs, create_graph=create_graph)
        vector = checked_vector(v, made.arguments.given, "input")
        product = pushed(
            made.arguments.edges,
            made.outputs,
            made.arguments.given,
            vector,
            create_graph=create_graph,
            strict=strict,
        )
        outputs = result(made.outputs, create_graph=create_graph)
        return like(made.one_output, outputs), like(
            made.one_output, result(product, create_graph=create_graph)
        )

    return in_transform(body)
