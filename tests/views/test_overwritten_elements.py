"""The error about an overwritten value tells which elements, and names the writes of those.

See Note [Which writes are named]. The texts as a whole are in `test_who_wrote`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from tests.functions import Doubles
from tests.views.test_who_wrote import REWIND, line, source
from vtgrad.errors import StaleSavedError


def refusal(y: vt.Tensor) -> StaleSavedError:
    """What backward raises."""
    with pytest.raises(StaleSavedError) as caught:
        y.sum().backward()
    return caught.value


def saved(value: vt.Tensor) -> vt.Tensor:
    """A result whose node has saved a value."""
    return vt.ones(value.shape, requires_grad=True) * value


def written_by(error: StaleSavedError) -> list[tuple[str, int]]:
    """Operators and versions of the writes that an error names."""
    writes = error.facts["writes"]
    assert isinstance(writes, tuple)
    return [(write.operator, write.version) for write in writes]


def ways_out(error: StaleSavedError) -> tuple[str, ...]:
    ways = error.facts["ways_out"]
    assert isinstance(ways, tuple)
    return ways


# -- which elements -----------------------------------------------------------------------------


def test_the_elements_are_counted_and_bounded_by_slices() -> None:
    w = vt.ones(2, 4)
    y = saved(w)
    w[1, 2:] = 3.0
    error = refusal(y)
    assert "; 2 of its 8 elements were overwritten, in [1, 2:4]\n" in str(error)
    elements = error.facts["elements"]
    assert elements == vt.WrittenElements(2, 8, (slice(1, 2), slice(2, 4)))
    assert pickle.loads(pickle.dumps(error)).facts["elements"] == elements


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (lambda w: w.add_(1), "all its 6 elements were overwritten"),
        (lambda w: w[1, 2].add_(1), "1 of its 6 elements was overwritten, in [1, 2]"),
        (lambda w: w[:, 1].add_(1), "2 of its 6 elements were overwritten, in [0:2, 1]"),
        (
            lambda w: w.masked_fill_(vt.tensor([True, False, True]), 2.0),
            "4 of its 6 elements were overwritten, in [0:2, 0:3]",
        ),
        (
            lambda w: w.view(-1).index_fill_(0, vt.tensor([1, 4, 4]), 2.0),
            "2 of its 6 elements were overwritten, in [0:2, 1]",
        ),
    ],
)
def test_the_text_about_the_elements(write: Callable[[vt.Tensor], object], told: str) -> None:
    w = vt.ones(2, 3)
    y = saved(w)
    write(w)
    assert f"; {told}\n" in str(refusal(y))


def test_a_value_of_one_element() -> None:
    w = vt.ones(())
    y = saved(w)
    w.add_(1)
    assert "; its element was overwritten\n" in str(refusal(y))


def test_elements_of_an_expanded_value_are_counted_each_time_that_they_appear() -> None:
    w = vt.ones(3, 1)
    y = saved(w.expand(3, 10**6))
    w[1] = 2.0
    assert refusal(y).facts["elements"] == vt.WrittenElements(
        10**6, 3 * 10**6, (slice(1, 2), slice(0, 10**6))
    )


@pytest.mark.parametrize(
    ("view", "write", "told"),
    [
        (lambda w: w[::-1], lambda w: w[0].zero_(), "1 of its 6 elements was overwritten, in [5]"),
        (
            lambda w: w.unfold(0, 3, 1),
            lambda w: w[2].zero_(),
            "3 of its 12 elements were overwritten, in [0:3, 0:3]",
        ),
        (
            lambda w: w.view(1, 6, 1),
            lambda w: w[1:3].zero_(),
            "2 of its 6 elements were overwritten, in [0, 1:3, 0]",
        ),
        (
            lambda w: w,
            lambda w: w.view(vt.int8)[9].zero_(),
            "1 of its 6 elements was overwritten, in [2]",
        ),
        (
            lambda w: w,
            lambda w: w.resize_(500)[2].zero_(),
            "1 of its 6 elements was overwritten, in [2]",
        ),
    ],
    ids=["negative strides", "overlap", "size 1", "bytes", "growth"],
)
def test_elements_of_peculiar_values(
    view: Callable[[vt.Tensor], vt.Tensor], write: Callable[[vt.Tensor], object], told: str
) -> None:
    w = vt.ones(6)
    y = saved(view(w))
    write(w)
    assert f"; {told}\n" in str(refusal(y))


_VIEWS: list[Callable[[vt.Tensor], vt.Tensor]] = [
    lambda w: w,
    lambda w: w.t(),
    lambda w: w[1:, ::2],
    lambda w: w[::-1, 1:4],
    lambda w: w.diagonal(),
    lambda w: w[2],
    lambda w: w[1:3].expand(2, 2, 6),
    lambda w: w.view(-1)[7:20],
]


@pytest.mark.parametrize("dtype", [vt.float64, vt.float16])
@pytest.mark.parametrize("seed", range(6))
def test_random_writes_are_counted_element_by_element(seed: int, dtype: vt.dtype) -> None:
    """Each write stores a number of its own, so that the values tell what was overwritten."""
    random = np.random.default_rng(seed)
    for _ in range(40):
        w = vt.zeros(4, 6, dtype=dtype)
        value = _VIEWS[random.integers(len(_VIEWS))](w)
        y = vt.ones(value.shape, dtype=dtype, requires_grad=True) * value
        for number in range(1, int(random.integers(2, 24))):
            part = _VIEWS[random.choice([2, 3, 4, 5, 7])](w)
            index = [0, -1, slice(1, 3), slice(None, None, 2)][random.integers(4)]
            if random.integers(4):
                part[index] = float(number)
            else:
                part.masked_fill_(vt.from_numpy(random.random(part.shape) < 0.2), float(number))
        found = value.tolist()
        where = np.nonzero(np.array(found))
        if not where[0].size:
            y.sum().backward()
            continue
        error = refusal(y)
        assert error.facts["elements"] == vt.WrittenElements(
            where[0].size,
            value.numel(),
            tuple(slice(int(indices.min()), int(indices.max()) + 1) for indices in where),
        )
        # What stored the number that is there was the last to write it.
        assert written_by(error)[-1][1] == np.max(found)


# -- which writes -------------------------------------------------------------------------------


def test_writes_beside_the_value_are_left_out() -> None:
    w = vt.ones(4, 3)
    y = saved(w[1])
    w[0] = 2.0
    w[1, 1:] = 3.0  # needed
    w[2].mul_(4)
    w[3].neg_()
    error = refusal(y)
    assert written_by(error) == [("__setitem__", 2)]
    this = test_writes_beside_the_value_are_left_out
    assert (error.facts["filename"], error.facts["lineno"]) == (__file__, line(this, "needed"))
    assert "mul_" not in str(error)
    assert error.facts["found_version"] == 4


def test_of_a_long_loop_the_line_that_overwrote_the_row_is_named() -> None:
    table = vt.zeros(2000, 3)
    y = saved(table[3])
    for t in range(2000):
        if t != 3:
            table[t] = 1.0
    for t in range(1000, 1500):
        table[t] = 2.0
    table[3] = 5.0  # version 2500
    for t in range(4, 2000):
        table[t] = 3.0
    error = refusal(y)
    assert written_by(error) == [("__setitem__", 2500)]
    this = test_of_a_long_loop_the_line_that_overwrote_the_row_is_named
    assert "table[3] = 5.0" in str(error)
    assert error.facts["lineno"] == line(this, "version 2500")
    assert error.facts["found_version"] == 4496


def test_a_first_write_whose_elements_were_all_written_again_is_named_too() -> None:
    w = vt.ones(3)
    y = saved(w)
    w.mul_(2)  # first
    w[:2].add_(1)
    w.neg_()
    this = test_a_first_write_whose_elements_were_all_written_again_is_named_too
    error = refusal(y)
    assert written_by(error) == [("mul_", 1), ("neg_", 3)]
    assert source(this, "first") in str(error)


def test_a_write_by_a_long_index_is_known_as_the_last_only() -> None:
    w = vt.ones(2000)
    y = saved(w)
    w.index_fill_(0, vt.arange(1999), 0.0)
    assert written_by(refusal(y)) == [("index_fill_", 1)]
    w.index_fill_(0, vt.arange(1999), 2.0)
    assert written_by(refusal(y)) == [("index_fill_", 2)]


# -- the version that was intact ------------------------------------------------------------------


def test_expected_is_the_last_version_at_which_the_value_was_known_to_be_intact() -> None:
    w = vt.ones(4)
    y = saved(w[:2])
    w[3] = 2.0
    y.sum().backward(retain_graph=True)
    w[2] = 2.0
    w[1] = 2.0
    error = refusal(y)
    assert (error.facts["expected_version"], error.facts["found_version"]) == (1, 3)
    assert "was intact at version 1 and is now at version 3" in str(error)
    assert written_by(error) == [("__setitem__", 3)]


# -- ways out -----------------------------------------------------------------------------------


def test_for_a_part_of_a_table_a_copy_of_it_comes_first() -> None:
    table = vt.zeros(2, 3)
    y = saved(table[0])
    table[0] = 1.0  # write
    n = line(test_for_a_part_of_a_table_a_copy_of_it_comes_first, "write")
    assert ways_out(refusal(y)) == (
        f"pass a copy to mul, such as x[i].clone(), of the x that line {n} changes",
        f"at line {n}, make a new tensor instead, for example with where() or cat(), or run "
        "backward before it",
        REWIND,
    )


def test_for_a_step_of_an_optimiser_it_is_backward_that_comes_first() -> None:
    w = vt.ones(3, requires_grad=True)
    y = w * w
    with vt.no_grad():
        w.sub_(0.1)  # write
    n = line(test_for_a_step_of_an_optimiser_it_is_backward_that_comes_first, "write")
    assert ways_out(refusal(y)) == (
        f"run backward before line {n}",
        f"pass x.clone() to mul for the x that line {n} changes",
        REWIND,
    )


def test_bytes_that_nobody_has_seen_cannot_be_kept() -> None:
    w = vt.ones(3, requires_grad=True).clone()
    y = w.sin()
    Doubles.apply(w)
    error = refusal(y)
    assert written_by(error) == [("mul_", 1), ("Doubles.apply", 2)]
    assert REWIND not in str(error)
    assert any(way.startswith("run backward before") for way in ways_out(error))

    w = vt.ones(3)
    y = saved(w)
    vt.autograd.graph.increment_version(w)
    error = refusal(y)
    assert REWIND not in str(error)
    assert len(ways_out(error)) == 3
