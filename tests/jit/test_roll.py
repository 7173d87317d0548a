"""Loops are found again in the steps of a program, and stand for the same steps."""

import numpy as np
import pytest

from tests.jit.building import Builder
from tests.jit.programs import PROGRAMS, recurrence
from tests.jit.random_loops import RandomProgram
from vtgrad.jit.listing import fixed_key, listing_of
from vtgrad.jit.roll import Leaf, Loop, Node, flat_items, roll
from vtgrad.jit.steps import Program


def shape_of(nodes: list[Node]) -> list[object]:
    """Loops as (count, body), lines as 1."""
    return [1 if isinstance(node, Leaf) else (node.count, shape_of(node.body)) for node in nodes]


def rolled(program: Program) -> list[object]:
    return shape_of(roll(listing_of(program)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_rolled_program_stands_for_its_lines_in_order(name: str) -> None:
    listing = listing_of(PROGRAMS[name]())
    assert flat_items(roll(listing)) == list(range(len(listing.items)))


def test_random_programs_stand_for_their_lines_in_order() -> None:
    loops = 0
    for seed in range(300):
        listing = listing_of(RandomProgram(seed).write())
        nodes = roll(listing)
        assert flat_items(nodes) == list(range(len(listing.items)))
        loops += any(isinstance(node, Loop) for node in nodes)
    assert loops > 100


def test_forward_and_backward_of_a_loop_are_two_loops() -> None:
    lines = [1] * 3
    assert rolled(recurrence(50)) == [1, (49, lines), 1, 1, 1, 1, (49, [1] * 7)]


def test_a_period_is_found_in_which_one_product_follows_another() -> None:
    """Two products and three sums: no distance between neighbouring products is the period."""
    b = Builder()
    x = b.argument(np.ones(3), "x")
    for _ in range(6):
        for function in (np.multiply, np.add, np.multiply, np.add, np.add):
            x = b.call(function, x, x)
    b.returns(x)
    assert rolled(b.program) == [(6, [1] * 5)]


def test_loops_in_loops() -> None:
    b = Builder()
    x = b.argument(np.ones(3), "x")
    for _ in range(5):
        x = b.call(np.negative, x)
        for _ in range(4):
            x = b.call(np.multiply, x, x)
            x = b.call(np.add, x, 1.0)
        x = b.call(np.square, x)
    b.returns(x)
    assert rolled(b.program) == [(5, [1, (4, [1, 1]), 1])]


def test_calls_that_have_nothing_in_common_but_their_function_are_no_loop() -> None:
    b = Builder()
    a, c, d = [b.argument(np.ones(3)) for _ in range(3)]
    places = [b.call(np.add, x, y) for x, y in ((a, c), (d, a), (c, c), (a, d))]
    b.returns(*places)
    assert rolled(b.program) == [1, 1, 1, 1]


def test_steps_with_other_constants_or_strides_are_not_alike() -> None:
    b = Builder()
    x = b.argument(np.ones((3, 3)), "x")
    turned = b.view(x, lambda array: array.T)
    b.call(np.multiply, x, 1)
    b.call(np.multiply, x, True)
    b.call(np.multiply, turned, 1)
    b.call(np.add, x, 1)
    assert len(set(listing_of(b.program).alike.tolist())) == 4


def test_keys_of_values_differ_in_type_and_bits() -> None:
    values = [0.0, -0.0, 0, False, np.float32(0), np.float64(0), None, "0", b"0", (0,), [0]]
    assert len({fixed_key(value) for value in values}) == len(values)
    assert fixed_key(slice(0, 1)) == fixed_key(slice(0, 1)) != fixed_key(slice(0, 1, 1))


@pytest.mark.slow
def test_sixteen_thousand_steps_are_a_few_lines() -> None:
    assert rolled(recurrence(16_000, 1)) == [1, (15_999, [1] * 3), 1, 1, 1, 1, (15_999, [1] * 7)]
