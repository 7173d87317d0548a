"""Passes, the table and the executor in C beside the meaning of a program, bit for bit."""

from __future__ import annotations

import gc
import os
import signal
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.jit.random_programs import Maker, new_values, random_program
from tests.jit.ways import WAYS, both_ways, prepared
from tests.jit.writing import F8, vector
from tests.support import needs_global_lock
from vtgrad.jit.interpret import GuardFailed, interpret
from vtgrad.jit.passes import improve
from vtgrad.jit.runner import prepare
from vtgrad.jit.steps import Buffer, Fixed, Guard, Kind, Place, Program, Step
from vtgrad.storage.no_fp_warnings import run_without_warnings

Bytes = NDArray[np.uint8]

# `VTGRAD_JIT_PROGRAMS=10000` for a long search.
PROGRAMS = int(os.environ.get("VTGRAD_JIT_PROGRAMS", "300"))
FIRST = int(os.environ.get("VTGRAD_JIT_FIRST", "0"))


def inputs(program: Program, kind: Kind, rng: np.random.Generator, maker: Maker) -> list[Bytes]:
    """New bytes for the buffers of a kind, of the dtype of the array that is there."""
    found = []
    for number, buffer in enumerate(program.buffers):
        if buffer.kind is kind:
            (array,) = [x for x in maker.arrays[:5] if maker.place(x).buffer == number]
            values = new_values(rng, array.dtype.char, array.shape)
            found.append(np.frombuffer(values.tobytes(), np.uint8).copy())
    return found


def bits(array: NDArray[Any]) -> bytes:
    """The bytes of an array, without those behind the ten of a long double."""
    found = np.ascontiguousarray(array)
    if array.dtype.char in "gG":
        return found.reshape(-1).view(np.uint8).reshape(-1, 16)[:, :10].tobytes()
    return found.tobytes()


def outcome(run: Any, dtypes: list[str], arguments: list[Bytes], outside: list[Bytes]) -> object:
    """The bits of the results and of what was written, or that a guard failed."""
    arguments, outside = [x.copy() for x in arguments], [x.copy() for x in outside]
    try:
        results = run_without_warnings(run, arguments, outside)
    except GuardFailed:
        return "a guard failed"
    except ValueError as error:
        # Of an integer to the power of a negative one.
        return str(error)
    memory = zip((*arguments, *outside), dtypes, strict=True)
    return (
        [(x.dtype.str, x.shape, x.strides, bits(x)) for x in results],
        [bits(x.view(dtype)) for x, dtype in memory],
    )


def check(number: int, guards: int) -> None:
    rng = np.random.default_rng(number)
    maker = random_program(rng, int(rng.integers(3, 30)), guards)
    program = maker.program
    better = improve(program)
    runners = [prepared(program, way) for way in WAYS]
    dtypes = [str(x.dtype.char) for x in maker.arrays[:3]]
    for _ in range(2):
        arguments = inputs(program, Kind.ARGUMENT, rng, maker)
        outside = inputs(program, Kind.OUTSIDE, rng, maker)
        expected = outcome(lambda a, o: interpret(program, a, o), dtypes, arguments, outside)
        found = outcome(lambda a, o: interpret(better, a, o), dtypes, arguments, outside)
        assert found == expected, number
        for runner in runners:
            assert outcome(runner.run, dtypes, arguments, outside) == expected, (number, runner)


@pytest.mark.parametrize("block", range(10))
def test_random_programs_have_the_same_bits_in_all_ways(block: int) -> None:
    for number in range(FIRST + block, FIRST + PROGRAMS, 10):
        check(number, number % 3 if number % 7 == 0 else 0)


def counted() -> Program:
    """`y = a * 2; b += y; guard: b[0]; b += c; return y`, of vectors."""
    a, b, c, y = vector(0), vector(1), vector(2), vector(3)
    first = Place(1, F8, (), (), 0)
    return Program(
        [
            *[Buffer(Kind.ARGUMENT, 32, 0), Buffer(Kind.ARGUMENT, 32, 1)],
            *[Buffer(Kind.OUTSIDE, 32, 0), Buffer(Kind.FRESH, 32)],
        ],
        [
            Step(np.multiply, (a, Fixed(2.0)), outputs=(y,)),
            Step(np.add, (b, y), outputs=(b,)),
            Step(np.add, (b, c), outputs=(b,)),
        ],
        [Guard(2, np.ndarray.item, (first,), 12.0)],
        [y],
    )


def given(*values: float) -> list[Bytes]:
    return [np.full(4, value).view(np.uint8) for value in values]


