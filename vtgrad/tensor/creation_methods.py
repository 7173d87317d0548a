"""Making tensors of the dtype of a tensor: ``new_zeros`` and its family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from ..errors import ArgumentTypeError
from ..ops.calling.arguments import numpy_or_none
from ..ops.calling.from_python import (
    array_from_data,
    check_device,
    empty_strided_impl,
    number_of,
    request_grad,
    sizes_of,
)
from ..ops.generated.methods import TensorMethods
from ..ops.kernels.support.scalars import as_element
from ..storage.arrays import Array, Number, NumpyDType, Shape
from ..storage.device import Device
from ..storage.dtypes import DType
from ..storage.strides import check_sizes
from ..storage.tensor_base import TensorBase
from ..storage.tensor_impl import TensorImpl
from ..storage.warn import warn

__all__ = ["CreationMethods"]


class CreationMethods(TensorMethods):
    """New leaves of the same dtype as this tensor unless told otherwise."""

    __slots__ = ()

    def new_tensor(
        self,
        data: object,
        *,
        dtype: DType | None = None,
        device: Device | str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """A copy of the data in this tensor's dtype; see `vtgrad.tensor`."""
        check_device(device)
        if isinstance(data, TensorBase):
            warn(
                "new_tensor(x) of a tensor copies its values and leaves its history behind; "
                "x.detach().clone() says so"
            )
        return self._new(array_from_data(data, self._dtype_or(dtype)), requires_grad)

    def new_zeros(
        self,
        *sizes: int | Sequence[int],
        size: Sequence[int] | None = None,
        dtype: DType | None = None,
        device: Device | str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Zeros in this tensor's dtype; see `vtgrad.zeros`."""
        shape, wanted = self._new_arguments("new_zeros", sizes, size, dtype, device)
        return self._new(np.zeros(shape, wanted), requires_grad)

    def new_ones(
        self,
        *sizes: int | Sequence[int],
        size: Sequence[int] | None = None,
        dtype: DType | None = None,
        device: Device | str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Ones in this tensor's dtype; see `vtgrad.ones`."""
        shape, wanted = self._new_arguments("new_ones", sizes, size, dtype, device)
        return self._new(np.ones(shape, wanted), requires_grad)

    def new_empty(
        self,
        *sizes: int | Sequence[int],
        size: Sequence[int] | None = None,
        dtype: DType | None = None,
        device: Device | str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Arbitrary values in this tensor's dtype; see `vtgrad.empty`."""
        shape, wanted = self._new_arguments("new_empty", sizes, size, dtype, device)
        return self._new(np.empty(shape, wanted), requires_grad)

    def new_full(
        self,
        size: Sequence[int],
        fill_value: Number | TensorBase,
        *,
        dtype: DType | None = None,
        device: Device | str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """One value in this tensor's dtype; see `vtgrad.full`."""
        if not isinstance(size, (tuple, list)):
            raise ArgumentTypeError(
                f"argument 'size' must be a sequence of integers, not {type(size).__name__}",
                argument="size",
            )
        shape, wanted = self._new_arguments("new_full", (size,), None, dtype, device)
        value = as_element(number_of(fill_value, "fill_value"), wanted)
        return self._new(np.full(shape, value), requires_grad)

    def new_empty_strided(
        self,
        size: Sequence[int],
        stride: Sequence[int],
        *,
        dtype: DType | None = None,
        device: Device | str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Arbitrary values in this tensor's dtype; see `vtgrad.empty_strided`."""
        check_device(device)
        tensor = self._wrap(empty_strided_impl(size, stride, self._dtype_or(dtype)))
        if requires_grad:
            request_grad(tensor)
        return tensor

    def _dtype_or(self, dtype: DType | None) -> NumpyDType:
        return numpy_or_none(dtype) or self._impl.dtype

    def _new_arguments(
        self,
        name: str,
        sizes: Sequence[object],
        size: Sequence[int] | None,
        dtype: DType | None,
        device: Device | str | None,
    ) -> tuple[Shape, NumpyDType]:
        check_device(device)
        shape = sizes_of(name, sizes, size)
        wanted = self._dtype_or(dtype)
        check_sizes(shape, wanted.itemsize)
        return shape, wanted

    def _new(self, array: Array, requires_grad: bool) -> Self:
        tensor = self._wrap(TensorImpl(array))
        if requires_grad:
            request_grad(tensor)
        return tensor
