"""How functions of the namespace hand over results, with ``out=`` and NumPy's own computations."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np

from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.operands import (
    as_array,
    fresh,
    has_dtype,
    noted,
    overlap,
    result,
    value_of,
)
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.write import store
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "NO_VALUE",
    "Axis",
    "NoValue",
    "apart",
    "by_numpy",
    "deliver",
    "dims_of",
    "handed_over",
    "is_whole",
    "made",
    "written_array",
]

# What an argument ``axis`` may be.
Axis: TypeAlias = typing.SupportsIndex | tuple[typing.SupportsIndex, ...] | None


class NoValue:
    """The type of a default that stands for an argument that is not given."""

    __slots__ = ()

    text: ClassVar[str] = "<no value>"

    def __repr__(self) -> str:
        return self.text


NO_VALUE: Final[NoValue] = NoValue()


def dims_of(axis: Axis, ndim: int, *, of_number: bool = False) -> Shape:
    """The dimensions of a reduction, counted from the first.

    Parameters
    ----------
    axis : int, tuple of int or None
        What the user passed.
    ndim : int
        The number of dimensions.
    of_number : bool
        Whether 0 and -1 are dimensions of a number too, as in ``np.sum(1.0, 0)``.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such dimension.
    ValueError
        If one is given twice.
    """
    if axis is None:
        return tuple(range(ndim))
    if of_number and not ndim and axis in (0, -1):
        return ()
    return np.lib.array_utils.normalize_axis_tuple(typing.cast("Any", axis), ndim)


def deliver(found: TensorBase, out: object = None, casting: str = "same_kind") -> ndarray:
    """A fresh result of an operator, as `result`, or stored in ``out``.

    Raises
    ------
    TypeError
        If ``out`` cannot hold the result by NumPy's rule `casting`.
    ValueError
        If it is of another shape.
    """
    if out is None:
        return result(found)
    target = written_array(out)
    dtype = target._impl.dtype if isinstance(target, TensorBase) else target.dtype
    if target.shape != found._impl.array.shape:
        raise ValueError(
            f"the output has the shape {target.shape}, and the result {found._impl.array.shape}"
        )
    if not np.can_cast(found._impl.dtype, dtype, typing.cast("Any", casting)):
        raise TypeError(
            f"Cannot cast output from {found._impl.dtype!r} to {dtype!r} with casting rule "
            f"{casting!r}"
        )
    return store(target, typing.cast("ndarray", found))


def apart(x: ndarray, out: object) -> ndarray:
    """The array itself, or a copy if ``out`` is on its memory: a node may save what is written."""
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if isinstance(target, TensorBase) and overlap(x, target):
        return as_array(F.clone(x))
    return x


def written_array(out: object) -> TensorBase | Array:
    """The array that ``out=`` names, also as a tuple of one.

    Raises
    ------
    TypeError
        If it is none, as a number.
    """
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not isinstance(target, (TensorBase, np.ndarray)) or type(target) is kinds.scalar:
        raise TypeError("return arrays must be of ArrayType")
    return target


def is_whole(out: object) -> bool:
    """Whether ``out=`` of a reduction is of integers or bools.

    NumPy casts what it sums to them as it goes along, so it computes such a reduction itself, whose
    result carries no derivative.
    """
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    return isinstance(target, TensorBase) and target._impl.array.dtype.kind not in "fc"


def handed_over(found: Any) -> ndarray:
    """What NumPy computed: an array as one of the namespace, a number as it is.

    An array of a dtype that the namespace does not have, as of the sum of uint8, stays NumPy's.
    """
    if isinstance(found, np.ndarray) and has_dtype(found.dtype):
        return fresh(found)
    return typing.cast("ndarray", found)


def made(array: Any) -> ndarray:
    """As `handed_over`, for memory that nothing else has: see Note [Tensors that get samples]."""
    return noted(handed_over(array))


def by_numpy(
    function: Callable[..., Any],
    x: TensorBase,
    *args: object,
    out: object = None,
    **options: object,
) -> ndarray:
    """What NumPy's function gives for the elements of an array: for what has no derivative."""
    given = {
        name: value_of(value) if isinstance(value, TensorBase) else value
        for name, value in options.items()
        if value is not NO_VALUE
    }
    if out is None:
        return handed_over(run_without_warnings(function, value_of(x), *args, **given))
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if not isinstance(target, TensorBase):
        written: ndarray = run_without_warnings(function, value_of(x), *args, out=target, **given)
        return written
    # NumPy computes into an array of its own, with all its rules.
    own = value_of(target).copy()
    run_without_warnings(function, value_of(x), *args, out=own, **given)
    return store(target, fresh(own))
