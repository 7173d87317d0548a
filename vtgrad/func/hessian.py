"""The Hessian of a function, as a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

from vtgrad.func.arguments import ArgNums
from vtgrad.func.jacrev import jacrev

__all__ = ["hessian"]

P = ParamSpec("P")


def hessian(func: Callable[P, object], argnums: ArgNums = 0) -> Callable[P, object]:
    """The function that computes the second derivatives of another function.

    It is the Jacobian of the Jacobian, ``jacrev(jacrev(func))``; outputs need not be numbers. For
    outputs of many elements ``jacfwd(jacrev(func))`` takes less time and memory.

    Parameters
    ----------
    func : callable
        Returns real tensors, in containers or not.
    argnums : int or tuple of int, default 0
        The positional arguments to differentiate by: real tensors, or containers of them.

    Returns
    -------
    callable
        Takes the arguments of `func`. Returns, in the containers of the outputs, twice the
        containers of the arguments, and in these tensors of the output's shape followed by the
        shapes of the two arguments.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, TransformError
        As for `jacrev`.

    Examples
    --------
    >>> vt.func.hessian(lambda x: (x**3).sum())(vt.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacrev(jacrev(func, argnums), argnums)
