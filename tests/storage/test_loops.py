"""The loops in C and their twin in Python: the bits of NumPy's ufuncs, or nothing at all.

`make sanitize` runs this file on a module that was built with gcc's sanitizers.
"""

from __future__ import annotations

import ctypes
import math
import os
import pickle
import sys
import threading
from types import ModuleType
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

import vtgrad as vt
from tests.loops_in_c import IN_C, in_c
from vtgrad.storage import loops, loops_in_python

DTYPES: Final = "?bBhHiIlLqQfdFD"
SPECIAL: Final = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 1e-310, 1.0, -1.0, 88.7, 709.0]

Values = NDArray[Any]


@pytest.fixture(
    params=[pytest.param(IN_C, marks=in_c, id="C"), loops_in_python], ids=["C", "Python"]
)
def made(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = request.param
    return module


def values(rng: np.random.Generator, char: str, count: int) -> Values:
    """Numbers of all sizes, and special ones."""
    kind = np.dtype(char).kind
    if kind == "b":
        return rng.integers(0, 2, count).astype(char)
    if kind in "iu":
        info = np.iinfo(char)
        found = rng.integers(info.min, info.max, count, np.dtype(char).type, endpoint=True)
        # Two dtypes may have 64 bits.
        return found.astype(char)
    found = rng.normal(size=count) * 10.0 ** rng.integers(-6, 6, count)
    chosen = rng.random(count) < 0.1
    found[chosen] = rng.choice(SPECIAL, chosen.sum())
    with np.errstate(all="ignore"):
        return (found + 1j * rng.permutation(found) if kind == "c" else found).astype(char)


def cases(ufuncs: tuple[np.ufunc, ...]) -> list[tuple[np.ufunc, str]]:
    """The ufuncs with each dtype that has a loop of its own."""
    return [(u, c) for u in ufuncs for c in DTYPES if f"{c * u.nin}->{c}" in u.types]


def call(module: ModuleType, ufunc: np.ufunc, *arguments: object) -> Values | None:
    function = module.unary if ufunc.nin == 1 else module.binary
    found: Values | None = function(ufunc, *arguments)
    return found


def assert_same(found: Values | None, expected: Values) -> None:
    assert type(found) is np.ndarray
    assert found.dtype == expected.dtype
    assert (found.shape, found.strides) == (expected.shape, expected.strides)
    assert found.tobytes() == expected.tobytes()


def assert_as_numpy(module: ModuleType, ufunc: np.ufunc, *operands: object) -> None:
    with np.errstate(all="ignore"):
        expected = ufunc(*operands)
    assert_same(call(module, ufunc, *operands), expected)


def test_the_lists_of_both_are_equal() -> None:
    assert len(cases(loops_in_python.UFUNCS)) > 250
    if IN_C is not None:
        assert set(IN_C.UFUNCS) == set(loops_in_python.UFUNCS)


def test_the_package_says_which_one_it_uses() -> None:
    there = sys.modules.get("vtgrad._loops")
    assert vt.__loops__ is loops.NATIVE is (there is not None)
    if there is None:
        one = np.ones(2)
        assert loops.unary_loop(np.exp, one) is loops.binary_loop(np.add, one, one) is None
    else:
        assert loops.binary_loop is there.binary
    expected = os.environ.get("VTGRAD_EXPECT_LOOPS")
    assert expected is None or loops.NATIVE is (expected == "1")
    if os.environ.get("VTGRAD_LOOPS") == "0":
        assert not loops.NATIVE


@in_c
@pytest.mark.parametrize("ufunc", loops_in_python.UFUNCS, ids=lambda u: u.__name__)
def test_the_bits_are_those_of_the_ufunc_at_every_length_and_alignment(ufunc: np.ufunc) -> None:
    assert IN_C is not None
    rng = np.random.default_rng(0)
    for _, char in cases((ufunc,)):
        # More than 500 elements are computed without the global lock.
        for count in (*range(1, 71), 501):
            for offset in (0, 1, 3):
                operands = [values(rng, char, count + offset)[offset:] for _ in range(ufunc.nin)]
                assert_as_numpy(IN_C, ufunc, *operands)


@pytest.mark.parametrize("ufunc", loops_in_python.UFUNCS, ids=lambda u: u.__name__)
def test_the_bits_are_those_of_the_ufunc_in_every_layout(made: ModuleType, ufunc: np.ufunc) -> None:
    rng = np.random.default_rng(1)
    for _, char in cases((ufunc,)):
        for shape in ((2, 3), (1, 5), (5, 1), (3, 1, 2), (1, 1), (1,), (4, 4), (17,)):
            operands = [
                values(rng, char, math.prod(shape)).reshape(shape) for _ in range(ufunc.nin)
            ]
            assert_as_numpy(made, ufunc, *operands)
        for step in (2, 3, -1, -2):
            operands = [values(rng, char, 40)[::step] for _ in range(ufunc.nin)]
            assert_as_numpy(made, ufunc, *operands)
        # The stride of a dimension of size 1 says nothing.
        size = np.dtype(char).itemsize
        row = np.lib.stride_tricks.as_strided(values(rng, char, 3), (1, 3), (size, size))
        assert_as_numpy(made, ufunc, *[row] * ufunc.nin)


@pytest.mark.parametrize(
    "ufunc", [u for u in loops_in_python.UFUNCS if u.nin == 2], ids=lambda u: u.__name__
)
def test_one_value_stands_for_all(made: ModuleType, ufunc: np.ufunc) -> None:
    rng = np.random.default_rng(2)
    for _, char in cases((ufunc,)):
        for count in (2, 5, 16, 33):
            array, lone = values(rng, char, count), np.array(values(rng, char, 1)[0])
            assert_as_numpy(made, ufunc, array, lone)
            assert_as_numpy(made, ufunc, lone, array)
        array = values(rng, char, 6)
        for number in (2.5, -0.0, 0.0, 3, -(2**24), 1e-50, math.inf, math.nan):
            if char in "fd":
                assert_as_numpy(made, ufunc, array, number)
                assert_as_numpy(made, ufunc, number, array.reshape(2, 3))
            else:
                assert call(made, ufunc, array, number) is None


@pytest.mark.parametrize("ufunc", loops_in_python.UFUNCS, ids=lambda u: u.__name__)
def test_a_result_is_written_in_place(made: ModuleType, ufunc: np.ufunc) -> None:
    rng = np.random.default_rng(3)
    for _, char in cases((ufunc,)):
        for shape, step in (((16,), 1), ((3, 4), 1), ((12,), 2), ((2,), 1)):
            count = math.prod(shape) * step
            operands = [values(rng, char, count)[::step].reshape(shape) for _ in range(ufunc.nin)]
            for place in (None, *range(ufunc.nin)):
                assert_written_as_by_numpy(made, ufunc, operands, place)


def assert_written_as_by_numpy(
    module: ModuleType, ufunc: np.ufunc, operands: list[Values], place: int | None
) -> None:
    out = np.empty_like(operands[0]) if place is None else operands[place]
    kept = out.copy()
    with np.errstate(all="ignore"):
        ufunc(*operands, out=out)
    expected = out.tobytes()
    out[...] = kept
    assert call(module, ufunc, *operands, out) is out
    assert out.tobytes() == expected
    out[...] = kept


def nested_cases(char: str, rng: np.random.Generator) -> list[tuple[object, object, Values]]:
    """Operands of many strides, and results to match."""
    wide = values(rng, char, 6 * 8).reshape(6, 8)
    solid = values(rng, char, 2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    other = values(rng, char, 6 * 8).reshape(6, 8)
    found: list[tuple[object, object, Values]] = [
        (wide[:, ::2], wide[:, 1::2], np.empty((6, 4), char)),
        (wide[1:-1, 1:-1], wide[:-2, 1:-1], np.empty((4, 6), char)),
        (wide[::-1], other[:, ::-1], np.empty((6, 8), char)),
        (wide[:, :1], wide[0], np.empty((6, 8), char)),
        (wide, wide[:, :1], np.empty((8, 6), char).T),
        (wide[:6, :6].T, wide[:6, :6], np.empty((6, 6), char)),
        (np.array(wide[0, 0]), wide[:, 2:5], np.empty((6, 3), char)),
        (solid[:, ::2], solid[:, :1], np.empty((2, 2, 4, 5), char)),
        (solid.transpose(2, 0, 3, 1), solid[0, 0, 0, :1], np.empty((4, 2, 5, 3), char)),
        # In place: the same elements, or other memory.
        (other[:, ::2], wide[:, ::2], other[:, ::2]),
        (wide[0, :4], other[1:, 4:], other[1:, 4:]),
        (wide[:3], wide[3:], wide[:3]),
    ]
    if char in "fd":
        found.append((wide[:, ::3], 0.5, np.empty((6, 3), char)))
        found.append((2, wide.T, np.empty((6, 8), char).T))
    return found


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.subtract, np.true_divide])
def test_exact_ufuncs_take_any_strides_where_the_result_has_a_place(
    made: ModuleType, ufunc: np.ufunc
) -> None:
    rng = np.random.default_rng(4)
    for char in "?bHiqQfd":
        if f"{char}{char}->{char}" not in ufunc.types:
            continue
        for a, b, out in nested_cases(char, rng):
            with np.errstate(all="ignore"):
                expected = ufunc(a, b)
            assert made.binary(ufunc, a, b, out) is out
            assert out.tobytes() == expected.tobytes()


