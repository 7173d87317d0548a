"""The arguments of a call as a list, and how they were nested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_
from typing import TypeAlias

from vtgrad.jit.containers import flatten
from vtgrad.tensor.tensor import Tensor

__all__ = ["Structure", "leaves_of", "structure_of"]

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


def structure_of(value: object) -> Structure:
    """The types and keys of the containers in a value; None for a leaf.

    Examples
    --------
    >>> structure_of((1, [2, {"a": 3}])) == structure_of((5, [6, {"a": 7}]))
    True
    >>> structure_of((1, [2])) == structure_of((1, (2,)))
    False
    """
    kind = type(value)
    if isinstance(value, tuple) or kind is list:
        assert isinstance(value, (tuple, list))
        return kind, tuple([structure_of(part) for part in value])
    if kind is dict:
        assert isinstance(value, dict)
        return kind, tuple([(key, structure_of(part)) for key, part in value.items()])
    return None