@both_ways
def test_what_is_written_is_written_at_the_end(way: str) -> None:
    runner = prepared(counted(), way)
    arguments, outside = given(5.0, 2.0), given(7.0)
    (y,) = runner.run(arguments, outside)
    assert y.tolist() == [10.0] * 4
    assert [x.view(F8).tolist() for x in arguments] == [[5.0] * 4, [19.0] * 4]
    assert outside[0].view(F8).tolist() == [7.0] * 4


@both_ways
def test_a_guard_that_fails_has_changed_nothing(way: str) -> None:
    runner = prepared(counted(), way)
    arguments, outside = given(6.0, 2.0), given(7.0)
    with pytest.raises(GuardFailed) as caught:
        runner.run(arguments, outside)
    assert caught.value.number == 0
    assert [x.view(F8)[0] for x in arguments] == [6.0, 2.0]
    # The next run is not disturbed.
    runner.run(given(5.0, 2.0), outside)


@both_ways
def test_results_are_new_in_each_run(way: str) -> None:
    runner = prepared(counted(), way)
    (first,) = runner.run(given(5.0, 2.0), given(7.0))
    runner.run(given(4.0, 4.0), given(7.0))
    assert first.tolist() == [10.0] * 4
    assert first.flags.owndata


@both_ways
def test_memory_of_another_size_is_refused(way: str) -> None:
    runner = prepared(counted(), way)
    with pytest.raises(ValueError, match="position 1 has 8 bytes, and the recording had 32"):
        runner.run([*given(5.0), np.zeros(8, np.uint8)], given(7.0))


@both_ways
def test_an_error_in_a_step_has_changed_nothing(way: str) -> None:
    def interrupted(array: NDArray[np.float64]) -> NDArray[np.float64]:
        if array[0] > 20:
            raise KeyboardInterrupt
        return array + 1

    program = counted()
    program.guards.clear()
    program.steps.insert(2, Step(interrupted, (vector(1),), outputs=(vector(1),)))
    runner = prepared(program, way)
    arguments, outside = given(10.0, 2.0), given(7.0)
    with pytest.raises(KeyboardInterrupt):
        runner.run(arguments, outside)
    assert [x.view(F8)[0] for x in arguments] == [10.0, 2.0]
    arguments = given(5.0, 2.0)
    runner.run(arguments, outside)
    assert arguments[1].view(F8).tolist() == [20.0] * 4


@both_ways
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
def test_a_signal_in_a_long_run_is_heard(way: str) -> None:
    count = 1_000_000
    program = Program(
        [Buffer(Kind.ARGUMENT, 8 * count, 0)],
        [Step(np.add, (vector(0, count), Fixed(1.0)), outputs=(vector(0, count),))] * 2000,
        [],
        [],
    )
    runner = prepared(program, way)
    memory = np.zeros(count)

    def heard(*_: object) -> None:
        raise TimeoutError

    def run() -> None:
        # Here, so that the signal of a busy machine is expected too.
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        runner.run([memory.view(np.uint8)])

    before = signal.signal(signal.SIGALRM, heard)
    try:
        with pytest.raises(TimeoutError):
            run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not memory.any()


@needs_global_lock
@both_ways
def test_other_threads_run_during_a_long_stretch(way: str) -> None:
    count = 200_000
    program = Program(
        [Buffer(Kind.ARGUMENT, 8 * count, 0)],
        [Step(np.add, (vector(0, count), Fixed(1.0)), outputs=(vector(0, count),))] * 50,
        [],
        [],
    )
    runners = [prepared(program, way) for _ in range(3)]
    memories = [np.full(count, float(i)) for i in range(3)]
    threads = [
        threading.Thread(target=runner.run, args=([memory.view(np.uint8)],))
        for runner, memory in zip(runners, memories, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, memory in enumerate(memories):
        assert memory.tolist() == [50.0 + i] * count


@both_ways
def test_a_runner_is_freed_with_its_memory(way: str) -> None:
    runner = prepared(counted(), way)
    watched = weakref.ref(runner._results[0].base)
    del runner
    gc.collect()
    assert watched() is None


def test_preparing_leaves_the_collector_as_it_was() -> None:
    gc.disable()
    try:
        prepare(counted())
        assert not gc.isenabled()
    finally:
        gc.enable()
    prepare(counted())
    assert gc.isenabled()
    with pytest.raises(AttributeError):
        prepare(None)  # type: ignore[arg-type]
    assert gc.isenabled()
