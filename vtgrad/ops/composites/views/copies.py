"""Copies of what a view shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.generated import functional as F
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["view_copy"]


T = TypeVar("T", bound=TensorBase)


def view_copy(input: T, size: Sequence[int], *, out: T | None = None) -> T:
    """Return a copy of the same elements in another shape.

    The elements keep their row-major order, whatever the strides of `input` are.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    size : sequence of int
        The new sizes. One of them may be -1: it follows from the others.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        A new contiguous tensor of the dtype of `input`.

    Raises
    ------
    ShapeError
        If the number of elements differs, or several sizes are -1.
    ResultTypeError
        If `out` does not have the dtype of the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> x = vt.arange(6).reshape(2, 3)
    >>> vt.view_copy(x.t(), (6,))
    tensor([0, 3, 1, 4, 2, 5])
    """
    if keys.active and is_overridden(input, out):
        return call_override(view_copy, input, size, out=out)
    return F._view_copy(input, size, out=out)
