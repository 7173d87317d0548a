"""Samples of the operators in the table `reductions`."""

from typing import Any, Final, cast

import numpy as np

from tests.ops.sample import (
    COMPLEX,
    MASK,
    MATRIX,
    OTHER,
    SECOND_COMPLEX,
    VECTOR,
    WHOLE,
    Samples,
    array,
    sample,
)
from vtgrad.storage.arrays import Array

__all__ = ["SAMPLES"]

WITH_NAN: Final = array([[0.3, np.nan, 2.4], [1.1, -0.6, np.nan]])
CUBE: Final = array(np.sin(np.arange(1.0, 13.0) * 1.7).reshape(2, 2, 3))
WITH_ZERO: Final = array([[0.5, 0.0, -1.5], [2.0, 1.25, 0.75]])
PLACES: Final = array([2, 0], "int64")


def _linear_recurrence(b: Array, a: Array, axis: int, reverse: bool) -> object:
    """As a triangular system of equations."""
    b, a = np.moveaxis(b, axis, -1), np.moveaxis(a, axis, -1)
    n = b.shape[-1]
    system = np.zeros((*b.shape, n), b.dtype) + np.eye(n)
    for i in range(1, n):
        system[..., i, i - 1] = -a[..., i]
    if reverse:
        system = np.swapaxes(system, -1, -2)
    return np.moveaxis(np.linalg.solve(system, b[..., None])[..., 0], -1, axis)


def _softmax(x: Array, dim: int) -> Array:
    powers = np.exp(x)
    result: Array = powers / powers.sum(dim, keepdims=True)
    return result


def _var(x: Array, dim: Any, correction: float | None, keepdim: bool) -> Array:
    axes = (0, 1) if dim is None else dim
    result: Array = np.var(
        x,
        axis=axes,
        ddof=cast("int", 1 if correction is None else correction),
        keepdims=keepdim,
    )
    return result


def _std(x: Array, dim: Any, correction: float | None, keepdim: bool) -> Array:
    result: Array = np.sqrt(_var(x, dim, correction, keepdim))
    return result


def _norm(x: Array, ord: float = 2, dim: Any = None, keepdim: bool = False) -> Array:
    axes = (0, 1) if dim is None else dim
    total = (np.abs(x) ** ord).sum(axis=axes, keepdims=keepdim)
    result: Array = total ** (1 / ord)
    return result


def _put(x: Array, sizes: tuple[int, ...], dim: int, indices: Array, keepdim: bool) -> Array:
    result = np.zeros(sizes, x.dtype)
    where, what = (indices, x) if keepdim else (indices[:, None], x[:, None])
    np.put_along_axis(result, where, what, dim)
    return result


def _take(x: Array, dim: int, indices: Array, keepdim: bool) -> Array:
    picked = np.take_along_axis(x, indices if keepdim else indices[:, None], dim)
    return picked if keepdim else picked[:, 0]


def _renorm(x: Array, p: float, dim: int, maxnorm: float) -> object:
    norm = (np.abs(x) ** p).sum(1 - dim % 2, keepdims=True) ** (1 / p)
    return np.where(norm > maxnorm, x * maxnorm / (norm + 1e-7), x)


def _others(x: Array, axis: int) -> object:
    count = x.shape[axis]
    products = [np.delete(x, i, axis).prod(axis) for i in range(count)]
    return np.stack(products, axis)


def _log_total(x: Array, axes: int | tuple[int, ...]) -> Array:
    return np.asarray(np.log(np.exp(x).sum(axes, keepdims=True)))


def _shares(x: Array, total: Array, axes: int | tuple[int, ...]) -> object:
    return np.exp(x - _log_total(x, axes))


