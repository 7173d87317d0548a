"""The quick way through elementwise operators of two tensors, or of a tensor and a number."""

from __future__ import annotations

import numpy as np

from ..storage.layout import PECULIAR
from ..storage.quiet import quiet
from ..storage.tensor_base import TensorBase
from ..storage.tensor_impl import TensorImpl

__all__ = ["quick_binary"]


def quick_binary(ufunc: np.ufunc, a: TensorImpl, other: object) -> TensorImpl | None:
    """The result of a ufunc of operands of one layout; None if the general way is needed.

    Parameters
    ----------
    ufunc : numpy.ufunc
        One whose result has its operands' dtype if they agree.
    a : TensorImpl
        The first operand.
    other : object
        The second, as it came from the user.

    See Note [One look at a layout].
    """
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
        if layout is not second:
            return None
        result = TensorImpl(quiet.run(ufunc, a.array, b.array))
    elif layout.takes_numbers and (type(other) is float or type(other) is int):
        result = TensorImpl(quiet.run(ufunc, a.array, other))
    else:
        return None
    result.layout = layout
    return result
