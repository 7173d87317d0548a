"""Tuples, lists and dicts of arguments and of results, taken apart and put together."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ["field_names", "flatten", "is_container", "mapped"]


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


def is_container(value: object) -> bool:
    """Whether a value is its parts and nothing else.

    Tuples and objects of dataclasses may have other attributes, which a program can read. Such an
    object is a leaf of unknown state.
    """
    kind = type(value)
    if kind is tuple or kind is list or kind is dict:
        return True
    if isinstance(value, tuple):
        return not getattr(value, "__dict__", None)
    if not is_dataclass(kind) or kind.__module__.startswith("vtgrad."):
        return False
    return not isinstance(value, (list, dict)) and _attributes(value) == set(field_names(kind))


def _attributes(value: object) -> set[str]:
    """The names of the attributes that an object has by itself."""
    names = set(getattr(value, "__dict__", ()))
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        names.update([slots] if isinstance(slots, str) else slots)
    return {name for name in names - {"__dict__", "__weakref__"} if hasattr(value, name)}


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
    if not is_container(value):
        return function(value)
    kind = type(value)
    if isinstance(value, tuple):
        parts = [mapped(function, x) for x in value]
        make: Callable[[list[object]], object] = getattr(kind, "_make", kind)
        return make(parts)
    if kind is list:
        assert isinstance(value, list)
        return [mapped(function, x) for x in value]
    if kind is dict:
        assert isinstance(value, dict)
        return {key: mapped(function, x) for key, x in value.items()}
    found = copy(value)
    for name in field_names(kind):
        # Also where the class is frozen.
        object.__setattr__(found, name, mapped(function, getattr(value, name)))
    return found
