"""The call of a public function that an operator's call stands for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from vtgrad.ops.calling.reduction_arguments import Unset
from vtgrad.ops.generated import public
from vtgrad.ops.generated.methods import TensorMethods
from vtgrad.ops.operator import Operator
from vtgrad.tensor.tensor import Tensor

__all__ = ["public_call", "without_defaults"]

Function = Callable[..., object]
Call = tuple[Function, tuple[object, ...], dict[str, object]]


# ``/`` and `div` call the operator under this name; PyTorch's ``__torch_function__`` gets `div`.
_SPOKEN: Final = {"true_divide": "div", "true_divide_": "div_"}


@lru_cache(maxsize=1)
def _public() -> dict[str, Function]:
    """The functions of `vtgrad` and the methods of `Tensor` that are operators, by name."""
    methods = {name: getattr(Tensor, name) for name in vars(TensorMethods) if name[0] != "_"}
    functions = {name: getattr(public, name) for name in public.__all__}
    return {**methods, **functions}


@lru_cache(maxsize=1024)
def _parameters(function: Function) -> dict[str, inspect.Parameter]:
    """The parameters of a function by name; empty if it does not tell them."""
    try:
        return dict(inspect.signature(function).parameters)
    except ValueError:
        return {}


def public_call(
    operator: Operator,
    function: Function,
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> Call:
    """The function that users know, with arguments that differ from its defaults.

    Parameters
    ----------
    operator : Operator
        The record of the operator.
    function : callable
        Its function, which may be one overload of a public one.
    args, kwargs
        The arguments of that function.

    Returns
    -------
    tuple
        The function, its arguments by position and by name. It is `function` itself if no public
        one takes these arguments.
    """
    args, kwargs = without_defaults(function, args, kwargs)
    known = _public()
    if known.get(getattr(function, "__name__", "")) is not function or operator.name in _SPOKEN:
        found = known.get(_SPOKEN.get(operator.name, operator.spoken)) or known.get(operator.name)
        own = _spoken(operator, function)
        made = None if found is None else _under_names_of(found, own, args, kwargs)
        if made is not None:
            return made
    return function, args, kwargs


def _spoken(operator: Operator, function: Function) -> list[str]:
    """The parameters of an operator's function, as users call them."""
    renamed = {
        name: spoken
        for name, _, spoken in (
            one.partition(":")[0].partition("=") for one in operator.stated.split()
        )
        if spoken
    }
    return [renamed.get(name, name) for name in _parameters(function)]


@lru_cache(maxsize=1024)
def _defaults(function: Function) -> tuple[dict[str, object], tuple[object, ...]]:
    """The defaults of a function by name, and in order; in order none if it takes any number."""
    parameters = _parameters(function)
    defaults: dict[str, object] = {name: one.default for name, one in parameters.items()}
    kinds = [one.kind for one in parameters.values()]
    return defaults, () if inspect.Parameter.VAR_POSITIONAL in kinds else tuple(defaults.values())


def without_defaults(
    function: Function, args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """The arguments without those by name, and the last ones by position, that are defaults.

    None of them is `Unset`.
    """
    defaults, in_order = _defaults(function)
    kwargs = {
        name: value
        for name, value in kwargs.items()
        if not _is_same(value, defaults.get(name, inspect.Parameter.empty))
    }
    count = len(args)
    while 0 < count <= len(in_order) and _is_same(args[count - 1], in_order[count - 1]):
        count -= 1
    if not in_order or not any(isinstance(value, Unset) for value in args[:count]):
        return args[:count], kwargs
    # What stands behind a parameter that was not given can have been given by name only.
    place = next(nr for nr, value in enumerate(args) if isinstance(value, Unset))
    behind = zip(list(defaults)[place:count], args[place:count], strict=True)
    named = {name: value for name, value in behind if not isinstance(value, Unset)}
    return args[:place], {**named, **kwargs}


def _is_same(value: object, default: object) -> bool:
    if value is default:
        return True
    return (
        isinstance(value, (int, float, str)) and type(value) is type(default) and value == default
    )


def _under_names_of(
    found: Function, own: list[str], args: tuple[object, ...], kwargs: dict[str, object]
) -> Call | None:
    """A call of a public function with the arguments of one of its overloads."""
    wanted = _parameters(found)
    by_position = [
        name
        for name, one in wanted.items()
        if one.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    ]
    if len(own) < len(args) or not set(kwargs).issubset(wanted):
        return None
    given: list[object] = []
    named = dict(kwargs)
    for nr, value in enumerate(args):
        if len(given) == nr < len(by_position) and (nr == 0 or by_position[nr] == own[nr]):
            given.append(value)
        elif own[nr] in wanted:
            named[own[nr]] = value
        else:
            return None
    return found, tuple(given), named