def test_large_arrays_take_any_strides_too(made: ModuleType) -> None:
    x = np.random.default_rng(5).normal(size=(70, 90))
    out = np.empty((68, 88))
    assert made.binary(np.multiply, x[1:-1, 1:-1], x[2:, :-2], out) is out
    assert out.tobytes() == (x[1:-1, 1:-1] * x[2:, :-2]).tobytes()


def test_nested_loops_write_no_element_that_another_one_reads(made: ModuleType) -> None:
    grid = np.arange(30.0).reshape(5, 6)
    kept = grid.copy()
    small = np.lib.stride_tricks.as_strided(grid, (3, 3), (8, 8))
    nine = np.zeros((2,) * 8 + (4,))[..., ::2]
    for a, b, out in [
        (grid[1:], grid[1:], grid[:-1]),
        (grid[:5, :5].T, grid[:5, :5], grid[:5, :5]),
        (grid[:, :3], grid[:, 3:], grid[:, 3:][:, ::-1]),
        (grid[:, :1], grid[:, :3], grid[:, :3]),
        # Several elements of the result are one place.
        (np.zeros((3, 3)), np.zeros((3, 3)), small),
        (np.zeros((5, 3)), np.zeros((5, 3)), np.broadcast_to(grid[:, :1], (5, 3))),
        (grid[::-1], np.zeros((5, 6)), grid),
        # Other shapes.
        (grid[:, :4], grid[:, :4], np.zeros((4, 5))),
        (grid[:, :4], grid[:4, :4], np.zeros((5, 4))),
        (np.zeros((1, 5, 4)), grid[:, :4], np.zeros((5, 4))),
        (grid[:, :4], np.zeros((5, 4), np.float32), np.zeros((5, 4))),
        (grid[:, :4], 1j, np.zeros((5, 4))),
        (1.0, 2.0, grid[:, :4]),
        (nine, nine, np.zeros((2,) * 9)),
        (grid[:0, :4], grid[:0, :4], np.zeros((0, 4))),
    ]:
        assert made.binary(np.add, a, b, out) is None, (a, b, out)
        assert grid.tobytes() == kept.tobytes()
    # The order of loops would show.
    for ufunc in (np.maximum, np.arctan2):
        assert made.binary(ufunc, grid[:, :4], grid[:, 1:5], np.zeros((5, 4))) is None
    wave = grid.astype(complex)
    assert made.binary(np.multiply, wave[:, :4], wave[:, 1:5], np.zeros((5, 4), complex)) is None
    sealed = np.zeros((5, 4))
    sealed.setflags(write=False)
    assert made.binary(np.add, grid[:, :4], grid[:, :4], sealed) is None


