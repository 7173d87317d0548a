"""The sentences of a story.

A tensor or a buffer is named late, when it is in a variable of the program. Until then a sentence
has its key between zero bytes, or between bytes of value 1 where a tensor without a name is called
a temporary. `filled` puts the names in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from vtgrad.storage.arrays import Array
from vtgrad.storage.key_set import BATCHED
from vtgrad.storage.lazy_array import physical
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.viz.story_records import StoryRecords

__all__ = [
    "argument",
    "consequences",
    "elements",
    "filled",
    "gradient",
    "grads",
    "named",
    "printable",
    "result",
    "saves",
    "sentence_of_error",
    "view_of",
]

_KEY: Final = re.compile("([\0\1])([a-z][0-9]+)[\0\1]")
# Longer texts of arguments are cut, longer names are replaced, and gradients of more elements are
# not shown.
_LONGEST: Final = 40
_LONGEST_NAME: Final = 28
_LONGEST_ERROR: Final = 1000
_FEW: Final = 4
# How many parts of a list are shown, and how deep.
_PARTS: Final = 6
_NESTED: Final = 3
# More bits make a number of more digits than are shown, and at some length Python makes no text.
_BITS: Final = 130
# A name may contain the names of tensors that it was made of.
_DEPTH: Final = 8


def named(key: str) -> str:
    """What stands for the name of a tensor or a buffer."""
    return f"\0{key}\0"


def result(key: str) -> str:
    """What stands for the name of a result, or for "a temporary"."""
    return f"\1{key}\1"


def filled(text: str, names: Mapping[str, str], made_by: Mapping[str, str], depth: int = 0) -> str:
    """A text with the names of tensors.

    Parameters
    ----------
    text : str
        The text.
    names : mapping of str to str
        The names that the program has given, by key.
    made_by : mapping of str to str
        For all others, the calls that made them.
    depth : int
        How many names this text is inside of.
    """

    def name(found: re.Match[str]) -> str:
        key = found[2]
        given = names.get(key)
        if given is not None:
            return filled(given, names, made_by, depth + 1) if depth < _DEPTH else "..."
        if found[1] == "\1":
            return "a temporary"
        call = made_by.get(key)
        if call is None or depth >= _DEPTH:
            return "a tensor"
        inside = filled(call, names, made_by, depth + 1)
        if len(inside) <= _LONGEST_NAME:
            return inside
        operator = call.partition("(")[0]
        return f"{operator}(...)" if operator.isidentifier() else "a tensor"

    return _KEY.sub(name, text)


def printable(text: str) -> str:
    """A text of the program, in which what cannot be printed is written as Python escapes it."""
    if text.isprintable():
        return text
    return "".join([part if part.isprintable() else repr(part)[1:-1] for part in text])


def argument(value: object, key_of: Mapping[int, str], depth: int = 0) -> str:
    """An argument of a call.

    No method of the program is called: neither that of a number's class, nor one of a container.

    Parameters
    ----------
    value : object
        The argument.
    key_of : mapping of int to str
        The keys of tensors, by their `id`.
    depth : int
        How many lists it is inside of.
    """
    if isinstance(value, TensorBase):
        key = key_of.get(id(value))
        return "a tensor" if key is None else named(key)
    if type(value) is list or type(value) is tuple:
        if depth == _NESTED:
            return "[...]"
        parts = [argument(part, key_of, depth + 1) for part in value[:_PARTS]]
        return f"[{', '.join([*parts, '...'] if len(value) > _PARTS else parts)}]"
    if isinstance(value, slice):
        ends = [value.start, value.stop, value.step][: 2 if value.step is None else 3]
        return ":".join(["" if end is None else argument(end, key_of, depth) for end in ends])
    if value is None or value is ...:
        return "None" if value is None else "..."
    text = _literal(value)
    if text is None:
        return printable(type(value).__name__)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _literal(value: object) -> str | None:
    """A number or a text as a program spells it; None of other classes."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return "a large integer" if int.bit_length(value) > _BITS else int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, complex):
        return complex.__repr__(value)
    if isinstance(value, str):
        return repr(str.__getitem__(value, slice(_LONGEST)))
    return None


def elements(count: int) -> str:
    """A number of elements."""
    return "1 element" if count == 1 else f"{count} elements"


def gradient(value: TensorBase | Array) -> str:
    """The numbers of a small gradient, or its shape."""
    if isinstance(value, TensorBase) and value._impl.key_set & BATCHED:
        return f"a batch of gradients of shape {list(value._impl.sizes)}"
    array: Array = value._impl.array if isinstance(value, TensorBase) else value
    if array.size <= _FEW:
        text = np.array2string(physical(array), precision=4, separator=", ")
        return text.replace("\n", "")
    return f"of shape {list(array.shape)}"


def grads(keys: Sequence[str]) -> str:
    """The ``.grad`` of some tensors."""
    return ", ".join([f"{named(key)}.grad" for key in keys])


def view_of(keys: Sequence[str], after: StoryRecords) -> str:
    """What views show."""
    record = after["tensors"].get(keys[0])
    if record is None:
        return "a view" if len(keys) == 1 else "views"
    storage = after["storages"][record["storage"]]["name"]
    if len(keys) > 1:
        return f"views of {storage}"
    return f"a view of {elements(record['count'])} of {storage}"


def saves(node: str, keys: Sequence[str], after: StoryRecords) -> str:
    """What a node saves."""
    labels: dict[str, list[str]] = {}
    for key in keys:
        saved = after["saved"][key]
        storage = None if saved["storage"] is None else after["storages"].get(saved["storage"])
        what = "what hooks have packed"
        if storage is not None:
            count = elements(saved["count"])
            what = f"{count} of {storage['name']} at version {saved['version']}"
        labels.setdefault(what, []).append(saved["label"])
    parts = [f"{what} as {' and '.join(found)}" for what, found in labels.items()]
    return f"{after['nodes'][node]['name']} saves {' and '.join(parts)}"


def consequences(before: StoryRecords, after: StoryRecords) -> str:
    """What a write makes stale."""
    stale = [
        named(key)
        for key, record in after["tensors"].items()
        if record["stale"] and key in before["tensors"] and not before["tensors"][key]["stale"]
    ]
    parts = [f"the grad_fn of {', '.join(stale)} is stale now"] if stale else []
    found: dict[tuple[str, str], list[str]] = {}
    for key, saved in after["saved"].items():
        old = before["saved"].get(key)
        if old is not None and old["state"] != saved["state"] and saved["state"] != "intact":
            found.setdefault((saved["state"], saved["node"]), []).append(saved["label"])
    for (state, node), labels in found.items():
        what = f"what {after['nodes'][node]['name']} saved as {' and '.join(labels)}"
        parts.append(f"rewind keeps {what}" if state == "kept" else f"this overwrites {what}")
    return "".join([f"; {part}" for part in parts])


def sentence_of_error(error: BaseException) -> str:
    """The name of an error, and the first line of its text."""
    kind = printable(type(error).__name__)
    try:
        lines = str(error).splitlines()
    except Exception:  # noqa: BLE001  # an error of the program, whose method has a fault
        return kind
    return f"{kind}: {printable(lines[0][:_LONGEST_ERROR])}" if lines else kind
