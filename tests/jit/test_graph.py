"""The steps of a program as a graph, and what became of a recording."""

import numpy as np

from tests.jit.building import Builder
from tests.jit.programs import PROGRAMS, recurrence
from vtgrad.jit.explain import Prepared, explain
from vtgrad.jit.graph import graph_of
from vtgrad.jit.steps import Program


def small() -> Program:
    """`y[0] = a * 2; y[1] = y[0] + a; z = sum(y)` with a guard on z."""
    b = Builder()
    a = b.argument(np.arange(3.0), "a")
    y = b.empty((2, 3), name="y")
    b.call(np.multiply, a, 2.0, out=b.at(y, 0))
    b.call(np.add, b.at(y, 0), a, out=b.at(y, 1))
    b.set(b.at(y, 0), 0.0)
    z = b.call(np.add.reduce, y, axis=None)
    b.guard(np.ndarray.item, z)
    program = b.returns(z)
    for number, step in enumerate(program.steps):
        step.line = ("/home/user/filter.py", 10 + number)
        step.operator = f"op{number}"
    return program


def test_arrows_go_from_the_last_writer_of_the_bytes_that_are_read() -> None:
    graph = graph_of(small())
    assert [step.name for step in graph.steps] == [
        *("multiply", "add", "setitem", "add.reduce", "guard ndarray.item")
    ]
    assert [step.after for step in graph.steps] == [(), (0,), (), (1, 2), (3,)]
    assert graph.steps[1].reads == ("y", "a")
    assert graph.steps[1].line == ("/home/user/filter.py", 11)


def test_a_write_between_the_bytes_of_another_leaves_that_one() -> None:
    b = Builder()
    y = b.empty((6,), name="y")
    b.set(y, 1.0)
    b.set(b.at(y, slice(0, None, 2)), 2.0)
    b.set(b.at(y, slice(2, 4)), 3.0)
    b.call(np.negative, b.at(y, slice(1, 3)))
    b.call(np.negative, b.at(y, slice(2, 4)))
    b.call(np.negative, b.at(y, slice(4, 6)))
    after = [step.after for step in graph_of(b.program).steps]
    assert after[3:] == [(0, 1, 2), (2,), (0, 1)]


def test_the_text_has_loops_lines_and_operators() -> None:
    assert str(graph_of(small())).splitlines()[:2] == [
        "multiply  a -> y  # op0 filter.py, line 10",
        "add  y, a -> y  # op1 filter.py, line 11",
    ]
    text = str(graph_of(recurrence(50)))
    assert "49 times:\n    multiply  a, level -> buffer 3" in text
    assert len(text.splitlines()) == 17


def test_a_loop_reads_what_its_last_repetition_wrote() -> None:
    steps = graph_of(recurrence(50)).steps
    assert [step.times for step in steps[:4]] == [(), (49,), (49,), (49,)]
    # `multiply` reads row 0 of the fill, and then the rows that `setitem` wrote.
    assert steps[1].after == (0, 3)


def test_drawings_have_each_step_and_escape_what_users_write() -> None:
    for make in PROGRAMS.values():
        graph = graph_of(make())
        source = graph.dot().source
        assert source.count("[label=") == len(graph.steps)
        assert source.count("subgraph") >= 1
        assert source.count("{") == source.count("}")
    program = small()
    program.steps[0].operator = 'a"b\n'
    assert r"a\"b\n" in graph_of(program).dot().source


def test_an_explanation_counts_steps_guards_and_memory() -> None:
    program = small()
    shorter = Program(program.buffers, program.steps[1:], program.guards, program.results)
    shorter.guards[0].before = 3
    prepared = Prepared(shorter, 4096, [2], {2: "its order would differ"}, True, 1, 0)
    found = explain(program, prepared)
    assert str(found).splitlines() == [
        "4 steps recorded, 3 in a run",
        "    1 computed once",
        "    0 not needed",
        "    2 run in C, 1 are calls",
        "    call of add.reduce, 1 times: filter.py, line 13, its order would differ",
        "1 guard recorded, 1 left",
        "    ndarray.item is 9.0",
        "4,096 bytes of memory",
        "    argument a: 24 bytes",
    ]
    assert found.graph.dot().source.count("salmon") == 1


def test_without_the_executor_no_step_is_marked() -> None:
    found = explain(small())
    assert "calls of Python" in str(found)
    assert "salmon" not in found.graph.dot().source