def test_operands_that_overlap_the_result_are_left_to_numpy(made: ModuleType) -> None:
    memory = np.arange(12.0)
    kept = memory.copy()
    grid = memory.reshape(3, 4)
    for a, b, out in [
        (memory[:1], memory[:1], memory[:1]),
        (memory[11:5:-1], memory[11:5:-1], memory[5::-1]),
        (memory[:-1], memory[:-1], memory[1:]),
        (memory[1:], memory[:-1], memory[:-1]),
        (memory[::-1], memory, memory),
        (memory[:6], memory[6:], memory[::2]),
        (memory, memory[5:6].reshape(()), memory),
        (grid[:2], grid[1:], grid[:2]),
        (memory[:2], memory[:2], np.lib.stride_tricks.as_strided(memory, (2,), (0,))),
        (memory[:2], memory[:2], np.lib.stride_tricks.as_strided(memory, (2,), (4,))),
    ]:
        assert made.binary(np.add, a, b, out) is None, (a, b, out)
        assert memory.tobytes() == kept.tobytes()


def test_memory_side_by_side_does_not_overlap(made: ModuleType) -> None:
    memory = np.arange(9.0)
    out = memory[3:6]
    assert made.binary(np.add, memory[:3], memory[6:], out) is out
    assert memory.tolist() == [0.0, 1.0, 2.0, 6.0, 8.0, 10.0, 6.0, 7.0, 8.0]
    # Elements that lie between one another share no byte, but that is not looked into.
    assert made.binary(np.add, memory[:8:2], memory[:8:2], memory[1::2]) is None


