"""Overwriting a tensor: which entry of the table is meant."""

from __future__ import annotations

from vtgrad.ops.generated import functional as F
from vtgrad.ops.saving.read_first import read_first
from vtgrad.storage.arrays import Number
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.unchecked import AnyTensor, T

__all__ = ["fill_"]


def fill_(input: T, value: AnyTensor | Number) -> T:
    """Set every element to a number, or to the value of a 0-d tensor."""
    if isinstance(value, TensorBase):
        return F.fill_tensor_(input, read_first(value, input))
    return F.fill_number_(input, value)
