"""What `Tensor.new` and type names such as `FloatTensor` make of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError
from vtgrad.graph.operators import operators
from vtgrad.ops.calling.from_python import array_from_data, sizes_of
from vtgrad.ops.composites.memory import set_
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.device import Device, lane_of
from vtgrad.storage.dtypes import DType
from vtgrad.storage.on_device import on_device
from vtgrad.storage.storage_base import StorageBase
from vtgrad.storage.strides import check_sizes
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.tensor.size import Size

__all__ = ["new_tensor"]


def new_tensor(
    name: str,
    dtype: DType,
    data: Sequence[object],
    size: Sequence[int] | None,
    device: Device | str | None,
) -> TensorBase:
    """A tensor of a dtype from sizes, elements, memory, or a tensor of this dtype.

    Parameters
    ----------
    name : str
        What the user has called, for errors.
    data : sequence
        The arguments: none, sizes, a `Size`, elements in a sequence, a tensor or a storage.

    Raises
    ------
    ArgumentTypeError
        If the arguments are none of these.
    DTypeError
        If a tensor has another dtype.
    """
    if device is not None and (place := lane_of(device)) is not None:
        return on_device(place, new_tensor, name, dtype, data, size, None)
    only = data[0] if len(data) == 1 and size is None else None
    if isinstance(only, TensorBase):
        if only.dtype is not dtype:
            raise DTypeError(
                f"{name} takes a tensor of dtype {dtype.name}, not {only.dtype.name}; cast it",
                expected=dtype,
                found=only.dtype,
            )
        return F.alias(only)
    wrap = operators().wrap
    if isinstance(only, StorageBase):
        return set_(wrap(TensorImpl(making.empty(0, dtype.numpy))), only)
    if isinstance(only, (bool, float, complex, str)):
        raise ArgumentTypeError(f"{name} takes sizes or a sequence, not {type(only).__name__}")
    if isinstance(only, (Sequence, np.ndarray)) and not isinstance(only, Size):
        return wrap(TensorImpl(array_from_data(only, dtype.numpy)))
    sizes = sizes_of(name, data, size) if data or size is not None else (0,)
    check_sizes(sizes, dtype.numpy.itemsize)
    return wrap(TensorImpl(making.zeros(sizes, dtype.numpy)))
