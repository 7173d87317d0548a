"""The functions of `linear_algebra.py` have the results and gradients that are written by hand."""

import numpy as np
import pytest

from benchmarks import linear_algebra
from benchmarks.bench import Bench
from benchmarks.libraries import NumpyToolkit, load
from benchmarks.linear_algebra import PAIRS, Differentiated, Pair, gradients, inputs

SIZE, STEP = 6, 1e-6


def _total(pair: Pair, change: float, direction: np.ndarray) -> float:
    """The products of results and their gradients, where the matrix is moved."""
    x, side = inputs(SIZE)
    results = pair.function(NumpyToolkit("float64"), x + change * direction, side)
    # The gradient of a complex result: the real part of the product with its conjugate.
    return sum(
        float((y.conj() * g).real.sum())
        for y, g in zip(results, gradients(pair, x, side), strict=True)
    )


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_what_is_written_by_hand_is_the_derivative(pair: Pair) -> None:
    x, side = inputs(SIZE)
    direction = np.random.default_rng(2).normal(size=x.shape)
    # Of a symmetric matrix both triangles move.
    direction += direction.T
    ends = [_total(pair, change, direction) for change in (STEP, -STEP)]
    _, grad = pair.by_hand(x, side, gradients(pair, x, side))
    np.testing.assert_allclose(
        (grad * direction).sum(), (ends[0] - ends[1]) / (2 * STEP), rtol=1e-6
    )


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_results_and_gradients_are_those_by_hand(pair: Pair) -> None:
    x, side = inputs(SIZE)
    results, grad = pair.by_hand(x, side, gradients(pair, x, side))
    found = Differentiated.of("vtgrad", pair, SIZE)()
    for ours, theirs in zip(found, (*results, grad), strict=True):
        np.testing.assert_allclose(np.asarray(ours.detach()), theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_large_and_small_matrices_have_rows() -> None:
    bench = Bench({"vtgrad": load("vtgrad", "float32")}, 2, quick=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear_algebra, "LARGE", 8)
        whole = list(linear_algebra.rows(Bench(bench.libraries, 2, quick=False)))
    assert [result.row for result in linear_algebra.rows(bench)] == [
        f"{name}, n = 16, beyond by hand" for name in PAIRS
    ]
    assert len(whole) == 2 * len(PAIRS)
    for result in whole[: len(PAIRS)]:
        assert result.judged() == result.beside("numpy")
    for result in whole[len(PAIRS) :]:
        assert result.judged() == result.own()
        assert set(result.rounds) == {"vtgrad"}
