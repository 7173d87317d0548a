"""The Jacobian of a function, as a function, in reverse mode."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec

from vtgrad.autograd.jacobian_rows import jacobian_in_batches
from vtgrad.autograd.reverse_call import Arguments, in_transform, leads_outside
from vtgrad.autograd.zero_derivative import zero_derivative
from vtgrad.errors import ArgumentValueError
from vtgrad.func.arguments import (
    ArgNums,
    checked_function,
    choose,
    gradient_tree,
    output_leaves,
    shown_tree,
    split_aux,
)
from vtgrad.graph.recording import is_recording
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.pytree import tree_unflatten

__all__ = ["jacrev"]

P = ParamSpec("P")


def jacrev(
    func: Callable[P, object],
    argnums: ArgNums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[P, object]:
    """The function that computes the Jacobian of another function, in reverse mode.

    It takes one gradient for each element of the outputs; for fewer inputs than outputs `jacfwd` is
    cheaper. It may be nested.

    Parameters
    ----------
    func : callable
        Returns real tensors, in containers or not. It is called once.
    argnums : int or tuple of int, default 0
        The positional arguments to differentiate by: real tensors, or containers of them.
    has_aux : bool, default False
        Whether `func` returns a pair, the outputs and something else, which is passed on.
    chunk_size : int, optional
        The number of gradients that are computed together, all by default. It bounds the memory,
        and changes no result.

    Returns
    -------
    callable
        Takes the arguments of `func`. Returns, in the containers of the outputs, the containers of
        the argument with a Jacobian for each pair: a tensor of the output's shape followed by the
        argument's, in the argument's dtype. A tuple `argnums` gives a tuple for each output.

    Raises
    ------
    ArgumentTypeError
        If `func` is no function.
    ArgumentValueError
        If `chunk_size` is no positive number; when called, if a chosen argument has objects in it
        that are no tensors.
    TransformError
        When called: if `argnums` does not fit the arguments, or a chosen argument or an output is
        complex, an integer, or no tensor.

    Examples
    --------
    >>> vt.func.jacrev(lambda x: x**2)(vt.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    >>> vt.func.jacrev(lambda x: {"s": x.sum()})(vt.tensor([1.0, 2.0]))
    {'s': tensor([1., 1.])}
    """
    checked_function(func, "jacrev")
    size: object = chunk_size
    if size is not None and (not isinstance(size, int) or size < 1):
        raise ArgumentValueError(
            f"chunk_size must be None or a positive int, not {chunk_size!r}", argument="chunk_size"
        )

    call: Callable[..., object] = func

    @functools.wraps(func)
    def jacobian(*args: P.args, **kwargs: P.kwargs) -> object:
        chosen = choose(args, argnums, "jacrev", real=True)
        connected = is_recording()

        def body() -> object:
            arguments = Arguments(chosen.tensors, connected=connected)
            returned = call(*chosen.call_with(arguments.inner), **kwargs)
            arguments.leave()
            output, aux = split_aux(returned, has_aux, "jacrev")
            outputs, spec = output_leaves(output, "jacrev", real=True)
            # The same for all outputs, because they share parts of one graph.
            recorded = connected and leads_outside(outputs)
            last = len(outputs) - 1
            found = [
                gradient_tree(
                    chosen,
                    _blocks(
                        one,
                        arguments,
                        recorded,
                        keep_graph=has_aux or nr < last,
                        chunk_size=chunk_size,
                    ),
                )
                for nr, one in enumerate(outputs)
            ]
            answer = tree_unflatten(found, spec)
            return (answer, shown_tree(arguments, aux)) if has_aux else answer

        return in_transform(body)

    return jacobian


def _blocks(
    output: Tensor,
    arguments: Arguments,
    recorded: bool,
    *,
    keep_graph: bool,
    chunk_size: int | None,
) -> list[Tensor]:
    """The Jacobian of one output by each argument."""
    blocks = jacobian_in_batches(
        output,
        arguments.edges,
        arguments.given,
        recorded=recorded,
        keep_graph=keep_graph,
        chunk_size=chunk_size,
    )
    return [
        zero_derivative(x).expand((*output.shape, *x.shape)).clone()
        if block is None
        else arguments.shown(block)
        for block, x in zip(blocks, arguments.given, strict=True)
    ]
