"""What is emitted has the bits of the program, and needs NumPy alone."""

import ast
import operator
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.jit.building import Builder
from tests.jit.programs import PROGRAMS
from tests.jit.random_loops import RandomProgram
from tests.jit.random_programs import new_values as calls_values
from tests.jit.random_programs import random_program
from tests.jit.sources import check, check_on, function_of
from vtgrad.jit.literals import Imports, literal
from vtgrad.jit.normal_form import in_normal_form
from vtgrad.jit.passes import improve
from vtgrad.jit.source import Parameter, export, parameters_of, source_of
from vtgrad.jit.steps import Fixed, Guard, Place, Step
from vtgrad.storage.arrays import Array

F8 = np.dtype(np.float64)


def statements(text: str) -> list[str]:
    """The lines of the function, without its docstring and without comments."""
    body = text.split("\ndef replay")[1].split('"""')[2]
    lines = [line.split("  #")[0].rstrip() for line in body.splitlines()]
    return [line[4:] for line in lines if line.startswith("    ")]


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("recurrence", 24),
        ("heat", 25),
        ("kalman", 40),
        ("lstm", 43),
        ("hmc", 32),
        ("sgd", 33),
    ],
)
def test_programs_are_short_and_have_the_same_bits(name: str, most: int) -> None:
    text = check(PROGRAMS[name]())
    assert len(statements(text)) <= most, text


def test_random_programs_have_the_same_bits() -> None:
    texts = [check(RandomProgram(seed).write(), seed) for seed in range(400)]
    # Each of these is a way to write a program that the comparison must have met.
    for part in ("for i in range", "each_", "another program was", ".T", "_memory", " ndarray("):
        assert sum(part in text for text in texts) > 5, part


@pytest.mark.slow
def test_more_random_programs_have_the_same_bits() -> None:
    for seed in range(400, 1_000):
        check(RandomProgram(seed).write(), seed)


@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_random_calls_of_all_dtypes_have_the_same_bits() -> None:
    """The programs that the runners are tested with, as they are and after all passes."""
    compared = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        program = random_program(rng, 12, seed % 2).program
        if seed % 3:
            program = improve(in_normal_form(program))
        places = [parameter.place for parameter in parameters_of(program)]
        values = [calls_values(rng, place.dtype.str, place.shape) for place in places]
        if "longdouble" not in source_of(program):
            # These have bytes that no number has, and that no run has to keep.
            check_on(program, values)
            compared += 1
    assert compared > 200


def test_the_recurrence_reads_as_it_was_written() -> None:
    lines = statements(source_of(PROGRAMS["recurrence"]()))
    assert lines[2:9] == [
        "level = zeros((50, 16))",
        "m, m2 = [empty(16) for _ in range(2)]",
        "for t in range(49):",
        "    multiply(a, level[t], m)",
        "    add(m, drive, m2)",
        "    level[t + 1] = m2",
        "y = asarray(add.reduce(level, axis=None))",
    ]


# Exported modules


ALONE = """
import sys
sys.modules["vtgrad"] = None
import numpy as np
sys.path.insert(0, sys.argv[1])
import exported
given = np.load(sys.argv[2])
found = exported.replay(*[given[name] for name in given.files])
assert not [name for name in sys.modules if name.startswith("vtgrad.")]
np.savez(sys.argv[3], *found)
"""


def test_a_call_without_an_output_has_the_recorded_order_and_dtype() -> None:
    b = Builder()
    x = b.argument(np.zeros((2, 3)), "x")
    numbers = b.argument(np.arange(3), "numbers")
    turned = b.view(x, lambda array: array.T)
    total = b.call(np.add, turned, turned, out=b.empty((3, 2)))
    # Written through a view that is none if the sum has the order of its operands.
    part = b.view(total, lambda array: array.reshape(-1)[1:])
    b.call(np.add, part, 1.0, out=part)
    single = b.empty((3,), np.float32)
    b.program.steps.append(
        Step(np.add, (numbers, numbers), (("casting", Fixed("unsafe")),), (single,))
    )
    copied = b.empty((3,), np.float32)
    b.set(copied, numbers)
    text = check(b.returns(total, single, copied))
    assert "empty((3, 2))" in text


def test_an_exported_module_runs_where_only_numpy_is(tmp_path: Path) -> None:
    program = PROGRAMS["lstm"]()
    export(program, tmp_path / "exported.py")
    given = [
        np.random.default_rng(1).standard_normal(x.place.shape) for x in parameters_of(program)
    ]
    np.savez(tmp_path / "given.npz", *given)
    command = [sys.executable, "-I", "-c", ALONE, str(tmp_path)]
    command += [str(tmp_path / "given.npz"), str(tmp_path / "found.npz")]
    subprocess.run(command, check=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": ""})
    expected = function_of(source_of(program))(*given)
    with np.load(tmp_path / "found.npz") as found:
        for name, array in zip(found.files, expected, strict=True):
            np.testing.assert_array_equal(found[name], array, strict=True)
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".part"] == []


