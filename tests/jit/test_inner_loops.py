"""Which steps C runs by itself, and that they have the bits of NumPy's call.

`make sanitize` runs this file on a module that was built with gcc's sanitizers.
"""

from __future__ import annotations

import gc
import itertools
import operator
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.jit.ways import WAYS, prepared
from tests.jit.writing import bytes_of, program_of_one, vector
from tests.loops_in_c import IN_C, in_c
from vtgrad.jit import inner_loops
from vtgrad.jit.interpret import interpret
from vtgrad.jit.steps import Buffer, Fixed, Group, Kind, Place, Program, Step
from vtgrad.storage.no_fp_warnings import run_without_warnings

Values = NDArray[Any]
# A case: arrays, and the memory that each lies in.
Case = tuple[list[Values], list[Values]]

# Sizes below and above those at which NumPy sums in pairs, and those of its buffer.
SHAPES = [
    *[(5,), (100,), (9000,), (3, 5), (5, 3), (200, 100), (2, 9000), (9000, 3), (1, 7), (7, 1)],
    *[(4, 5, 6), (20, 30, 40), (2, 3, 5000), (3, 1, 4), (2, 3, 4, 5), (1, 1)],
]


def ran_in_c(function: Any, arrays: list[Values], memories: list[Values], **keywords: Any) -> bool:
    """Compare one call; whether C has run it without Python."""
    program = program_of_one(function, arrays, memories, keywords)
    arguments = [bytes_of(x) for x in memories]
    (expected,) = run_without_warnings(interpret, program, arguments)
    runner = prepared(program, "C")
    (found,) = runner.run(arguments)
    assert found.tobytes() == expected.tobytes(), (function, arrays[0].strides, keywords)
    return not runner.calls


def views(array: Values) -> Iterator[Values]:
    yield from (array, array.T, array[::2], array[..., ::2], array[..., None], array[::-1])
    if array.ndim > 1:
        yield from (array.swapaxes(0, 1), array[:, :1], array[:1], array[:, 1:])


@in_c
@pytest.mark.parametrize("char", list("dfFDlQ"))
def test_sums_have_the_order_of_numpy(char: str) -> None:
    rng = np.random.default_rng(0)
    in_c, total = 0, 0
    for shape in SHAPES:
        array = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 3, shape)
        memory: Values = (array + 1j * array[::-1] if char in "FD" else array).astype(char)
        for view in views(memory):
            dimensions = range(view.ndim)
            pairs = itertools.combinations(dimensions, 2)
            axes: list[Any] = [None, *dimensions, *pairs] if view.size else []
            for axis, keepdims in itertools.product(axes, (False, True)):
                total += 1
                in_c += ran_in_c(np.add.reduce, [view], [memory], axis=axis, keepdims=keepdims)
    # Where the order depends on more than the strides, NumPy sums.
    assert in_c > total / 2


