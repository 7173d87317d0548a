"""Weighted averages, covariances and correlations."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.later.covariances import correlations, covariances
from vtgrad.numpy import reductions, ufuncs
from vtgrad.numpy.calculus import joined
from vtgrad.numpy.deliver import NO_VALUE, Axis, NoValue, dims_of
from vtgrad.numpy.function import Function, function
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import (
    ArrayLike,
    all_of,
    as_array,
    cast,
    fresh,
    of,
    of_numbers,
    result,
    value_of,
)
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import NumpyDType
from vtgrad.storage.tensor_base import TensorBase

if TYPE_CHECKING:
    from vtgrad.numpy import signatures

__all__ = ["average", "corrcoef", "cov"]

_FLOAT64: Final = np.dtype(np.float64)


# -- averages --------------------------------------------------------------------------------


def _like_values(weights: ndarray, x: ndarray, axis: Axis) -> ndarray:
    """Weights along some axes, in a shape that broadcasts with the values.

    Raises
    ------
    TypeError, ValueError
        If the shapes do not fit.
    """
    if weights.shape == x.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    dims = dims_of(axis, x._impl.array.ndim)
    if weights.shape != tuple([x.shape[dim] for dim in dims]):
        raise ValueError(
            "Shape of weights must be consistent with shape of a along specified axis."
        )
    order = tuple(np.argsort(dims).tolist())
    sizes = [n if dim in dims else 1 for dim, n in enumerate(x.shape)]
    return as_array(F.reshape(F.permute(weights, order), sizes))


def _as_average(found: Function[..., object]) -> signatures.Average:
    """The function with the type of each kind of its results."""
    return typing.cast("signatures.Average", found)


@_as_average
@function
def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike | None = None,
    returned: bool = False,
    *,
    keepdims: bool | NoValue = NO_VALUE,
) -> ndarray | tuple[ndarray, ndarray]:
    """The average of the elements along axes, each as often as its weight.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of int, optional
        The axes, all by default.
    weights : array_like, optional
        The weights, of the shape of `a` or that of its axes; all one by default.
    returned : bool
        Whether the sum of the weights is returned too.
    keepdims : bool
        Whether the axes stay, with size 1.

    Returns
    -------
    ndarray or tuple of ndarray
        The average, or it and the sum of the weights.

    Raises
    ------
    ZeroDivisionError
        If the weights sum to zero; not inside of `vmap`, where no values are read.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.average(np.array([1.0, 2.0, 4.0]), weights=[1, 1, 2]).item()
    2.75
    """
    if not any_differentiated(a, weights):
        return on_values(np.average, a, axis, weights, returned, keepdims=keepdims)
    mean, total = _average(of_numbers(a), axis, weights, keepdims is True)
    return (mean, total) if returned else mean


def _average(
    x: ndarray, axis: Axis, weights: ArrayLike | None, keepdims: bool
) -> tuple[ndarray, ndarray]:
    """The average and the sum of the weights."""
    if weights is None:
        mean = reductions.mean(x, axis, keepdims=keepdims)
        number: Any = mean.dtype.type(x.size / mean.size)
        if mean.shape:
            number = fresh(making.full(mean.shape, number))
        return mean, typing.cast("ndarray", number)
    given = all_of([x, weights])[1]
    kinds = [x.dtype, given.dtype, *([_FLOAT64] if x.dtype.kind in "iub" else [])]
    kind = np.result_type(*kinds)
    given = _like_values(given, x, axis)
    total = reductions.sum(given, axis, kind, keepdims=keepdims)
    summed = of(total)
    if not summed._impl.key_set and not value_of(summed).all():
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    products = F.mul(cast(x, kind), cast(given, kind))
    mean = ufuncs.divide(reductions.sum(as_array(products), axis, keepdims=keepdims), total)
    if mean.shape != total.shape:
        total = as_array(F.clone(F.broadcast_to(total, mean.shape)))
    return mean, total


# -- covariances -----------------------------------------------------------------------------


def _rows(value: ArrayLike, kind: NumpyDType, rowvar: bool) -> ndarray:
    """The variables as rows."""
    x = cast(of(value), kind)
    ndim = x._impl.array.ndim
    if ndim < 2:
        return as_array(F.reshape(x, (1, -1)))
    return x if rowvar else as_array(F.permute(x, (1, 0)))


def _is_sample(value: object) -> bool:
    return isinstance(value, TensorBase) and value._impl.key_set != 0


def _covariance(
    x: ndarray, ddof: int, fweights: ArrayLike | None, aweights: ArrayLike | None
) -> TensorBase:
    """The covariances of rows."""
    kind = x._impl.array.dtype
    real = kind if kind.kind != "c" else making.empty(0, kind).real.dtype
    factors = [None if w is None else of(w, real) for w in (fweights, aweights)]
    weights, given = factors
    if weights is None or given is None:
        weights = given if weights is None else weights
    else:
        weights = as_array(F.mul(weights, given))
    if weights is not None and not weights._impl.key_set and not value_of(F.sum(weights)).all():
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    sums, number = covariances(x, ddof, weights, given)
    # NumPy divides by zero where there are too few samples.
    if not isinstance(number, TensorBase):
        number = of(making.asarray(number, real))
    number = F.clamp_min(number, 0)
    return F.mul(sums, F.to_dtype(F.reciprocal(number), kind))


@function
def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> ndarray:
    """The covariances of variables.

    Parameters
    ----------
    m : array_like
        The samples of one variable, or of several in rows.
    y : array_like, optional
        More variables, in the same form.
    rowvar : bool
        Whether the rows are variables; if not, the columns are.
    bias : bool
        Whether sums are divided by the number of samples in place of one less.
    ddof : int, optional
        What is subtracted from the number of samples; overrides `bias`.
    fweights : array_like of int, optional
        How often each sample counts.
    aweights : array_like, optional
        How much each sample counts; recorded.
    dtype : dtype, optional
        The dtype of the result, at least float64 by default.

    Returns
    -------
    ndarray
        A matrix; a 0-d array of one variable.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.cov(np.array([[0.0, 2.0], [1.0, 0.0]]))
    array([[ 2. , -1. ],
           [-1. ,  0.5]])
    """
    if not any_differentiated(m, y, aweights):
        return on_values(np.cov, m, y, rowvar, bias, ddof, fweights, aweights, dtype=dtype)
    first = of_numbers(m)
    second = None if y is None else of_numbers(y)
    if ddof is not None or fweights is not None or not _is_sample(aweights):
        # NumPy says what is wrong.
        shapes = [None if x is None else making.zeros(x.shape) for x in (first, second)]
        given = None if _is_sample(aweights) else aweights
        on_values(np.cov, *shapes, rowvar, bias, ddof, fweights, given)
    if dtype is None:
        kinds = [x.dtype for x in (first, second) if x is not None]
        kind = np.result_type(*kinds, _FLOAT64)
    else:
        kind = np.dtype(dtype)
    rows = _rows(first, kind, rowvar)
    if not rows.shape[0]:
        return fresh(making.zeros((0, 0)))
    if second is not None:
        rows = joined([rows, _rows(second, kind, rowvar)], 0)
    if ddof is None:
        ddof = 0 if bias else 1
    return as_array(F.squeeze(_covariance(rows, ddof, fweights, aweights)))


@function
def corrcoef(
    x: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    *,
    dtype: DTypeLike | None = None,
) -> ndarray:
    """The correlations of variables: covariances by standard deviations.

    Parameters
    ----------
    x, y, rowvar, dtype
        As of `cov`.

    Returns
    -------
    ndarray
        A matrix; a scalar of one variable.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.corrcoef(np.array([[0.0, 2.0], [1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if not any_differentiated(x, y):
        return on_values(np.corrcoef, x, y, rowvar, dtype=dtype)
    found = cov(x, y, rowvar, dtype=dtype)
    if not found.shape:
        return result(F.true_divide(found, found))
    return as_array(correlations(found))
