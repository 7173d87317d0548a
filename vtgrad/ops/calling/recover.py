"""What is done when the call of an operator has failed.

Note [A failed call]

A generated operator works with what it gets, and asks what is wrong only if that has failed. All
that may fail stands in a ``try`` whose handler is the same for every operator:

    except Exception as error:
        return recover(error, op.MUL, mul, input, other, out=out)

`recover` calls the operator again if it can succeed with the same arguments in another form: a
kernel was running on this thread (Note [Floating-point warnings]), or an argument is a 0-d tensor
where a number is expected, or an operand is a number (Note [Numbers as operands]) or an array
(Note [Arrays as constants]). Otherwise `explain` names the argument that is wrong, or the error
goes on as it is. The operator's record says which of its parameters are numbers and what their
types are.

Nothing was written when a call begins again: what writes fails before the first element.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeVar, cast

from vtgrad.ops.calling.constants import with_constants
from vtgrad.ops.calling.explain import explain
from vtgrad.ops.calling.numbers import (
    as_first_operand,
    as_number,
    has_number_tensor,
    out_of_context,
)
from vtgrad.ops.calling.take_over import override_handler
from vtgrad.ops.operator import Operator, described
from vtgrad.storage.no_fp_warnings import renew_context

__all__ = ["recover"]

R = TypeVar("R")

# What is passed as a number, or as a 0-d tensor in its place.
_NUMBERS: Final = frozenset({"Number", "Number|None", "float", "float|None"})


def recover(
    error: Exception,
    operator: Operator,
    # Not of R alone: its own signature is generic.
    function: Callable[..., R | object],
    *args: object,
    **kwargs: object,
) -> R:
    """The result of a call that begins again; called by the handler of an error.

    Parameters
    ----------
    error : Exception
        What the call has raised.
    operator : Operator
        The record of the operator.
    function : callable
        Its function.
    *args, **kwargs
        Its arguments, in the order of its parameters.

    Raises
    ------
    Exception
        What `explain` raises, or `error` itself.
    """
    try:
        if renew_context(error):
            return cast("R", function(*args, **kwargs))
        overrides = override_handler()
        if overrides is not None:
            if overrides.has_raised(error):
                raise
            if overrides.takes([*args, *kwargs.values()]):
                return cast("R", overrides(operator, function, args, kwargs))
        parameters = operator.stated
        if "out" in kwargs:
            parameters += " out:Tensor|None" if operator.results == 1 else " out:Pair|None"
        values = [*args, *kwargs.values()]
        numbers = _numbers_of(parameters)
        if numbers and has_number_tensor(*[values[nr] for nr in numbers]):
            if operator.writes or "Generator" not in parameters:
                for nr in numbers:
                    values[nr] = as_number(values[nr])
                count = len(args)
                options = dict(zip(kwargs, values[count:], strict=True))
                return cast("R", function(*values[:count], **options))
            # Random numbers may have been drawn, and others would not be the same call again. In
            # place, none have been drawn when a call fails.
        if operator.number_first:
            inexact = operator.number_first == "float"
            turned = as_first_operand(operator.spoken, args[0], args[1], inexact=inexact)
            if turned is not None:
                with out_of_context(error):
                    return cast("R", function(turned, *args[1:], **kwargs))
        made = with_constants(operator, args, kwargs)
        if made is not None:
            with out_of_context(error):
                return cast("R", function(*made, **kwargs))
        explain(error, parameters, *values)
        raise
    finally:
        # The traceback of the error has this frame, which would have the error.
        del error


@lru_cache(maxsize=1024)
def _numbers_of(parameters: str) -> tuple[int, ...]:
    """The positions of the numbers among the parameters of a record."""
    return tuple([nr for nr, (_, kind) in enumerate(described(parameters)) if kind in _NUMBERS])
