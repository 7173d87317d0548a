# Compiled by mypyc.
"""The quick way through elementwise operators of two tensors, or of a tensor and a number."""

from __future__ import annotations

import numpy as np

from vtgrad.storage.argument_types import T
from vtgrad.storage.arrays import Array
from vtgrad.storage.key_set import keys
from vtgrad.storage.layout import PECULIAR
from vtgrad.storage.loops import NATIVE, binary_loop
from vtgrad.storage.no_fp_warnings import no_fp_warnings
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
    if layout is PECULIAR:
        return None
    if isinstance(other, TensorBase):
        b = other._impl
        second = b.layout
        if second is None:
            second = b.find_layout()
        if layout is not second or (inexact and not layout.inexact):
            return None
        made: Array | None = binary_loop(ufunc, a.array, b.array) if NATIVE else None
        if made is None:
            made = no_fp_warnings.run(ufunc, a.array, b.array)
    elif layout.numbers is not None and (type(other) is float or type(other) is int):
        made = binary_loop(ufunc, a.array, other) if NATIVE else None
        if made is None:
            made = no_fp_warnings.run(ufunc, a.array, layout.numbers.operand(other))
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
