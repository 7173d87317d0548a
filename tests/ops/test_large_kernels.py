"""Kernels that go other ways where arrays are large: the same numbers, to the bit."""

from collections.abc import Callable

import numpy as np
import pytest

from vtgrad.ops.kernels import comparison
from vtgrad.ops.kernels.indexing import index_support
from vtgrad.storage.arrays import Array
from vtgrad.storage.prepared_store import carry_out

LARGE = 3 * 8192 + 5
SMALL = 1000

KERNELS: dict[str, Callable[[Array], Array]] = {
    "relu": comparison.relu,
    "clamp": lambda x: comparison.clamp(x, -0.5, 0.25),
    "clamp in reverse": lambda x: comparison.clamp(x, 0.25, -0.5),
    "clamp above zero": lambda x: comparison.clamp(x, 0, 1),
    "clamp below zero": lambda x: comparison.clamp(x, -1.0, 0.0),
    "clamp_min": lambda x: comparison.clamp_min(x, 0.0),
    "clamp_max": lambda x: comparison.clamp_max(x, 0.5),
    "where": lambda x: comparison.where(x > 0.3, x, 0),
    "where not": lambda x: comparison.where(x > 0.3, 0, x),
    "threshold_backward": lambda x: comparison.threshold_backward(x, x, 0.1),
    "halved_where": lambda x: comparison.halved_where(x, x > 0),
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
            assert comparison.where(condition, target, other, out=target) is target
            assert np.array_equal(target, expected)
            target = a.copy()
            assert comparison.where(condition, other, target, out=target) is target
            assert np.array_equal(target, np.where(condition, other, a))


@pytest.mark.parametrize("dtype", ["int64", "int32"])
@pytest.mark.parametrize("extent", [50, 10**6], ids=["table", "sorted"])
def test_the_last_mention_of_each_target_is_found(extent: int, dtype: str) -> None:
    targets = (np.random.default_rng(7).integers(0, 50, 500) * (extent // 50)).astype(dtype)
    last = {int(target): turn for turn, target in enumerate(targets)}
    found = index_support.survivors(targets, extent)
    assert found is not None
    assert found.tolist() == [last[int(target)] for target in targets]
    kept = index_support.last_mentions(targets, extent)
    assert np.flatnonzero(kept).tolist() == sorted(last.values())


@pytest.mark.parametrize("extent", [500, 10**6], ids=["table", "sorted"])
def test_where_nothing_is_repeated_everything_is_kept(extent: int) -> None:
    targets = np.random.default_rng(8).permutation(500)
    assert index_support.survivors(targets, extent) is None
    assert index_support.last_mentions(targets, extent).all()


@pytest.mark.parametrize("width", [(), (3,)], ids=["elements", "rows"])
def test_of_values_for_one_place_the_last_is_stored(width: tuple[int, ...]) -> None:
    generator = np.random.default_rng(9)
    targets, values = generator.integers(0, 40, 300), generator.normal(size=(300, *width))
    expected = np.zeros((40, *width))
    for target, value in zip(targets, values, strict=True):
        expected[target] = value
    found = np.zeros((40, *width))
    carry_out(index_support.put_last(found, (targets,), values, targets, 40, None))
    assert np.array_equal(found, expected)
