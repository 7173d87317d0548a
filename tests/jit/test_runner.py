"""Passes, the table and the executor in C beside the meaning of a program, bit for bit."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.jit.random_programs import Maker, new_values, random_program
from vtgrad.jit.interpret import GuardFailed, interpret
from vtgrad.jit.passes import improve
from vtgrad.jit.runner import prepare
from vtgrad.jit.steps import Kind, Program
from vtgrad.storage.loops import NATIVE
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


def check(number: int, guards: int, ways: list[bool]) -> None:
    rng = np.random.default_rng(number)
    maker = random_program(rng, int(rng.integers(3, 30)), guards)
    program = maker.program
    better = improve(program)
    runners = [prepare(program, way) for way in ways]
    dtypes = [x.dtype.char for x in maker.arrays[:3]]
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
    ways = [False, True] if NATIVE else [False]
    for number in range(FIRST + block, FIRST + PROGRAMS, 10):
        check(number, number % 3 if number % 7 == 0 else 0, ways)
