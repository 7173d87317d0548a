"""Questions about tensors that are answered by Python values."""

from __future__ import annotations

import math

import numpy as np

from vtgrad.errors import AmbiguousTruthError
from vtgrad.ops import kernels as k
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "allclose",
    "equal",
    "is_complex",
    "is_floating_point",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_tensor",
    "numel",
]


def allclose(
    input: TensorBase,
    other: TensorBase,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> bool:
    """Whether all values are close to each other; see `isclose`.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.allclose(vt.tensor([1.0, 2.0]), vt.tensor([1.0, 2.000001]))
    True
    """
    return bool(F.isclose(input, other, rtol, atol, equal_nan)._impl.array.all())


@explained
def equal(input: TensorBase, other: TensorBase) -> bool:
    """Whether two tensors have one shape and equal values; a nan equals nothing."""
    a, b = array_of(input, "input"), array_of(other, "other")
    return a.shape == b.shape and bool(run_without_warnings(k.eq, a, b).all())


def is_nonzero(input: TensorBase) -> bool:
    """Whether the one element of a tensor is not zero.

    Raises
    ------
    AmbiguousTruthError
        If there are more elements, or none.
    """
    array = array_of(input, "input")
    if math.prod(array.shape) != 1:
        raise AmbiguousTruthError(
            f"whether it is zero can be said of one element, not of shape {list(input.shape)}"
        )
    return bool(np.any(array))


def numel(input: TensorBase) -> int:
    """The number of elements."""
    return math.prod(array_of(input, "input").shape)


def is_tensor(obj: object) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, TensorBase)


def is_complex(input: TensorBase) -> bool:
    """Whether the values are complex."""
    return array_of(input, "input").dtype.kind == "c"


def is_floating_point(input: TensorBase) -> bool:
    """Whether the values are floating, and real."""
    return array_of(input, "input").dtype.kind == "f"


def is_signed(input: TensorBase) -> bool:
    """Whether the dtype has negative values."""
    return array_of(input, "input").dtype.kind not in "bu"


def is_same_size(input: TensorBase, other: TensorBase) -> bool:
    """Whether two tensors have one shape."""
    return bool(array_of(input, "input").shape == array_of(other, "other").shape)
