"""Tangents that are computed over arrays.

Note [Tangents over arrays]

A forward formula over tensors is a call of an operator for each step, with a new tensor for each
intermediate result. Where that makes no difference it is evaluated over arrays instead, as backward
formulas are: nothing is recorded, no tensor has tangents of another level, or a key, and all values
are real. Intermediate results are overwritten by the next step (Note [Large gradients] says why).
The generator writes this second function for operators that compute element by element.

A write whose formula does not read the old value is evaluated after the value was stored, and its
last step stores into the tangent that is there:

    d.mul_(2)      the tangent is multiplied in its memory, without another array
    d.tanh_()      its last product is stored there
    d.sin_()       reads the old value: it is evaluated before the write, and copied
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from vtgrad.graph.operators import operators
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import requires_grad
from vtgrad.ops.operator import Operator
from vtgrad.ops.rules.tangents.functions_of import FormulaOverArrays, functions_of
from vtgrad.ops.rules.tangents.tangents import share_memory
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.key_set import keys
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.prepared_store import Store
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.views.write import write

__all__ = ["Given", "StoredTangent", "stored_over_arrays", "tangent_over_arrays"]

# The tangent of an argument, or those of the members of a sequence.
Given: TypeAlias = TensorBase | Sequence[TensorBase | None]

# Other numbers, as NumPy's, promote otherwise where they are no arrays.
_PLAIN: Final = frozenset({int, float, bool, str, type(None)})


class _Operands(NamedTuple):
    """The arguments and tangents of a formula, as arrays."""

    values: dict[str, object]
    tangents: dict[str, Array]


def tangent_over_arrays(
    formula: FormulaOverArrays | None,
    arguments: Mapping[str, object],
    given: Mapping[str, Given],
    result: object,
) -> TensorBase | None:
    """The tangent of a result; None if it is not computed over arrays."""
    if formula is None or not isinstance(result, TensorBase):
        return None
    array = _plain_array(result, recording=False)
    operands = None if array is None else _operands(arguments, given)
    if operands is None or array is None or array.dtype.kind != "f":
        return None
    found = run_without_warnings(formula, *operands, array, 0)
    for name, tangent in operands.tangents.items():
        if found is tangent:
            same = given[name]
            assert isinstance(same, TensorBase)
            return same
    if not isinstance(found, np.ndarray):
        return None
    return operators().wrap(TensorImpl(found if found.base is None else found.copy(order="K")))


class StoredTangent:
    """A formula that stores into the tangent of what is written; see Note [Tangents over arrays].

    Parameters
    ----------
    formula : callable
        The formula over arrays.
    operands : _Operands
        What it reads.
    target, present : TensorBase
        What is written, and its tangent.
    operator : str
        Its name, for the record of the write.
    """

    __slots__ = ("formula", "operands", "operator", "present", "target")

    formula: FormulaOverArrays
    operands: _Operands
    target: TensorBase
    present: TensorBase
    operator: str

    def __init__(
        self,
        formula: FormulaOverArrays,
        operands: _Operands,
        target: TensorBase,
        present: TensorBase,
        operator: str,
    ) -> None:
        self.formula = formula
        self.operands = operands
        self.target = target
        self.present = present
        self.operator = operator

    def store(self) -> None:
        """Write the tangent, after the value was written."""
        write(self.present, None, self._prepared, operator=self.operator)

    def _prepared(self, tangent: Array) -> Store:
        return self._stored, (tangent,), None

    def _stored(self, tangent: Array) -> None:
        found = self.formula(*self.operands, self.target._impl.array, 1)
        if found is not tangent:
            assert isinstance(found, np.ndarray)
            np.copyto(tangent, found, casting="same_kind")


def stored_over_arrays(
    operator: Operator,
    arguments: Mapping[str, object],
    given: Mapping[str, Given],
    target: TensorBase,
    present: TensorBase | None,
) -> StoredTangent | None:
    """The tangent of a write, if it can be computed after the write and in its place."""
    formula, first = functions_of(operator).over_arrays, operator.parameters[0]
    if formula is None or present is None or given.get(first) is not present:
        return None
    tangent = operator.tangent
    assert tangent is not None
    if any(name in given for name in tangent.reads_first):
        return None
    if _are_read(target, present, arguments, given, first):
        return None
    array = _plain_array(target, recording=False)
    operands = None if array is None else _operands(arguments, given)
    if operands is None or array is None or array.dtype.kind != "f":
        return None
    return StoredTangent(formula, operands, target, present, operator.spoken)


def _are_read(
    target: TensorBase,
    present: TensorBase,
    arguments: Mapping[str, object],
    given: Mapping[str, Given],
    first: str,
) -> bool:
    """Whether the formula reads the memory of the value or of its tangent under another name.

    Both have been written, or are being written, when it is evaluated.
    """
    return share_memory(target, present) or any(
        isinstance(x, TensorBase) and (share_memory(x, target) or share_memory(x, present))
        for others in (arguments, given)
        for name, x in others.items()
        if name != first
    )


def _operands(arguments: Mapping[str, object], given: Mapping[str, Given]) -> _Operands | None:
    """All operands as arrays; None if one of them is anything else."""
    if len(keys.modes) != 1:
        return None
    recording = is_recording()
    values: dict[str, object] = {}
    for name, value in arguments.items():
        if isinstance(value, TensorBase):
            array = _plain_array(value, recording)
            if array is None:
                return None
            values[name] = array
        elif type(value) in _PLAIN:
            values[name] = value
        else:
            return None
    tangents: dict[str, Array] = {}
    for name, tangent in given.items():
        array = _plain_array(tangent, recording) if isinstance(tangent, TensorBase) else None
        if array is None or array.dtype.kind != "f":
            return None
        tangents[name] = array
    return _Operands(values, tangents)


def _plain_array(tensor: TensorBase, recording: bool) -> Array | None:
    """The array of a real tensor without keys that is not recorded."""
    impl = tensor._impl
    array = impl.array
    if (
        type(array) not in PLAIN
        or array.dtype.kind == "c"
        or impl.extra_meta is not None
        or (recording and requires_grad(tensor))
    ):
        return None
    return array
