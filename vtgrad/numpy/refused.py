"""Functions of NumPy on values, and what is refused or recorded where a gradient would pass."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

from vtgrad.errors import NotSupportedError
from vtgrad.numpy.function import Function, function
from vtgrad.numpy.on_values import any_differentiated, on_values

__all__ = ["check_not_differentiated", "function_of_numpy"]


def check_not_differentiated(name: str, *operands: object) -> None:
    """Refuse operands through which a gradient would pass.

    Raises
    ------
    NotSupportedError
        If there is one.
    """
    if any_differentiated(operands):
        raise NotSupportedError(
            f"vtgrad.numpy has no {name} through which a gradient or a tangent passes, or that is "
            "computed for each sample; where none is wanted, pass x.detach()",
            function=name,
        )


def function_of_numpy(
    numpys: Callable[..., Any],
    name: str,
    what: str,
    recorded: Callable[..., Any],
) -> Function[..., Any]:
    """A function that NumPy computes where no operand is differentiated.

    Parameters
    ----------
    numpys : callable
        NumPy's function.
    name : str
        Its name in the namespace, as ``"linalg.inv"``.
    what : str
        What it is: the first line of its documentation.
    recorded : callable
        What computes it where one is.
    """

    def text(*args: object, **options: Any) -> Any:
        if any_differentiated(args, list(options.values())):
            return recorded(*args, **options)
        return on_values(numpys, *args, **options)

    text.__name__ = text.__qualname__ = name.rpartition(".")[2]
    # Where pickle finds it.
    text.__module__ = f"vtgrad.numpy.{name.partition('.')[0]}"
    text.__doc__ = f"""{what}

    It has derivatives of every order.

    Parameters
    ----------
    *args, **options
        As of ``numpy.{name}``.

    Returns
    -------
    object
        As of ``numpy.{name}``, with arrays of the namespace.

    Raises
    ------
    TypeError, ValueError
        As NumPy's function.
    """
    found: Any = function(of=numpys)(text)
    found.__signature__ = inspect.signature(numpys)
    return typing.cast("Function[..., Any]", found)
