"""Signs and steps of tensors or numbers: choosing the entry of the table."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.ops import kernels as k
from vtgrad.ops.calling.arguments import array_of, refuse_array
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.composites.support.undifferentiable import NotImplemented as NotImplementedNode
from vtgrad.ops.composites.support.undifferentiable import without_derivative
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.store_result import store_result
from vtgrad.views.write import write

__all__ = ["copysign", "copysign_", "heaviside", "heaviside_"]


T = TypeVar("T", bound=TensorBase)


def copysign(input: T, other: TensorBase | Number, *, out: T | None = None) -> T:
    """The magnitude of a tensor with the sign of another, or of a number.

    The sign of a zero counts. The gradient is turned where the sign was, and 0 at 0.
    """
    if isinstance(other, TensorBase):
        return F.copysign_tensor(input, other, out=out)
    refuse_array("other", other)
    return F.copysign_number(input, other, out=out)


def copysign_(input: T, other: TensorBase | Number) -> T:
    """Give the tensor itself the signs of another; see `copysign`."""
    if isinstance(other, TensorBase):
        return F.copysign_tensor_(input, other)
    refuse_array("other", other)
    return F.copysign_number_(input, other)


@explained
def heaviside(input: T, values: TensorBase, *, out: T | None = None) -> T:
    """0 for negative values, 1 for positive ones, and `values` at zero.

    As in PyTorch its backward raises.
    """
    return without_derivative(F.heaviside_values(input, values, out=out), input, values)


_heaviside_writer = store_result(k.heaviside, direct=True)


@explained
def heaviside_(input: T, values: TensorBase) -> T:
    """Overwrite the tensor with 0, 1 or `values`; see `heaviside`."""
    array_of(values, "values")
    record = NotImplementedNode.record
    return write(input, record, _heaviside_writer, values, operator="heaviside_")
