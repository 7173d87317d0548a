"""Chains of Python's floats have the bits of NumPy's calls.

What breaks them: a NaN with another sign or payload, a division by zero that raises, a number that
is not written although it is read later, one that is read after it was overwritten.
"""

from __future__ import annotations

import gc
import random
import signal
from collections import deque
from collections.abc import Iterator
from itertools import pairwise, repeat
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.jit.ways import prepared
from tests.jit.writing import F8, store, vector
from vtgrad.jit import table
from vtgrad.jit.explain import Prepared, explain
from vtgrad.jit.float_chains import chains_of
from vtgrad.jit.interpret import GuardFailed, interpret
from vtgrad.jit.steps import Buffer, Fixed, Guard, Kind, Place, Program, Step
from vtgrad.storage.no_fp_warnings import run_without_warnings

UNARY: Final[list[np.ufunc]] = [
    *(np.negative, np.absolute, np.square, np.reciprocal, np.sqrt, np.positive, np.conjugate),
    *(np.exp, np.log, np.tanh, np.log1p),
]
BINARY: Final[list[np.ufunc]] = [np.add, np.subtract, np.multiply, np.true_divide]
# The last two are NaN of either sign, one of them with a payload.
SPECIAL: Final = np.array(
    [0, 1 << 63, 0x7FF0 << 48, 0xFFF0 << 48, 1, 0x7FEF << 48, 0x7FF8 << 48, (0xFFF8 << 48) + 5],
    np.uint64,
).view(np.float64)


def lone(buffer: int, index: int = 0) -> Place:
    return Place(buffer, F8, (), (), 8 * index)


def numbers(r: random.Random, count: int) -> NDArray[np.uint8]:
    """Numbers of which some programs have a special one."""
    rate = r.choice([0, 0, 0.1])
    found = [
        r.choice(SPECIAL.tolist()) if r.random() < rate else r.gauss(0, 2) for _ in range(count)
    ]
    for i in range(count):
        if r.random() < rate:
            found[i] = r.choice([0.0, -0.0, 1e308, 5e-324])
    values = np.array(found)
    # A float of Python would do, but for a payload.
    if r.random() < rate:
        values[r.randrange(count)] = SPECIAL[r.randrange(len(SPECIAL))]
    return values.view(np.uint8)


def random_chain(seed: int) -> Program:
    """Steps on single numbers, some of them in larger buffers, written in place and anew."""
    r = random.Random(seed)
    buffers = [
        *[Buffer(Kind.ARGUMENT, 32, 0), Buffer(Kind.OUTSIDE, 32, 0), Buffer(Kind.FRESH, 32)],
        Buffer(Kind.CONSTANT, 64, content=numbers(r, 8)),
    ]
    steps = [store(vector(2), Fixed(0.5))]
    places = [lone(i, j) for i in (0, 1, 2) for j in range(4)]
    readable = [*places, *[lone(3, j) for j in range(8)]]
    guards = []
    for number in range(r.randint(3, 60)):
        choice = r.random()
        pair = (r.choice(readable), r.choice(readable))
        if r.random() < 0.5:
            target = r.choice(places)
        else:
            target = lone(len(buffers))
            buffers.append(Buffer(Kind.FRESH, 8))
        if choice < 0.6:
            steps.append(Step(r.choice(BINARY), pair, outputs=(target,)))
        elif choice < 0.85:
            steps.append(Step(r.choice(UNARY), pair[:1], outputs=(target,)))
        elif choice < 0.93:
            steps.append(store(target, pair[0]))
        else:
            # No step of a chain.
            steps.append(Step(np.maximum, pair, outputs=(target,)))
        if target not in places:
            places.append(target)
            readable += [target, target]
        if r.random() < 0.03:
            guards.append(Guard(number + 2, np.signbit, (r.choice(readable),), np.False_))
    results = [vector(2), *r.sample(readable, 3)]
    return Program(buffers, steps, guards, results)


def outcome(run: Any, argument: NDArray[np.uint8], outside: NDArray[np.uint8]) -> object:
    argument, outside = argument.copy(), outside.copy()
    try:
        results = run_without_warnings(run, [argument], [outside])
    except GuardFailed:
        return "a guard failed"
    return [x.tobytes() for x in (*results, argument, outside)]


