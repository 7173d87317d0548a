"""Kernels that go other ways where arrays are large: the same numbers, to the bit."""

from collections.abc import Callable

import numpy as np
import pytest

from vtgrad.ops.kernels import comparison as co
from vtgrad.ops.kernels import index_support
from vtgrad.storage.arrays import Array

LARGE = 3 * 8192 + 5
SMALL = 1000

KERNELS: dict[str, Callable[[Array], Array]] = {
    "relu": co.relu,
    "clamp": lambda x: co.clamp(x, -0.5, 0.25),
    "clamp in reverse": lambda x: co.clamp(x, 0.25, -0.5),
    "clamp above zero": lambda x: co.clamp(x, 0, 1),
    "clamp below zero": lambda x: co.clamp(x, -1.0, 0.0),
    "clamp_min": lambda x: co.clamp_min(x, 0.0),
    "clamp_max": lambda x: co.clamp_max(x, 0.5),
    "where": lambda x: co.where(x > 0.3, x, 0),
    "where not": lambda x: co.where(x > 0.3, 0, x),
    "threshold_backward": lambda x: co.threshold_backward(x, x, 0.1),
    "halved_where": lambda x: co.halved_where(x, x > 0),
}


@pytest.fixture(params=["float32", "float64"])
def values(request: pytest.FixtureRequest) -> Array:
    """Normal numbers, with all that is special among them."""
    x: Array = np.random.default_rng(2).normal(size=LARGE).astype(request.param)
    for nr, special in enumerate((0.0, -0.0, np.inf, -np.inf, np.nan)):
        x[nr :: 41 + nr] = special
    return x


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_large_array_is_treated_as_its_small_parts_are(
    kernel: Callable[[Array], Array], values: Array
) -> None:
    before = values.copy()
    found = kernel(values)
    parts = [kernel(values[i : i + SMALL]) for i in range(0, LARGE, SMALL)]
    assert found.dtype == values.dtype
    assert found.tobytes() == np.concatenate(parts).tobytes()
    assert values.tobytes() == before.tobytes()


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_a_choice_stored_in_one_of_its_operands(size: int) -> None:
    generator = np.random.default_rng(5)
    a, b = generator.normal(size=(2, size))
    for condition in (a > 0, (a > 0).astype(np.uint8)):
        for other in (b, 0):
            expected = np.where(condition, a, other)
            target = a.copy()
            assert co.where(condition, target, other, out=target) is target
            assert np.array_equal(target, expected)
            target = a.copy()
            assert co.where(condition, other, target, out=target) is target
            assert np.array_equal(target, np.where(condition, other, a))


def test_the_last_mention_of_each_target_is_found() -> None:
    targets = np.random.default_rng(7).integers(0, 50, 500)
    last = {int(target): turn for turn, target in enumerate(targets)}
    kept = index_support.last_mentions(targets, 50)
    assert np.flatnonzero(kept).tolist() == sorted(last.values())
