# Compiled by mypyc.
"""The quick way through elementwise operators of two tensors, or of a tensor and a number."""

from __future__ import annotations

import numpy as np

from vtgrad.ops.kernels.support.result_strides import called
from vtgrad.storage.argument_types import T
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.key_set import keys
from vtgrad.storage.layout import PECULIAR
from vtgrad.storage.loops import NATIVE, binary_loop
from vtgrad.storage.no_fp_warnings import no_fp_warnings
from vtgrad.storage.number_arrays import numbers_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["quick_binary"]


def quick_binary(ufunc: np.ufunc, input: T, other: object, inexact: bool = False) -> T | None:
    """The result of a ufunc of operands of one layout; None if the general way is needed.

    Parameters
    ----------
    ufunc : numpy.ufunc
        One whose result has its operands' dtype if they agree.
    input : Tensor
        The first operand; the result is of its class.
    other : object
        The second, as it came from the user.
    inexact : bool
        Whether the ufunc does what the operator does with floating and complex values only.

    See Note [One look at a layout], Note [Loops in C], and for `keys.modes` Note [Keys].
    """
    if keys.modes:
        return None
    a: TensorImpl = input._impl
    layout = a.layout
    if layout is None:
        layout = a.find_layout()
    made: Array | None = None
    if isinstance(other, TensorBase):
        b = other._impl
        second = b.layout
        if second is None:
            second = b.find_layout()
        if layout is not second or layout is PECULIAR:
            made = _of_layouts(ufunc, a, b, inexact)
            if made is None:
                return None
            layout = None
        else:
            if inexact and not layout.inexact:
                return None
            if NATIVE:
                made = binary_loop(ufunc, a.array, b.array)
            if made is None:
                made = no_fp_warnings.run(ufunc, a.array, b.array)
    elif layout.numbers is not None and (type(other) is float or type(other) is int):
        if NATIVE:
            made = binary_loop(ufunc, a.array, other)
        if made is None:
            made = no_fp_warnings.run(ufunc, a.array, layout.numbers.operand(other))
    elif layout is PECULIAR and (type(other) is float or type(other) is int):
        made = _with_number(ufunc, a, other)
        if made is None:
            return None
        layout = None
    else:
        return None
    impl = TensorImpl(made)
    impl.layout = layout
    # What `handle_like` does, which would be one more call for each of the smallest operators.
    cls = type(input)
    make = cls._make
    result: T = make(cls)
    result._impl = impl
    return result


def _of_layouts(ufunc: np.ufunc, a: TensorImpl, b: TensorImpl, inexact: bool) -> Array | None:
    """The result for operands of two layouts, or without one; None if the general way is needed.

    That is so if NumPy would not compute in their dtype, or their shapes do not broadcast, or there
    is more to a tensor than its array.
    """
    left, right = a.array, b.array
    if (
        left.dtype is not right.dtype
        or a.extra_meta is not None
        or b.extra_meta is not None
        or type(left) not in PLAIN
        or type(right) not in PLAIN
        or (inexact and left.dtype.kind not in "fc")
    ):
        return None
    try:
        made: Array = no_fp_warnings.run(called, ufunc, left, right)
    except ValueError:
        return None  # The general way says what is wrong.
    return made


def _with_number(ufunc: np.ufunc, a: TensorImpl, number: float | int) -> Array | None:
    """The result for an operand without a layout and a number; None as for `_of_layouts`."""
    array = a.array
    numbers = numbers_of(array.dtype)
    if numbers is None or a.extra_meta is not None or type(array) not in PLAIN:
        return None
    second = numbers.operand(number)
    if not isinstance(second, np.ndarray):
        return None
    made: Array = no_fp_warnings.run(called, ufunc, array, second)
    return made
