# Compiled by mypyc.
"""Storing the result of an out-of-place kernel, for the in-place operator of the same name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from vtgrad.errors import DTypeError, NotSupportedError, ResultTypeError, ShapeError
from vtgrad.storage.arrays import PLAIN, Array, Number, NumpyDType, Shape
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.no_fp_warnings import no_fp_warnings
from vtgrad.storage.number_arrays import SMALL, numbers_of
from vtgrad.storage.prepared_store import Store, copied
from vtgrad.storage.promotion import can_cast, result_dtype
from vtgrad.storage.shapes import broadcast_shapes

__all__ = ["check_result_dtype", "store_without_warnings", "store_result", "store_ufunc"]


def store_result(
    kernel: Callable[..., Array], *, direct: bool, total: bool = True
) -> Callable[..., Store]:
    """A writer that computes with `kernel` and stores the result.

    The kernel gets the target's array as its first argument. The result must have the target's
    shape, and a dtype that can be stored in place.

    Parameters
    ----------
    kernel : callable
        Computes the result.
    direct : bool
        Whether the kernel takes ``out=``.
    total : bool
        Whether it accepts all floats of the target's shape and dtype, and all numbers.
    """

    def compute_in_place(array: Array, *operands: object) -> None:
        kernel(array, *operands, out=array)

    def writer(array: Array, *operands: object, **options: object) -> Store:
        dtype = array.dtype
        if direct and total and dtype.kind == "f" and not options:
            # Floats of one dtype, in a shape that the target contains, and plain numbers need
            # neither a check nor a temporary.
            for x in operands:
                if type(x) in PLAIN:
                    if TYPE_CHECKING:
                        assert isinstance(x, np.ndarray)
                    shape = x.shape
                    if x.dtype is not dtype or not (
                        shape == array.shape or _is_contained(shape, array.shape)
                    ):
                        break
                elif type(x) is not float and not (type(x) is int and abs(x) <= SMALL):
                    break
            else:
                return compute_in_place, (array, *operands), None
        try:
            result = no_fp_warnings.run(kernel, array, *operands, **options)
        except (NotSupportedError, DTypeError) as error:
            if direct:
                # A wrong shape of the result is reported first, unless an error of the kernel does
                # not depend on the target.
                shapes = [x.shape for x in operands if isinstance(x, np.ndarray)]
                check_result_shape(broadcast_shapes(array.shape, *shapes), array)
                numeric = [x for x in operands if isinstance(x, (np.ndarray, int, float, complex))]
                if not error.facts.get("in_any_case"):
                    check_result_dtype(result_dtype(array, *numeric), array)
            raise
        check_result_shape(result.shape, array)
        check_result_dtype(result.dtype, array)
        return copied(array, result)

    return writer


def store_without_warnings(writer: Callable[..., Store]) -> Callable[..., Store]:
    """A writer that prepares without NumPy's floating-point warnings."""

    def prepare(array: Array, *operands: object, **options: object) -> Store:
        return no_fp_warnings.run(writer, array, *operands, **options)

    return prepare


def store_ufunc(
    ufunc: np.ufunc, general: Callable[..., Store], *, inexact: bool = False
) -> Callable[..., Store]:
    """A writer of a ufunc of two operands, for operators of inner loops.

    Parameters
    ----------
    ufunc : numpy.ufunc
        Computes for arrays of one dtype whose shapes agree, or where the second one's is that of
        the last dimensions, and for floats and a number.
    general : callable
        The writer for all other operands; see `store_result`.
    inexact : bool
        Whether the ufunc agrees with the operator only for floating and complex values.
    """

    def writer(array: Array, other: Array | Number) -> Store:
        if type(other) in PLAIN:
            if TYPE_CHECKING:
                assert isinstance(other, np.ndarray)
            if (
                other.dtype is array.dtype
                and (other.shape == array.shape or _is_contained(other.shape, array.shape))
                and (not inexact or array.dtype.kind in "fc")
            ):
                return ufunc, (array, other, array), None
        elif type(other) is float or (type(other) is int and abs(other) <= SMALL):
            numbers = numbers_of(array.dtype)
            if numbers is not None:
                return ufunc, (array, numbers.operand(other), array), None
        return general(array, other)

    return writer


def _is_contained(shape: Shape, whole: Shape) -> bool:
    """Whether a shape is that of a number, or of the last dimensions of another one."""
    return not shape or shape == whole[-len(shape) :]


def check_result_shape(result: Shape, target: Array) -> None:
    """Raise `ShapeError` if an in-place operator's result does not have the target's shape."""
    if result != target.shape:
        raise ShapeError(
            f"the result has shape {list(result)}, which an in-place operator cannot "
            f"store in a tensor of shape {list(target.shape)}",
            expected=target.shape,
            found=result,
        )


def check_result_dtype(result: NumpyDType, target: Array) -> None:
    """Raise if an in-place operator may not store `result` in `target`.

    Raises
    ------
    ResultTypeError
        If the result's dtype is of a higher category.
    """
    if not can_cast(result, target.dtype):
        raise ResultTypeError(
            f"a result of dtype {dtype_of(result).name} cannot be stored in a tensor of "
            f"dtype {dtype_of(target.dtype).name}; convert the tensor first, x.to(...), or use the "
            "operator that makes a new one, as x = x + y instead of x += y",
            result=dtype_of(result),
            target=dtype_of(target.dtype),
        )
