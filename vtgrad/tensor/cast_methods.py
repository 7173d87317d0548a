"""Casts to another dtype."""

from __future__ import annotations

import builtins
from typing import Final, Self, cast, overload

import numpy as np

from vtgrad.errors import ArgumentTypeError, ArgumentValueError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.methods import TensorMethods
from vtgrad.storage.device import CPU, Device, lane_of
from vtgrad.storage.dtypes import (
    DType,
    bool_,
    complex64,
    complex128,
    dtype_of,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    names_dtype,
    numpy_dtype,
    uint8,
)
from vtgrad.storage.key_set import keys
from vtgrad.storage.memory_format import MemoryFormat, suggested_format
from vtgrad.storage.on_device import on_device
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.warn import warn

__all__ = ["CastMethods"]

_TYPES: Final[dict[str, DType]] = {
    "vtgrad.BoolTensor": bool_,
    "vtgrad.ByteTensor": uint8,
    "vtgrad.CharTensor": int8,
    "vtgrad.ShortTensor": int16,
    "vtgrad.IntTensor": int32,
    "vtgrad.LongTensor": int64,
    "vtgrad.HalfTensor": float16,
    "vtgrad.FloatTensor": float32,
    "vtgrad.DoubleTensor": float64,
    "vtgrad.ComplexFloatTensor": complex64,
    "vtgrad.ComplexDoubleTensor": complex128,
}
_NAMES: Final = {dtype: name for name, dtype in _TYPES.items()}


