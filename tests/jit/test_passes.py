"""What each pass takes out, on programs that are written by hand."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from tests.jit.writing import F8, fill, store, vector
from vtgrad.jit.copies import without_copies
from vtgrad.jit.effects import Intervals, extent, is_dense
from vtgrad.jit.interpret import interpret
from vtgrad.jit.memory import lay_out
from vtgrad.jit.normal_form import in_normal_form
from vtgrad.jit.passes import fold, improve, with_equal_constants, without_dead_steps
from vtgrad.jit.steps import Buffer, Fixed, Guard, Kind, Place, Program, Step


def constant(*values: float) -> Buffer:
    content = np.array(values, np.float64).view(np.uint8)
    return Buffer(Kind.CONSTANT, content.nbytes, content=content)


def fresh(count: int = 4) -> Buffer:
    return Buffer(Kind.FRESH, 8 * count)


def add(a: Place, b: Place, out: Place) -> Step:
    return Step(np.add, (a, b), outputs=(out,))


ARGUMENT = Buffer(Kind.ARGUMENT, 32, 0)


def run(program: Program) -> list[list[float]]:
    argument = np.arange(4.0)
    found = interpret(program, [argument.view(np.uint8)])
    return [*[x.tolist() for x in found], argument.tolist()]


def test_what_depends_on_no_argument_becomes_a_constant() -> None:
    program = Program(
        [ARGUMENT, constant(1, 2, 3, 4), fresh(), fresh(), fresh()],
        [
            Step(np.exp, (vector(1),), outputs=(vector(2),)),
            add(vector(2), vector(1), vector(3)),
            add(vector(0), vector(3), vector(4)),
        ],
        [],
        [vector(4)],
    )
    better = improve(program)
    assert [step.function for step in better.steps] == [np.add]
    assert run(better) == run(program)


def test_known_memory_that_is_written_later_keeps_its_steps() -> None:
    program = Program(
        [ARGUMENT, fresh(), fresh()],
        [
            fill(vector(1), 1.0),
            add(vector(0), vector(1), vector(2)),
            store(vector(1, 2), vector(0, 2)),
            add(vector(1), vector(2), vector(1)),
        ],
        [],
        [vector(1), vector(2)],
    )
    better = improve(program)
    assert run(better) == run(program)
    # The first sum reads a constant, and the assignment to all elements is still needed.
    assert len(better.steps) == 4
    place = better.steps[1].inputs[1]
    assert isinstance(place, Place)
    assert better.buffers[place.buffer].kind is Kind.CONSTANT


@pytest.mark.parametrize("named", [False, True])
def test_a_result_that_goes_into_known_memory_stays_there(named: bool) -> None:
    # It was written to a copy of the known bytes.
    target = vector(1, 3, start=1)
    program = Program(
        [ARGUMENT, fresh()],
        [
            fill(vector(1), 1.0),
            Step(
                np.ndarray.cumsum,
                (vector(0, 3), Fixed(0))
                if named
                else (vector(0, 3), Fixed(0), Fixed(None), target),
                (("out", target),) if named else (),
                writes=(target,),
            ),
        ],
        [],
        [vector(1)],
    )
    assert run(improve(program))[0] == [1.0, 0.0, 1.0, 3.0]


def test_a_guard_of_a_constant_is_taken_out_if_it_holds() -> None:
    lone = Place(1, F8, (), (), 0)
    for value, left in ((1.0, 0), (2.0, 1)):
        guard = Guard(0, np.ndarray.item, (lone,), value)
        program = Program([ARGUMENT, constant(1, 2, 3, 4)], [], [guard], [vector(0)])
        assert len(fold(program).guards) == left


def test_only_steps_whose_bytes_are_read_stay() -> None:
    program = Program(
        [ARGUMENT, fresh(8)],
        [
            add(vector(0), vector(0), vector(1)),
            add(vector(0), vector(0), vector(1, start=4)),
            # These four are overwritten by the step before a reader.
            fill(vector(1), 3.0),
            fill(vector(0, 1), 9.0),
        ],
        [],
        [vector(1), vector(1, start=4)],
    )
    better = without_dead_steps(program)
    assert better.steps == program.steps[1:]
    half = Program(program.buffers, program.steps, [], [vector(1)])
    assert without_dead_steps(half).steps == program.steps[2:]


def test_a_guard_needs_what_it_reads_and_moves_with_the_steps() -> None:
    guard = Guard(2, np.ndarray.tobytes, (vector(2),), np.arange(4.0).tobytes())
    program = Program(
        [ARGUMENT, fresh(), fresh()],
        [store(vector(1), vector(0)), store(vector(2), vector(0)), fill(vector(2), 0.0)],
        [guard],
        [],
    )
    better = without_dead_steps(program)
    assert better.steps == program.steps[1:2]
    assert [x.before for x in better.guards] == [1]
    run(better)


@pytest.mark.parametrize(
    "step",
    [
        Step(np.random.default_rng(0).normal, (Fixed(0.0), Fixed(1.0), Fixed(4)), (), (vector(2),)),
        Step(lambda a: a, (vector(0),), outputs=(vector(2),)),
        Step(np.linalg.cholesky, (Place(0, F8, (2, 2), (16, 8), 0),), (), (vector(2),)),
        Step(
            np.power,
            (Place(0, np.dtype("q"), (4,), (8,), 0), Place(1, np.dtype("q"), (4,), (8,), 0)),
            outputs=(Place(2, np.dtype("q"), (4,), (8,), 0),),
        ),
        Step(np.take, (vector(0), Place(1, np.dtype("q"), (4,), (8,), 0)), (), (vector(2),)),
        Step(
            operator.setitem,
            (vector(2), Place(1, np.dtype("q"), (4,), (8,), 0), Fixed(1.0)),
            writes=(vector(2),),
        ),
    ],
)
def test_steps_that_draw_or_may_raise_stay(step: Step) -> None:
    program = Program([ARGUMENT, constant(1, 2, 3, 4), fresh()], [step], [], [])
    assert improve(program).steps == [step]


def test_equal_constants_are_one() -> None:
    program = Program(
        [ARGUMENT, constant(1, 2, 3, 4), constant(1, 2, 3, 4), constant(1, 2, 3, 5), fresh()],
        [add(vector(1), vector(2), vector(4)), add(vector(4), vector(3), vector(4))],
        [],
        [vector(2)],
    )
    better = with_equal_constants(program)
    assert better.steps == [add(vector(1), vector(1), vector(4)), program.steps[1]]
    assert better.results == [vector(1)]


def copying(*steps: Step) -> Program:
    """Steps after `copy = argument`; the argument is 0, the copy 1, and what is computed 2."""
    copy = Step(np.ndarray.copy, (vector(0),), outputs=(vector(1),))
    return Program([ARGUMENT, fresh(), fresh(8)], [copy, *steps], [], [vector(2)])


def test_what_is_only_read_is_not_copied() -> None:
    program = copying(add(vector(1), vector(1), vector(2)))
    better = without_copies(program)
    assert better.steps == [add(vector(0), vector(0), vector(2))]


@pytest.mark.parametrize(
    "steps",
    [
        # The original, or the copy, is written meanwhile.
        [fill(vector(0, 1), 5.0), add(vector(1), vector(1), vector(2))],
        [fill(vector(1, 1), 5.0), add(vector(1), vector(0), vector(2))],
        [add(vector(1), vector(0), vector(2)), fill(vector(0), 1.0), store(vector(2), vector(1))],
    ],
)
def test_copies_of_what_changes_stay(steps: list[Step]) -> None:
    program = copying(*steps)
    better = without_copies(program)
    assert better.steps[0] == program.steps[0]
    assert run(better) == run(program)


def test_a_copy_in_another_layout_stays() -> None:
    square = Place(0, F8, (2, 2), (8, 16), 0)
    copy = Place(1, F8, (2, 2), (16, 8), 0)
    program = Program(
        [ARGUMENT, fresh()],
        [Step(np.ndarray.copy, (square,), outputs=(copy,))],
        [],
        [copy],
    )
    assert without_copies(program).steps == program.steps


def test_a_result_that_is_only_copied_is_computed_there() -> None:
    row = vector(2, start=4)
    program = Program(
        [ARGUMENT, fresh(), fresh(8)],
        [fill(vector(2, 8), 0.0), add(vector(0), vector(0), vector(1)), store(row, vector(1))],
        [],
        [vector(2, 8)],
    )
    better = without_copies(program)
    assert better.steps == [program.steps[0], add(vector(0), vector(0), row)]
    assert run(better) == run(program)


@pytest.mark.parametrize(
    "between",
    [
        add(vector(2, start=4), vector(0), vector(3)),
        fill(vector(2, 8), 1.0),
        add(vector(1), vector(0), vector(3)),
    ],
)
def test_a_target_that_is_met_meanwhile_keeps_its_copy(between: Step) -> None:
    row = vector(2, start=4)
    program = Program(
        [ARGUMENT, fresh(), fresh(8), fresh()],
        [
            fill(vector(2, 8), 0.0),
            add(vector(0), vector(0), vector(1)),
            between,
            store(row, vector(1)),
        ],
        [],
        [vector(2, 8), vector(3)],
    )
    better = without_copies(program)
    assert better.steps == program.steps


def test_buffers_whose_lives_do_not_meet_have_one_place() -> None:
    chain = [Step(np.exp, (vector(i),), outputs=(vector(i + 1),)) for i in range(6)]
    program = Program([ARGUMENT, *[fresh() for _ in range(6)]], chain, [], [vector(6)])
    layout = lay_out(program)
    # One for the argument, two in turns; exp is not computed in place.
    assert layout.nbytes == 3 * 64
    sums = [add(vector(i), vector(i), vector(i + 1)) for i in range(6)]
    in_place = lay_out(Program(program.buffers, sums, [], [vector(6)]))
    assert in_place.nbytes == 2 * 64
    assert len(set(in_place.offsets[1:])) == 1


def test_a_buffer_that_no_step_meets_has_no_place() -> None:
    program = Program([ARGUMENT, fresh(), constant(1.0), ARGUMENT], [], [], [vector(0)])
    assert lay_out(program).offsets == [0, -1, -1, -1]


def test_numbers_become_places_of_the_dtype_of_the_loop() -> None:
    single = np.dtype(np.float32)
    a, out = Place(0, single, (4,), (4,), 0), Place(1, single, (4,), (4,), 0)
    program = Program(
        [Buffer(Kind.ARGUMENT, 16, 0), Buffer(Kind.FRESH, 16)],
        [
            Step(np.multiply, (a, Fixed(0.1)), outputs=(out,)),
            Step(np.add, (Fixed(1), out), (("casting", Fixed("unsafe")),), (out,)),
            Step(np.copyto, (out, a, Fixed("unsafe")), writes=(out,)),
            Step(np.ndarray.fill, (out, Fixed(2.0)), writes=(out,)),
            Step(operator.setitem, (out, Fixed(slice(1, 3)), Fixed(2.5)), writes=(out,)),
        ],
        [],
        [out],
    )
    better = in_normal_form(program)
    places = [step.inputs for step in better.steps]
    assert all(isinstance(x, (Place, Fixed)) for inputs in places for x in inputs)
    assert [step.function for step in better.steps] == [
        *[np.multiply, np.add],
        *[operator.setitem] * 3,
    ]
    assert [step.keywords for step in better.steps] == [()] * 5
    assert better.steps[4].writes == (Place(1, single, (2,), (4,), 4),)
    memory = np.arange(4, dtype=single).view(np.uint8)
    (expected,), (found,) = interpret(program, [memory]), interpret(better, [memory])
    assert found.tobytes() == expected.tobytes()


def test_a_product_of_real_matrices_is_one_that_computes_in_place() -> None:
    single = Place(0, F8, (2, 2), (16, 8), 0)
    out = Place(1, F8, (2, 2), (16, 8), 0)
    for function in (np.dot, np.ndarray.dot):
        step = Step(function, (single, single), outputs=(out,))
        program = Program([ARGUMENT, fresh()], [step], [], [out])
        better = in_normal_form(program)
        assert [x.function for x in better.steps] == [np.matmul]
        assert run(better) == run(program)
        written = Step(function, (single, single, out), writes=(out,))
        program = Program([ARGUMENT, fresh()], [written], [], [out])
        assert in_normal_form(program).steps == [written]


@pytest.mark.parametrize("number", [300, -1])
def test_a_number_that_the_dtype_cannot_hold_is_left_to_numpy(number: int) -> None:
    place = Place(0, np.dtype(np.uint8), (4,), (1,), 0)
    step = Step(
        np.greater, (place, Fixed(number)), outputs=(Place(1, np.dtype("?"), (4,), (1,), 0),)
    )
    program = Program([Buffer(Kind.ARGUMENT, 4, 0), Buffer(Kind.FRESH, 4)], [step], [], [])
    assert in_normal_form(program).steps == [step]


def test_intervals_are_a_set_of_bytes() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        found, expected = Intervals(), np.zeros(40, bool)
        for _ in range(30):
            low, high = sorted(rng.integers(0, 41, 2).tolist())
            if rng.random() < 0.5:
                found.add(low, high)
                expected[low:high] = True
            else:
                found.remove(low, high)
                expected[low:high] = False
            low, high = sorted(rng.integers(0, 41, 2).tolist())
            assert found.meets(low, high) == expected[low:high].any()
            assert found.covers(low, high) == expected[low:high].all()
        assert bool(found) == expected.any()


@pytest.mark.parametrize(
    ("shape", "strides", "low", "high", "dense"),
    [
        ((4,), (8,), 0, 32, True),
        ((4,), (-8,), -24, 8, True),
        ((4,), (16,), 0, 56, False),
        ((2, 3), (24, 8), 0, 48, True),
        ((2, 3), (8, 16), 0, 48, True),
        ((2, 3), (40, 0), 0, 48, False),
        ((2, 1), (8, 800), 0, 16, True),
        ((0, 3), (24, 8), 0, 0, True),
        ((), (), 0, 8, True),
        ((3,), (0,), 0, 8, False),
    ],
)
def test_bytes_of_a_place(
    shape: tuple[int, ...], strides: tuple[int, ...], low: int, high: int, dense: bool
) -> None:
    place = Place(0, F8, shape, strides, 0)
    assert extent(place) == (low, high)
    assert 0 in shape or is_dense(place) is dense
