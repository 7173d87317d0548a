"""Making tensors with the dtype of a tensor: ``new_zeros`` and similar methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from vtgrad.errors import ArgumentTypeError
from vtgrad.graph.batch import is_batched
from vtgrad.ops.calling.arguments import numpy_or_none
from vtgrad.ops.calling.from_python import (
    array_from_data,
    empty_strided_impl,
    number_of,
    request_grad,
    sizes_of,
)
from vtgrad.ops.generated.methods import TensorMethods
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.ops.rules.batches.values import levels_of, with_samples
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number, NumpyDType, Shape
from vtgrad.storage.device import CPU, Device, lane_of
from vtgrad.storage.dtypes import DType
from vtgrad.storage.on_device import placed
from vtgrad.storage.strides import check_sizes
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.warn import warn

__all__ = ["CreationMethods"]


class CreationMethods(TensorMethods):
    """New leaves, by default with the dtype of this tensor."""

    __slots__ = ()

    def new_tensor(
        self,
        data: object,
        *,
        dtype: DType | None = None,
        device: Device | str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """A copy of the data, in this tensor's dtype.

        Parameters
        ----------
        data : number, nested sequence, ndarray or Tensor
            As in `vtgrad.tensor`.
        dtype : dtype, optional
            This tensor's if omitted.
        device, requires_grad
            As in `vtgrad.tensor`.

        Returns
        -------
        Tensor
            A new leaf.

        Raises
        ------
        ArgumentValueError, DTypeError, ArgumentTypeError, ResultTypeError, RequiresGradError
            As `vtgrad.tensor` does.

        Examples
        --------
        >>> vt.zeros(2, dtype=vt.float64).new_tensor([1, 2, 3])
        tensor([1., 2., 3.], dtype=vtgrad.float64)
        """
        lane = self._lane_or(device)
        if isinstance(data, TensorBase):
            warn(
                "new_tensor(x) of a tensor copies its values and leaves its history behind; "
                "x.detach().clone() says so"
            )
        return self._new(array_from_data(data, self._dtype_or(dtype)), requires_grad, lane)

    def new_zeros(
        self,
        *sizes: int | Sequence[int],
        size: Sequence[int] | None = None,
        dtype: DType | None = None,
        device: Device | str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Zeros, in this tensor's dtype.

        Parameters
        ----------
        *sizes : int, or one sequence of int
            The shape, as in `vtgrad.zeros`; it has nothing to do with that of this tensor.
        size : sequence of int, optional
            The shape as a keyword.
        dtype : dtype, optional
            This tensor's if omitted.
        device, requires_grad
            As in `vtgrad.zeros`.

        Returns
        -------
        Tensor
            A new leaf.

        Raises
        ------
        ShapeError, RequiresGradError
            As `vtgrad.zeros` does.

        Examples
        --------
        >>> vt.tensor([True]).new_zeros(3)
        tensor([False, False, False])
        """
        lane = self._lane_or(device)
        shape, wanted = self._new_arguments("new_zeros", sizes, size, dtype)
        return self._new(making.zeros(shape, wanted), requires_grad, lane)

    def new_ones(
        self,
        *sizes: int | Sequence[int],
        size: Sequence[int] | None = None,
        dtype: DType | None = None,
        device: Device | str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Ones, in this tensor's dtype.

        Parameters
        ----------
        *sizes, size, dtype, device, requires_grad
            As in `new_zeros`.

        Returns
        -------
        Tensor
            A new leaf.

        Raises
        ------
        ShapeError, RequiresGradError
            As `vtgrad.ones` does.

        Examples
        --------
        >>> vt.tensor([7]).new_ones((1, 3))
        tensor([[1, 1, 1]])
        """
        lane = self._lane_or(device)
        shape, wanted = self._new_arguments("new_ones", sizes, size, dtype)
        return self._new(making.ones(shape, wanted), requires_grad, lane)

    def new_empty(
        self,
        *sizes: int | Sequence[int],
        size: Sequence[int] | None = None,
        dtype: DType | None = None,
        device: Device | str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Arbitrary values, in this tensor's dtype.

        Parameters
        ----------
        *sizes, size, dtype, device, requires_grad
            As in `new_zeros`.

        Returns
        -------
        Tensor
            A new leaf, to be written before it is read.

        Raises
        ------
        ShapeError, RequiresGradError
            As `vtgrad.empty` does.

        Examples
        --------
        >>> buffer = vt.tensor([7]).new_empty(2, 3)
        >>> buffer.shape, buffer.dtype
        (vtgrad.Size([2, 3]), vtgrad.int64)
        """
        lane = self._lane_or(device)
        shape, wanted = self._new_arguments("new_empty", sizes, size, dtype)
        return self._new(making.empty(shape, wanted), requires_grad, lane)

    def new_full(
        self,
        size: Sequence[int],
        fill_value: Number | TensorBase,
        *,
        dtype: DType | None = None,
        device: Device | str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """One value everywhere, in this tensor's dtype.

        Parameters
        ----------
        size : sequence of int
            The shape.
        fill_value : number or 0-d Tensor
            The value; unlike in `vtgrad.full` its dtype does not matter.
        dtype : dtype, optional
            This tensor's if omitted.
        device, requires_grad
            As in `vtgrad.full`.

        Returns
        -------
        Tensor
            A new leaf.

        Raises
        ------
        ResultTypeError
            If the dtype cannot hold the value.
        ArgumentTypeError, ShapeError, RequiresGradError
            As `vtgrad.full` does.

        Examples
        --------
        >>> vt.zeros(2).new_full((3,), 7)
        tensor([7., 7., 7.])
        """
        lane = self._lane_or(device)
        if not isinstance(size, (tuple, list)):
            raise ArgumentTypeError(
                f"argument 'size' must be a sequence of integers, not {type(size).__name__}",
                argument="size",
            )
        shape, wanted = self._new_arguments("new_full", (size,), None, dtype)
        value = as_element(number_of(fill_value, "fill_value"), wanted)
        return self._new(making.full(shape, value), requires_grad, lane)

    def new_empty_strided(
        self,
        size: Sequence[int],
        stride: Sequence[int],
        *,
        dtype: DType | None = None,
        device: Device | str | None = None,
        requires_grad: bool = False,
    ) -> Self:
        """Arbitrary values in this tensor's dtype, with given strides.

        Parameters
        ----------
        size, stride
            As in `vtgrad.empty_strided`.
        dtype : dtype, optional
            This tensor's if omitted.
        device, requires_grad
            As in `vtgrad.empty_strided`.

        Returns
        -------
        Tensor
            A new leaf.

        Raises
        ------
        ShapeError, RequiresGradError
            As `vtgrad.empty_strided` does.

        Examples
        --------
        >>> vt.tensor([7]).new_empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
        """
        lane = self._lane_or(device)
        impl = empty_strided_impl(size, stride, self._dtype_or(dtype))
        return self._made(impl, requires_grad, lane)

    def _lane_or(self, device: Device | str | None) -> Device | None:
        """The lane that is asked for, or that of this tensor; None for the CPU."""
        if device is not None:
            return lane_of(device)
        own = self._impl.device
        return None if own is CPU else own

    def _dtype_or(self, dtype: DType | None) -> NumpyDType:
        return numpy_or_none(dtype) or self._impl.dtype

    def _new_arguments(
        self,
        name: str,
        sizes: Sequence[object],
        size: Sequence[int] | None,
        dtype: DType | None,
    ) -> tuple[Shape, NumpyDType]:
        shape = sizes_of(name, sizes, size)
        wanted = self._dtype_or(dtype)
        check_sizes(shape, wanted.itemsize)
        return shape, wanted

    def _new(self, array: Array, requires_grad: bool, lane: Device | None) -> Self:
        return self._made(TensorImpl(array), requires_grad, lane)

    def _made(self, impl: TensorImpl, requires_grad: bool, lane: Device | None) -> Self:
        tensor = placed(self._wrap(impl), lane)
        if is_batched(self):
            # What is made from a tensor of one sample may be written by samples.
            tensor = with_samples(tensor, levels_of(self))
        if requires_grad:
            request_grad(tensor)
        return tensor
