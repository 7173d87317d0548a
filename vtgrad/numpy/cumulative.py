"""Running sums and products in the form of the array API, with the initial value."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy import reductions
from vtgrad.numpy.calculus import joined
from vtgrad.numpy.deliver import apart, deliver, dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.memory_order import in_order_of
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import ArrayLike, as_array, fresh, of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making

__all__ = ["cumulative_prod", "cumulative_sum"]


def _cumulative(
    name: str,
    x: ArrayLike,
    axis: SupportsIndex | None,
    dtype: DTypeLike | None,
    out: ndarray | None,
    include_initial: bool,
) -> ndarray:
    if not any_differentiated(x):
        numpys = getattr(np, f"cumulative_{name}")
        options: dict[str, Any] = {"axis": axis, "dtype": dtype, "include_initial": include_initial}
        return on_values(numpys, x, out=out, **options)
    given = apart(of(x), out)
    if not given._impl.array.ndim:
        given = as_array(F.reshape(given, 1))
    ndim = given._impl.array.ndim
    if axis is None:
        if ndim > 1:
            raise ValueError(
                "For arrays which have more than one dimension ``axis`` argument is required."
            )
        axis = 0
    (dim,) = dims_of(axis, ndim)
    running = reductions.cumsum if name == "sum" else reductions.cumprod
    found = running(given, dim, dtype)
    if include_initial:
        sizes = tuple([1 if d == dim else n for d, n in enumerate(found.shape)])
        first = fresh(making.full(sizes, name == "prod", found.dtype))
        found = as_array(in_order_of(joined([first, found], dim), found))
    return deliver(found, out)


@function
def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    include_initial: bool = False,
) -> ndarray:
    """The sums of the elements up to each place along an axis.

    Parameters
    ----------
    x : array_like
        The values.
    axis : int, optional
        The axis; it may be left out where there is one.
    dtype, out
        As of `cumsum`.
    include_initial : bool
        Whether the sum of no elements, zero, comes first.

    Returns
    -------
    ndarray
        A new array, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.cumulative_sum(np.array([1.0, 2.0, 3.0]), include_initial=True)
    array([0., 1., 3., 6.])
    """
    return _cumulative("sum", x, axis, dtype, out, include_initial)


@function
def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    include_initial: bool = False,
) -> ndarray:
    """The products of the elements up to each place along an axis.

    Parameters
    ----------
    x : array_like
        The values.
    axis, dtype, out
        As of `cumulative_sum`.
    include_initial : bool
        Whether the product of no elements, one, comes first.

    Returns
    -------
    ndarray
        A new array, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.cumulative_prod(np.array([1.0, 2.0, 3.0]), include_initial=True)
    array([1., 1., 2., 6.])
    """
    return _cumulative("prod", x, axis, dtype, out, include_initial)
