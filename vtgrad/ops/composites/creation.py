"""Tensors of the shape and memory order of a given one."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.ops import kernels as k
from vtgrad.ops.calling.arguments import array_of, numpy_or_none
from vtgrad.ops.calling.from_python import number_of, request_grad
from vtgrad.ops.calling.take_over import is_keyed_on_memory, take_over
from vtgrad.ops.generated.operators import EMPTY_LIKE, FULL_LIKE, ONES_LIKE, ZEROS_LIKE
from vtgrad.ops.kernels.support.result_strides import empty_in_format
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number
from vtgrad.storage.device import Device, lane_of
from vtgrad.storage.dtypes import DType
from vtgrad.storage.key_set import keys
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.on_device import placed
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
    """Return a tensor of zeros in the shape of another.

    By default it has the dtype and memory order of `input`. The result has no history.

    Parameters
    ----------
    input : Tensor
        The model; its values do not matter.
    dtype : DType, optional
        The dtype; by default that of `input`.
    device : Device or str, optional
        Where the memory is; there is only the CPU.
    requires_grad : bool, default False
        Whether the result is a leaf that requires grad.
    memory_format : MemoryFormat, optional
        The order in memory; by default that of `input`.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    RequiresGradError
        If `requires_grad` is asked for of integers or bools.
    MemoryFormatError
        If the format is for another number of dimensions.
    NotSupportedError
        If there is no such kind of device.

    Examples
    --------
    >>> vt.zeros_like(vt.tensor([1.5, 2.5]))
    tensor([0., 0.])
    >>> vt.zeros_like(vt.zeros(2, 3).t(), dtype=vt.int64).stride()
    (1, 3)
    """
    if keys.active and is_keyed_on_memory(input):
        return take_over(
            ZEROS_LIKE,
            zeros_like,
            input,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
            memory_format=memory_format,
        )
    lane = lane_of(device)
    model = array_of(input, "input")
    wanted = numpy_or_none(dtype)
    if memory_format is MemoryFormat.CONTIGUOUS:
        array = making.zeros(model.shape, wanted or model.dtype)
    elif memory_format is None:
        # The kernel gets zeroed memory from the system where it can, and need not fill it.
        array = k.zeros_like(model, dtype=wanted)
    else:
        array = _like(input, dtype, device, memory_format)
        array.fill(0)
    return _leaf(input, array, requires_grad, memory_format, lane)


def ones_like(
    input: T,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    memory_format: MemoryFormat | None = None,
) -> T:
    """Return a tensor of ones in the shape of another.

    By default it has the dtype and the memory order of `input`. The result has no history.

    Parameters
    ----------
    input : Tensor
        The model; its values do not matter.
    dtype : DType, optional
        The dtype; by default that of `input`.
    device : Device or str, optional
        Where the memory is; there is only the CPU.
    requires_grad : bool, default False
        Whether the result is a leaf that requires grad.
    memory_format : MemoryFormat, optional
        The order in memory; by default that of `input`.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    RequiresGradError
        If `requires_grad` is asked for of integers or bools.
    MemoryFormatError
        If the format is for another number of dimensions.
    NotSupportedError
        If there is no such kind of device.

    Examples
    --------
    >>> vt.ones_like(vt.tensor([1.5, 2.5]))
    tensor([1., 1.])
    >>> vt.ones_like(vt.zeros(2, 3).t(), dtype=vt.int64).stride()
    (1, 3)
    """
    if keys.active and is_keyed_on_memory(input):
        return take_over(
            ONES_LIKE,
            ones_like,
            input,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
            memory_format=memory_format,
        )
    array = _like(input, dtype, device, memory_format)
    array.fill(1)
    return _leaf(input, array, requires_grad, memory_format, lane_of(device))


def empty_like(
    input: T,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    memory_format: MemoryFormat | None = None,
) -> T:
    """Return a tensor of arbitrary values with the shape of another one.

    The memory is not initialised: it holds whatever was there before. Fill it before use.
    `zeros_like` and `full_like` make tensors of known values.

    Parameters
    ----------
    input : Tensor
        The model. Its values and its history do not matter.
    dtype : dtype, optional
        Dtype of the result; that of `input` if not given.
    device : device or str, optional
        The device of `input` by default.
    requires_grad : bool, default False
        Whether the result is a leaf that requires grad.
    memory_format : memory_format, optional
        Order of the elements in memory. If not given, the dimensions keep the order that they
        have in `input`, without gaps.

    Returns
    -------
    Tensor
        A new leaf of the shape of `input`, on memory of its own.

    Raises
    ------
    MemoryFormatError
        If the memory format is for another number of dimensions.
    RequiresGradError
        If `requires_grad` is True and the dtype is neither floating nor complex.
    NotSupportedError
        If there is no such kind of device.

    Examples
    --------
    >>> x = vt.ones(2, 3).t()
    >>> y = vt.empty_like(x, dtype=vt.int64)
    >>> y.shape, y.stride(), y.dtype
    (vtgrad.Size([3, 2]), (1, 3), vtgrad.int64)
    >>> vt.empty_like(x, memory_format=vt.contiguous_format).stride()
    (2, 1)
    >>> y.fill_(7)
    tensor([[7, 7],
            [7, 7],
            [7, 7]])
    """
    if keys.active and is_keyed_on_memory(input):
        return take_over(
            EMPTY_LIKE,
            empty_like,
            input,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
            memory_format=memory_format,
        )
    array = _like(input, dtype, device, memory_format)
    return _leaf(input, array, requires_grad, memory_format, lane_of(device))


def full_like(
    input: T,
    fill_value: Number | TensorBase,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    memory_format: MemoryFormat | None = None,
) -> T:
    """Return a tensor with the shape of another one and one value everywhere.

    A floating value for an integer dtype is cut off to an integer. A value that the dtype
    cannot hold is refused; negative integers wrap around in uint8. No gradient reaches
    `fill_value` or `input`.

    Parameters
    ----------
    input : Tensor
        The model. Its values and its history do not matter.
    fill_value : number or Tensor
        The value: a number, or a 0-d tensor that does not require grad.
    dtype : dtype, optional
        Dtype of the result; that of `input` if not given.
    device : device or str, optional
        The device of `input` by default.
    requires_grad : bool, default False
        Whether the result is a leaf that requires grad.
    memory_format : memory_format, optional
        Order of the elements in memory. If not given, the dimensions keep the order that they
        have in `input`, without gaps.

    Returns
    -------
    Tensor
        A new leaf of the shape of `input`.

    Raises
    ------
    ResultTypeError
        If the dtype cannot hold `fill_value`.
    ArgumentTypeError
        If `fill_value` is not such a number or tensor.
    MemoryFormatError
        If the memory format is for another number of dimensions.
    RequiresGradError
        If `requires_grad` is True and the dtype is neither floating nor complex.
    NotSupportedError
        If there is no such kind of device.

    Examples
    --------
    >>> vt.full_like(vt.zeros(2, 2), 0.5)
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    >>> vt.full_like(vt.tensor([1, 2]), 2.7)
    tensor([2, 2])
    >>> vt.full_like(vt.ones(2), 3.0, requires_grad=True)
    tensor([3., 3.], requires_grad=True)
    """
    if keys.active and is_keyed_on_memory(input):
        return take_over(
            FULL_LIKE,
            full_like,
            input,
            fill_value,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
            memory_format=memory_format,
        )
    array = _like(input, dtype, device, memory_format)
    array.fill(as_element(number_of(fill_value, "fill_value"), array.dtype))
    return _leaf(input, array, requires_grad, memory_format, lane_of(device))


def _like(
    model: TensorBase,
    dtype: DType | None,
    device: Device | str | None,
    memory_format: MemoryFormat | None,
) -> Array:
    """An uninitialised array of the model's shape."""
    lane_of(device)  # refused before memory is taken
    array = array_of(model, "input")
    return empty_in_format(numpy_or_none(dtype) or array.dtype, array, memory_format)


def _leaf(
    model: T,
    array: Array,
    requires_grad: bool,
    memory_format: MemoryFormat | None,
    lane: Device | None,
) -> T:
    impl = TensorImpl(array)
    if not array.size:
        impl.state_strides_in(memory_format, model._impl)
    tensor = placed(model._wrap(impl), lane)
    if requires_grad:
        request_grad(tensor)
    return tensor
