"""Arrays with a margin: `pad`."""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.numpy.function import function
from vtgrad.numpy.index import at_positions, positions_of
from vtgrad.numpy.memory_order import in_rows_or_columns
from vtgrad.numpy.on_values import any_differentiated, on_values, values_in
from vtgrad.numpy.operands import ArrayLike, as_array, cast, fresh, of, of_numbers
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.refused import check_not_differentiated
from vtgrad.numpy.sorting import sort
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Shape
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["pad"]

_Mode: TypeAlias = str | Callable[..., object]

# What the elements of the margin are copies of is found by NumPy.
_COPYING: Final = ("edge", "reflect", "symmetric", "wrap")

# What may carry derivatives beside the array.
_VALUES: Final = ("constant_values", "end_values")


@function
def pad(
    array: ArrayLike,
    pad_width: int | Sequence[object] | dict[int, object] | TensorBase,
    mode: _Mode = "constant",
    **kwargs: object,
) -> ndarray:
    """An array with a margin around it.

    Parameters
    ----------
    array : array_like
        The elements.
    pad_width : int, pair of int, sequence of pairs or dict
        How many elements come before and after, along each axis; a dict names axes.
    mode : str or callable
        What the margin is: ``"constant"``, ``"edge"``, ``"reflect"``, ``"symmetric"``, ``"wrap"``,
        ``"linear_ramp"``, ``"maximum"``, ``"minimum"``, ``"mean"``, ``"median"`` or ``"empty"``,
        which is zeros where it is recorded. A function fills vectors in place.
    **kwargs : object
        What the mode takes, each one value or pairs for the axes: ``stat_length``, how many
        elements at the edge the maximum, minimum, mean or median is of, all by default;
        ``constant_values`` and ``end_values`` of the ramps, 0 by default, which may carry
        derivatives; ``reflect_type``, ``"even"`` or ``"odd"``, which turns the reflection around
        the edge. A function gets all of them.

    Returns
    -------
    ndarray
        A new array.

    Raises
    ------
    ValueError
        If there is no such mode, or it does not take an argument.
    NotSupportedError
        If a gradient would pass through a function.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.pad(np.array([1.0, 2.0]), (1, 2), constant_values=9.0)
    array([9., 1., 2., 9., 9.])
    """
    if not any_differentiated((array, kwargs)):
        return on_values(np.pad, array, pad_width, mode, **kwargs)
    if not isinstance(mode, str):
        raise NotSupportedError("pad by a function has no derivative; pass array.detach()")
    x = of(array)
    return as_array(in_rows_or_columns(_padded(x, pad_width, mode, kwargs), x))


def _padded(x: ndarray, pad_width: object, mode: str, kwargs: dict[str, object]) -> ndarray:
    shape = x.shape
    if mode in ("linear_ramp", "mean", "median") and x._impl.dtype.kind not in "fc":
        check_not_differentiated(f"pad by {mode!r} of integers", x, kwargs)
    # NumPy reads the arguments, and says what is wrong, at the cost of few elements.
    small = making.ones([min(size, 1) for size in shape], x._impl.dtype)
    options: dict[str, Any] = values_in(
        {name: value for name, value in kwargs.items() if name not in _VALUES}
    )
    options |= {name: 0 for name in _VALUES if name in kwargs}
    numpys: Any = np.pad
    numpys(small, values_in(pad_width), mode, **options)
    widths = _widths(values_in(pad_width), len(shape))
    if mode in ("constant", "empty"):
        margins = _pairs(kwargs.get("constant_values", 0), x)
        return _grown(x, widths, lambda y, dim, side: margins[dim][side])
    if not x._impl.array.size:
        sizes = [n + before + after for n, (before, after) in zip(shape, widths, strict=True)]
        return as_array(F.reshape(F.clone(x), sizes))
    if mode in _COPYING:
        return _copied(x, widths, mode, kwargs.get("reflect_type", "even"))
    if mode == "linear_ramp":
        ends = _pairs(kwargs.get("end_values", 0), x)
        return _grown(
            x,
            widths,
            lambda y, dim, side: _ramp(y, dim, side, widths[dim][side], ends[dim][side]),
        )
    lengths = _lengths(values_in(kwargs.get("stat_length")), shape)

    def margin(y: ndarray, dim: int, side: int) -> TensorBase:
        count = lengths[dim][side]
        return _statistic(F.narrow(y, dim, (shape[dim] - count) * side, count), dim, mode)

    return _grown(x, widths, margin)


def _widths(given: Any, ndim: int) -> list[tuple[int, int]]:
    """How much comes before and after, for each axis."""
    if isinstance(given, dict):
        found = [(0, 0)] * ndim
        for axis, width in given.items():
            found[axis] = tuple(making.broadcast_to(making.asarray(width), (2,)).tolist())
        return found
    pairs = making.broadcast_to(np.round(making.asarray(given)).astype(np.intp), (ndim, 2)).tolist()
    return [(before, after) for before, after in pairs]


def _lengths(given: Any, shape: Shape) -> list[list[int]]:
    """Of how many elements the statistics are, before and after, for each axis."""
    sizes = making.asarray(shape)[:, None]
    if given is None:
        given = sizes
    found: list[list[int]] = np.minimum(np.round(given).astype(int), sizes.repeat(2, 1)).tolist()
    return found