@pytest.mark.parametrize("block", range(4))
def test_random_chains_have_numpys_bits(block: int) -> None:
    outcomes = []
    for seed in range(block, 600, 4):
        program, r = random_chain(seed), random.Random(-seed)
        runner = prepared(program, "table")
        for _ in range(4):
            given = numbers(r, 4), numbers(r, 4)
            expected = outcome(lambda a, o, p=program: interpret(p, a, o), *given)
            assert outcome(runner.run, *given) == expected, seed
            outcomes.append(expected)
    held = [x for x in outcomes if x != "a guard failed"]
    assert len(outcomes) > len(held) > 0.5 * len(outcomes)


def programs_with_chains() -> Iterator[Program]:
    for seed in range(50):
        program = random_chain(seed)
        if any(True for _ in chains_of(program)):
            yield program


def test_chains_end_at_guards_and_at_other_steps() -> None:
    found = 0
    for program in programs_with_chains():
        chains = list(chains_of(program))
        assert all(a[1] <= b[0] for a, b in pairwise(chains))
        for first, stop in chains:
            found += 1
            assert not any(first < guard.before < stop for guard in program.guards)
            assert np.maximum not in {step.function for step in program.steps[first:stop]}
    assert found > 40


def arithmetic(*steps: Step, count: int) -> Program:
    """A program of one argument of four numbers and so many fresh ones; the last is returned."""
    fresh = [Buffer(Kind.FRESH, 8) for _ in range(count)]
    return Program([Buffer(Kind.ARGUMENT, 32, 0), *fresh], list(steps), [], [lone(count)])


QUOTIENT: Final = arithmetic(
    Step(np.subtract, (lone(0, 0), lone(0, 1)), outputs=(lone(1),)),
    Step(np.true_divide, (lone(0, 2), lone(1)), outputs=(lone(2),)),
    Step(np.sqrt, (lone(2),), outputs=(lone(3),)),
    Step(np.multiply, (lone(3), lone(3)), outputs=(lone(4),)),
    count=4,
)


@pytest.mark.parametrize(
    ("values", "by_numpy"),
    [
        ([3.0, 1.0, 8.0, 0.0], False),
        # 8 / 0, the root of -2, and a result that is too large.
        ([1.0, 1.0, 8.0, 0.0], True),
        ([1.0, 5.0, 8.0, 0.0], True),
        ([1e-300, 0.0, 1e300, 0.0], False),
        ([np.nan, 0.0, 1.0, 0.0], True),
    ],
)
def test_numpy_computes_what_floats_of_python_do_not(
    values: list[float], by_numpy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = prepared(QUOTIENT, "table")
    lengths: list[int] = []
    run_table = table.run_table

    def counted(entries: list[table.Entry]) -> None:
        lengths.append(len(entries))
        run_table(entries)

    monkeypatch.setattr(table, "run_table", counted)
    given = [np.array(values).view(np.uint8)]
    (found,) = runner.run(given)
    assert lengths == ([4] if by_numpy else [])
    (expected,) = run_without_warnings(interpret, QUOTIENT, given)
    assert found.tobytes() == expected.tobytes()


def test_a_chain_that_numpy_computes_leaves_no_garbage() -> None:
    runner = prepared(QUOTIENT, "table")
    given = [np.array([1.0, 1.0, 8.0, 0.0]).view(np.uint8)]
    runner.run(given)
    gc.collect()
    gc.disable()
    try:
        runner.run(given)
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
def test_an_error_of_a_signal_handler_leaves_a_chain() -> None:
    # Enough steps that the signal comes while they run, and not between two runs.
    steps = [Step(np.add, (lone(0), lone(max(i, 0))), outputs=(lone(i + 1),)) for i in range(900)]
    runner = prepared(arithmetic(*steps, count=900), "table")

    def handler(*_: object) -> None:
        raise ValueError("from the handler")

    before = signal.signal(signal.SIGALRM, handler)
    given = [np.ones(4).view(np.uint8)]

    def run() -> None:
        # Here, so that the signal of a busy machine is expected too.
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        deque(map(runner.run, repeat(given)), 0)

    try:
        with pytest.raises(ValueError, match="from the handler"):
            run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    (found,) = runner.run(given)
    assert found == 901.0


def test_the_explanation_counts_the_steps_of_chains() -> None:
    runner = prepared(QUOTIENT, "table")
    reasons = runner.calls
    text = str(explain(QUOTIENT, Prepared(runner.program, runner.nbytes, reasons, reasons, False)))
    assert "all are calls of Python, 4 of them arithmetic of floats" in text
