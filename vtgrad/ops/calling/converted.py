"""The arguments of a call in the form that its operator takes.

Arrays become constants (Note [Arrays as constants]). A number beside a tensor becomes a 0-d tensor
where the operator computes element by element, or joins tensors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.ops.calling.arguments import is_array
from vtgrad.ops.calling.constants import constant
from vtgrad.ops.calling.numbers import tensor_beside
from vtgrad.ops.operator import Operator
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["as_tensors"]


def as_tensors(
    kinds: Sequence[str], values: Sequence[object], operator: Operator | None, *, written: bool
) -> list[object]:
    """The arguments of a call with tensors for arrays and numbers, where tensors are taken.

    Parameters
    ----------
    kinds : sequence of str
        The types of the parameters, as records state them.
    values : sequence of object
        The arguments.
    operator : Operator or None
        The record of the operator, if it has one.
    written : bool
        Whether the first argument is written, and so must be a tensor.

    Returns
    -------
    list of object
        The same objects where nothing is to be made; empty if that is everywhere.
    """
    beside = _tensors_of(values)
    pattern = None if operator is None else operator.pattern
    # Where a number may come first, `recover` knows in which dtype.
    elementwise = (
        operator is not None
        and not operator.number_first
        and pattern is not None
        and pattern.rule == "elementwise"
    )
    joins = operator is not None and operator.row == "cat"
    made: list[object] = []
    found = False
    for nr, (kind, value) in enumerate(zip(kinds, values, strict=True)):
        new = value
        if not (written and nr == 0):
            # Where one tensor is taken too, an array is one.
            one = "Tensor" in kind.split("|")
            if ("Tensors" in kind or "Pair" in kind) and not (one and is_array(value)):
                new = _as_sequence(value, beside, flat=joins)
            elif "Tensor" in kind and is_array(value):
                new = constant(value, *beside)
            elif elementwise and kind == "Tensor":
                new = _number_as_tensor(value, beside, flat=False)
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


def _as_sequence(value: object, beside: Sequence[TensorBase], *, flat: bool) -> object:
    """A sequence of tensors for one that has others in it, or for an array along its first axis."""
    if isinstance(value, np.ndarray) and value.ndim:
        value = [value[nr, ...] for nr in range(len(value))]
    if not isinstance(value, (list, tuple)):
        return value
    made = [
        constant(x, *beside) if is_array(x) else _number_as_tensor(x, beside, flat=flat)
        for x in value
    ]
    # A call must not begin again with the same arguments.
    return made if any(a is not b for a, b in zip(made, value, strict=True)) else value


def _number_as_tensor(value: object, beside: Sequence[TensorBase], *, flat: bool) -> object:
    """A tensor of a number: 0-d, or `flat`, of one element, to be joined; others as they are."""
    number = value.item() if isinstance(value, np.generic) else value
    if not beside or not isinstance(number, (bool, int, float, complex)):
        return value
    tensor = tensor_beside(number, beside[0])
    return tensor._wrap(TensorImpl(tensor._impl.array.reshape(1))) if flat else tensor
