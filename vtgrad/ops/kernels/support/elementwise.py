# Compiled by mypyc.
"""Running elementwise kernels: result dtype, memory order, numbers, and the quick paths.

Note [Where the arithmetic happens]
Operands are converted to the result dtype first and computed in it, as PyTorch does; so
``uint8 + 300`` adds 44. The exception is float16: kernels that combine it with numbers, or take
several steps, compute in float32 and round once at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from vtgrad.errors import DTypeError, NotSupportedError
from vtgrad.ops.kernels.support.result_strides import (
    as_converted,
    broadcast_shapes,
    called,
    empty_like_elementwise,
    empty_like_preserving,
)
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, Number, NumpyDType
from vtgrad.storage.dtypes import get_default_dtype
from vtgrad.storage.lasting_arrays import lasting, register
from vtgrad.storage.loops import NATIVE, binary_loop, unary_loop
from vtgrad.storage.number_arrays import numbers_of
from vtgrad.storage.promotion import python_number, result_dtype

__all__ = [
    "BOOL",
    "Operand",
    "binary",
    "checked_number",
    "compare",
    "finish",
    "finish_like",
    "float_unary",
    "floating",
    "number",
    "one_of",
    "predicate",
    "refuse",
    "run",
    "run_compare",
    "unary",
    "working",
    "zero_of",
]


Operand: TypeAlias = Array | Number

# For the first tests of the quick ways: an alias saves an attribute look-up.

BOOL: NumpyDType = np.dtype(np.bool_)
_HALF: NumpyDType = np.dtype(np.float16)
_SINGLE: NumpyDType = np.dtype(np.float32)
_UINT64: NumpyDType = np.dtype(np.uint64)

# Python integers in this range fit every signed integer dtype, so NumPy may convert them.
_SMALL = range(-128, 128)


# -- dtypes ---------------------------------------------------------------------------------


def floating(dtype: NumpyDType) -> NumpyDType:
    """`dtype` itself if floating or complex, otherwise the default floating dtype."""
    return dtype if dtype.kind in "fc" else get_default_dtype().numpy


def working(dtype: NumpyDType) -> NumpyDType:
    """The dtype in which intermediate steps of a `dtype` result are computed."""
    return _SINGLE if dtype == _HALF else dtype


def refuse(name: str, dtype: NumpyDType, kinds: str, *operands: Operand) -> None:
    """Raise `NotSupportedError` if the operator `name` has no kernel for `dtype`'s kind.

    Parameters
    ----------
    name : str
        The operator.
    dtype : numpy.dtype
        The dtype of the computation.
    kinds : str
        NumPy's letters of the refused kinds: ``b`` (bool), ``u`` and ``i`` (integers), ``f``
        (floating), ``c`` (complex).
    *operands : ndarray or number
        If the shapes do not broadcast, that error is raised instead.
    """
    if dtype.kind in kinds:
        broadcast_shapes(*[x.shape for x in operands if isinstance(x, np.ndarray)])
        raise NotSupportedError(f"{name} is not defined for {dtype.name} values", dtype=dtype)


# -- numbers --------------------------------------------------------------------------------


def number(value: Number, dtype: NumpyDType) -> Array:
    """A 0-d array of a Python number; integers wrap around, floats overflow to infinity.

    Raises
    ------
    OverflowError
        If an integer has more than 64 bits.
    """
    if isinstance(value, np.generic):
        value = cast("Number", python_number(value))
    if isinstance(value, int) and dtype.kind in "iu":
        if not -(2**63) <= value < 2**64:
            raise OverflowError(f"the integer {value} does not fit 64 bits")
        wrapped: Array = making.asarray(value % 2**64, _UINT64).astype(dtype)
        return wrapped
    if isinstance(value, complex) and dtype.kind != "c":
        value = value.real
    if not isinstance(value, (bool, int, float, complex)):
        # NumPy would convert None to NaN, and lists and strings to numbers.
        raise TypeError(f"{type(value).__name__} is no number")
    result: Array = making.asarray(value).astype(dtype)
    return result


def checked_number(value: Number, dtype: NumpyDType) -> Array:
    """A 0-d array of a Python number, which must be in `dtype`'s range.

    A negative number is in the range of an unsigned dtype if its absolute value is: it wraps.
    A fractional part is cut off for an integer dtype.

    Raises
    ------
    DTypeError
        If the number is out of range.
    """
    if isinstance(value, np.generic):
        value = cast("Number", python_number(value))
    if isinstance(value, complex) and dtype.kind != "c":
        if value.imag != 0:
            raise DTypeError(f"{value} has an imaginary part and cannot become {dtype.name}")
        value = value.real
    if dtype.kind in "iu":
        whole = _whole(value, dtype)
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        if not (low or -high) <= whole <= high:
            raise DTypeError(f"{value} is out of the range of {dtype.name}", value=value)
        return number(whole, dtype)
    result = number(value, dtype)
    if not np.isfinite(result) and np.isfinite(making.asarray(value, np.complex128)):
        raise DTypeError(f"{value} is out of the range of {dtype.name}", value=value)
    return result


def _whole(value: Number, dtype: NumpyDType) -> int:
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise DTypeError(f"{value} cannot become {dtype.name}", value=value)
        return int(value)
    assert isinstance(value, int)
    return value


def _numpy_takes(value: object, a: Array) -> Array | float | int | None:
    """The operand of a ufunc for a number beside `a`; None if NumPy's result would be wrong.

    The dtype of the result may be wrong, or its memory order, which is row-major.
    """
    if (
        (type(value) is float or type(value) is int)
        and 1 not in a.shape
        and (a.flags.c_contiguous or not any(a.strides))
    ):
        numbers = numbers_of(a.dtype)
        if numbers is not None:
            return numbers.operand(value)
        if type(value) is int and a.dtype.char in "bhil" and value in _SMALL:
            return value
    return None


def _met_before(value: object, dtype: NumpyDType) -> Array | None:
    """A number as a 0-d array; see Note [Numbers that were met before]."""
    if type(value) is float or type(value) is int:
        numbers = numbers_of(dtype)
        if numbers is not None:
            found = numbers.operand(value)
            if type(found) in PLAIN:
                if TYPE_CHECKING:
                    assert isinstance(found, np.ndarray)
                return found
    return None


_zeros: dict[NumpyDType, Array] = {}
_ones: dict[NumpyDType, Array] = {}
register(_zeros.values())
register(_ones.values())


def zero_of(dtype: NumpyDType) -> Array:
    """A 0-d zero, for reading only: ufuncs take arrays faster than numbers."""
    zero = _zeros.get(dtype)
    if zero is None:
        zero = lasting(making.zeros, (), dtype)
        zero.setflags(write=False)
        _zeros[dtype] = zero
    return zero


def one_of(dtype: NumpyDType) -> Array:
    """A 0-d one; see `zero_of`."""
    one = _ones.get(dtype)
    if one is None:
        one = lasting(making.ones, (), dtype)
        one.setflags(write=False)
        _ones[dtype] = one
    return one


# -- running ufuncs -------------------------------------------------------------------------


def run(ufunc: np.ufunc, dtype: NumpyDType, out: Array | None, *operands: Operand) -> Array:
    """`ufunc` of `operands`, converted to and computed in `dtype`, into `out` or a new array."""
    quick = _run_alike(ufunc, dtype, out, operands)
    if quick is not None:
        return quick
    work = working(dtype)
    values = [
        # Only a number in the last position keeps more than half precision.
        x if isinstance(x, np.ndarray) else number(x, work if at else dtype)
        for at, x in enumerate(operands)
    ]
    shape = broadcast_shapes(*[x.shape for x in values])
    if out is None:
        out = empty_like_elementwise(dtype, shape, *operands)
    ufunc(*values, out=out, dtype=work, casting="unsafe")
    return out


def _run_alike(
    ufunc: np.ufunc, dtype: NumpyDType, out: Array | None, operands: tuple[Operand, ...]
) -> Array | None:
    """`run` for operands that have the dtype already; None for others."""
    if dtype is _HALF or (out is not None and out.dtype is not dtype) or len(operands) > 2:
        return None
    values: list[Array] = []
    for x in operands:
        value = x if type(x) in PLAIN else _met_before(x, dtype)
        if value is None:
            return None
        if TYPE_CHECKING:
            assert isinstance(value, np.ndarray)
        if value.dtype is not dtype:
            return None
        values.append(value)
    try:
        if out is not None:
            ufunc(*values, out=out)
            return out
        return called(ufunc, values[0], values[1] if len(values) > 1 else None)
    except ValueError:
        return None  # The general way says what is wrong.


def run_compare(ufunc: np.ufunc, dtype: NumpyDType, out: Array | None, *operands: Operand) -> Array:
    """As `run`, for ufuncs whose result is bool."""
    values = [x if isinstance(x, np.ndarray) else number(x, dtype) for x in operands]
    shape = broadcast_shapes(*[x.shape for x in values])
    if out is None:
        out = empty_like_elementwise(BOOL, shape, *as_converted(dtype, *operands))
    loop = (dtype,) * len(values) + (BOOL,)
    ufunc(*values, out=out, signature=loop, casting="unsafe")
    return out


def finish(value: Array, dtype: NumpyDType, out: Array | None) -> Array:
    """`value`, a new dense array of the kernel, as the result: in `out`, or in `dtype`."""
    if out is None:
        if value.dtype == dtype:
            return value
        out = empty_like_preserving(dtype, value)
    np.copyto(out, value, casting="unsafe")
    return out


def finish_like(value: Array, dtype: NumpyDType, out: Array | None, *operands: Operand) -> Array:
    """As `finish`, for a value in any memory order: the result has that of `operands`."""
    if out is None:
        out = empty_like_elementwise(dtype, value.shape, *operands)
        if value.dtype == dtype and value.strides == out.strides and value.base is None:
            return value
    np.copyto(out, value, casting="unsafe")
    return out


def _fresh(value: Array) -> Array:
    """The result of a ufunc as an array: ufuncs of 0-d arrays return scalars."""
    return value if type(value) in PLAIN else making.asarray(value)


def binary(ufunc: np.ufunc, a: Operand, b: Operand, out: Array | None) -> Array:
    """An arithmetic ufunc of two operands, in their promoted dtype."""
    if NATIVE:
        made = binary_loop(ufunc, a, b, out)
        if made is not None:
            return made
    # Quick ways first: NumPy's own result has the right dtype and memory order. Other cases, wrong
    # shapes included, use the general way.
    try:
        if type(a) in PLAIN:
            if TYPE_CHECKING:
                assert isinstance(a, np.ndarray)
            if type(b) in PLAIN:
                if TYPE_CHECKING:
                    assert isinstance(b, np.ndarray)
                if a.dtype is b.dtype:
                    if out is None:
                        a_dense, b_dense = a.flags.c_contiguous, b.flags.c_contiguous
                        # For one value, expanded, the other operand decides the memory order.
                        if (a_dense or not any(a.strides)) and (b_dense or not any(b.strides)):
                            result: Array = ufunc(a, b)
                            if type(result) not in PLAIN:
                                return making.asarray(result)
                            # Otherwise dimensions of size 1 may decide the memory order.
                            if 1 not in result.shape or (
                                a_dense and b_dense and a.shape == b.shape
                            ):
                                return result
                        return called(ufunc, a, b)
                    elif out.dtype is a.dtype:
                        ufunc(a, b, out)
                        return out
            else:
                second = _numpy_takes(b, a)
                if second is not None:
                    if out is None:
                        return _fresh(ufunc(a, second))
                    if out.dtype is a.dtype:
                        ufunc(a, second, out)
                        return out
                else:
                    value = _met_before(b, a.dtype)
                    if value is not None:
                        if out is None:
                            return called(ufunc, a, value)
                        if out.dtype is a.dtype:
                            ufunc(a, value, out=out)
                            return out
        elif out is None and type(b) in PLAIN:
            if TYPE_CHECKING:
                assert isinstance(b, np.ndarray)
            first = _numpy_takes(a, b)
            if first is not None:
                return _fresh(ufunc(first, b))
            value = _met_before(a, b.dtype)
            if value is not None:
                return called(ufunc, value, b)
    except ValueError:
        pass
    return run(ufunc, result_dtype(a, b), out, a, b)


def compare(ufunc: np.ufunc, a: Operand, b: Operand, out: Array | None) -> Array:
    """A comparing ufunc of two operands, in their promoted dtype; the result is bool."""
    if type(a) in PLAIN:
        if TYPE_CHECKING:
            assert isinstance(a, np.ndarray)
        if type(b) in PLAIN:
            if TYPE_CHECKING:
                assert isinstance(b, np.ndarray)
            if a.dtype is b.dtype:
                try:
                    if out is not None:
                        ufunc(a, b, out=out)
                        return out
                    if a.flags.c_contiguous and b.flags.c_contiguous and a.shape == b.shape:
                        return _fresh(ufunc(a, b))
                    return called(ufunc, a, b)
                except ValueError:
                    pass  # The general way says what is wrong.
        elif out is None and not isinstance(b, np.ndarray):
            second = _numpy_takes(b, a)
            if second is not None:
                return _fresh(ufunc(a, second))
            second = _met_before(b, a.dtype)
            if second is not None:
                return called(ufunc, a, second)
    return run_compare(ufunc, result_dtype(a, b), out, a, b)


def unary(ufunc: np.ufunc, a: Array, out: Array | None) -> Array:
    """A ufunc whose result has its operand's dtype."""
    if NATIVE:
        made = unary_loop(ufunc, a, out)
        if made is not None:
            return made
    if out is not None:
        ufunc(a, out, casting="unsafe")
        return out
    if a.flags.c_contiguous:
        return _fresh(ufunc(a))
    if type(a) in PLAIN:
        return called(ufunc, a)
    out = empty_like_elementwise(a.dtype, a.shape, a)
    ufunc(a, out)
    return out


def float_unary(ufunc: np.ufunc, a: Array, out: Array | None) -> Array:
    """A ufunc of floating or complex values; integers and bools become the default dtype."""
    if a.dtype.kind in "fc":
        return unary(ufunc, a, out)
    dtype = get_default_dtype().numpy
    if out is None:
        out = empty_like_elementwise(dtype, a.shape, a)
    ufunc(a, out=out, dtype=dtype, casting="unsafe")
    return out


def predicate(ufunc: np.ufunc, a: Array, out: Array | None) -> Array:
    """A ufunc of one operand whose result is bool."""
    if out is None:
        if a.flags.c_contiguous and 1 not in a.shape:
            return _fresh(ufunc(a))
        if type(a) in PLAIN:
            return called(ufunc, a)
        out = empty_like_elementwise(BOOL, a.shape, a)
    ufunc(a, out, casting="unsafe")
    return out