class CastMethods(TensorMethods):
    """Casts; each returns the tensor itself if it has the dtype, and the format, already."""

    __slots__ = ()

    @overload
    def to(
        self,
        dtype: DType,
        non_blocking: builtins.bool = False,
        copy: builtins.bool = False,
        *,
        memory_format: MemoryFormat | None = None,
    ) -> Self: ...
    @overload
    def to(
        self,
        device: Device | str | None = None,
        dtype: DType | None = None,
        non_blocking: builtins.bool = False,
        copy: builtins.bool = False,
        *,
        memory_format: MemoryFormat | None = None,
    ) -> Self: ...
    @overload
    def to(
        self,
        other: TensorBase,
        non_blocking: builtins.bool = False,
        copy: builtins.bool = False,
        *,
        memory_format: MemoryFormat | None = None,
    ) -> Self: ...
    def to(self, *args: object, **kwargs: object) -> Self:
        """The tensor in another dtype, or on another device.

        Called as ``x.to(dtype)``, ``x.to(other)`` or ``x.to(device, dtype)``. Casts between
        floating and complex dtypes are recorded, and so are moves; an integer result has no
        gradient.

        Parameters
        ----------
        dtype : dtype
            The new dtype.
        other : Tensor
            A tensor whose dtype and device are used.
        device : device or str
            The CPU or a lane of it; by default the tensor's own.
        non_blocking : bool, default False
            Has no effect.
        copy : bool, default False
            Whether to copy even if the dtype stays.
        memory_format : memory_format, optional
            The tensor's own by default. Only channels last is distinguished from other orders: a
            transposed matrix counts as row-major and is returned itself, unless it is copied for
            another reason. `contiguous` is stricter.

        Returns
        -------
        Tensor
            A new tensor, or the tensor itself if nothing changes and no copy is asked for.

        Raises
        ------
        ArgumentTypeError
            If an argument is of none of these types.
        MemoryFormatError
            If the format is for another number of dimensions.
        NotSupportedError
            If there is no such kind of device.

        Examples
        --------
        >>> x = vt.tensor([1.5, -2.5])
        >>> x.to("lane:0").device
        device(type='lane', index=0)
        >>> x.to(vt.int64)
        tensor([ 1, -2])
        >>> x.to(vt.float32) is x, x.to(vt.float32, copy=True) is x
        (True, False)
        """
        if keys.active and is_overridden(*args, *kwargs.values()):
            return call_override(CastMethods.to, self, *args, **kwargs)
        dtype, device, copy, memory_format = _to_arguments(args, kwargs)
        if dtype is None:
            dtype = dtype_of(self._impl.dtype)
        if device is not None and device != self._impl.device:
            return cast(
                "Self",
                on_device(device, F.to_dtype, self, dtype.numpy, memory_format=memory_format),
            )
        return self._cast(dtype, memory_format, copy=copy)

    def type_as(self, other: TensorBase) -> Self:
        """The tensor in the dtype and on the device of another one, as ``x.to(other)``.

        Parameters
        ----------
        other : Tensor
            A tensor of the new dtype, on the new device.

        Returns
        -------
        Tensor
            A new tensor, or the tensor itself if it has the dtype and is there.

        Raises
        ------
        ArgumentTypeError
            If `other` is not a tensor.

        Examples
        --------
        >>> vt.tensor([1, 2]).type_as(vt.zeros(1))
        tensor([1., 2.])
        """
        if keys.active and is_overridden(other):
            return call_override(CastMethods.type_as, self, other)
        array_of(other, "other")
        return self.to(other)

    @overload
    def type(
        self,
        dtype: None = None,
        non_blocking: builtins.bool = False,
        *,
        memory_format: MemoryFormat | None = None,
    ) -> str: ...
    @overload
    def type(
        self,
        dtype: DType | str | builtins.type,
        non_blocking: builtins.bool = False,
        *,
        memory_format: MemoryFormat | None = None,
    ) -> Self: ...
    def type(
        self,
        dtype: DType | str | builtins.type | None = None,
        non_blocking: builtins.bool = False,
        *,
        memory_format: MemoryFormat | None = None,
    ) -> Self | str:
        """The name of the tensor's type, or the tensor cast to a dtype or type name.

        Parameters
        ----------
        dtype : dtype, str or type name, optional
            The new dtype, `DoubleTensor` or another type name, or ``"vtgrad.DoubleTensor"``.
        non_blocking : bool, default False
            Has no effect.
        memory_format : memory_format, optional
            As in `to`.

        Returns
        -------
        str or Tensor
            The name if `dtype` is not given, else as `to`.

        Raises
        ------
        ArgumentTypeError
            If `dtype` is neither a dtype nor a name nor a class.
        ArgumentValueError
            If no type has that name.

        Examples
        --------
        >>> x = vt.tensor([1, 2])
        >>> x.type(), x.type("vtgrad.FloatTensor")
        ('vtgrad.LongTensor', tensor([1., 2.]))
        """
        if dtype is None:
            return _NAMES[dtype_of(self._impl.dtype)]
        given: object = dtype
        if not isinstance(given, (DType, str, builtins.type)):
            kind = builtins.type(given).__name__
            raise ArgumentTypeError(
                f"argument 'dtype' must be a dtype, a name or a type, not {kind}", argument="dtype"
            )
        if isinstance(given, builtins.type):
            # The type names of `tensor_types`, which this module cannot import, have a dtype.
            given = getattr(given, "dtype", given)
        wanted = _TYPES.get(given) if isinstance(given, str) else given
        if not isinstance(wanted, DType):
            raise ArgumentValueError(f"there is no type {dtype!r}", value=dtype)
        return self._cast(wanted, memory_format)

    def cpu(self, *, memory_format: MemoryFormat | None = None) -> Self:
        """The tensor on the CPU.

        Parameters
        ----------
        memory_format : memory_format, optional
            As in `to`.

        Returns
        -------
        Tensor
            The tensor itself if nothing changes, else a copy, which is recorded.

        Raises
        ------
        MemoryFormatError
            If the format is for another number of dimensions.

        Examples
        --------
        >>> x = vt.zeros(2, device="lane:1")
        >>> y = x.cpu()
        >>> y.device, y.cpu() is y
        (device(type='cpu'), True)
        """
        return self.to(CPU, memory_format=memory_format)

    def double(self, *, memory_format: MemoryFormat | None = None) -> Self:
        """The tensor in float64.

        Returns
        -------
        Tensor
            The tensor itself if it has the dtype. See `to`.

        Examples
        --------
        >>> vt.tensor([1.5]).double()
        tensor([1.5000], dtype=vtgrad.float64)
        """
        return self._cast(float64, memory_format)

    def float(self, *, memory_format: MemoryFormat | None = None) -> Self:
        """The tensor in float32.

        Returns
        -------
        Tensor
            The tensor itself if it has the dtype. See `to`. Of complex numbers the real parts, with
            a warning.

        Examples
        --------
        >>> vt.tensor([1, 2]).float()
        tensor([1., 2.])
        """
        return self._cast(float32, memory_format)

    def half(self, *, memory_format: MemoryFormat | None = None) -> Self:
        """The tensor in float16; large numbers become infinite.

        Returns
        -------
        Tensor
            The tensor itself if it has the dtype. See `to`.

        Examples
        --------
        >>> vt.tensor([1.0, 1e6]).half()
        tensor([1., inf], dtype=vtgrad.float16)
        """
        return self._cast(float16, memory_format)

    def cdouble(self, *, memory_format: MemoryFormat | None = None) -> Self:
        """The tensor in complex128.

        Returns
        -------
        Tensor
            The tensor itself if it has the dtype. See `to`.

        Examples
        --------
        >>> vt.tensor([1.5]).cdouble()
        tensor([1.5000+0.j], dtype=vtgrad.complex128)
        """
        return self._cast(complex128, memory_format)

    def cfloat(self, *, memory_format: MemoryFormat | None = None) -> Self:
        """The tensor in complex64.

        Returns
        -------
        Tensor
            The tensor itself if it has the dtype. See `to`.

        Examples
        --------
        >>> vt.tensor([1.5]).cfloat()
        tensor([1.5000+0.j])
        """
        return self._cast(complex64, memory_format)

    def bool(self, *, memory_format: MemoryFormat | None = None) -> Self:
        """The tensor in bool: whether elements differ from zero.

        Returns
        -------
        Tensor
            The tensor itself if it has the dtype. See `to`.

        Examples
        --------
        >>> vt.tensor([0.0, 0.5]).bool()
        tensor([False,  True])
        """
        return self._cast(bool_, memory_format)

    def byte(self, *, memory_format: MemoryFormat | None = None) -> Self:
        """The tensor in uint8; numbers outside of 0 to 255 wrap around.

        Returns
        -------
        Tensor
            The tensor itself if it has the dtype. See `to`.

        Examples
        --------
        >>> vt.tensor([1, 257]).byte()
        tensor([1, 1], dtype=vtgrad.uint8)
        """
        return self._cast(uint8, memory_format)

    def char(self, *, memory_format: MemoryFormat | None = None) -> Self:
        """The tensor in int8; numbers outside of -128 to 127 wrap around.

        Returns
        -------
        Tensor
            The tensor itself if it has the dtype. See `to`.

        Examples
        --------
        >>> vt.tensor([1, 129]).char()
        tensor([   1, -127], dtype=vtgrad.int8)
        """
        return self._cast(int8, memory_format)

    def short(self, *, memory_format: MemoryFormat | None = None) -> Self:
        """The tensor in int16; fractions are cut off.

        Returns
        -------
        Tensor
            The tensor itself if it has the dtype. See `to`.

        Examples
        --------
        >>> vt.tensor([1.5, -1.5]).short()
        tensor([ 1, -1], dtype=vtgrad.int16)
        """
        return self._cast(int16, memory_format)

    def int(self, *, memory_format: MemoryFormat | None = None) -> Self:
        """The tensor in int32; fractions are cut off.

        Returns
        -------
        Tensor
            The tensor itself if it has the dtype. See `to`.

        Examples
        --------
        >>> vt.tensor([1.5, -1.5]).int()
        tensor([ 1, -1], dtype=vtgrad.int32)
        """
        return self._cast(int32, memory_format)

    def long(self, *, memory_format: MemoryFormat | None = None) -> Self:
        """The tensor in int64; fractions are cut off.

        Returns
        -------
        Tensor
            The tensor itself if it has the dtype. See `to`.

        Examples
        --------
        >>> vt.tensor([1.5, -1.5]).long()
        tensor([ 1, -1])
        """
        return self._cast(int64, memory_format)

    def _cast(
        self,
        dtype: DType,
        memory_format: MemoryFormat | None = None,
        *,
        copy: builtins.bool = False,
    ) -> Self:
        impl, wanted = self._impl, dtype.numpy
        own = impl.array.dtype
        if own == wanted and not copy:
            if memory_format is None or memory_format is MemoryFormat.PRESERVE:
                return self
            # As in PyTorch, an order that is neither row-major nor channels last counts as
            # row-major here.
            if memory_format is suggested_format(impl.sizes, impl.strides):
                return self
        if own.kind == "c" and wanted.kind in "fiu":
            warn(f"a cast from {own.name} to {wanted.name} drops the imaginary part")
        return F.to_dtype(self, wanted, memory_format=memory_format)


