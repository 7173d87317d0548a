"""Indices of many dimensions from flat ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from vtgrad.errors import ArgumentTypeError, ArgumentValueError
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.integers import integer
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["unravel_index"]


T = TypeVar("T", bound=TensorBase)


@explained
def unravel_index(indices: T, shape: int | Sequence[int]) -> tuple[T, ...]:
    """Return the indices in each dimension that flat indices stand for.

    Parameters
    ----------
    indices : Tensor
        Indices into the flattened elements, row by row. Those beyond the end begin again at the
        first element.
    shape : int or sequence of int
        The sizes of the dimensions.

    Returns
    -------
    tuple of Tensor
        For each dimension a tensor of integers in the shape of `indices`: views of one tensor.

    Raises
    ------
    ArgumentTypeError
        If the indices are not integers.
    ArgumentValueError
        If a size is negative.

    Examples
    --------
    >>> vt.unravel_index(vt.tensor([0, 4, 5]), (2, 3))
    (tensor([0, 1, 1]), tensor([0, 1, 2]))
    """
    refuse_names("unravel_index", indices)
    if array_of(indices, "indices").dtype.kind not in "iu":
        raise ArgumentTypeError(f"indices must be integers, not {indices.dtype.name}")
    given = [*shape] if isinstance(shape, Sequence) else [shape]
    sizes = [integer(n) for n in given]
    if any(n < 0 for n in sizes):
        raise ArgumentValueError(f"sizes must not be negative, got {sizes}", shape=sizes)
    steps = [math.prod(sizes[nr + 1 :]) or 1 for nr in range(len(sizes))]
    coefficients, ends = [beside(indices, making.asarray(a, np.int64)) for a in (steps, sizes)]
    quotients = F.div(F.unsqueeze(indices, -1), coefficients, rounding_mode="floor")
    return F.unbind(F.remainder(quotients, ends), -1)
