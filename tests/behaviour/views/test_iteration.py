"""A loop over a tensor gives its rows, each a view by itself."""

from __future__ import annotations

import pytest

from tests.support import differs_from_torch, fn_name, gradients, leaf, ramp, refused, vt

pieces_on_torch = differs_from_torch("it gives pieces of one unbind, which may not be written")


def test_a_loop_gives_views_of_the_rows_in_order() -> None:
    x = leaf(3, 2)
    rows = list(x)
    assert [row.tolist() for row in rows] == [[1, 2], [3, 4], [5, 6]]
    assert all(row._base is x for row in rows)
    assert gradients(rows[1].sum(), x) == [[[0, 0], [1, 1], [0, 0]]]


def test_a_tensor_is_unpacked() -> None:
    first, second = ramp(2, 2)
    assert (first.tolist(), second.tolist()) == ([1, 2], [3, 4])
    start, *rest = ramp(3)
    assert (start.item(), [n.item() for n in rest]) == (1, [2, 3])
    with pytest.raises(ValueError, match="unpack"):
        first, second = ramp(3, 2)


def test_there_is_nothing_to_iterate_over_in_a_number() -> None:
    # Already before the first turn.
    with refused(TypeError, "argument-type"):
        iter(ramp(1)[0])


def test_a_loop_over_nothing_takes_no_turn() -> None:
    assert list(vt.zeros(0, 3)) == []


@pieces_on_torch
def test_rows_are_views_as_brackets_make_them() -> None:
    row = list(leaf(3, 2))[2]
    assert fn_name(row) == "SelectBackward0"
    assert row.output_nr == 0


@pieces_on_torch
def test_rows_that_are_written_in_a_loop_are_recorded() -> None:
    step = leaf(2)
    table = vt.zeros(3, 2)
    for i, row in enumerate(table):
        row += i * step
    assert fn_name(table) == "CopySlices"
    assert table.tolist() == [[0, 0], [1, 2], [2, 4]]
    # Rows 0, 1 and 2 hold 0, 1 and 2 times the step.
    assert gradients(table.sum(), step) == [[3, 3]]


@pieces_on_torch
def test_a_row_sees_what_was_written_at_earlier_turns() -> None:
    start = leaf(2)
    table = vt.zeros(3, 2)
    table[0] = start
    before = None
    for row in table:
        if before is not None:
            row += 2 * before
        before = row
    assert table.tolist() == [[1, 2], [2, 4], [4, 8]]
    assert gradients(table.sum(), start) == [[7, 7]]


@pieces_on_torch
def test_unpacked_rows_may_be_written_and_read() -> None:
    x = leaf(2, 2)
    first, second = x * 1
    first += 2 * second
    assert gradients(first.sum(), x) == [[[1, 1], [2, 2]]]


@pieces_on_torch
def test_a_row_is_made_at_its_turn() -> None:
    # Under no_grad at the first turn only, so only that row is a view made without recording.
    x = leaf(2, 2).clone()
    rows = iter(x)
    with vt.no_grad():
        first = next(rows)
    second = next(rows)
    second.mul_(2)
    with refused(RuntimeError, "no-grad-view"):
        first.mul_(2)


@pieces_on_torch
def test_a_loop_over_a_tensor_that_gets_shorter_is_an_error() -> None:
    x = ramp(3)
    rows = iter(x)
    next(rows)
    x.resize_(1)
    with refused(IndexError, "index"):
        next(rows)


@differs_from_torch("rows of a loop are pieces of one unbind there")
def test_the_rows_of_a_leaf_are_protected_as_brackets_are() -> None:
    x = leaf(2, 2)
    with refused(RuntimeError, "view-of-leaf-write", [x]):
        for row in x:
            row += 1