SAMPLES: Final[Samples] = {
    "sum_default": [sample(np.sum, MATRIX), sample(np.sum, COMPLEX), sample(np.sum, WHOLE)],
    "sum_dim_IntList": [
        sample(lambda x, d: x.sum(1), MATRIX, 1),
        sample(lambda x, d, k: x.sum((0, 2), keepdims=True), CUBE, (0, -1), True),
        sample(lambda x, d: x.sum(0), COMPLEX, [0]),
    ],
    "mean_default": [sample(np.mean, MATRIX), sample(np.mean, COMPLEX)],
    "mean_dim": [
        sample(lambda x, d: x.mean(1), MATRIX, 1),
        sample(lambda x, d, k: x.mean((0, 2), keepdims=True), CUBE, (0, -1), True),
    ],
    "prod_default": [sample(np.prod, MATRIX), sample(np.prod, WITH_ZERO), sample(np.prod, COMPLEX)],
    "prod_dim_int": [
        sample(lambda x, d: x.prod(1), MATRIX, 1),
        sample(lambda x, d, k: x.prod(1, keepdims=True), WITH_ZERO, 1, True),
        sample(lambda x, d: x.prod(0), COMPLEX, 0),
    ],
    "max_default": [sample(np.max, MATRIX), sample(np.max, WHOLE)],
    "min_default": [sample(np.min, MATRIX), sample(np.min, WHOLE)],
    "median_default": [sample(lambda x: np.sort(x.reshape(-1))[(x.size - 1) // 2], MATRIX)],
    "max_dim": [
        sample(lambda x, d: (x.max(1), x.argmax(1)), MATRIX, 1),
        sample(lambda x, d, k: (x.max(0)[None], x.argmax(0)[None]), MATRIX, 0, True),
    ],
    "min_dim": [
        sample(lambda x, d: (x.min(1), x.argmin(1)), MATRIX, 1),
        sample(lambda x, d, k: (x.min(0)[None], x.argmin(0)[None]), MATRIX, 0, True),
    ],
    "median_dim": [
        sample(lambda x, d: (np.sort(x, 1)[:, 1], np.argsort(x, 1)[:, 1]), MATRIX, 1),
    ],
    "nanmedian_default": [sample(lambda x: np.sort(x.reshape(-1))[(x.size - 1) // 2], MATRIX)],
    "nanmedian_dim": [
        sample(lambda x, d: (np.sort(x, 1)[:, 1], np.argsort(x, 1)[:, 1]), MATRIX, 1),
    ],
    "kthvalue_dim": [
        sample(lambda x, k, d: (np.sort(x, 1)[:, 2], np.argsort(x, 1)[:, 2]), MATRIX, 3, 1),
        sample(lambda x, k, d: (np.sort(x, 0)[0], np.argsort(x, 0)[0]), MATRIX, 1, 0),
    ],
    "mode": [sample(lambda x, d: (x.min(1), x.argmin(1)), MATRIX, 1)],
    "put_selected": [sample(_put, array([0.7, -1.1]), (2, 3), 1, PLACES, False)],
    "take_selected": [sample(_take, MATRIX, 1, PLACES, False)],
    "extreme": [
        sample(lambda x, axis, kind: np.max(x, axis), MATRIX, 1, "max"),
        sample(lambda x, axis, kind: np.min(x, axis), MATRIX, 0, "min"),
        sample(lambda x, axis, kind: np.sort(x, 1)[:, 1], MATRIX, -1, "median"),
        sample(lambda x, axis, kind: np.sort(x, 1)[:, 1], MATRIX, -1, "nanmedian"),
    ],
    "amax_default": [
        sample(lambda x, d: x.max(1), MATRIX, 1),
        sample(lambda x, d, k: x.max((0, 2), keepdims=True), CUBE, (0, 2), True),
        sample(np.max, MATRIX),
    ],
    "amin_default": [
        sample(lambda x, d: x.min(1), MATRIX, 1),
        sample(lambda x, d, k: x.min((0, 2), keepdims=True), CUBE, (0, 2), True),
        sample(np.min, MATRIX),
    ],
    "argmax_default": [sample(np.argmax, MATRIX), sample(np.argmax, MATRIX, 1)],
    "argmin_default": [sample(np.argmin, MATRIX), sample(np.argmin, MATRIX, 1)],
    "any_dim": [sample(np.any, MASK), sample(np.any, MASK, 1)],
    "all_dim": [sample(np.all, MASK), sample(np.all, MASK, 1)],
    "var_dim": [
        sample(_var, MATRIX, None, None, False),
        sample(_var, MATRIX, 1, 0.0, True),
        sample(_var, COMPLEX, 0, 1.0, False),
    ],
    "std_dim": [
        sample(_std, MATRIX, None, None, False),
        sample(_std, MATRIX, 1, 0.0, True),
        sample(_std, COMPLEX, 0, 1.0, False),
    ],
    "linalg_vector_norm": [
        sample(_norm, MATRIX),
        sample(_norm, MATRIX, 3, 1, True),
        sample(_norm, MATRIX, 1.0, 0),
        sample(lambda x, o, d: np.abs(x).max(1), MATRIX, float("inf"), 1),
        sample(_norm, COMPLEX),
    ],
    "logsumexp_dim": [
        sample(lambda x, d: np.log(np.exp(x).sum(1)), MATRIX, 1),
        sample(lambda x, d, k: np.log(np.exp(x).sum((0, 1), keepdims=True)), MATRIX, (0, 1), True),
    ],
    "linear_recurrence": [
        sample(_linear_recurrence, MATRIX, OTHER, 1, False),
        sample(_linear_recurrence, MATRIX, OTHER, 0, True),
        sample(_linear_recurrence, MATRIX, OTHER, -1, True),
        sample(_linear_recurrence, COMPLEX, SECOND_COMPLEX, 1, False),
        sample(_linear_recurrence, COMPLEX, SECOND_COMPLEX, 0, True),
    ],
    "products_of_others": [
        sample(_others, MATRIX, 1),
        sample(_others, WITH_ZERO, 0),
        sample(_others, COMPLEX, 1),
        sample(_others, array([[0.0, 2.0, 0.0, 3.0]]), 1),
    ],
    "checked_counts": [
        sample(lambda counts, extreme: counts, PLACES + 1, array([0.5, -2.0])),
        sample(lambda counts, extreme: counts, PLACES, array([np.nan, np.nan])),
    ],
    "exponential_shares": [
        sample(_shares, MATRIX, _log_total(MATRIX, 1), 1),
        sample(_shares, MATRIX, _log_total(MATRIX, (0, 1)) + 0.01, (0, 1)),
        sample(_shares, COMPLEX, _log_total(COMPLEX, 0), 0),
    ],
    "softmax_dim": [sample(_softmax, MATRIX, 1), sample(_softmax, CUBE, 0)],
    "log_softmax_dim": [
        sample(lambda x, d: np.log(_softmax(x, 1)), MATRIX, 1),
        sample(lambda x, d: np.log(_softmax(x, 0)), CUBE, 0),
    ],
    "count_nonzero_dim_IntList": [
        sample(np.count_nonzero, MASK),
        sample(np.count_nonzero, MASK, 0),
    ],
    "nansum_dim": [
        sample(lambda x, d: np.nansum(x), WITH_NAN, None),
        sample(lambda x, d, k: np.nansum(x, 0, keepdims=True), WITH_NAN, 0, True),
    ],
    "aminmax_dim": [
        sample(lambda x: (x.min(), x.max()), MATRIX),
        sample(
            lambda x, dim, keepdim: (x.min(1, keepdims=True), x.max(1, keepdims=True)),
            MATRIX,
            dim=1,
            keepdim=True,
        ),
    ],
    "var_mean_dim": [
        sample(lambda x, d, c, k: (x.var(1, ddof=1), x.mean(1)), MATRIX, 1, None, False),
        sample(lambda x, d, c, k: (x.var(), x.mean()), COMPLEX, None, 0, False),
    ],
    "std_mean_dim": [
        sample(lambda x, d, c, k: (x.std(1, ddof=1), x.mean(1)), MATRIX, 1, None, False),
        sample(lambda x, d, c, k: (x.std(), x.mean()), COMPLEX, None, 0, False),
    ],
    "dist": [
        sample(lambda a, b: np.sqrt(np.sum((a - b) ** 2)), MATRIX, OTHER),
        sample(lambda a, b, p: np.abs(a - b).sum(), MATRIX, VECTOR, 1.0),
        sample(lambda a, b, p: (np.abs(a - b) ** 3).sum() ** (1 / 3), COMPLEX, SECOND_COMPLEX, 3.0),
    ],
    "renorm": [
        sample(_renorm, MATRIX, 2.0, 0, 1.5),
        sample(_renorm, MATRIX, 1.0, 1, 1.5),
        sample(_renorm, MATRIX, 3.0, -1, 1.5),
        sample(_renorm, COMPLEX, 2.0, 0, 1.0),
    ],
}
