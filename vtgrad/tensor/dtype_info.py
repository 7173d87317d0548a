"""The limits of dtypes, and type promotion."""

from __future__ import annotations

import numpy as np

from vtgrad.errors import ArgumentTypeError
from vtgrad.graph.function_modes import in_function_mode
from vtgrad.ops.calling.arguments import operand_of
from vtgrad.ops.calling.take_over import call_override
from vtgrad.storage import promotion
from vtgrad.storage.arrays import Number
from vtgrad.storage.dtypes import DType, dtype_of, get_default_dtype, numpy_dtype
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["can_cast", "finfo", "iinfo", "promote_types", "result_type"]


class finfo:
    """The limits of a floating dtype, or of the parts of a complex one.

    Parameters
    ----------
    type : dtype, optional
        The default dtype if omitted.

    Attributes
    ----------
    bits : int
        Size of one number; of a complex dtype, of one part.
    eps : float
        Distance from 1 to the next larger number.
    max : float
        The largest finite number.
    min : float
        The smallest finite number, ``-max``.
    tiny, smallest_normal : float
        The smallest positive number of full precision.
    resolution : float
        The decimal precision: further digits are not significant.
    dtype : str
        The name of the floating dtype.

    Raises
    ------
    ArgumentTypeError
        For an integer dtype, bool, or no dtype.

    Examples
    --------
    >>> vt.finfo(vt.float64).eps
    2.220446049250313e-16
    >>> vt.finfo(vt.complex64).dtype
    'float32'
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
    type : dtype
        An integer dtype.

    Attributes
    ----------
    bits : int
        Size of one number.
    max : int
        The largest number.
    min : int
        The smallest number.
    dtype : str
        The dtype's name.

    Raises
    ------
    ArgumentTypeError
        For another dtype, bool among them, or no dtype.

    Examples
    --------
    >>> vt.iinfo(vt.int8)
    iinfo(min=-128, max=127, dtype=int8)
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
    """The dtype to which tensors of two dtypes are promoted.

    The higher category wins: complex over floating over integer over bool. An integer dtype
    never widens a floating one, as it does in NumPy.

    Parameters
    ----------
    type1 : dtype
        A dtype, or one of Python's ``bool``, ``int``, ``float`` and ``complex``.
    type2 : dtype
        The other one.

    Returns
    -------
    dtype
        The dtype of the sum of two tensors with dimensions.

    Raises
    ------
    ArgumentTypeError
        If an argument is not a dtype.

    Examples
    --------
    >>> vt.promote_types(vt.int64, vt.float16)
    vtgrad.float16
    >>> vt.promote_types(vt.uint8, vt.int8)
    vtgrad.int16
    """
    if keys.modes and in_function_mode():
        return call_override(promote_types, type1, type2)
    return dtype_of(promotion.promote(_dtype(type1).numpy, _dtype(type2).numpy))


def result_type(tensor1: TensorBase | Number, tensor2: TensorBase | Number) -> DType:
    """The dtype that an operator of these operands computes in.

    Numbers count less than 0-d tensors, and these less than tensors with dimensions: an operand
    that counts less changes the dtype only if it is of a higher category.

    Parameters
    ----------
    tensor1 : Tensor or number
        An operand.
    tensor2 : Tensor or number
        The other one.

    Returns
    -------
    dtype
        The dtype of ``tensor1 + tensor2``.

    Raises
    ------
    ArgumentTypeError
        If an argument is neither a tensor nor a number.

    Examples
    --------
    >>> vt.result_type(vt.tensor([1, 2]), 1.5)
    vtgrad.float32
    >>> half = vt.zeros(2, dtype=vt.float16)
    >>> vt.result_type(half, vt.tensor(1.0, dtype=vt.float64))
    vtgrad.float16
    """
    if keys.modes and in_function_mode():
        return call_override(result_type, tensor1, tensor2)
    first, second = operand_of(tensor1, "tensor1"), operand_of(tensor2, "tensor2")
    return dtype_of(promotion.result_dtype(first, second))


def can_cast(from_: DType | type, to: DType | type) -> bool:
    """Whether results of one dtype may be stored, in place or as ``out=``, in a tensor of another.

    A cast may lose range or precision. It may not lose the category: no floating result goes
    into an integer tensor, no integer into a bool one.

    Parameters
    ----------
    from_ : dtype
        The dtype of the result.
    to : dtype
        The dtype of the tensor that is written.

    Returns
    -------
    bool
        Whether such a write is accepted.

    Raises
    ------
    ArgumentTypeError
        If an argument is not a dtype.

    Examples
    --------
    >>> vt.can_cast(vt.float64, vt.float32), vt.can_cast(vt.float32, vt.int64)
    (True, False)
    """
    if keys.modes and in_function_mode():
        return call_override(can_cast, from_, to)
    return promotion.can_cast(_dtype(from_).numpy, _dtype(to).numpy)


def _dtype(value: object) -> DType:
    """A dtype, given as such or as the Python type bool, int, float or complex."""
    return dtype_of(numpy_dtype(value))
