"""Tensors of the shape and memory order of a given one."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from vtgrad.ops import kernels as k
from vtgrad.ops.calling.arguments import array_of, numpy_or_none
from vtgrad.ops.calling.from_python import check_device, number_of, request_grad
from vtgrad.ops.kernels.support.result_strides import empty_in_format
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.storage.arrays import Array, Number
from vtgrad.storage.device import Device
from vtgrad.storage.dtypes import DType
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["empty_like", "full_like", "ones_like", "zeros_like"]


T = TypeVar("T", bound=TensorBase)


def zeros_like(
    input: T,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    memory_format: MemoryFormat | None = None,
) -> T:
    """Zeros of the shape and memory order of a tensor.

    Parameters
    ----------
    input : Tensor
        The model; its values and its history do not matter.
    dtype : DType, optional
        The dtype of `input` by default.
    device : Device or str, optional
        There is only the CPU.
    requires_grad : bool
        Whether the result is a leaf that requires grad.
    memory_format : MemoryFormat, optional
        That of `input` is preserved by default.

    Raises
    ------
    MemoryFormatError
        If the format is for another number of dimensions.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.zeros_like(vt.tensor([1.5, 2.5]))
    tensor([0., 0.])
    """
    check_device(device)
    model = array_of(input, "input")
    wanted = numpy_or_none(dtype)
    if memory_format is MemoryFormat.CONTIGUOUS:
        array = np.zeros(model.shape, wanted or model.dtype)
    elif memory_format is None:
        # The kernel gets zeroed memory from the system where it can, and need not fill it.
        array = k.zeros_like(model, dtype=wanted)
    else:
        array = _like(input, dtype, device, memory_format)
        array.fill(0)
    return _leaf(input, array, requires_grad, memory_format)


def ones_like(
    input: T,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    memory_format: MemoryFormat | None = None,
) -> T:
    """Ones of the shape and memory order of a tensor; see `zeros_like`."""
    array = _like(input, dtype, device, memory_format)
    array.fill(1)
    return _leaf(input, array, requires_grad, memory_format)


def empty_like(
    input: T,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    memory_format: MemoryFormat | None = None,
) -> T:
    """Arbitrary values in the shape and memory order of a tensor; see `zeros_like`."""
    array = _like(input, dtype, device, memory_format)
    return _leaf(input, array, requires_grad, memory_format)


def full_like(
    input: T,
    fill_value: Number | TensorBase,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    memory_format: MemoryFormat | None = None,
) -> T:
    """One value in the shape and memory order of a tensor; see `zeros_like`.

    Raises
    ------
    ResultTypeError
        If the dtype cannot hold `fill_value`.
    """
    array = _like(input, dtype, device, memory_format)
    array.fill(as_element(number_of(fill_value, "fill_value"), array.dtype))
    return _leaf(input, array, requires_grad, memory_format)


def _like(
    model: TensorBase,
    dtype: DType | None,
    device: Device | str | None,
    memory_format: MemoryFormat | None,
) -> Array:
    """An uninitialised array of the model's shape."""
    check_device(device)
    array = array_of(model, "input")
    return empty_in_format(numpy_or_none(dtype) or array.dtype, array, memory_format)


def _leaf(model: T, array: Array, requires_grad: bool, memory_format: MemoryFormat | None) -> T:
    impl = TensorImpl(array)
    if not array.size:
        impl.state_strides_in(memory_format, model._impl)
    tensor = model._wrap(impl)
    if requires_grad:
        request_grad(tensor)
    return tensor
