# Compiled by mypyc.
"""Saving operands for backward, and getting them back as arrays or as tensors."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import SupportsIndex, overload

import numpy as np

from vtgrad.graph.edge import Edge
from vtgrad.graph.node import Node
from vtgrad.graph.saved_variable import SavedVariable
from vtgrad.storage.arrays import Array, Number, NumpyDType, Shape
from vtgrad.storage.geometry import Geometry
from vtgrad.storage.promotion import number_dtype
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "array_list",
    "dtype_of_operand",
    "dtypes_of_operand",
    "geometry_of_operand",
    "integers",
    "is_square",
    "ndim_of_operand",
    "save_list",
    "shape_of_operand",
    "shapes_of_operand",
    "tensor_list",
]


def save_list(
    operands: Sequence[TensorBase], edges: Sequence[Edge | None] | None
) -> list[SavedVariable]:
    """Save each tensor of a list."""
    if edges is None:
        return [SavedVariable.of_input(x, None) for x in operands]
    return [SavedVariable.of_input(x, e) for x, e in zip(operands, edges, strict=True)]


def is_square(
    a: Edge | None,
    b: Edge | None,
    first: SavedVariable | Number | None,
    second: SavedVariable | Number | None,
) -> bool:
    """Whether both factors of a product are one tensor, so that both gradients are one array."""
    return (
        a is not None
        and b is not None
        and a.function is b.function
        and a.input_nr == b.input_nr
        and isinstance(first, SavedVariable)
        and isinstance(second, SavedVariable)
        and first.holds_the_same_as(second)
    )


@overload
def integers(value: None) -> None: ...
@overload
def integers(value: SupportsIndex) -> int: ...
@overload
def integers(value: Sequence[int]) -> Shape: ...
def integers(value: SupportsIndex | Sequence[int] | None) -> int | Shape | None:
    """An argument as a node keeps it: Python's integers, whatever is one to the user."""
    if value is None or type(value) is int:
        return value
    # The first question spares most calls the second one, which is slow.
    if type(value) is tuple or isinstance(value, Sequence):
        return tuple(map(operator.index, value))
    if isinstance(value, np.ndarray) and value.ndim:
        return tuple(map(operator.index, value.tolist()))
    return operator.index(value)


def array_list(field: list[SavedVariable], node: Node) -> list[Array]:
    """Saved tensors, as arrays."""
    return [x.unpack_array(node) for x in field]


def tensor_list(field: list[SavedVariable], node: Node) -> list[TensorBase]:
    """Saved tensors."""
    return [x.unpack(node) for x in field]


def shape_of_operand(operand: TensorBase | Number | None) -> Shape:
    """The shape of an operand; a number has none."""
    return operand.shape if isinstance(operand, TensorBase) else ()


def ndim_of_operand(operand: TensorBase | Number | None) -> int:
    """The number of dimensions of an operand."""
    return operand.ndim if isinstance(operand, TensorBase) else 0


def dtype_of_operand(operand: TensorBase | Number) -> NumpyDType:
    """The dtype of an operand, as NumPy names it."""
    if isinstance(operand, TensorBase):
        dtype: NumpyDType = operand._impl.array.dtype
        return dtype
    return number_dtype(operand)


def geometry_of_operand(operand: TensorBase) -> Geometry:
    """Sizes, strides and storage offset of a tensor."""
    return operand._impl.geometry


def shapes_of_operand(operands: Sequence[TensorBase]) -> list[Shape]:
    """The shape of each tensor of a list."""
    return [x.shape for x in operands]


def dtypes_of_operand(operands: Sequence[TensorBase]) -> list[NumpyDType]:
    """The dtype of each tensor of a list, as NumPy names it."""
    return [x._impl.array.dtype for x in operands]
