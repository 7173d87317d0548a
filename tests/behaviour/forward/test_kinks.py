"""Tangents at ties, zeros, infinities and duplicates: the numbers of PyTorch's forward mode.

`tests.forward.test_kinks` has those in which the modes of PyTorch differ from each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support import differs_from_torch, vt

fw: Any = vt.autograd.forward_ad

INF = float("inf")
NAN = float("nan")
Case = tuple[Callable[..., Any], list[list[float]], list[list[float]], list[float]]


def tensor(*values: float) -> vt.Tensor:
    return vt.tensor(values, dtype=vt.float64)


def spread(operator: Callable[..., Any], *more: Any) -> Callable[..., Any]:
    """Values that are written twice to the first of three elements."""
    return lambda d: operator(vt.zeros(3, dtype=vt.float64), *more, d)


TWICE = vt.tensor([0, 0])

# Operator, values and tangents of its operands, the tangent of its result.
SAME: dict[str, Case] = {
    # Ties are averaged, unless an index says which element it is.
    "min": (lambda d: d.min(), [[1, 1, 3]], [[1, 2, 4]], [1.5]),
    "amax": (lambda d: d.amax(0), [[1, 3, 3]], [[1, 2, 4]], [3]),
    "aminmax: min": (lambda d: d.aminmax()[0], [[1, 1, 3]], [[1, 2, 4]], [1.5]),
    "aminmax: max": (lambda d: d.aminmax()[1], [[1, 3, 3]], [[1, 2, 4]], [3]),
    "median of a dimension": (lambda d: d.median(0)[0], [[3, 3, 1]], [[1, 3, 4]], [1]),
    "cummin": (lambda d: d.cummin(0)[0], [[3, 3, 1]], [[1, 3, 4]], [1, 3, 4]),
    "cummax": (lambda d: d.cummax(0)[0], [[1, 3, 3]], [[1, 2, 4]], [1, 2, 4]),
    "topk": (lambda d: d.topk(2)[0], [[3, 3, 3]], [[1, 2, 4]], [1, 2]),
    "maximum of a plain one": (lambda d: vt.maximum(d, tensor(2)), [[2]], [[4]], [2]),
    "clamp": (lambda d: d.clamp(0, 1), [[0, 1, NAN, 2]], [[1, 1, 1, 1]], [1, 1, 0, 0]),
    "clamp by two": (lambda d, a, b: d.clamp(a, b), [[2], [2], [2]], [[10], [1], [100]], [10]),
    "clamp_min": (vt.clamp_min, [[2], [2]], [[10], [1]], [10]),
    "fmax: NaN first": (vt.fmax, [[NAN], [2]], [[10], [1]], [1]),
    "fmax: NaN second": (vt.fmax, [[2], [NAN]], [[10], [1]], [10]),
    "fmin: NaN first": (vt.fmin, [[NAN], [2]], [[10], [1]], [1]),
    "amax of NaN": (lambda d: d.amax(), [[1, NAN, NAN]], [[1, 2, 4]], [NAN]),
    # Norms at zero, and of ties.
    "norm 3": (lambda d: d.norm(3), [[0, 0]], [[3, 4]], [0]),
    "norm 1/2": (lambda d: d.norm(0.5), [[0, 0]], [[3, 4]], [0]),
    "norm 0": (lambda d: d.norm(0), [[0, 1]], [[3, 4]], [0]),
    "norm inf": (lambda d: d.norm(INF), [[0, 0]], [[3, 4]], [0]),
    "norm -inf": (lambda d: d.norm(-INF), [[1, -1]], [[3, 4]], [-0.5]),
    "dist": (vt.dist, [[1, 2], [1, 2]], [[3, 4], [1, 1]], [0]),
    "std of equal values": (lambda d: d.std(), [[2, 2, 2]], [[1, 2, 4]], [0]),
    "var of one value": (lambda d: d.var(), [[2]], [[1]], [NAN]),
    # Zeros and poles.
    "prod": (lambda d: d.prod(), [[0, 0, 2]], [[1, 2, 4]], [0]),
    "power 0": (lambda d: d**0, [[0, 2, -1]], [[1, 1, 1]], [0, 0, 0]),
    "powers of 0": (lambda d: tensor(0, 0, 0) ** d, [[2, 0, -1]], [[1, 1, 1]], [0, 0, -INF]),
    "powers of -2": (lambda d: tensor(-2) ** d, [[2]], [[1]], [NAN]),
    "sqrt": (lambda d: d.sqrt(), [[0, 0]], [[1, 0]], [INF, NAN]),
    "log": (lambda d: d.log(), [[0, 0]], [[1, 0]], [INF, NAN]),
    "where": (lambda d: vt.where(d > 0, d.sqrt(), 0.0), [[0, 4]], [[1, 1]], [0, 0.25]),
    "hypot": (vt.hypot, [[0], [0]], [[1], [1]], [NAN]),
    "xlogy: x": (lambda d: vt.xlogy(d, tensor(0)), [[0]], [[1]], [0]),
    "xlogy: y": (lambda d: vt.xlogy(tensor(0), d), [[0]], [[1]], [NAN]),
    "fmod": (vt.fmod, [[7], [2]], [[10], [1]], [7]),
    "remainder": (vt.remainder, [[-7], [2]], [[10], [1]], [14]),
    "nan_to_num": (lambda d: d.nan_to_num(), [[NAN, INF, 1]], [[1, 2, 3]], [0, 0, 3]),
    # Of duplicates the last write wins, as for the values.
    "put": (spread(vt.put, TWICE), [[5, 6]], [[1, 2]], [2, 0, 0]),
    "scatter": (spread(vt.scatter, 0, TWICE), [[5, 6]], [[1, 2]], [2, 0, 0]),
    "index_copy": (spread(vt.index_copy, 0, TWICE), [[5, 6]], [[1, 2]], [2, 0, 0]),
    "index_put": (spread(vt.index_put, (TWICE,)), [[5, 6]], [[1, 2]], [2, 0, 0]),
    "scatter_add": (spread(vt.scatter_add, 0, TWICE), [[5, 6]], [[1, 2]], [3, 0, 0]),
    "scatter_reduce amax": (
        lambda d, e: d.scatter_reduce(0, TWICE, e, "amax"),
        [[3, 0], [3, 3]],
        [[10, 0], [1, 4]],
        [5, 0],
    ),
    "scatter_reduce amax without self": (
        lambda d, e: d.scatter_reduce(0, TWICE, e, "amax", include_self=False),
        [[3, 0], [3, 3]],
        [[10, 0], [1, 2]],
        [1.5, 0],
    ),
    "scatter_reduce mean": (
        lambda d, e: d.scatter_reduce(0, TWICE, e, "mean"),
        [[3, 0], [3, 6]],
        [[3, 5], [1, 2]],
        [2, 5],
    ),
}

# Reverse mode says the same, in PyTorch too.
OWN: dict[str, Case] = {
    "max of NaN": (lambda d: d.max(), [[1, NAN, NAN]], [[1, 2, 4]], [3]),
    "median of NaN": (lambda d: d.median(), [[1, NAN, 3]], [[1, 2, 4]], [2]),
    "maximum of NaN": (vt.maximum, [[NAN], [2]], [[10], [1]], [11]),
    "minimum of NaN": (vt.minimum, [[2], [NAN]], [[10], [1]], [11]),
    "fmax": (vt.fmax, [[2], [2]], [[10], [1]], [10]),
    "clamp by a tensor": (lambda d, b: d.clamp(min=b), [[2], [2]], [[10], [1]], [10]),
    "atan2": (vt.atan2, [[0], [0]], [[1], [1]], [0]),
}


def check(case: Case) -> None:
    operator, values, seeds, expected = case
    with fw.dual_level():
        duals = [
            fw.make_dual(tensor(*value), tensor(*seed))
            for value, seed in zip(values, seeds, strict=True)
        ]
        found = fw.unpack_dual(operator(*duals)).tangent.reshape(-1).tolist()
    assert found == pytest.approx(expected, nan_ok=True, abs=0)


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("name", SAME)
def test_the_tangent_is_this(name: str) -> None:
    check(SAME[name])


@differs_from_torch("each mode has a rule of its own")
@pytest.mark.parametrize("name", OWN)
def test_the_tangent_is_that_of_reverse_mode(name: str) -> None:
    check(OWN[name])


@pytest.mark.parametrize("name", OWN)
def test_reverse_mode_says_the_same(name: str) -> None:
    operator, values, seeds, expected = OWN[name]
    leaves = [tensor(*value).requires_grad_() for value in values]
    grads = vt.autograd.grad(operator(*leaves).sum(), leaves)
    found = sum((g * tensor(*seed)).sum().item() for g, seed in zip(grads, seeds, strict=True))
    assert found == expected[0]
