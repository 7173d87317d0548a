# Compiled by mypyc.
"""The few operators that the layers below `ops` need, installed once by `ops`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.device import Device
from vtgrad.storage.geometry import Geometry
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

if TYPE_CHECKING:
    from vtgrad.graph.edge import Edge
    from vtgrad.graph.node import Node

__all__ = ["Operators", "install", "operators"]


class Operators(Protocol):
    """Differentiable operators and the default tensor class, as the lower layers use them."""

    tensor_class: type[TensorBase]

    def wrap(self, impl: TensorImpl) -> TensorBase:
        """A tensor of the default class."""
        ...

    def add(self, a: TensorBase, b: TensorBase) -> TensorBase:
        """Sum, out of place."""
        ...

    def clone(self, a: TensorBase) -> TensorBase:
        """A copy on a buffer of its own."""
        ...

    def row_major_clone(self, a: TensorBase) -> TensorBase:
        """A row-major copy on a buffer of its own."""
        ...

    def clone_strided(self, a: TensorBase, sizes: Shape, strides: Shape) -> TensorBase:
        """A copy on a buffer of its own, with these strides."""
        ...

    def zeros(self, shape: Shape, dtype: NumpyDType, device: Device) -> TensorBase:
        """Zeros."""
        ...

    def zeros_as_memory(self, a: TensorBase, tangent: TensorBase) -> TensorBase:
        """Zeros with the geometry of `a`, in a buffer as large as its storage; not a view.

        A batch if `tangent` is one.
        """
        ...

    def move(self, a: TensorBase, device: Device) -> TensorBase:
        """A copy on another device."""
        ...

    def zeros_like(self, a: TensorBase) -> TensorBase:
        """Zeros in the memory order of a tensor."""
        ...

    def as_strided(self, a: TensorBase, size: Shape, stride: Shape, offset: int) -> TensorBase:
        """A view at a geometry inside the storage."""
        ...

    def as_strided_node(self, base: TensorBase, view: TensorImpl) -> Node:
        """A node as `as_strided` of `base` makes it for `view`."""
        ...

    def strided_node(
        self, edge: Edge | None, base: Geometry, view: Geometry, dtype: NumpyDType, device: Device
    ) -> Node:
        """The node of a view, at a geometry, of the value that `edge` leads to."""
        ...

    def replayed_node(
        self, base: TensorBase, view_fn: Callable[[TensorBase], TensorBase]
    ) -> Node | None:
        """The node of the view that `view_fn` makes of `base` while recording is on.

        None if the base does not require grad.
        """
        ...

    def copy_(self, target: TensorBase, source: TensorBase) -> TensorBase:
        """Overwrite `target`."""
        ...

    def zero_(self, target: TensorBase) -> TensorBase:
        """Fill `target` with zeros."""
        ...

    def add_(self, target: TensorBase, source: TensorBase) -> TensorBase:
        """Add into `target`."""
        ...

    def check_add_(self, target: TensorBase, shape: Shape, dtype: NumpyDType) -> None:
        """Raise the error of `add_` for a source of this shape and dtype."""

    def sum_to_size(self, a: Array, size: Shape) -> Array:
        """An array summed over every dimension in which `size` was broadcast to its shape."""
        ...

    def unnamed(self, a: TensorBase) -> TensorBase:
        """The same value without names of dimensions."""
        ...

    def fit(self, a: TensorBase, shape: Shape, dtype: NumpyDType) -> TensorBase:
        """A gradient summed to `shape` and cast to `dtype`, the real part for real dtypes."""
        ...


class _Installed:
    __slots__ = ("current",)
    current: Operators | None

    def __init__(self) -> None:
        self.current = None


_installed = _Installed()


def install(implementation: Operators) -> None:
    """Store the operators. Called once, when the package is imported."""
    _installed.current = implementation


def operators() -> Operators:
    """The installed operators."""
    current = _installed.current
    assert current is not None, "vtgrad.ops has not been imported"
    return current
