"""Functions of tensors that formulas and methods use beside the public operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, overload

from vtgrad.errors import ShapeError
from vtgrad.ops.calling.sequences import given_integers
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number
from vtgrad.storage.geometry import broadcast_shapes
from vtgrad.storage.integers import size_of
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["conj", "sum_to"]


T = TypeVar("T", bound=TensorBase)


@overload
def conj(input: T) -> T: ...
@overload
def conj(input: Number) -> Number: ...
@overload
def conj(input: T | Number) -> T | Number: ...
def conj(input: T | Number) -> T | Number:
    """The complex conjugate, as formulas need it: the very argument if it is real."""
    if isinstance(input, TensorBase):
        return F._conj_physical(input) if input.is_complex() else input
    return input.conjugate() if isinstance(input, complex) else input


def sum_to(tensor: T, sizes: Sequence[int | Sequence[int]], size: Sequence[int] | None) -> T:
    """What `Tensor.sum_to_size` returns, from the steps that PyTorch records."""
    shape = tuple([size_of(n, "size") for n in given_integers(sizes, size, "sum_to_size")])
    if any(n < 0 for n in shape) or broadcast_shapes(shape, tensor.shape) != tensor.shape:
        raise ShapeError(
            f"shape {list(shape)} does not broadcast to {list(tensor.shape)}",
            expected=tensor.shape,
            found=shape,
        )
    if not shape:
        return F.sum(tensor)
    added = tensor.ndim - len(shape)
    over = [d for d, n in enumerate(tensor.shape) if d < added or shape[d - added] != n]
    kept = F.sum(tensor, over, keepdim=True) if over else tensor
    return F.view(kept, shape) if added else kept