class _Subclass(np.ndarray[Any, Any]):
    pass


def _unaligned() -> Values:
    return np.frombuffer(bytearray(8 * 3 + 1), np.uint8)[1:].view(np.float64)


@pytest.mark.parametrize(
    "strange",
    [
        np.arange(3.0).view(_Subclass),
        np.arange(3.0).astype(np.dtype("f8").newbyteorder()),
        _unaligned(),
        np.arange(3.0, dtype=np.float32),
        np.arange(3.0, dtype=np.float16),
        np.arange(3.0, dtype=np.longdouble),
        np.arange(3),
        np.arange(3).astype(object),
        np.arange(3).astype("m8[s]"),
        np.arange(3.0).astype(np.dtype("f8", metadata={"unit": 1})),
        np.zeros((3, 3))[:, ::2][:, :1],
        np.zeros((2, 3)),
        np.zeros(4),
        np.zeros(0),
        np.zeros(1),
        np.float64(1.0),
        [1.0, 2.0, 3.0],
        True,
        2**24 + 1,
        2**80,
        1j,
        None,
        "x",
    ],
    ids=str,
)
def test_strange_operands_are_left_to_numpy(made: ModuleType, strange: object) -> None:
    plain = np.arange(3.0)
    kept = plain.copy()
    assert made.binary(np.add, plain, strange) is None
    assert made.binary(np.add, strange, plain) is None
    if not isinstance(strange, np.ndarray) or strange.shape != (1,):
        assert made.binary(np.add, plain, strange, plain) is None
    assert plain.tobytes() == kept.tobytes()


