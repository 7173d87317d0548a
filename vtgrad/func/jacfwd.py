"""The Jacobian of a function, as a function, in forward mode."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple, ParamSpec

from vtgrad.autograd.jacobian_columns import check_forward_mode, jacobian_by_columns
from vtgrad.func.arguments import (
    ArgNums,
    checked_function,
    choose,
    gradient_tree,
    output_leaves,
    split_aux,
)
from vtgrad.func.vmap import Randomness, checked_randomness
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.pytree import TreeSpec, tree_unflatten

__all__ = ["jacfwd"]

P = ParamSpec("P")


class _Returned(NamedTuple):
    """What a function returned: its outputs, their containers, and what stands beside them."""

    outputs: list[Tensor]
    spec: TreeSpec
    aux: object


def jacfwd(
    func: Callable[P, object],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    *,
    randomness: Randomness = "error",
) -> Callable[P, object]:
    """The function that computes the Jacobian of another function, in forward mode.

    It computes one product for each element of the arguments, all of them while the function runs
    once; for fewer outputs than inputs `jacrev` is cheaper.

    Parameters
    ----------
    func : callable
        Returns real tensors, in containers or not.
    argnums : int or tuple of int, default 0
        The positional arguments to differentiate by: real tensors, or containers of them.
    has_aux : bool, default False
        Whether `func` returns a pair, the outputs and something else, which is passed on.
    randomness : {"error", "same", "different"}, default "error"
        What becomes of random numbers that `func` draws, as for `vmap`.

    Returns
    -------
    callable
        As `jacrev`; Jacobians have the output's dtype.

    Raises
    ------
    ArgumentTypeError
        If `func` is no function.
    ArgumentValueError, TransformError
        When called, as for `jacrev`.
    ForwardModeError, NotSupportedError
        When called, as for `jvp`.

    Examples
    --------
    >>> vt.func.jacfwd(lambda x: x**2)(vt.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    checked_function(func, "jacfwd")
    checked_randomness(randomness)

    call: Callable[..., object] = func

    @functools.wraps(func)
    def jacobian(*args: P.args, **kwargs: P.kwargs) -> object:
        chosen = choose(args, argnums, "jacfwd", real=True)
        check_forward_mode("jacfwd")

        def run(tensors: Sequence[Tensor]) -> _Returned:
            returned = call(*chosen.call_with(tensors), **kwargs)
            output, aux = split_aux(returned, has_aux, "jacfwd")
            return _Returned(*output_leaves(output, "jacfwd", real=True, integers=True), aux)

        returned, blocks = jacobian_by_columns(
            run, lambda found: found.outputs, chosen.tensors, randomness
        )
        answer = tree_unflatten([gradient_tree(chosen, one) for one in blocks], returned.spec)
        return (answer, returned.aux) if has_aux else answer

    return jacobian