def products(char: str, rng: np.random.Generator) -> Iterator[Case]:
    shapes = [
        *[((3, 4), (4, 5)), ((1, 4), (4, 5)), ((3, 1), (1, 5)), ((3, 4), (4, 1)), ((1, 1), (1, 1))],
        *[((40, 30), (30, 20)), ((200, 100), (100, 50)), ((2, 3, 4), (4, 5)), ((1, 99), (99, 1))],
        *[((2, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)), ((2, 2, 3, 4), (2, 1, 4, 5))],
        *[((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((5, 3, 4), (4,))],
    ]
    for a, b in shapes:
        for way_a, way_b in itertools.product(range(3), range(3)):
            first, second = laid_out(a, way_a, char, rng), laid_out(b, way_b, char, rng)
            yield [first[0], second[0]], [first[1], second[1]]


def laid_out(
    shape: tuple[int, ...], way: int, char: str, rng: np.random.Generator
) -> tuple[Values, Values]:
    """An array that is contiguous, transposed, or with gaps; and its memory."""
    if way == 1 and len(shape) > 1:
        memory: Values = rng.normal(size=(*shape[:-2], shape[-1], shape[-2])).astype(char)
        return memory.swapaxes(-1, -2), memory
    if way == 2:
        memory = rng.normal(size=(*shape[:-1], 2 * shape[-1])).astype(char)
        return memory[..., ::2], memory
    memory = rng.normal(size=shape).astype(char)
    return memory, memory


@in_c
@pytest.mark.parametrize("char", list("dfFDl"))
def test_products_of_matrices_are_those_of_numpy(char: str) -> None:
    rng = np.random.default_rng(0)
    in_c = total = 0
    for arrays, memories in products(char, rng):
        total += 1
        in_c += ran_in_c(np.matmul, arrays, memories)
        if arrays[0].shape[-1] == arrays[1].shape[-1]:
            ran_in_c(np.vecdot, arrays, memories)
    assert in_c > total / 2


@pytest.mark.parametrize("char", list("df"))
def test_dot_of_matrices_has_the_bits_of_matmul(char: str) -> None:
    rng = np.random.default_rng(0)
    sizes = (1, 2, 3, 5, 16, 32, 100)
    for m, k, p in itertools.product(sizes, sizes, sizes):
        for way_a, way_b in itertools.product(range(2), range(2)):
            a = laid_out((m, k), way_a, char, rng)[0]
            b = laid_out((k, p), way_b, char, rng)[0]
            assert np.dot(a, b).tobytes() == np.matmul(a, b, np.empty((m, p), char)).tobytes()
    a = rng.normal(size=(20, 30)).astype(char)
    assert np.dot(a, a.T).tobytes() == np.matmul(a, a.T).tobytes()


@in_c
def test_an_index_beyond_the_arena_is_refused() -> None:
    assert IN_C is not None
    executor = IN_C.Executor(np.zeros(64, np.uint8))
    copy = executor.copy_form(8, (), ((), ()), 3, (8, 8))
    executor.add(copy, (0, 40))
    for offsets in ((-8, 0), (0, 48), (41, 0)):
        with pytest.raises(IndexError, match="beyond the arena"):
            executor.add(copy, offsets)
    types = (12, 12, 12)
    add = executor.loop_form(np.add, types, (2,), ((8,), (8,), (8,)), (2,), (-8, 8, 8))
    executor.add(add, (8, 0, 40))
    with pytest.raises(IndexError, match="beyond the arena"):
        executor.add(add, (0, 0, 40))
    executor.run()


@in_c
@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("copy_form", (8, (), ((), ()), 0, (8, 8)), "positive"),
        ("copy_form", (0, (), ((), ()), 1, (8, 8)), "positive"),
        ("copy_form", (8, (2,), ((8,),), 1, (8, 8)), "a tuple for each operand"),
        ("copy_form", (8, (2,), ((8,), ()), 1, (8, 8)), "1 integers for each operand"),
        ("copy_form", (8, (), ((), ()), 1, (8,)), "two integers"),
        ("copy_form", (8, (1,) * 9, ((1,) * 9,) * 2, 1, (8, 8)), "at most 8"),
        ("copy_form", (8, ()), "5 arguments"),
        ("loop_form", (np.add, (12, 12), (), ((), (), ()), (1,), (8, 8, 8)), "type for each"),
        ("loop_form", (np.add, (12, 12, 11), (), ((), (), ()), (1,), (8, 8, 8)), "no loop"),
        ("loop_form", (np.add, (17, 17, 17), (), ((), (), ()), (1,), (8, 8, 8)), "numbers"),
        ("loop_form", (np.add, (12, 12, 12), (), ((), (), ()), (1, 2), (8, 8, 8)), "do not fit"),
        ("loop_form", (np.matmul, (12,) * 3, (), ((), (), ()), (1, 2, 2), (8,) * 9), "do not fit"),
        ("loop_form", (np.add, (12, 12, 12), (), ((), (), ()), (-1,), (8, 8, 8)), "positive"),
        ("loop_form", (len, (12, 12, 12), (), ((), (), ()), (1,), (8, 8, 8)), "takes a ufunc"),
        ("add", (0, (0, 0)), "no form"),
        ("add", (0,), "2 arguments"),
        ("call", (len, [1]), "a function and a tuple"),
        ("call", (3, ()), "a function and a tuple"),
    ],
)
def test_what_does_not_fit_is_refused(
    method: str, arguments: tuple[object, ...], message: str
) -> None:
    assert IN_C is not None
    executor = IN_C.Executor(np.zeros(64, np.uint8))
    with pytest.raises((TypeError, ValueError, IndexError), match=message):
        getattr(executor, method)(*arguments)


