"""What dtypes can hold, and what operands of several dtypes become."""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentTypeError
from ..ops.calling.arguments import operand_of
from ..storage import dtypes
from ..storage.arrays import Number
from ..storage.dtypes import DType, dtype_of, get_default_dtype, numpy_dtype
from ..storage.tensor_base import TensorBase

__all__ = ["can_cast", "finfo", "iinfo", "promote_types", "result_type"]


class finfo:
    """The limits of a floating dtype, or of the parts of a complex one.

    Parameters
    ----------
    type : DType, optional
        The default dtype unless given.

    Attributes
    ----------
    bits : int
        Size of one number.
    eps : float
        Distance from 1 to the next larger number.
    max, min : float
        The largest finite number and the smallest, which is ``-max``.
    tiny, smallest_normal : float
        The smallest positive number of full precision.
    resolution : float
        The decimal precision: digits beyond it mean little.
    dtype : str
        The dtype's name.

    Raises
    ------
    ArgumentTypeError
        For other dtypes.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.finfo(vt.float32).bits
    32
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    bits: int
    eps: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    resolution: float
    dtype: str

    def __init__(self, type: DType | None = None) -> None:
        wanted = _dtype(get_default_dtype() if type is None else type)
        if not (wanted.is_floating_point or wanted.is_complex):
            raise ArgumentTypeError(f"finfo is of floating dtypes; {wanted!r} has iinfo")
        info = np.finfo(wanted.numpy)
        self.bits = info.bits
        self.eps = float(info.eps)
        self.max = float(info.max)
        self.min = float(info.min)
        self.tiny = self.smallest_normal = float(info.smallest_normal)
        self.resolution = float(info.resolution)
        self.dtype = info.dtype.name

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer dtype.

    Parameters
    ----------
    type : DType
        An integer dtype.

    Attributes
    ----------
    bits : int
        Size of one number.
    max, min : int
        The largest number and the smallest.
    dtype : str
        The dtype's name.

    Raises
    ------
    ArgumentTypeError
        For other dtypes, bool among them.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.iinfo(vt.int8).max
    127
    """

    __slots__ = ("bits", "dtype", "max", "min")

    bits: int
    max: int
    min: int
    dtype: str

    def __init__(self, type: DType) -> None:
        wanted = _dtype(type)
        if wanted.numpy.kind not in "iu":
            raise ArgumentTypeError(f"iinfo is of integer dtypes, not {wanted!r}")
        info = np.iinfo(wanted.numpy)
        self.bits = info.bits
        self.max = int(info.max)
        self.min = int(info.min)
        self.dtype = wanted.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def promote_types(type1: DType | type, type2: DType | type) -> DType:
    """The dtype that tensors of two dtypes agree on.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.promote_types(vt.int64, vt.float16)
    vtgrad.float16
    """
    return dtype_of(dtypes.promote(_dtype(type1).numpy, _dtype(type2).numpy))


def result_type(tensor1: TensorBase | Number, tensor2: TensorBase | Number) -> DType:
    """The dtype that an operator of these operands computes in.

    Numbers count less than 0-d tensors, and these less than tensors with dimensions.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.result_type(vt.tensor([1, 2]), 1.5)
    vtgrad.float32
    """
    first, second = operand_of(tensor1, "tensor1"), operand_of(tensor2, "tensor2")
    return dtype_of(dtypes.result_dtype(first, second))


def can_cast(from_: DType | type, to: DType | type) -> bool:
    """Whether an in-place operator may store results of one dtype in a tensor of the other.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.can_cast(vt.float64, vt.float32), vt.can_cast(vt.float32, vt.int64)
    (True, False)
    """
    return dtypes.can_cast(_dtype(from_).numpy, _dtype(to).numpy)


def _dtype(value: object) -> DType:
    """A dtype, for which the Python types bool, int, float and complex may stand."""
    return dtype_of(numpy_dtype(value))