def test_results_that_cannot_be_written_are_left_to_numpy(made: ModuleType) -> None:
    plain, sealed = np.arange(3.0), np.arange(3.0)
    sealed.setflags(write=False)
    grid = np.zeros((3, 4))
    for out in (
        sealed,
        np.arange(3.0).view(_Subclass),
        _unaligned(),
        np.zeros(3, np.float32),
        np.zeros(4),
        np.zeros(3, np.dtype("f8").newbyteorder()),
    ):
        kept = out.copy()
        assert made.binary(np.add, plain, plain, out) is None
        assert made.unary(np.negative, plain, out) is None
        assert out.tobytes() == kept.tobytes()
    assert made.binary(np.add, grid[:, :3], grid[:, :3], grid[:, 1:]) is None
    # A sealed operand is only read.
    assert_same(made.binary(np.add, sealed, plain), sealed + plain)


def test_sizes_for_which_the_memory_order_is_a_choice_are_left_to_numpy(made: ModuleType) -> None:
    row = np.arange(3.0).reshape(1, 3)
    assert made.binary(np.add, row, 2.0) is None
    assert made.binary(np.add, row, np.array(2.0)) is None
    assert made.binary(np.add, np.array(1.0), np.array(2.0)) is None
    assert made.unary(np.exp, np.array(1.0)) is None
    assert made.unary(np.exp, np.zeros((0, 3))) is None


def test_other_ufuncs_are_left_to_numpy(made: ModuleType) -> None:
    x = np.arange(1.0, 4.0)
    for ufunc in (np.power, np.floor_divide, np.matmul, np.equal, np.arctan):
        assert made.binary(ufunc, x, x) is None
    for other in (np.isfinite, np.modf, np.add):
        assert made.unary(other, x) is None
    assert made.unary(len, x) is None
    # There is no loop of integers that gives integers.
    assert made.binary(np.true_divide, np.arange(3), np.arange(3)) is None
    assert made.unary(np.exp, np.arange(3)) is None


@in_c
def test_a_wrong_number_of_arguments_is_an_error() -> None:
    assert IN_C is not None
    x = np.arange(3.0)
    for arguments in ((), (np.add,), (np.add, x), (np.add, x, x, x, x)):
        with pytest.raises(TypeError, match=r"binary\(\) takes 3 or 4 arguments"):
            IN_C.binary(*arguments)
    with pytest.raises(TypeError, match=r"unary\(\) takes 2 or 3 arguments"):
        IN_C.unary(np.exp, x, x, x)


def test_no_reference_is_gained_or_lost(made: ModuleType) -> None:
    x, y, out = np.arange(3.0), np.arange(3.0), np.arange(3.0)
    watched = (x, y, out, x.dtype, np.add, None)
    before = [sys.getrefcount(o) for o in watched]
    for _ in range(1000):
        made.binary(np.add, x, y)
        made.binary(np.add, x, y, out)
        made.binary(np.add, x, 2.0)
        made.binary(np.add, x, "no operand")
        made.binary(np.add, x, y, y[:2])
    after = [sys.getrefcount(o) for o in watched]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 100


def test_an_unpickled_array_is_an_operand(made: ModuleType) -> None:
    x = pickle.loads(pickle.dumps(np.arange(3.0)))
    assert_same(made.binary(np.add, x, np.arange(3.0)), np.array([0.0, 2.0, 4.0]))


def test_no_warning_is_given(made: ModuleType) -> None:
    with np.errstate(all="raise"):
        assert made.binary(np.true_divide, np.ones(3), np.zeros(3)).tolist() == [math.inf] * 3
        assert made.unary(np.log, np.zeros(3)).tolist() == [-math.inf] * 3
        # NumPy would warn of the conversion, so it is left to NumPy.
        assert made.binary(np.add, np.ones(3, np.float32), 1e39) is None