def _pairs(values: object, x: ndarray) -> list[tuple[ndarray, ndarray]]:
    """What stands before and after, for each axis, as arrays without axes.

    Raises
    ------
    ValueError
        If the values do not broadcast to pairs for the axes.
    NotSupportedError
        If a value with a derivative would be cast to an integer.
    """
    given, ndim = of_numbers(values), len(x.shape)
    if not np.can_cast(given._impl.dtype, x._impl.dtype, "same_kind"):
        # A cast to integers has no derivative.
        check_not_differentiated(f"pad of {x._impl.dtype} with {given._impl.dtype}", given)
    np.broadcast_shapes(given.shape, (ndim, 2))
    whole = F.broadcast_to(cast(given, x._impl.dtype), (ndim, 2))
    return [
        (as_array(F.select(row, 0, 0)), as_array(F.select(row, 0, 1)))
        for row in (F.select(whole, 0, dim) for dim in range(ndim))
    ]


def _grown(
    x: ndarray, widths: Sequence[tuple[int, int]], margin: Callable[[ndarray, int, int], TensorBase]
) -> ndarray:
    """The array with margins that broadcast, axis by axis, so that later ones have the corners."""
    for dim, (before, after) in enumerate(widths):
        if before or after:
            x = _joined(x, dim, margin(x, dim, 0), margin(x, dim, 1), before, after)
    return x if any(map(sum, widths)) else as_array(F.clone(x))


def _joined(
    x: ndarray, dim: int, left: TensorBase, right: TensorBase, before: int, after: int
) -> ndarray:
    shape = x.shape
    parts: list[TensorBase] = [x]
    if before:
        parts.insert(0, F.broadcast_to(left, (*shape[:dim], before, *shape[dim + 1 :])))
    if after:
        parts.append(F.broadcast_to(right, (*shape[:dim], after, *shape[dim + 1 :])))
    return as_array(F.cat(parts, dim)) if len(parts) > 1 else x


def _ramp(x: ndarray, dim: int, side: int, width: int, end: ndarray) -> TensorBase:
    """Steps of equal height from the end to the edge, which is not part of them."""
    if not width:
        return end
    edge = F.narrow(x, dim, 0 if side == 0 else x.shape[dim] - 1, 1)
    part = making.linspace(0, 1, width, endpoint=False)
    weights = (part if side == 0 else part[::-1]).reshape(
        [-1 if d == dim else 1 for d in range(len(x.shape))]
    )
    steps = cast(fresh(making.ascontiguousarray(weights)), x._impl.dtype)
    return F.add(end, F.mul(F.sub(edge, end), steps))


def _statistic(part: TensorBase, dim: int, mode: str) -> TensorBase:
    if mode == "mean":
        return F.mean(part, dim, True)
    if mode == "median":
        mean, ordered = F.mean(part, dim, True), sort(as_array(part), dim)
        size = ordered.shape[dim]
        if not size:
            return mean
        low = F.narrow(ordered, dim, (size - 1) // 2, 1)
        found = low if size % 2 else F.mul(F.add(low, F.narrow(ordered, dim, size // 2, 1)), 0.5)
        # Where one is NaN all is, as the mean.
        return F.where(F.any(F.isnan(part), dim, True), mean, found)
    return F.amax(part, dim, True) if mode == "maximum" else F.amin(part, dim, True)


def _copied(
    x: ndarray, widths: Sequence[tuple[int, int]], mode: str, reflect_type: object
) -> ndarray:
    """Margins that are copies of elements, or, for odd reflections, sums of multiples of them."""
    numpys: Any = np.pad
    shape = x.shape
    if not shape:
        return as_array(F.clone(x))
    if reflect_type == "even" or mode in ("edge", "wrap"):
        return at_positions(x, numpys(positions_of(shape), widths, mode))
    for dim, width in enumerate(widths):
        size = x.shape[dim]
        multiples = numpys(
            making.eye(size, dtype=np.int64), (width, (0, 0)), mode, reflect_type=reflect_type
        )
        x = _combined(x, dim, multiples)
    return x


def _combined(x: ndarray, dim: int, multiples: np.ndarray[Shape, np.dtype[np.int64]]) -> ndarray:
    """Sums of multiples of few elements along an axis; those with the factor 0 do not count."""
    order = np.argsort(multiples == 0, axis=1, kind="stable")
    found: TensorBase | None = None
    for term in range(int(np.count_nonzero(multiples, axis=1).max(initial=1))):
        places = order[:, term]
        factors = np.take_along_axis(multiples, places[:, None], 1)[:, 0]
        each = factors.reshape([-1 if d == dim else 1 for d in range(len(x.shape))])
        taken = F.index_select(x, dim, fresh(making.ascontiguousarray(places)))
        share = F.mul(taken, cast(fresh(each), x._impl.dtype))
        nothing = fresh(making.zeros((), x._impl.dtype))
        share = F.where(fresh(each != 0), share, nothing)
        found = share if found is None else F.add(found, share)
    return as_array(typing.cast("TensorBase", found))
