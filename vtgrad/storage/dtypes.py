"""Element types and the default dtype."""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.errors import ArgumentTypeError
from vtgrad.storage.arrays import NumpyDType

__all__ = [
    "FLOAT_MAX",
    "DType",
    "dtype_of",
    "get_default_dtype",
    "names_dtype",
    "numpy_dtype",
    "set_default_dtype",
]

# The largest numbers, by NumPy's character code, which is much faster to read than the name.
FLOAT_MAX: Final[dict[str, float]] = {
    code: float(np.finfo(code).max) for code in ("e", "f", "d", "F", "D")
}


class DType:
    """An element type; one instance for each, compared by identity.

    There are bool, uint8, int8, int16, int32, int64, float16, float32, float64, complex64 and
    complex128, each as ``vtgrad.<name>``. Other names of some are half, float, double, cfloat,
    cdouble, short, int and long. They are instances, not to be made by users.

    Attributes
    ----------
    name : str
        ``"float32"`` and so on.
    numpy : numpy.dtype
        The same type as NumPy names it.
    itemsize : int
        Bytes per element.
    is_floating_point : bool
        Whether it is one of the float types.
    is_complex : bool
        Whether it is one of the complex types.
    is_signed : bool
        Whether it has negative values.

    Examples
    --------
    >>> vt.float is vt.float32, vt.float.itemsize
    (True, 4)
    >>> vt.int64.numpy
    dtype('int64')
    """

    __slots__ = ("is_complex", "is_floating_point", "is_signed", "itemsize", "name", "numpy")

    name: str
    numpy: NumpyDType
    itemsize: int
    is_floating_point: bool
    is_complex: bool
    is_signed: bool

    def __init__(self, name: str) -> None:
        self.name = name
        self.numpy = np.dtype(name)
        self.itemsize = self.numpy.itemsize
        self.is_floating_point = self.numpy.kind == "f"
        self.is_complex = self.numpy.kind == "c"
        self.is_signed = self.numpy.kind in "ifc"

    def to_complex(self) -> DType:
        """The dtype of complex numbers whose parts are of this one.

        float16 goes to complex64, the smallest complex dtype; integers and bool go by the default
        dtype.

        Returns
        -------
        dtype
            complex64 or complex128.

        Examples
        --------
        >>> vt.float64.to_complex(), vt.float16.to_complex()
        (vtgrad.complex128, vtgrad.complex64)
        """
        if self.is_complex:
            return self
        part = self if self.is_floating_point else get_default_dtype()
        return complex128 if part is float64 else complex64

    def to_real(self) -> DType:
        """The dtype of the parts of complex numbers of this one.

        Returns
        -------
        dtype
            float32 or float64; of a real dtype, the dtype itself.

        Examples
        --------
        >>> vt.complex128.to_real(), vt.int8.to_real()
        (vtgrad.float64, vtgrad.int8)
        """
        return {complex64: float32, complex128: float64}.get(self, self)

    def __repr__(self) -> str:
        return f"vtgrad.{self.name}"


bool_: Final = DType("bool")
uint8: Final = DType("uint8")
int8: Final = DType("int8")
int16: Final = DType("int16")
int32: Final = DType("int32")
int64: Final = DType("int64")
float16: Final = DType("float16")
float32: Final = DType("float32")
float64: Final = DType("float64")
complex64: Final = DType("complex64")
complex128: Final = DType("complex128")

_ALL: Final = (
    bool_,
    uint8,
    int8,
    int16,
    int32,
    int64,
    float16,
    float32,
    float64,
    complex64,
    complex128,
)
_OF_NUMPY: Final[dict[NumpyDType, DType]] = {d.numpy: d for d in _ALL}
_OF_NAME: Final[dict[str, DType]] = {d.name: d for d in _ALL}

# What stands for a dtype: Python's and NumPy's classes of numbers, and names.
_LIKE: Final[dict[object, NumpyDType]] = {
    bool: bool_.numpy,
    int: int64.numpy,
    float: float64.numpy,
    complex: complex128.numpy,
    **{d.numpy.type: d.numpy for d in _ALL},
    **{d.name: d.numpy for d in _ALL},
}


def dtype_named(name: str) -> DType:
    """The dtype of a name such as ``float32``; `ArgumentTypeError` if none has it."""
    try:
        return _OF_NAME[name]
    except KeyError:
        raise ArgumentTypeError(f"vtgrad has no dtype named {name!r}") from None


def dtype_of(numpy_type: NumpyDType) -> DType:
    """The `DType` of a NumPy dtype; `ArgumentTypeError` for a dtype without one."""
    try:
        return _OF_NUMPY[numpy_type]
    except KeyError:
        raise ArgumentTypeError(
            f"vtgrad has no dtype for NumPy's {numpy_type}; it has "
            + ", ".join(d.name for d in _ALL),
            numpy_dtype=numpy_type,
        ) from None


def numpy_dtype(dtype: object) -> NumpyDType:
    """The NumPy dtype of a `DType`, or of what stands for one.

    Raises
    ------
    ArgumentTypeError
        If `dtype` is something else, or a dtype of NumPy that vtgrad does not have.
    """
    if isinstance(dtype, DType):
        return dtype.numpy
    if isinstance(dtype, np.dtype):
        return dtype_of(dtype).numpy
    if isinstance(dtype, (str, type)) and dtype in _LIKE:
        return _LIKE[dtype]
    shown = repr(dtype) if isinstance(dtype, (str, type)) else type(dtype).__name__
    raise ArgumentTypeError(
        f"dtype must be a vtgrad dtype such as vtgrad.float32, or one of NumPy's that vtgrad has, "
        f"as a dtype, a class or a name, not {shown}",
        value=dtype,
    )


def names_dtype(value: object) -> bool:
    """Whether a text is the name of a dtype."""
    return isinstance(value, str) and value in _OF_NAME


class _Default:
    """The default floating dtype: process-wide, as in PyTorch."""

    __slots__ = ("value",)
    value: DType

    def __init__(self) -> None:
        self.value = float32


_default = _Default()


def get_default_dtype() -> DType:
    """The floating dtype given to Python floats.

    Returns
    -------
    dtype
        float32 unless `set_default_dtype` has changed it.

    Examples
    --------
    >>> vt.get_default_dtype()
    vtgrad.float32
    """
    return _default.value


def set_default_dtype(dtype: object) -> None:
    """Set the floating dtype given to Python floats, and to `zeros` and its like.

    It holds for all threads. Complex numbers go by it too: complex128 beside float64, else
    complex64.

    Parameters
    ----------
    dtype : dtype
        float16, float32 or float64.

    Raises
    ------
    ArgumentTypeError
        If `dtype` is not a floating dtype.

    Examples
    --------
    >>> vt.set_default_dtype(vt.float64)
    >>> vt.tensor(1.5).dtype
    vtgrad.float64
    >>> vt.set_default_dtype(vt.float32)
    """
    if not isinstance(dtype, DType) or not dtype.is_floating_point:
        raise ArgumentTypeError(f"the default dtype must be floating, not {dtype!r}", value=dtype)
    _default.value = dtype
