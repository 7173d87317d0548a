"""Functions of tensors that derivative formulas use beside the public operators."""

from __future__ import annotations

from typing import TypeVar, overload

from vtgrad.ops.generated import functional as F
from vtgrad.ops.recorded_gradients import (
    cumprod_backward,
    log_softmax_backward,
    prod_backward,
    scatter_prod_backward,
    softmax_backward,
)
from vtgrad.storage.arrays import Number
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "conj",
    "cumprod_backward",
    "log_softmax_backward",
    "prod_backward",
    "scatter_prod_backward",
    "softmax_backward",
]

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
