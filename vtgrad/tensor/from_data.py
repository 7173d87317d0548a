"""Tensors from numbers, sequences and arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.errors import ArgumentTypeError
from vtgrad.graph.function_modes import in_function_mode
from vtgrad.ops.calling.arguments import numpy_or_none
from vtgrad.ops.calling.constants import impl_of_array
from vtgrad.ops.calling.from_python import array_from_data, check_array
from vtgrad.ops.calling.take_over import call_override
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import Device, lane_of
from vtgrad.storage.dtypes import DType, dtype_of
from vtgrad.storage.key_set import keys
from vtgrad.storage.on_device import on_device
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.warn import warn
from vtgrad.tensor.fresh_tensor import leaf, named, names_for
from vtgrad.tensor.tensor import Tensor

__all__ = ["as_tensor", "from_numpy", "tensor"]


def tensor(
    data: object,
    *,
    names: Sequence[str | None] | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A new tensor that holds a copy of the data.

    Parameters
    ----------
    data : number, nested sequence, ndarray or Tensor
        Sequences of one level have equal lengths; their elements may be numbers and 0-d
        tensors. A tensor is copied without its history, with a warning; it keeps
        names of its dimensions.
    names : sequence of (str or None), optional
        A name for each dimension, None for one without.
    dtype : dtype, optional
        By default the data's: NumPy arrays and scalars keep theirs, Python floats get the
        default dtype (float32 unless set), integers int64; of several, the dtype that they
        promote to.
    device : device or str, optional
        By default that of a tensor, or the CPU.
    requires_grad : bool, default False
        Whether the new leaf requires grad.

    Returns
    -------
    Tensor
        A leaf with memory of its own.

    Raises
    ------
    ArgumentValueError
        If sequences are ragged or hold text, or an integer is too large for int64.
    DTypeError, ArgumentTypeError
        If the data or an element is not a number, or vtgrad does not have an array's dtype.
    ResultTypeError
        If `dtype` cannot hold an integer of the data.
    NamesError
        If `names` do not fit the dimensions.
    RequiresGradError
        If `requires_grad` is set for a dtype that has no gradients.
    NotSupportedError
        For another device.

    Examples
    --------
    >>> vt.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> vt.tensor([1.5, 2.0], requires_grad=True)
    tensor([1.5000, 2.0000], requires_grad=True)
    >>> vt.tensor(np.arange(3.0))
    tensor([0., 1., 2.], dtype=vtgrad.float64)
    """
    if keys.modes and in_function_mode():
        return call_override(
            tensor, data, names=names, dtype=dtype, device=device, requires_grad=requires_grad
        )
    lane = lane_of(device)
    if device is None and isinstance(data, TensorBase):
        lane = lane_of(data._impl.device)
    if isinstance(data, TensorBase):
        warn(
            "tensor(x) of a tensor copies its values and leaves its history behind; "
            "x.detach().clone() says so"
        )
    array = array_from_data(data, numpy_or_none(dtype))
    given = names_for(names, array.ndim)
    if given is None and isinstance(data, TensorBase):
        given = data._impl.names
    return named(leaf(array, requires_grad, lane), given)


def as_tensor(
    data: object, dtype: DType | None = None, device: Device | str | None = None
) -> Tensor:
    """The data as a tensor, copied only if necessary.

    Parameters
    ----------
    data : number, nested sequence, ndarray or Tensor
        As in `tensor`.
    dtype : dtype, optional
        By default the data's, as in `tensor`.
    device : device or str, optional
        The CPU by default, or a lane of it.

    Returns
    -------
    Tensor
        `data` itself if it is a tensor of the dtype; a recorded cast of a tensor of another
        dtype; a tensor on the memory of a NumPy array, as by `from_numpy`; else a new tensor.

    Raises
    ------
    ArgumentValueError, ArgumentTypeError, DTypeError, NotSupportedError
        As `tensor` and `from_numpy` do.

    Examples
    --------
    >>> a = np.zeros(2)
    >>> t = vt.as_tensor(a)
    >>> t[0] = 5  # the array's memory
    >>> a
    array([5., 0.])
    >>> vt.as_tensor(t) is t
    True
    """
    if keys.modes and in_function_mode():
        return call_override(as_tensor, data, dtype, device)
    wanted = numpy_or_none(dtype)
    if isinstance(data, Tensor) and device is not None:
        return data.to(device, None if wanted is None else dtype_of(wanted))
    if device is not None and (place := lane_of(device)) is not None:
        if isinstance(data, np.ndarray):
            # The memory of the array is the CPU's.
            data = data.copy()
        return on_device(place, as_tensor, data, dtype)
    if isinstance(data, Tensor):
        return data if wanted is None or wanted == data._impl.dtype else F.to_dtype(data, wanted)
    if isinstance(data, np.ndarray):
        shared = from_numpy(data)
        return shared if wanted is None or wanted == data.dtype else F.to_dtype(shared, wanted)
    return leaf(array_from_data(data, wanted), False)


def from_numpy(ndarray: Array) -> Tensor:
    """A tensor on the memory of a NumPy array: writes to one change the other.

    Writes to the array move no version, so overwritten saved values are not detected, except
    under `vtgrad.autograd.graph.set_audit`. Negative strides, as of ``a[::-1]``, are accepted;
    PyTorch refuses them.

    On a read-only array the tensor and all its views are read-only: each write to them raises
    `ReadOnlyError`, and ``numpy()`` gives read-only arrays. PyTorch writes to the array.

    Parameters
    ----------
    ndarray : ndarray
        An array of a dtype that vtgrad has.

    Returns
    -------
    Tensor
        A leaf of the array's shape, strides and dtype.

    Raises
    ------
    ArgumentTypeError
        If `ndarray` is not an array, or vtgrad does not have its dtype.
    ArgumentValueError
        If the array has a stride that is not a multiple of the element size, or a non-native byte
        order; ``from_numpy(a.copy())`` works for these.

    Examples
    --------
    >>> a = np.zeros(2)
    >>> t = vt.from_numpy(a)
    >>> a[0] = 7
    >>> t
    tensor([7., 0.], dtype=vtgrad.float64)
    """
    if not isinstance(ndarray, np.ndarray):
        raise ArgumentTypeError(
            f"from_numpy takes a NumPy array, not {type(ndarray).__name__}", argument="ndarray"
        )
    check_array(ndarray)
    return Tensor._wrap(impl_of_array(ndarray))