@in_c
@pytest.mark.parametrize(
    "arena",
    [np.zeros(8), np.zeros((2, 4), np.uint8), np.zeros(8, np.uint8)[::2], b"12345678", None],
)
def test_an_arena_is_an_array_of_bytes(arena: object) -> None:
    assert IN_C is not None
    with pytest.raises(TypeError, match="the arena"):
        IN_C.Executor(arena)
    with pytest.raises(TypeError):
        IN_C.Executor(arena=arena)


@in_c
def test_an_executor_that_runs_is_not_run_or_changed() -> None:
    assert IN_C is not None
    executor = IN_C.Executor(np.zeros(64, np.uint8))
    seen: list[str] = []

    def again() -> None:
        changes = [executor.run, lambda: executor.call(len, ((),))]
        changes += [lambda: executor.copy_form(8, (), ((), ()), 1, (8, 8))]
        for call in changes:
            try:
                call()
            except RuntimeError as error:
                seen.append(str(error))

    executor.call(again, ())
    executor.run()
    assert seen == ["the executor is running"] * 3
    executor.call(len, ((),))
    executor.run()


@in_c
def test_an_executor_in_a_cycle_is_collected() -> None:
    assert IN_C is not None

    class Held:
        pass

    held = Held()
    executor = IN_C.Executor(np.zeros(64, np.uint8))
    held.executor = executor  # type: ignore[attr-defined]
    executor.call(len, ((held,),))
    watched = weakref.ref(held)
    del held, executor
    gc.collect()
    assert watched() is None


def one(function: Any, array: Values, *others: Any, **keywords: object) -> Program:
    arrays = [array, *others]
    memories = [x if x.base is None else x.base for x in arrays]
    return program_of_one(function, arrays, memories, keywords)


@in_c
@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (one(np.sort, np.ones(4)), inner_loops.NO_UFUNC),
        (one(np.add, np.ones(4), np.ones(4, np.float32)), inner_loops.CAST),
        (one(np.power, np.full(4, 2), np.full(4, 2)), inner_loops.NOT_LISTED),
        (one(np.add, np.ones(4, ">f8"), np.ones(4, ">f8")), inner_loops.EMPTY),
        (one(np.tanh, np.ones((4, 6))[:, ::2]), inner_loops.GAPS),
        (one(np.add.reduce, np.ones((4, 6))[:, :4], axis=None), inner_loops.ORDER),
        (one(np.add.reduce, np.ones(4), initial=2.0), inner_loops.KEYWORDS),
    ],
)
def test_a_call_of_python_has_a_reason(program: Program, reason: str) -> None:
    assert prepared(program, "C").calls == {0: reason}


@in_c
def test_other_calls_of_python_have_reasons() -> None:
    index = Place(1, np.dtype(np.int64), (2,), (8,), 0)
    parts = (vector(0, 4), vector(0, 4, 4))
    steps = [
        Step(operator.setitem, (vector(0), index, Fixed(1.0)), writes=(vector(0),)),
        Step(np.concatenate, (Group(list, parts),), outputs=(vector(2, 8),)),
        Step(np.modf, (vector(0),), outputs=(vector(0), vector(2))),
        Step(np.add, (vector(0), vector(0)), outputs=(vector(0, start=1),)),
    ]
    buffers = [Buffer(Kind.ARGUMENT, nbytes, i) for i, nbytes in enumerate((64, 16, 64))]
    program = Program(buffers, steps, [], [])
    assert list(prepared(program, "C").calls.values()) == [
        *[inner_loops.NO_COPY, inner_loops.NO_UFUNC, inner_loops.MANY, inner_loops.OVERLAP]
    ]
    for way in WAYS:
        arguments = [np.arange(8.5), np.array([1, 3]), np.zeros(8)]
        expected, found = ([bytes_of(x[:8].copy()) for x in arguments] for _ in range(2))
        interpret(program, expected)
        prepared(program, way).run(found)
        assert [x.tobytes() for x in found] == [x.tobytes() for x in expected]
