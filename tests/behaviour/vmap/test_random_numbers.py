"""``randomness``: whether drawing is refused, done once, or once for each sample."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import ramp, vt

vmap: Any = vt.vmap

# Draws that the shape of a sample alone says.
DRAWS: list[Any] = [
    lambda a: vt.rand(3),
    lambda a: vt.randn(3),
    lambda a: vt.randint(0, 50, (3,)),
    lambda a: vt.randperm(7),
    lambda a: vt.normal(0.0, 1.0, (3,)),
    lambda a: vt.bernoulli(vt.full((9,), 0.5)),
    lambda a: vt.rand_like(a),
    lambda a: vt.randn_like(a),
    lambda a: vt.randint_like(a, 50),
    lambda a: a.clone().normal_(),
    lambda a: a.clone().uniform_(),
    lambda a: a.clone().exponential_(),
    lambda a: a.new_empty(9).bernoulli_(0.5),
]


def drawn(function: Any, randomness: str, **options: Any) -> Any:
    vt.manual_seed(5)
    return vmap(function, randomness=randomness, **options)(ramp(4, 3))


@pytest.mark.parametrize("function", DRAWS)
def test_drawing_is_refused_unless_something_is_said(function: Any) -> None:
    with pytest.raises(RuntimeError):
        drawn(function, "error")
    with pytest.raises(RuntimeError):
        vmap(function)(ramp(4, 3))


@pytest.mark.parametrize("function", DRAWS)
def test_same_is_one_draw_for_all_samples(function: Any) -> None:
    found = drawn(function, "same")
    vt.manual_seed(5)
    one = function(ramp(3))
    assert found.shape == (4, *one.shape)
    assert all(row.tolist() == one.tolist() for row in found)
    assert drawn(function, "same", chunk_size=3).tolist() == found.tolist()


@pytest.mark.parametrize("function", DRAWS)
def test_different_is_a_draw_for_each_sample(function: Any) -> None:
    found = drawn(function, "different")
    assert len({str(row.tolist()) for row in found}) == 4
    assert found.dtype == function(ramp(3)).dtype


@pytest.mark.parametrize("shape", [(3,), (2, 5), ()])
def test_different_draws_are_those_of_one_draw_with_the_batch_in_front(
    shape: tuple[int, ...],
) -> None:
    found = drawn(lambda a: vt.rand(shape), "different")
    vt.manual_seed(5)
    assert found.tolist() == vt.rand(4, *shape).tolist()


def test_another_word_is_refused() -> None:
    with pytest.raises(RuntimeError):
        vmap(lambda a: a, randomness="each")(ramp(2))


def test_one_tensor_cannot_have_a_draw_for_each_sample() -> None:
    outside = vt.zeros(3)
    function = lambda a: outside.normal_()  # noqa: E731
    with pytest.raises(RuntimeError):
        drawn(function, "different")
    found = drawn(function, "same")
    assert found[0].tolist() == found[3].tolist()


def test_one_draw_cannot_follow_the_distribution_of_each_sample() -> None:
    for function in (
        lambda a: vt.bernoulli(a / 12),
        lambda a: a.clone().bernoulli_(a / 12),
        lambda a: vt.normal(a, 1.0),
    ):
        with pytest.raises(RuntimeError):
            drawn(function, "same")
        assert drawn(function, "different").shape == (4, 3)


def test_each_level_says_what_it_means() -> None:
    def both(outer: str, inner: str) -> vt.Tensor:
        function = lambda a: vmap(lambda b: vt.rand(1), randomness=inner)(a)  # noqa: E731
        vt.manual_seed(5)
        found: vt.Tensor = vmap(function, randomness=outer)(ramp(2, 3)).squeeze(-1)
        return found

    def count(found: vt.Tensor) -> int:
        return len({str(x.item()) for x in found.reshape(-1)})

    assert count(both("different", "different")) == 6
    assert both("different", "same").t()[0].tolist() == both("different", "same").t()[1].tolist()
    assert both("same", "different")[0].tolist() == both("same", "different")[1].tolist()
    assert count(both("different", "same")) == 2
    assert count(both("same", "different")) == 3
    assert count(both("same", "same")) == 1
    for outer, inner in (("error", "different"), ("same", "error")):
        with pytest.raises(RuntimeError):
            both(outer, inner)
