"""The arguments of a call with tensors for arrays, see Note [Arrays as constants]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.ops.calling.arguments import is_array
from vtgrad.ops.calling.constants import constant
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["as_tensors", "holds_array"]


def holds_array(value: object) -> bool:
    """Whether a value is an array, or a sequence in which one is."""
    if isinstance(value, (list, tuple)):
        return any(map(is_array, value))
    return value is not None and is_array(value)


def as_tensors(kinds: Sequence[str], values: Sequence[object], *, written: bool) -> list[object]:
    """The arguments of a call with tensors for arrays, where tensors are taken.

    Parameters
    ----------
    kinds : sequence of str
        The types of the parameters, as records state them.
    values : sequence of object
        The arguments.
    written : bool
        Whether the first argument is written, and so must be a tensor.

    Returns
    -------
    list of object
        The same objects where nothing is to be made; empty if that is everywhere.
    """
    if not any(map(holds_array, values)):
        return []
    beside = _tensors_of(values)
    made: list[object] = []
    found = False
    for nr, (kind, value) in enumerate(zip(kinds, values, strict=True)):
        new = value
        if not (written and nr == 0):
            # Where one tensor is taken too, an array is one.
            one = "Tensor" in kind.split("|")
            if ("Tensors" in kind or "Pair" in kind) and not (one and is_array(value)):
                new = _as_sequence(value, beside)
            elif "Tensor" in kind and is_array(value):
                new = constant(value, *beside)
        found = found or new is not value
        made.append(new)
    return made if found else []


def _tensors_of(values: Sequence[object]) -> list[TensorBase]:
    """The tensors among the arguments, also in sequences of them."""
    found: list[TensorBase] = []
    for value in values:
        if isinstance(value, TensorBase):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found.extend(x for x in value if isinstance(x, TensorBase))
    return found


def _as_sequence(value: object, beside: Sequence[TensorBase]) -> object:
    """A sequence of tensors for one in which arrays are, or for an array along its first axis."""
    if isinstance(value, np.ndarray) and value.ndim:
        value = [value[nr, ...] for nr in range(len(value))]
    if not isinstance(value, (list, tuple)) or not any(map(is_array, value)):
        return value
    return [constant(x, *beside) if is_array(x) else x for x in value]
