"""Numbers of NumPy that a custom Function returned where a tensor was meant.

Nothing is recorded inside of forward. There the 0-d results of a class with NumPy's meanings are
numbers of NumPy, and their gradients must not be lost; see `TensorBase._number_class`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["with_tensors_for_numbers"]


def with_tensors_for_numbers(returned: object, inputs: Sequence[TensorBase]) -> object:
    """What a method of a Function returned, with tensors in place of arrays and numbers of NumPy.

    Parameters
    ----------
    returned : object
        One result, or a tuple of them.
    inputs : sequence of TensorBase
        The arguments of the Function; if none of them is of a class that states one for numbers,
        `returned` stays as it is.
    """
    results = returned if type(returned) is tuple else (returned,)
    for x in results:
        if isinstance(x, (np.generic, np.ndarray)):
            break
    else:
        return returned
    for x in inputs:
        cls = type(x)._number_class
        if cls is not None:
            found = tuple([_in_class(x, cls) for x in results])
            return found if type(returned) is tuple else found[0]
    return returned


def _in_class(x: object, cls: type[TensorBase]) -> object:
    if not isinstance(x, (np.generic, np.ndarray)):
        return x
    made = cls._wrap(TensorImpl(np.array(x)))
    if not made._impl.array.ndim:
        made.__class__ = cls
    return made
