"""The arguments of a call as a list, and how they were nested."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from operator import is_
from typing import TypeAlias

from vtgrad.jit.containers import field_names, flatten, is_container
from vtgrad.jit.interpret import same_value
from vtgrad.jit.values import is_python
from vtgrad.tensor.tensor import Tensor

__all__ = ["Structure", "argument_names", "leaves_of", "structure_of"]

# Equal for arguments that are nested alike: the number of arguments if none is a container or is
# passed by name, or the types and keys of all containers.
Structure: TypeAlias = object


def leaves_of(
    args: tuple[object, ...], kwargs: Mapping[str, object]
) -> tuple[Sequence[object], Structure]:
    """The leaves of the arguments, as `containers.flatten` lists them, and their structure."""
    if not kwargs:
        for argument in args:
            if type(argument) is not Tensor:
                break
        else:
            return args, len(args)
    tree = args, dict(kwargs)
    leaves = flatten(tree)
    if not kwargs and len(leaves) == len(args) and all(map(is_, leaves, args)):
        return args, len(args)
    return leaves, structure_of(tree)


def argument_names(
    function: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> list[str]:
    """A name for each leaf of the arguments: the parameter's, with a number in a container.

    Parameters
    ----------
    function : callable
        The function.
    args, kwargs : tuple and mapping
        Its arguments.
    """
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):  # a function of C without a signature
        return [f"x{number}" for number in range(len(flatten((args, dict(kwargs)))))]
    names: list[str] = []
    given = dict(kwargs)
    parameters = bound.signature.parameters
    for name, value in bound.arguments.items():
        several = parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        if name in given or parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            continue
        names += _named(name, flatten(value), alone=not several and _is_leaf(value))
    for name, value in given.items():
        names += _named(name, flatten(value), alone=_is_leaf(value))
    return names


def _is_leaf(value: object) -> bool:
    return structure_of(value) is None


def _named(name: str, leaves: Sequence[object], *, alone: bool) -> list[str]:
    return [name] if alone else [f"{name}_{number}" for number in range(len(leaves))]


def structure_of(value: object) -> Structure:
    """The types and keys of the containers in a value; None for a leaf.

    Examples
    --------
    >>> structure_of((1, [2, {"a": 3}])) == structure_of((5, [6, {"a": 7}]))
    True
    >>> structure_of((1, [2])) == structure_of((1, (2,)))
    False
    """
    if not is_container(value):
        return None
    kind = type(value)
    if isinstance(value, tuple) or kind is list:
        assert isinstance(value, (tuple, list))
        return kind, tuple([structure_of(part) for part in value])
    if kind is dict:
        assert isinstance(value, dict)
        return kind, tuple([(_Key(key), structure_of(part)) for key, part in value.items()])
    return kind, tuple([structure_of(getattr(value, name)) for name in field_names(kind)])


class _Key:
    """A key of a dict, equal to those with which a program does the same: not ``1`` to ``1.0``."""

    __slots__ = ("key",)

    def __init__(self, key: object) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and (
            self.key is other.key or (is_python(self.key) and same_value(self.key, other.key))
        )
