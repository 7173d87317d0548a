"""Tensors inside tuples, lists and dicts: taking them out, and putting others in their places.

Note [Nested values]

A value is a tensor, or a tuple, named tuple, list or dict of values, or any other object.
`take_out` makes of it a flat list of its tensors and a structure: the same containers, in which a
`Slot` with the tensor's number stands for each tensor. Containers of other classes, and subclasses
of these but named tuples, are objects like any other: the tensors inside are not found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from vtgrad.errors import GradientError
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["Slot", "put_in", "take_out", "take_out_gradients", "tensors_in"]


class Slot:
    """The place of a tensor in a structure.

    Attributes
    ----------
    nr : int
        The tensor's number in the flat list.
    """

    __slots__ = ("nr",)

    nr: int

    def __init__(self, nr: int) -> None:
        self.nr = nr


def _is_tuple(value: object) -> bool:
    return type(value) is tuple or (isinstance(value, tuple) and hasattr(value, "_fields"))


def _tuple_like(model: tuple[object, ...], items: Sequence[object]) -> object:
    """A tuple of the model's class."""
    make = cast("Callable[..., object]", type(model))
    return tuple(items) if make is tuple else make(*items)


def take_out(value: object, tensors: list[TensorBase]) -> object:
    """The structure of a value; its tensors are appended to `tensors`."""
    if isinstance(value, TensorBase):
        tensors.append(value)
        return Slot(len(tensors) - 1)
    if isinstance(value, tuple) and _is_tuple(value):
        return _tuple_like(value, [take_out(item, tensors) for item in value])
    if type(value) is list:
        return [take_out(item, tensors) for item in value]
    if type(value) is dict:
        return {key: take_out(item, tensors) for key, item in value.items()}
    return value


def put_in(structure: object, items: Sequence[object], *, keeps_others: bool = True) -> object:
    """The value of this structure with these items in its slots.

    Parameters
    ----------
    keeps_others : bool, optional
        Whether objects that are no tensors stay; None takes their place otherwise.
    """
    if isinstance(structure, Slot):
        return items[structure.nr]
    if isinstance(structure, tuple) and _is_tuple(structure):
        parts = [put_in(part, items, keeps_others=keeps_others) for part in structure]
        return _tuple_like(structure, parts)
    if type(structure) is list:
        return [put_in(part, items, keeps_others=keeps_others) for part in structure]
    if type(structure) is dict:
        return {
            key: put_in(part, items, keeps_others=keeps_others) for key, part in structure.items()
        }
    return structure if keeps_others else None


def tensors_in(*values: object) -> list[TensorBase]:
    """The tensors in values, which may contain themselves."""
    found: list[TensorBase] = []
    seen: set[int] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, TensorBase):
            found.append(value)
        elif isinstance(value, (tuple, list, dict)) and id(value) not in seen:
            seen.add(id(value))
            waiting.extend(value.values() if isinstance(value, dict) else value)
    return found


def take_out_gradients(
    structure: object, answer: object, found: list[object], name: str, where: str
) -> None:
    """Put the gradients for the tensors of a structure in `found`, by their numbers.

    Parameters
    ----------
    answer : object
        What backward returned for this structure: a value of the same structure, None in place of
        any part of it.
    found : list
        None at the number of each tensor.
    name : str
        The node, for errors.
    where : str
        The place of `structure` in the arguments, for errors.

    Raises
    ------
    GradientError
        If the answer has another structure.
    """
    if isinstance(structure, Slot):
        found[structure.nr] = answer
    elif answer is None:
        return
    elif isinstance(structure, (tuple, list)) and (type(structure) is list or _is_tuple(structure)):
        if not isinstance(answer, (tuple, list)) or len(answer) != len(structure):
            raise _misfit(name, where, f"{len(structure)} values, or None", answer)
        for nr, (part, given) in enumerate(zip(structure, answer, strict=True)):
            take_out_gradients(part, given, found, name, f"{where}[{nr}]")
    elif type(structure) is dict:
        if not isinstance(answer, dict) or not answer.keys() <= structure.keys():
            raise _misfit(name, where, f"a dict with keys among {list(structure)}, or None", answer)
        for key, part in structure.items():
            take_out_gradients(part, answer.get(key), found, name, f"{where}[{key!r}]")
    else:
        raise _misfit(name, where, "None, because it is no tensor", answer)


def _misfit(name: str, where: str, expected: str, answer: object) -> GradientError:
    found = type(answer).__name__
    if isinstance(answer, (tuple, list, dict)):
        found = f"{found} of {len(answer)}"
    return GradientError(
        f"{name} returned a {found} for {where}; it is to return {expected}", node=name
    )
