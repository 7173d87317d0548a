"""Averages over events of one name, and tables of both."""

from __future__ import annotations

import pytest

from tests.support import differs_from_torch, ones_leaf, vt

profile = vt.autograd.profiler.profile


@pytest.fixture
def p() -> vt.autograd.profiler.profile:
    """Three exponentials of two shapes, and a product that contains another."""
    small, large = ones_leaf(2, 2), ones_leaf(3, 2)
    with profile(record_shapes=True) as p:
        small.exp()
        large.exp()
        small.exp()
        small.matmul(small)
    return p


def rows(table: str) -> list[str]:
    """The first column of a table, without its title."""
    lines = table.splitlines()
    rules = [nr for nr, line in enumerate(lines) if line.startswith("---")]
    return [line.split("  ")[0] or line.split()[0] for line in lines[rules[1] + 1 : rules[2]]]


def test_averages_are_sums_over_the_events_of_a_name(p: vt.autograd.profiler.profile) -> None:
    averages = {average.key: average for average in p.key_averages()}
    exp = averages["aten::exp"]
    events = [event for event in p.function_events if event.name == "aten::exp"]
    assert exp.count == 3
    assert exp.cpu_time_total == pytest.approx(sum(event.cpu_time_total for event in events))
    assert exp.cpu_time == pytest.approx(exp.cpu_time_total / 3)
    assert exp.self_cpu_time_total == pytest.approx(
        sum(event.self_cpu_time_total for event in events)
    )


def test_averages_may_be_grouped_by_shapes(p: vt.autograd.profiler.profile) -> None:
    grouped = p.key_averages(group_by_input_shape=True)
    found = [(a.input_shapes, a.count) for a in grouped if a.key == "aten::exp"]
    assert sorted(found) == [([[2, 2]], 2), ([[3, 2]], 1)]


def test_the_total_has_its_own_key(p: vt.autograd.profiler.profile) -> None:
    total = p.key_averages().total_average()
    assert total.key == "Total"
    assert total.count == len(p.function_events)
    assert p.self_cpu_time_total == pytest.approx(total.self_cpu_time_total)
    assert p.self_cpu_time_total == pytest.approx(
        sum(event.self_cpu_time_total for event in p.function_events)
    )


def test_averages_are_a_list_with_the_methods_of_events(p: vt.autograd.profiler.profile) -> None:
    assert isinstance(p.function_events, list)
    assert isinstance(p.key_averages(), vt.autograd.profiler.EventList)


def test_a_table_has_a_column_for_each_time_and_the_calls(p: vt.autograd.profiler.profile) -> None:
    lines = p.key_averages().table().splitlines()
    titles = [title.strip() for title in lines[1].split("  ") if title.strip()]
    assert titles == [
        "Name",
        "Self CPU %",
        "Self CPU",
        "CPU total %",
        "CPU total",
        "CPU time avg",
        "# of Calls",
    ]
    assert lines[-1].startswith("Self CPU time total: ")
    by_shape = p.key_averages(group_by_input_shape=True).table()
    assert "Input Shapes" in by_shape
    assert "[[3, 2]]" in by_shape


def test_a_table_is_sorted_with_the_largest_first(p: vt.autograd.profiler.profile) -> None:
    table = p.key_averages().table(sort_by="count", row_limit=1)
    assert "aten::exp" in table
    assert "aten::matmul" not in table


def test_an_attribute_that_events_do_not_have_is_refused(p: vt.autograd.profiler.profile) -> None:
    with pytest.raises(AttributeError):
        p.table(sort_by="beauty")


def test_long_names_end_in_three_dots() -> None:
    with profile() as p, vt.autograd.profiler.record_function("x" * 70):
        pass
    assert "x" * 52 + "..." in p.table()
    assert "x" * 7 + "..." in p.table(max_name_column_width=10)
    assert "x" * 8 not in p.table(max_name_column_width=10)


def test_a_table_may_have_a_header_and_leave_out_inner_events(
    p: vt.autograd.profiler.profile,
) -> None:
    table = p.table(header="All that was measured", top_level_events_only=True)
    assert "All that was measured" in table
    assert "aten::matmul" in table
    assert "aten::mm" not in table


def test_a_profile_prints_its_table(p: vt.autograd.profiler.profile) -> None:
    assert str(p) == p.table()
    assert str(p.function_events) == p.function_events.table()
    assert "unfinished" in str(profile())


def test_memory_has_columns_if_it_was_profiled() -> None:
    x = ones_leaf(1024)
    with profile(profile_memory=True) as p:
        x.exp()
    table = p.table()
    assert "CPU Mem" in table
    assert "8.00 K" in table


@differs_from_torch("PyTorch has no such column")
def test_copied_bytes_have_a_column() -> None:
    x = vt.ones(1024, dtype=vt.float64)
    with profile(profile_memory=True) as p:
        x.neg_()
    assert "Copied" in p.table()


@differs_from_torch("PyTorch has the lines as events")
def test_averages_may_be_grouped_by_lines() -> None:
    x = ones_leaf(2)
    with profile(with_stack=True) as p:
        x.exp()
        x.exp()
        for _ in range(2):
            x.exp()
    assert [a.count for a in p.key_averages(group_by_stack_n=1)] == [1, 1, 2]
    assert [a.count for a in p.key_averages()] == [4]
