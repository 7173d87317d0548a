"""The same values in another dtype."""

from __future__ import annotations

from typing import Final, Self, overload

from .errors import ArgumentTypeError, ArgumentValueError
from .ops.arguments import array_of
from .ops.from_python import check_device
from .ops.generated import functional as F
from .ops.generated.methods import TensorMethods
from .storage.device import Device
from .storage.dtypes import (
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
    numpy_dtype,
    uint8,
)
from .storage.tensor_base import TensorBase
from .storage.warn import warn

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

# Python's names, which methods of this class hide.
_Bool = bool


class CastMethods(TensorMethods):
    """Casts; each returns the tensor itself if it has the dtype already."""

    __slots__ = ()

    @overload
    def to(
        self,
        dtype: DType,
        non_blocking: _Bool = False,
        copy: _Bool = False,
    ) -> Self: ...
    @overload
    def to(
        self,
        device: Device | str | None = None,
        dtype: DType | None = None,
        non_blocking: _Bool = False,
        copy: _Bool = False,
    ) -> Self: ...
    @overload
    def to(
        self,
        other: TensorBase,
        non_blocking: _Bool = False,
        copy: _Bool = False,
    ) -> Self: ...
    def to(self, *args: object, **kwargs: object) -> Self:
        """The tensor in another dtype; itself if nothing changes and no copy is asked for.

        Parameters
        ----------
        dtype : DType
            The dtype wanted.
        other : Tensor
            A tensor whose dtype is wanted, in place of `dtype`.
        device : Device or str
            There is only the CPU.
        non_blocking : bool
            Means nothing here.
        copy : bool
            Whether to copy even if the dtype stays.

        Examples
        --------
        >>> import vtgrad as vt
        >>> vt.tensor([1.5, -2.5]).to(vt.int64)
        tensor([ 1, -2])
        """
        dtype, copy = _to_arguments(args, kwargs)
        if dtype is None:
            dtype = self.dtype
        return self._cast(dtype, copy=copy)

    def type_as(self, other: TensorBase) -> Self:
        """The tensor in the dtype of another one."""
        return self._cast(dtype_of(array_of(other, "other").dtype))

    @overload
    def type(self, dtype: None = None, non_blocking: _Bool = False) -> str: ...
    @overload
    def type(self, dtype: DType | str, non_blocking: _Bool = False) -> Self: ...
    def type(self, dtype: DType | str | None = None, non_blocking: _Bool = False) -> Self | str:
        """The name of the tensor's type, or the tensor cast to a dtype or type name.

        Raises
        ------
        ArgumentValueError
            If there is no type of that name.

        Examples
        --------
        >>> import vtgrad as vt
        >>> vt.tensor([1, 2]).type()
        'vtgrad.LongTensor'
        """
        if dtype is None:
            return _NAMES[self.dtype]
        wanted = _TYPES.get(dtype) if isinstance(dtype, str) else dtype
        if not isinstance(wanted, DType):
            raise ArgumentValueError(f"there is no type {dtype!r}", value=dtype)
        return self._cast(wanted)

    def cpu(self) -> Self:
        """The tensor itself: all memory is the CPU's."""
        return self

    def double(self) -> Self:
        """The tensor in float64."""
        return self._cast(float64)

    def float(self) -> Self:
        """The tensor in float32."""
        return self._cast(float32)

    def half(self) -> Self:
        """The tensor in float16."""
        return self._cast(float16)

    def cdouble(self) -> Self:
        """The tensor in complex128."""
        return self._cast(complex128)

    def cfloat(self) -> Self:
        """The tensor in complex64."""
        return self._cast(complex64)

    def bool(self) -> Self:
        """The tensor in bool: whether elements differ from zero."""
        return self._cast(bool_)

    def byte(self) -> Self:
        """The tensor in uint8."""
        return self._cast(uint8)

    def char(self) -> Self:
        """The tensor in int8."""
        return self._cast(int8)

    def short(self) -> Self:
        """The tensor in int16."""
        return self._cast(int16)

    def int(self) -> Self:
        """The tensor in int32."""
        return self._cast(int32)

    def long(self) -> Self:
        """The tensor in int64."""
        return self._cast(int64)

    def _cast(self, dtype: DType, *, copy: _Bool = False) -> Self:
        own, wanted = self._impl.array.dtype, dtype.numpy
        if own == wanted and not copy:
            return self
        if own.kind == "c" and wanted.kind in "fiu":
            warn(f"a cast from {own.name} to {wanted.name} drops the imaginary part")
        return F.to_dtype(self, wanted)


def _to_arguments(args: tuple[object, ...], kwargs: dict[str, object]) -> tuple[DType | None, bool]:
    """The dtype and whether to copy, from the arguments of any of the forms of `to`."""
    rest = list(args)
    given = dict(kwargs)
    dtype: DType | None = None
    if rest and isinstance(rest[0], TensorBase):
        dtype = dtype_of(array_of(rest.pop(0), "other").dtype)
    elif rest and isinstance(rest[0], (DType, type)):
        dtype = dtype_of(numpy_dtype(rest.pop(0)))
    else:
        _check_place(rest.pop(0) if rest else given.pop("device", None))
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
    return dtype, flags["copy"]


def _check_place(device: object) -> None:
    if device is not None and not isinstance(device, (Device, str)):
        raise ArgumentTypeError(
            f"to() takes a dtype, a tensor or a device, not {type(device).__name__}",
            argument="device",
        )
    check_device(device)
