"""Type names such as `FloatTensor`: tensors of one dtype, in the manner of older programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from vtgrad.storage.device import Device
from vtgrad.storage.dtypes import (
    DType,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from vtgrad.storage.storage_base import StorageBase
from vtgrad.tensor.new_tensor import new_tensor
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
]

if TYPE_CHECKING:

    class _TensorOf(Tensor):
        """To type checkers the names are classes of tensors."""

        def __init_subclass__(cls, dtype: DType) -> None: ...
        def __init__(
            self,
            *data: int | Sequence[object] | Tensor | StorageBase,
            size: Sequence[int] | None = None,
            device: Device | str | None = None,
        ) -> None: ...

else:

    class _TensorType(type):
        """The class of the names: tensors of the dtype are their instances."""

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, Tensor) and instance.dtype is cls.dtype

    class _TensorOf(metaclass=_TensorType):
        """What all names are; they make tensors, which are of the class `Tensor`."""

        def __init_subclass__(cls, dtype: DType) -> None:
            cls.dtype = dtype

        def __new__(cls, *data, size=None, device=None):
            return new_tensor(cls.__name__, cls.dtype, data, size, device)


@final
class BoolTensor(_TensorOf, dtype=bool_):
    """Tensors of dtype bool; made and recognised as those of `FloatTensor`.

    Examples
    --------
    >>> x = vt.BoolTensor([0, 1])
    >>> x.dtype, isinstance(x, vt.BoolTensor)
    (vtgrad.bool, True)
    """


@final
class ByteTensor(_TensorOf, dtype=uint8):
    """Tensors of dtype uint8; made and recognised as those of `FloatTensor`.

    Examples
    --------
    >>> x = vt.ByteTensor([0, 1])
    >>> x.dtype, isinstance(x, vt.ByteTensor)
    (vtgrad.uint8, True)
    """


@final
class CharTensor(_TensorOf, dtype=int8):
    """Tensors of dtype int8; made and recognised as those of `FloatTensor`.

    Examples
    --------
    >>> x = vt.CharTensor([0, 1])
    >>> x.dtype, isinstance(x, vt.CharTensor)
    (vtgrad.int8, True)
    """


@final
class ShortTensor(_TensorOf, dtype=int16):
    """Tensors of dtype int16; made and recognised as those of `FloatTensor`.

    Examples
    --------
    >>> x = vt.ShortTensor([0, 1])
    >>> x.dtype, isinstance(x, vt.ShortTensor)
    (vtgrad.int16, True)
    """


@final
class IntTensor(_TensorOf, dtype=int32):
    """Tensors of dtype int32; made and recognised as those of `FloatTensor`.

    Examples
    --------
    >>> x = vt.IntTensor([0, 1])
    >>> x.dtype, isinstance(x, vt.IntTensor)
    (vtgrad.int32, True)
    """


@final
class LongTensor(_TensorOf, dtype=int64):
    """Tensors of dtype int64; made and recognised as those of `FloatTensor`.

    Examples
    --------
    >>> x = vt.LongTensor([0, 1])
    >>> x.dtype, isinstance(x, vt.LongTensor)
    (vtgrad.int64, True)
    """


@final
class HalfTensor(_TensorOf, dtype=float16):
    """Tensors of dtype float16; made and recognised as those of `FloatTensor`.

    Examples
    --------
    >>> x = vt.HalfTensor([0, 1])
    >>> x.dtype, isinstance(x, vt.HalfTensor)
    (vtgrad.float16, True)
    """


@final
class FloatTensor(_TensorOf, dtype=float32):
    """Tensors of dtype float32: a name for making and recognising them.

    Parameters
    ----------
    *data : int, sequence, Tensor or storage
        Sizes of a tensor of zeros, its elements, a tensor of this dtype, of which the result is a
        view, or memory, which the result shares. Nothing makes a tensor without elements.
    size : sequence of int, optional
        Sizes of a tensor of zeros.
    device : device or str, optional
        The CPU by default, or a lane of it.

    Raises
    ------
    ArgumentTypeError
        If the arguments are none of these.
    DTypeError
        If a tensor has another dtype.

    Notes
    -----
    A call makes a `Tensor`. `isinstance` tells of any tensor whether it has the dtype.

    Examples
    --------
    >>> x = vt.FloatTensor([0, 1])
    >>> x.dtype, isinstance(x, vt.FloatTensor), vt.FloatTensor(2, 3).shape
    (vtgrad.float32, True, vtgrad.Size([2, 3]))
    """


@final
class DoubleTensor(_TensorOf, dtype=float64):
    """Tensors of dtype float64; made and recognised as those of `FloatTensor`.

    Examples
    --------
    >>> x = vt.DoubleTensor([0, 1])
    >>> x.dtype, isinstance(x, vt.DoubleTensor)
    (vtgrad.float64, True)
    """