@in_c
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the flags have other numbers")
@pytest.mark.parametrize("char", ["i", "f", "d"])
def test_the_floating_point_status_is_left_as_by_numpy(char: str) -> None:
    assert IN_C is not None
    library = ctypes.CDLL("libm.so.6")
    large = np.full(5, np.finfo(char).max if char in "fd" else 3, char)
    small = np.ones(5, char)

    def status(function: object, *arguments: object) -> int:
        # Invalid and divided by zero, as an earlier computation leaves them.
        library.feclearexcept(0x3D)
        library.feraiseexcept(0x05)
        assert callable(function)
        function(*arguments)
        found: int = library.fetestexcept(0x1D)
        return found

    with np.errstate(all="ignore"):
        for operands in ((large, large), (small, small)):
            assert status(IN_C.binary, np.multiply, *operands) == status(np.multiply, *operands)


@pytest.mark.slow
def test_threads_compute_side_by_side(made: ModuleType) -> None:
    x = np.linspace(0.0, 1.0, 5000)
    expected = np.sin(x).tobytes()
    wrong: list[int] = []

    def work() -> None:
        for i in range(50):
            found = made.unary(np.sin, x)
            if found.tobytes() != expected:
                wrong.append(i)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@in_c
def test_both_serve_the_same_calls() -> None:
    assert IN_C is not None
    memory = np.arange(24.0)
    grid, sealed = memory.reshape(4, 6), np.arange(6.0)
    sealed.setflags(write=False)
    pool: list[object] = [
        *(memory[:6], memory[5:11], memory[::4], memory[23:17:-1], memory[6:7], memory[:0]),
        *(grid, grid[:1], grid[:, :1], grid[:, :6:2], grid.T, grid[1], grid[:, 1], sealed),
        *(np.array(2.0), 2.0, 2, 2**24 + 1, True, None, np.arange(6, dtype="f"), np.arange(6)),
    ]
    served = 0
    for a in pool:
        for b in pool:
            for out in (None, *(x for x in pool if isinstance(x, np.ndarray))):
                memory[...] = np.arange(24.0)
                in_python = loops_in_python.binary(np.subtract, a, b, out)
                after = memory.copy()
                memory[...] = np.arange(24.0)
                found = IN_C.binary(np.subtract, a, b, out)
                assert (found is None) == (in_python is None), (a, b, out)
                assert memory.tobytes() == after.tobytes()
                served += found is not None
    assert served > 100


# -- tabulated functions ------------------------------------------------------------------------


def table_of(columns: int, powers: int) -> tuple[Values, Values, Values]:
    """The shift and the first multiple of a table with steps of 1/4 from -2 on, and the table."""
    shift = np.array(1.5 * 2.0**50)
    start = np.array(shift.view(np.int64) - 8)
    return shift, start, np.random.default_rng(0).normal(size=(powers, columns))


