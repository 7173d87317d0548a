"""What the functions of interpolation share: what users pass for points, values and places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from vtgrad.errors import DTypeError
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.generated import functional as F
from vtgrad.signal.on_cpu import refuse_lanes
from vtgrad.signal.operands import coefficients_of, first_tensor
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.dtypes import get_default_dtype
from vtgrad.tensor.from_data import as_tensor
from vtgrad.tensor.tensor import Tensor

__all__ = ["Points", "Values", "in_place_of_axis", "in_precision", "places_of", "tensor_of"]

Points: TypeAlias = Tensor | Array | Sequence[float | Tensor] | float
Values: TypeAlias = Tensor | Array | Sequence[object]


def tensor_of(given: object) -> Tensor:
    """The tensor itself, or one of numbers; tensors among these are recorded."""
    like = first_tensor(given)
    return as_tensor(given) if like is None else coefficients_of(given, like)


def in_precision(knots: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Both in one precision; integers in the default dtype.

    Raises
    ------
    DTypeError
        If the knots are complex, or a dtype is float16.
    """
    default = get_default_dtype().numpy
    of_knots, of_values = knots._impl.array.dtype, values._impl.array.dtype
    if of_knots.kind == "c":
        raise DTypeError("the knots of a spline are real", dtype=of_knots)
    floats = [x for x in (of_knots, of_values) if x.kind in "fc"] or [default]
    dtype = np.result_type(*floats)
    if np.float16 in (of_knots, of_values, dtype):
        raise DTypeError("splines have no float16; cast the values to float32 first", dtype=dtype)
    real = making.zeros(0, dtype).real.dtype
    wanted = np.result_type(real, np.complex64) if of_values.kind == "c" else real
    return (
        knots if of_knots == real else F.to_dtype(knots, real),
        values if of_values == wanted else F.to_dtype(values, wanted),
    )


def places_of(name: str, given: Points, knots: Tensor) -> Tensor:
    """Where a function is evaluated, in the dtype of its knots.

    Raises
    ------
    DTypeError
        If the places are complex.
    NamesNotSupportedError, NotSupportedError
        If their dimensions have names, or they are on a lane.
    """
    places = tensor_of(given)
    refuse_names(name, places)
    refuse_lanes(name, places)
    real = knots._impl.array.dtype
    if places._impl.array.dtype.kind == "c":
        raise DTypeError("a spline is evaluated at real points", dtype=places.dtype)
    return places if places._impl.array.dtype == real else F.to_dtype(places, real)


def in_place_of_axis(found: Tensor, places: Tensor, trail: tuple[int, ...], axis: int) -> Tensor:
    """Rows of values, for each place, with the dimensions of the places where `axis` was.

    Parameters
    ----------
    found : Tensor
        Of two dimensions: a row for each place.
    places : Tensor
        The places, of any shape.
    trail : tuple of int
        The sizes of the values' other dimensions.
    axis : int
        How many of these stand in front.
    """
    shaped = F.reshape(found, (*places.shape, *trail))
    if not axis or not places.ndim:
        return shaped
    dims = list(range(places.ndim))
    return F.movedim(shaped, dims, [dim + axis for dim in dims])