def test_constants_and_memory_from_outside_are_in_the_module() -> None:
    b = Builder()
    x, w = b.argument(np.ones(40), "x"), b.outside(np.arange(40.0), "w")
    random = b.constant(np.random.default_rng(0).standard_normal(40))
    few = b.constant(np.array([1.5, -0.0]))
    y = b.call(np.add, b.call(np.multiply, x, w), random)
    b.call(np.add, w, 1.0, out=w)
    program = b.returns(y, b.call(np.negative, few))
    function = function_of(source_of(program, outside=[np.arange(40.0).view(np.uint8)]))
    rows = np.array([[function(np.ones(40))[0] for _ in range(2)]])
    np.testing.assert_allclose(rows[0, 1] - rows[0, 0], 1, rtol=1e-12)
    assert np.signbit(function(np.ones(40))[1]).tolist() == [True, False]
    # And the source that takes `w` has the same bits.
    check(program)


# Arguments


@pytest.mark.parametrize(
    "given",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(40.0).reshape(4, 10)[::2, :9:3],
    ],
    ids=["in order", "turned", "gaps"],
)
def test_an_argument_may_have_any_strides(given: Array) -> None:
    b = Builder()
    nbytes = int(np.dot(np.array(given.shape) - 1, given.strides)) + 8
    whole = b.argument(np.zeros(nbytes // 8), "x")
    place = Place(whole.buffer, F8, given.shape, given.strides, 0)
    b.call(np.multiply, place, 2.0, out=place)
    function = function_of(source_of(b.returns(place), parameters=[Parameter("x", place)]))
    expected = given * 2
    found = function(given)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(given, expected)


def test_arguments_of_other_shapes_or_dtypes_are_refused() -> None:
    function = function_of(source_of(PROGRAMS["recurrence"]()))
    a = np.ones(16)
    with pytest.raises(ValueError, match=r"drive: float64 \(15,\)"):
        function(a, a[1:])
    with pytest.raises(ValueError, match=r"a: float32 \(16,\)"):
        function(a.astype(np.float32), a)


def test_a_written_argument_must_be_apart_from_the_others() -> None:
    function = function_of(source_of(PROGRAMS["hmc"]()))
    momenta = np.ones((5, 8))
    with pytest.raises(ValueError, match="shares memory"):
        function(momenta[0], momenta)
    with pytest.raises(TypeError, match="must be an array"):
        function(np.ones(8), momenta.tolist())
    momenta.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        function(np.ones(8), momenta)


def test_arguments_that_shared_memory_must_share_it_again() -> None:
    b = Builder()
    whole = b.argument(np.arange(4.0), "x")
    left, right = b.at(whole, slice(0, 3)), b.at(whole, slice(1, 4))
    b.call(np.add, left, right, out=left)
    program = b.returns(right)
    function = function_of(
        source_of(program, parameters=[Parameter("left", left), Parameter("right", right)])
    )
    x = np.arange(4.0)
    np.testing.assert_array_equal(function(x[:3], x[1:]), [3, 5, 3])
    np.testing.assert_array_equal(x, [1, 3, 5, 3])
    with pytest.raises(ValueError, match="share memory in another way"):
        function(np.zeros(3), np.zeros(3))


# Guards


def test_a_guard_that_fails_has_written_nothing() -> None:
    b = Builder()
    x = b.argument(np.ones(3), "x")
    b.call(np.add, x, 1.0, out=x)
    b.guard(np.ndarray.item, b.at(x, 0))
    function = function_of(source_of(b.returns(x)))
    given = np.ones(3)
    np.testing.assert_array_equal(function(given), [2, 2, 2])
    np.testing.assert_array_equal(given, [2, 2, 2])
    with pytest.raises(ValueError, match="item was 2"):
        function(given)
    np.testing.assert_array_equal(given, [2, 2, 2])


def test_a_result_of_another_shape_has_written_nothing() -> None:
    b = Builder()
    x = b.argument(np.array([1.0, 0.0, 2.0]), "x")
    places = b.empty((2,), np.int64)
    b.call(np.multiply, x, 2.0, out=x)
    b.program.steps.append(Step(np.nonzero, (x,), outputs=(places,)))
    function = function_of(source_of(b.returns(places)))
    given = np.array([0.0, 3.0, 4.0])
    np.testing.assert_array_equal(function(given), [1, 2])
    np.testing.assert_array_equal(given, [0, 6, 8])
    other = np.ones(3)
    with pytest.raises(ValueError, match="a result has the shape"):
        function(other)
    np.testing.assert_array_equal(other, [1, 1, 1])


@pytest.mark.parametrize("value", [float("nan"), -0.0, 1j, None, True, 3, "a", (1, 2.0)])
def test_guards_compare_types_and_bits(value: object) -> None:
    b = Builder()
    x = b.argument(np.ones(1), "x")
    b.program.guards.append(Guard(0, min, (Fixed([value]),), value))
    text = source_of(b.returns(x))
    function_of(text)(np.ones(1))
    b.program.guards[0] = Guard(0, min, (Fixed([0.0]),), value)
    with pytest.raises(ValueError, match="another program"):
        function_of(source_of(b.program))(np.ones(1))


# Texts of users


def test_names_of_users_cannot_become_code() -> None:
    b = Builder()
    evil = '"""\n    import os; os.abort()  # \\'
    x = b.argument(np.ones(3), evil)
    add = b.call(np.add, x, 1.0, name="add")
    total = b.call(np.add, add, 1.0, name="lambda")
    program = b.returns(b.call(np.multiply, total, total, name="print"))
    program.steps[0].line = (evil, 3)
    text = source_of(program, name="exec; 1", title=evil)
    np.testing.assert_array_equal(function_of(text, "exec_1")(np.ones(3)), [9, 9, 9])
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import)]
    assert imports == []
    assert [buffer.name for buffer in program.buffers[1:]] == ["add", "lambda", "print"]