@pytest.mark.parametrize("count", [1, 2, 7, 33, 1000])
@pytest.mark.parametrize(("columns", "powers"), [(17, 6), (1, 3), (5, 1)])
def test_a_tabulated_function_is_evaluated_as_by_numpy(
    made: ModuleType, count: int, columns: int, powers: int
) -> None:
    """A product and a sum that are one operation, as processors have it, would break it."""
    rng = np.random.default_rng(count)
    x = rng.normal(size=count) * 3
    x[rng.random(count) < 0.2] = rng.choice(SPECIAL)
    shift, start, table = table_of(columns, powers)
    with np.errstate(all="ignore"):
        shifted = np.add(x, shift)
        at = np.clip(np.subtract(shifted.view(np.int64), start), 0, columns - 1)
        distance = np.subtract(x, np.subtract(shifted, shift))
        expected = table[-1, at]
        for row in table[-2::-1]:
            expected = np.add(np.multiply(expected, distance), row[at])
        assert_same(made.piecewise(x, shift, start, table), expected)
        square = x[: count // 2 * 2].reshape(2, -1)
        if square.size:
            assert_same(
                made.piecewise(square, shift, start, table), expected[: square.size].reshape(2, -1)
            )


def test_what_a_table_cannot_be_read_with_is_left_to_numpy(made: ModuleType) -> None:
    x = np.ones(4)
    good = table_of(3, 2)
    assert made.piecewise(x, *good) is not None
    assert made.piecewise(np.empty(0), *good).shape == (0,)
    shift, start, table = good
    for wrong in (
        (x[::2], shift, start, table),
        (x.astype("f"), shift, start, table),
        (x.astype(">f8"), shift, start, table),
        (np.array(1.0), shift, start, table),
        (x.tolist(), shift, start, table),
        (x, 1.0, start, table),
        (x, np.ones(2), start, table),
        (x, shift, shift, table),
        (x, shift, start, table[0]),
        (x, shift, start, table.T),
        (x, shift, start, np.empty((2, 0))),
    ):
        assert made.piecewise(*wrong) is None


@in_c
@pytest.mark.parametrize("count", [0, 1, 2, 7, 33, 1000])
@pytest.mark.parametrize("powers", [2, 3, 12, 32])
def test_a_polynomial_is_evaluated_as_by_numpy(count: int, powers: int) -> None:
    assert IN_C is not None
    rng = np.random.default_rng(count)
    x = values(rng, "d", count)
    coefficients = [np.array(c) for c in rng.normal(size=powers)]
    with np.errstate(all="ignore"):
        expected = np.multiply(x, coefficients[-1])
        for c in coefficients[-2:0:-1]:
            expected = np.multiply(np.add(expected, c), x)
        expected = np.add(expected, coefficients[0])
    assert_same(IN_C.polynomial(coefficients, x), expected)
    if count == 1000:
        assert_same(IN_C.polynomial(coefficients, x.reshape(4, -1)), expected.reshape(4, -1))


@in_c
def test_what_is_no_polynomial_of_few_numbers_is_left_to_numpy() -> None:
    assert IN_C is not None
    x, one = np.ones(4), np.array(1.0)
    assert IN_C.polynomial([one, one], x) is not None
    for coefficients in (
        [],
        [one],
        [one] * 33,
        (one, one),
        [one, 1.0],
        [one, np.ones(1)],
        [one, np.array(1)],
        [one, np.array(1.0, ">f8")],
    ):
        assert IN_C.polynomial(coefficients, x) is None
    for other in (x[::2], x.astype("f"), x.astype(">f8"), one, 1.0):
        assert IN_C.polynomial([one, one], other) is None
    with pytest.raises(TypeError, match="takes 2 arguments"):
        IN_C.polynomial([one, one])


@in_c
def test_floats_are_converted_as_by_numpy() -> None:
    assert IN_C is not None
    rng = np.random.default_rng(5)
    for count in (0, 1, 9, 1000):
        for char, other in ("fd", "df"):
            with np.errstate(all="ignore"):
                # Some are beyond float32.
                x = values(rng, char, count) * np.array(1e35, char)
                expected = x.astype(other)
            assert_same(IN_C.cast(x), expected)
            if count == 9:
                assert_same(IN_C.cast(x.reshape(3, 3)), expected.reshape(3, 3))
    for wrong in (np.ones(4)[::2], np.ones(2, "e"), np.ones(2, ">f8"), np.array(1.0), 1.0):
        assert IN_C.cast(wrong) is None


@in_c
def test_whether_all_values_are_in_a_range() -> None:
    assert IN_C is not None
    x = np.array([[0.0, 1.0], [2.0, 3.0]])
    assert IN_C.are_within(x, 0.0, 4.0) is IN_C.are_within(np.empty(0), 0.0, 0.0) is True
    assert IN_C.are_within(x, 0.0, 3.0) is IN_C.are_within(x, 0.5, 4.0) is False
    x[1, 0] = np.nan
    assert IN_C.are_within(x, -math.inf, math.inf) is False
    for wrong in ((x.T, 0.0, 1.0), (x, 0, 1.0), (x, 0.0, 1), (x.astype("f"), 0.0, 1.0), (1.0,) * 3):
        assert IN_C.are_within(*wrong) is None
    with pytest.raises(TypeError, match="takes 3 arguments"):
        IN_C.are_within(x)
