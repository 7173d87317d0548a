"""Tuples, lists and dicts of arguments and of results, taken apart and put together."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ["field_names", "flatten", "is_container_class", "mapped"]


def flatten(value: object) -> list[object]:
    """What the containers in a value hold, from left to right.

    Parameters
    ----------
    value : object
        A tuple, named tuple, list, dict or dataclass, of such; anything else is a leaf.

    Examples
    --------
    >>> flatten((1, [2, {"a": 3}]))
    [1, 2, 3]
    """
    leaves: list[object] = []
    mapped(leaves.append, value)
    return leaves


def is_container_class(kind: type) -> bool:
    """Whether objects of a class are containers: those of dataclasses of a program."""
    return is_dataclass(kind) and not kind.__module__.startswith("vtgrad.")


def field_names(kind: Any) -> list[str]:
    """The names of the fields of a dataclass."""
    return [field.name for field in fields(kind)]


def mapped(function: Callable[[object], object], value: object) -> object:
    """The containers of a value with other leaves, in the order of `flatten`.

    Examples
    --------
    >>> mapped(lambda n: n + 1, (1, [2, {"a": 3}]))
    (2, [3, {'a': 4}])
    """
    kind = type(value)
    if isinstance(value, tuple):
        parts = [mapped(function, x) for x in value]
        make: Callable[[list[object]], object] = getattr(kind, "_make", kind)
        return make(parts)
    if kind is list:
        assert isinstance(value, list)
        return [mapped(function, x) for x in value]
    if isinstance(value, dict) and kind is dict:
        return {key: mapped(function, x) for key, x in value.items()}
    if is_container_class(kind):
        found = copy(value)
        for name in field_names(kind):
            # Also where the class is frozen.
            object.__setattr__(found, name, mapped(function, getattr(value, name)))
        return found
    return function(value)
