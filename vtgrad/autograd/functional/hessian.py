"""The Hessian of a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from vtgrad.autograd.functional.call import (
    Call,
    Inputs,
    TensorT,
    Ts,
    call,
    checked_inputs,
    filled,
    one_number,
    result,
)
from vtgrad.autograd.functional.jacobian import Strategy, check_options, matrices
from vtgrad.autograd.jacobian_columns import check_forward_mode, jacobian_by_columns
from vtgrad.autograd.reverse_call import gradients_by, in_transform
from vtgrad.errors import TransformError
from vtgrad.tensor.subclass_methods import in_classes_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["gradient_of", "hessian"]


@overload
def hessian(
    func: Callable[[TensorT], Tensor],
    inputs: TensorT,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: Strategy = "reverse-mode",
) -> Tensor: ...
@overload
def hessian(
    func: Callable[[*Ts], Tensor],
    inputs: tuple[*Ts],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: Strategy = "reverse-mode",
) -> tuple[tuple[Tensor, ...], ...]: ...
def hessian(
    func: Callable[..., Tensor],
    inputs: Inputs,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: Strategy = "reverse-mode",
) -> Tensor | tuple[tuple[Tensor, ...], ...]:
    """The Hessian of a function: the second derivatives of a number by all pairs of inputs.

    Parameters
    ----------
    func : callable
        Takes the inputs as separate arguments, and returns a tensor with one element.
    inputs : Tensor or tuple of Tensor
        Floating or complex tensors.
    create_graph, strict, vectorize
        As for `jacobian`, which the Hessian is of the gradient.
    outer_jacobian_strategy : {"reverse-mode", "forward-mode"}, default "reverse-mode"
        As `jacobian`'s ``strategy``.

    Returns
    -------
    Tensor or tuple of tuple of Tensor
        For one input, a tensor of the input's shape twice. For a tuple of inputs ``H[i][j]``, with
        the shape of input ``i`` followed by that of input ``j``.

    Raises
    ------
    ArgumentTypeError
        If inputs are anything but tensors and tuples of them, or the output is no tensor.
    TransformError
        If the function does not return one real number, or an input is complex or of a dtype
        without derivatives.
    IndependentError, OptionValueError, NotSupportedError
        As for `jacobian`.

    Examples
    --------
    >>> from vtgrad.autograd.functional import hessian
    >>> hessian(lambda x: (x**3).sum(), vt.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    check_options(
        vectorize, strict, create_graph, outer_jacobian_strategy, "outer_jacobian_strategy"
    )

    def body() -> Tensor | tuple[tuple[Tensor, ...], ...]:
        made, gradient = gradient_of(func, inputs, "hessian", create_graph, strict)
        _check_real(made.arguments.given)
        rows = matrices(
            made.arguments.edges,
            gradient,
            made.arguments.given,
            create_graph=create_graph,
            strict=strict,
            vectorize=vectorize,
        )
        found = [
            tuple(in_classes_of(result(row, create_graph=create_graph), made.arguments.given))
            for row in rows
        ]
        return found[0][0] if made.one_input else tuple(found)

    if outer_jacobian_strategy == "forward-mode":
        return _by_columns(func, inputs)
    return in_transform(body)


def _by_columns(
    func: Callable[..., Tensor], inputs: Inputs
) -> Tensor | tuple[tuple[Tensor, ...], ...]:
    """The Hessian as the Jacobian of the gradient in forward mode."""
    check_forward_mode("hessian")
    given = checked_inputs(inputs)
    _check_real(given)

    def gradient(duals: Sequence[Tensor]) -> list[Tensor]:
        def body() -> list[Tensor]:
            made = call(func, tuple(duals), create_graph=False)
            found = gradients_by(
                made.arguments.edges,
                [one_number(made, "hessian")],
                [None],
                recorded=False,
                keep_graph=False,
            )
            return filled(found, duals, strict=False, constants=False, what="the output")

        return in_transform(body)

    _, rows = jacobian_by_columns(gradient, lambda found: found, given)
    blocks = [tuple(in_classes_of(result(row, create_graph=False), given)) for row in rows]
    return blocks[0][0] if isinstance(inputs, Tensor) else tuple(blocks)


def _check_real(inputs: Sequence[Tensor]) -> None:
    """Raise if an input is complex.

    Raises
    ------
    TransformError
        If one is.
    """
    for nr, tensor in enumerate(inputs):
        if tensor._impl.array.dtype.kind == "c":
            raise TransformError(
                f"hessian needs real inputs, and input {nr} is complex: differentiate by "
                "view_as_real(input)",
                index=nr,
            )


def gradient_of(
    func: Callable[..., Tensor], inputs: Inputs, name: str, create_graph: bool, strict: bool
) -> tuple[Call, list[Tensor]]:
    """The call of a function, and the recorded gradient of the number that it returned.

    Raises
    ------
    TransformError
        If it did not return one real number.
    IndependentError
        With `strict`, if the number does not depend on an input, or its gradient on none.
    """
    made = call(func, inputs, create_graph=create_graph)
    output = one_number(made, name)
    found = gradients_by(made.arguments.edges, [output], [None], recorded=True, keep_graph=True)
    return made, filled(
        found,
        made.arguments.given,
        strict=strict,
        constants=True,
        what="the output of the function",
    )
