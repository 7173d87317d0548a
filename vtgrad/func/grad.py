"""The gradient of a function, as a function."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple, ParamSpec

from vtgrad.autograd.reverse_call import Arguments, in_transform, leads_outside
from vtgrad.autograd.zero_derivative import zero_derivative
from vtgrad.errors import TransformError
from vtgrad.func.arguments import (
    ArgNums,
    checked_function,
    choose,
    gradient_tree,
    shown_tree,
    split_aux,
)
from vtgrad.graph.recording import is_recording
from vtgrad.tensor.tensor import Tensor

__all__ = ["grad", "grad_and_value"]

P = ParamSpec("P")


class _Found(NamedTuple):
    gradient: object
    value: object
    aux: object


def grad(
    func: Callable[P, object], argnums: ArgNums = 0, has_aux: bool = False
) -> Callable[P, object]:
    """The function that computes the gradient of another function.

    It may be nested: the gradient of a gradient is the second derivative. Tensors that `func` uses
    and that are none of its arguments stay connected if they require grad.

    Parameters
    ----------
    func : callable
        Returns a 0-d real tensor.
    argnums : int or tuple of int, default 0
        The positional arguments to differentiate by: tensors, or containers of tensors.
    has_aux : bool, default False
        Whether `func` returns a pair, the tensor and something else, which is passed on.

    Returns
    -------
    callable
        Takes the arguments of `func`. Returns the gradient in the containers of the argument, for a
        tuple `argnums` a tuple of gradients; with `has_aux` a pair of that and the rest. A gradient
        that does not exist, because `func` does not use the argument, is zero.

    Raises
    ------
    ArgumentTypeError
        If `func` is no function.
    TransformError
        When called: if `argnums` does not fit the arguments, `func` does not return a 0-d real
        tensor, or a chosen argument has integers in it.
    ArgumentValueError
        When called: if a chosen argument has objects in it that are no tensors.

    Examples
    --------
    >>> vt.func.grad(lambda x: x**3)(vt.tensor(2.0))
    tensor(12.)
    >>> vt.func.grad(vt.func.grad(lambda x: x**3))(vt.tensor(2.0))
    tensor(12.)
    >>> vt.func.grad(lambda p: (p["w"] * p["b"]).sum())({"w": vt.ones(2), "b": vt.tensor(3.0)})
    {'w': tensor([3., 3.]), 'b': tensor(2.)}
    """
    checked_function(func, "grad")

    @functools.wraps(func)
    def gradient(*args: P.args, **kwargs: P.kwargs) -> object:
        found = _differentiate(func, argnums, has_aux, args, kwargs, "grad")
        return (found.gradient, found.aux) if has_aux else found.gradient

    return gradient


def grad_and_value(
    func: Callable[P, object], argnums: ArgNums = 0, has_aux: bool = False
) -> Callable[P, tuple[object, object]]:
    """The function that computes the gradient of another function, and its value.

    Parameters
    ----------
    func, argnums, has_aux
        As for `grad`.

    Returns
    -------
    callable
        Takes the arguments of `func`. Returns ``(gradient, value)``; with `has_aux`
        ``(gradient, (value, aux))``.

    Raises
    ------
    ArgumentTypeError, TransformError, ArgumentValueError
        As for `grad`.

    Examples
    --------
    >>> vt.func.grad_and_value(lambda x: x**3)(vt.tensor(2.0))
    (tensor(12.), tensor(8.))
    """
    checked_function(func, "grad_and_value")

    @functools.wraps(func)
    def gradient_and_value(*args: P.args, **kwargs: P.kwargs) -> tuple[object, object]:
        found = _differentiate(func, argnums, has_aux, args, kwargs, "grad_and_value")
        return found.gradient, (found.value, found.aux) if has_aux else found.value

    return gradient_and_value


def _differentiate(
    func: Callable[..., object],
    argnums: ArgNums,
    has_aux: bool,
    args: tuple[object, ...],
    kwargs: dict[str, object],
    name: str,
) -> _Found:
    chosen = choose(args, argnums, name)
    connected = is_recording()

    def body() -> _Found:
        arguments = Arguments(chosen.tensors, connected=connected)
        returned = func(*chosen.call_with(arguments.inner), **kwargs)
        arguments.leave()
        output, aux = split_aux(returned, has_aux, name)
        value = _number(output, name)
        found = arguments.gradients(
            [value], [None], recorded=connected and leads_outside([value]), keep_graph=has_aux
        )
        gradients = [
            zero_derivative(given) if gradient is None else arguments.shown(gradient)
            for gradient, given in zip(found, arguments.given, strict=True)
        ]
        return _Found(
            gradient_tree(chosen, gradients),
            shown_tree(arguments, value),
            shown_tree(arguments, aux),
        )

    return in_transform(body)


def _number(output: object, name: str) -> Tensor:
    if not isinstance(output, Tensor):
        hint = "; has_aux=True lets it return a pair" if isinstance(output, tuple) else ""
        raise TransformError(
            f"{name} needs a function that returns a 0-d tensor; it returned an object of type "
            f"{type(output).__name__}{hint}"
        )
    if output.dim() != 0:
        raise TransformError(
            f"{name} needs a function that returns a 0-d tensor; it returned one of shape "
            f"{list(output.shape)}: use its sum, or jacrev for all derivatives",
            shape=tuple(output.shape),
        )
    if output._impl.array.dtype.kind == "c":
        raise TransformError(
            f"{name} needs a function that returns a real number; it returned a complex one: "
            "differentiate its real and imaginary parts by themselves"
        )
    return output