def test_what_is_not_in_numpy_is_refused_by_name(tmp_path: Path) -> None:
    b = Builder()
    x = b.argument(np.ones(3), "x")
    y = b.call(np.add, x, 1.0)
    b.program.steps.append(Step(check, (y,), writes=(y,)))
    with pytest.raises(NotImplementedError, match=r"needs tests\.jit\.sources\.check"):
        export(b.returns(y), tmp_path / "exported.py")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "value",
    [
        *(0.1, -0.0, float("inf"), float("-inf"), float("nan"), 1e-320, complex(-0.0, 2)),
        *(np.float32(0.1), np.float16(65504), np.float64(np.nan), np.int8(-3), np.bool_(True)),
        *(np.longdouble(1) / 3, np.complex64(1 / 3 - 2j), np.uint64(2**64 - 1)),
        *((1, (2.5, None)), [1, "a\u2028'\"\\"], b"\x00'", ..., np.float32, slice(1, None, -1)),
        *(np.dtype(">f4"), np.dtype(np.complex64), np.float64("-nan"), int, True),
    ],
    ids=repr,
)
def test_literals_give_the_same_bits(value: object) -> None:
    from_text = Imports()
    text = literal(value, from_text)
    names: dict[str, object] = {}
    exec("\n".join(from_text.lines()), names)
    found = eval(text, names)
    if isinstance(value, np.dtype):
        found = np.dtype(found)
    assert type(found) is type(value)
    if isinstance(value, np.longdouble):
        # It has bytes that no number has.
        assert found == value
    elif isinstance(value, (float, complex, np.generic)):
        assert np.asarray(found).tobytes() == np.asarray(value).tobytes()
    else:
        assert found == value
    assert text.isascii()
    assert "\n" not in text


def test_functions_with_several_results_and_keys_of_items() -> None:
    b = Builder()
    x = b.argument(np.arange(6.0).reshape(2, 3), "x")
    quotient, rest = b.empty((2, 3)), b.empty((2, 3))
    b.program.steps.append(Step(np.divmod, (x, Fixed(2.0)), outputs=(quotient, rest)))
    values, places = b.empty((6,)), b.empty((6,), np.int64)
    flat = b.view(x, lambda array: array.reshape(-1))
    b.program.steps.append(
        Step(np.unique, (flat,), (("return_index", Fixed(True)),), (values, places))
    )
    chosen = b.empty((2, 2))
    key = Fixed((slice(None), [0, 2]))
    b.program.steps.append(Step(operator.getitem, (x, key), outputs=(chosen,)))
    program = b.returns(quotient, rest, values, places, chosen)
    parameters = parameters_of(program)
    function = function_of(source_of(program, parameters=parameters))
    given: Array = np.array([[5.0, 1, 4], [9, 7, 8]])
    found = function(given)
    for a, e in zip(found[:2], np.divmod(given, 2.0), strict=True):
        np.testing.assert_array_equal(a, e, strict=True)
    np.testing.assert_array_equal(found[2], [1, 4, 5, 7, 8, 9])
    np.testing.assert_array_equal(found[3], [1, 2, 0, 4, 5, 3])
    np.testing.assert_array_equal(found[4], [[5, 4], [9, 8]])
    with pytest.raises(ValueError, match=r"a result has the shape \(5,\)"):
        function(np.array([[5.0, 5, 4], [9, 7, 8]]))
