"""Functions of NumPy that compute on values, and are refused where a gradient would pass."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any, Final

from vtgrad.errors import NotSupportedError
from vtgrad.numpy.function import Function, function
from vtgrad.numpy.on_values import any_differentiated, on_values

__all__ = ["check_not_differentiated", "function_of_numpy"]


_ON_VALUES: Final = "NumPy computes it, with all of its arguments, on values."
_RECORDED: Final = "It has derivatives of every order."
_REFUSES: Final = """NotSupportedError
        If a gradient would pass through it."""
_RAISES: Final = """TypeError, ValueError
        As NumPy's function."""


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
    recorded: Callable[..., Any] | None = None,
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
    recorded : callable, optional
        What computes it where one is; without it such operands are refused.
    """

    def text(*args: object, **options: Any) -> Any:
        if recorded is not None and any_differentiated(args, list(options.values())):
            return recorded(*args, **options)
        check_not_differentiated(name, args, list(options.values()))
        return on_values(numpys, *args, **options)

    text.__name__ = text.__qualname__ = name.rpartition(".")[2]
    # Where pickle finds it.
    text.__module__ = f"vtgrad.numpy.{name.partition('.')[0]}"
    text.__doc__ = f"""{what}

    {_ON_VALUES if recorded is None else _RECORDED}

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
    {_REFUSES if recorded is None else _RAISES}
    """
    found: Any = function(of=numpys)(text)
    found.__signature__ = inspect.signature(numpys)
    return typing.cast("Function[..., Any]", found)
