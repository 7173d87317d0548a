"""Saving operands for backward, and getting them back as arrays or as tensors."""

from collections.abc import Sequence
from typing import TypeVar, overload

from ..graph.edge import Edge
from ..graph.node import Node
from ..graph.saved_variable import SavedVariable
from ..storage.arrays import Array, Number, NumpyDType, Shape
from ..storage.dtypes import number_dtype
from ..storage.tensor_base import TensorBase

__all__ = [
    "array_list",
    "array_of_saved",
    "array_or_none",
    "dtype_of_operand",
    "dtypes_of_operand",
    "geometry_of_operand",
    "live",
    "ndim_of_operand",
    "operand_of_saved",
    "released",
    "save",
    "save_copy",
    "save_list",
    "shape_of_operand",
    "shapes_of_operand",
    "tensor_list",
    "tensor_of_saved",
    "tensor_operand_of_saved",
    "tensor_or_none",
]

_RELEASED = SavedVariable.released()

N = TypeVar("N", bound=Number | None)


@overload
def save(operand: TensorBase, edge: Edge | None) -> SavedVariable: ...
@overload
def save(operand: TensorBase | N, edge: Edge | None) -> SavedVariable | N: ...
def save(operand: TensorBase | N, edge: Edge | None) -> SavedVariable | N:
    """Save an operand; numbers and None are their own saved value."""
    if isinstance(operand, TensorBase):
        return SavedVariable(operand, edge)
    return operand


def save_copy(operand: TensorBase, edge: Edge | None) -> SavedVariable:
    """Save a copy of an operand that is about to be overwritten."""
    return SavedVariable.of_copy(operand, edge)


def save_list(
    operands: Sequence[TensorBase], edges: Sequence[Edge | None] | None
) -> list[SavedVariable]:
    """Save each tensor of a list."""
    if edges is None:
        return [SavedVariable(x, None) for x in operands]
    return [SavedVariable(x, e) for x, e in zip(operands, edges, strict=True)]


def live(*fields: SavedVariable | list[SavedVariable] | Number | None) -> list[SavedVariable]:
    """The saved variables among a node's fields."""
    found: list[SavedVariable] = []
    for field in fields:
        if isinstance(field, SavedVariable):
            found.append(field)
        elif isinstance(field, list):
            found.extend(field)
    return found


def released(field: SavedVariable | Number | None) -> SavedVariable | Number | None:
    """What is left of a field after its node was freed.

    A number needs no freeing, but PyTorch saves it as a tensor, so that a second backward through
    `x * 2` is an error like one through `x * y`.
    """
    return field if field is None or isinstance(field, SavedVariable) else _RELEASED


def array_of_saved(field: SavedVariable | None, node: Node) -> Array:
    """A saved tensor, as an array."""
    assert field is not None
    return field.unpack_array(node)


def array_or_none(field: SavedVariable | None, node: Node) -> Array | None:
    """A saved tensor that may not have been there, as an array."""
    return None if field is None else field.unpack_array(node)


def operand_of_saved(field: SavedVariable | Number | None, node: Node) -> Array | Number:
    """A saved tensor or number, as an array or number."""
    if isinstance(field, SavedVariable):
        return field.unpack_array(node)
    assert field is not None
    return field


def array_list(field: list[SavedVariable], node: Node) -> list[Array]:
    """Saved tensors, as arrays."""
    return [x.unpack_array(node) for x in field]


def tensor_of_saved(field: SavedVariable | None, node: Node) -> TensorBase:
    """A saved tensor."""
    assert field is not None
    return field.unpack(node)


def tensor_or_none(field: SavedVariable | None, node: Node) -> TensorBase | None:
    """A saved tensor that may not have been there."""
    return None if field is None else field.unpack(node)


def tensor_operand_of_saved(
    field: SavedVariable | Number | None, node: Node
) -> TensorBase | Number:
    """A saved tensor or number."""
    if isinstance(field, SavedVariable):
        return field.unpack(node)
    assert field is not None
    return field


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
        return operand._impl.array.dtype
    return number_dtype(operand)


def geometry_of_operand(operand: TensorBase) -> tuple[Shape, Shape, int]:
    """Sizes, strides and storage offset of a tensor."""
    impl = operand._impl
    return impl.sizes, impl.strides, impl.storage_offset


def shapes_of_operand(operands: Sequence[TensorBase]) -> list[Shape]:
    """The shape of each tensor of a list."""
    return [x.shape for x in operands]


def dtypes_of_operand(operands: Sequence[TensorBase]) -> list[NumpyDType]:
    """The dtype of each tensor of a list, as NumPy names it."""
    return [x._impl.array.dtype for x in operands]