def _to_arguments(
    args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[DType | None, Device | None, bool, MemoryFormat | None]:
    """The dtype, the device, whether to copy, and the format, in any of the forms of `to`."""
    rest = list(args)
    given = dict(kwargs)
    memory_format = given.pop("memory_format", None)
    if memory_format is not None and not isinstance(memory_format, MemoryFormat):
        raise ArgumentTypeError(
            "argument 'memory_format' of to() must be a memory format, not "
            f"{type(memory_format).__name__}",
            argument="memory_format",
        )
    dtype: DType | None = None
    device: Device | None = None
    if rest and isinstance(rest[0], TensorBase):
        other = rest[0]
        dtype = dtype_of(array_of(rest.pop(0), "other").dtype)
        device = other._impl.device
    elif rest and (isinstance(rest[0], (DType, type, np.dtype)) or names_dtype(rest[0])):
        dtype = dtype_of(numpy_dtype(rest.pop(0)))
    else:
        device = _device_argument(rest.pop(0) if rest else given.pop("device", None))
        wanted = rest.pop(0) if rest else given.pop("dtype", None)
        dtype = None if wanted is None else dtype_of(numpy_dtype(wanted))
    flags = {"non_blocking": False, "copy": False}
    for name in flags:
        flag = rest.pop(0) if rest else given.pop(name, False)
        if not isinstance(flag, bool):
            raise ArgumentTypeError(
                f"argument {name!r} of to() must be a bool, not {type(flag).__name__}",
                argument=name,
            )
        flags[name] = flag
    if rest or given:
        raise ArgumentTypeError(
            "to() takes a dtype, a tensor, or a device and a dtype, then non_blocking and copy; "
            f"left over: {[*rest, *given]}"
        )
    return dtype, device, flags["copy"], memory_format


def _device_argument(device: object) -> Device | None:
    if device is None:
        return None
    if not isinstance(device, (Device, str)):
        raise ArgumentTypeError(
            f"to() takes a dtype, a tensor or a device, not {type(device).__name__}",
            argument="device",
        )
    return lane_of(device) or CPU
