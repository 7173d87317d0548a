"""Random NumPy programs, run by NumPy and by the namespace, compared after each statement."""

from __future__ import annotations

import random
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType
from typing import Any, Final

import numpy as np

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.program_texts import Writer
from tests.numpy.support import DTYPES, array, assert_same, plain
from vtgrad.errors import NotSupportedError, NumpyConversionError, WriteRefusedError

STEPS: Final = 12
#: Arrays of more elements, and larger numbers, are not computed with.
MOST_ELEMENTS: Final = 200
LARGEST: Final = 1e5

_VARIABLE: Final = re.compile(r"v\d+$")
# To write what `diagonal` gives, a sequence of one for an element, a number that is not copied.
_REFUSED_BY_NUMPY: Final = (
    "read-only",
    "element with a sequence",
    "only 0-dimensional arrays",
    "Unable to avoid copy",
)
NARROW: Final = (np.float16, np.float32, np.complex64)
_NARROW_NAMES: Final = re.compile("float16|float32|complex64")
_SHAPES: Final = ((), (1,), (2,), (3,), (4,), (2, 2), (2, 3), (3, 2), (3, 1), (2, 2, 2), (1, 2, 3))


@dataclass(frozen=True)
class Program:
    """Statements, and the values of `v0`, `v1` and `v2` before them."""

    inputs: tuple[np.ndarray[Any, Any], ...]
    #: Whether the inputs that are floats carry derivatives.
    recorded: bool
    statements: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"v{nr} = np.array({x.tolist()})" for nr, x in enumerate(self.inputs)]
        return "\n".join([f"# recorded: {self.recorded}", *lines, *self.statements])


@dataclass
class Outcome:
    """What a program came to."""

    #: The statements that both libraries ran.
    kept: list[str] = field(default_factory=list)
    #: The first difference, or None.
    difference: str | None = None
    #: How often the namespace refused what NumPy does, by kind.
    refused: Counter[str] = field(default_factory=Counter)
    #: How many digits may have been lost: by arrays of a narrow dtype, from which others came.
    narrow: float = 0.0


@lru_cache(4096)
def _compiled(statement: str) -> CodeType:
    return compile(statement, statement, "exec")


def variables(names: dict[str, Any]) -> dict[str, Any]:
    """What a program computes with, without NumPy and the variables of loops."""
    return {name: value for name, value in names.items() if _VARIABLE.match(name)}


@contextmanager
def quiet() -> Iterator[None]:
    """Without warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def execute(statement: str, names: dict[str, Any]) -> Exception | None:
    """Run a statement; what it raised is returned."""
    try:
        exec(_compiled(statement), names)
    except Exception as error:  # whatever NumPy raises
        return error
    return None


def start(inputs: Sequence[Any], namespace: Any) -> dict[str, Any]:
    """The names of a program before its first statement."""
    return {"np": namespace, **{f"v{nr}": x for nr, x in enumerate(inputs)}}


def inputs_of(draw: random.Random) -> tuple[np.ndarray[Any, Any], ...]:
    """Two arrays of floats, and one of another dtype."""
    shape = draw.choice(_SHAPES)
    shapes = [shape, draw.choice([shape, draw.choice(_SHAPES)]), draw.choice(_SHAPES)]
    dtypes = ["float64", "float64", draw.choice(["int64", "bool", "complex128", "float32"])]
    return tuple(
        [
            (np.array([draw.randrange(-16, 17) for _ in range(int(np.prod(shape)))]) / 8)
            .reshape(shape)
            .astype(dtype)
            for shape, dtype in zip(shapes, dtypes, strict=True)
        ]
    )


def mine_of(program: Program) -> dict[str, Any]:
    """The names of a program in the namespace, before its first statement."""
    values = [array(x, grad=program.recorded) for x in program.inputs]
    # A leaf that is recorded is not written.
    return start([x.copy() for x in values], vnp)


def _difference(mine: Any, theirs: Any, name: str) -> str | None:
    """How the value of a name differs from NumPy's."""
    if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray):
        same = mine.dtype == theirs.dtype and np.array_equal(mine, theirs, equal_nan=True)
        return None if same else f"{name} is {mine!r}, NumPy has {theirs!r}"
    if isinstance(mine, vt.Tensor) and isinstance(theirs, (np.ndarray, np.generic)):
        kind = vnp.ndarray if isinstance(theirs, np.ndarray) else vnp.scalar
        if type(mine) is kind and mine.dtype == theirs.dtype and mine.shape == theirs.shape:
            found: Any = mine.detach().numpy(force=True)
            if found.tobytes() == theirs.tobytes():
                return None
    elif isinstance(theirs, (list, int, float, complex)) and not isinstance(theirs, np.generic):
        # A number of Python and one of NumPy may give a number of Python, without a derivative.
        found = mine.item() if isinstance(mine, vnp.scalar) else mine
        same = type(found) is type(theirs) and repr(found) == repr(theirs)
        return None if same else f"{name} is {mine!r}, NumPy has {theirs!r}"
    try:
        assert_same(mine, theirs, what=name)
    except AssertionError as error:
        return str(error)
    return None


def _narrowness(statement: str, theirs: dict[str, Any]) -> float:
    """The relative error of values that come from narrow numbers; 0 if there are none."""
    kinds = {getattr(x, "dtype", None) for x in variables(theirs).values()}
    if np.dtype(np.float16) in kinds or "float16" in statement:
        return 4e-3
    return 1e-4 if kinds & set(map(np.dtype, NARROW)) or _NARROW_NAMES.search(statement) else 0.0


def _is_close(mine: Any, theirs: Any, error: float) -> bool:
    """Whether two values differ by the rounding of narrow numbers that one of them came from."""
    found = plain(mine)
    same = isinstance(theirs, (np.ndarray, np.generic)) and isinstance(found, type(theirs))
    if not same or theirs.dtype != found.dtype or theirs.shape != found.shape:
        return False
    return bool(np.allclose(found, theirs, rtol=error, atol=error, equal_nan=True))


def differences(mine: dict[str, Any], theirs: dict[str, Any], *, narrow: float = 0.0) -> str | None:
    """How the first name that differs does so, where `narrow` digits may have been lost before."""
    right, found = variables(theirs), variables(mine)
    if found.keys() != right.keys():
        return f"the names are {sorted(found)}, NumPy's {sorted(right)}"
    for name, value in right.items():
        text = _difference(found[name], value, name)
        if text is not None and not (narrow and _is_close(found[name], value, narrow)):
            return text
    return None


def _may_be_numpys(statement: str, mine: dict[str, Any]) -> bool:
    """Whether a statement may give an array of NumPy, as methods of its scalars do."""
    return any(
        isinstance(value, (np.generic, np.ndarray)) and name in statement
        for name, value in mine.items()
    )


def is_refusal(error: Exception) -> bool:
    """Whether an error says that the namespace has no such thing, and what to do."""
    if isinstance(error, (NotSupportedError, NumpyConversionError, WriteRefusedError)):
        return True
    text = str(error)
    if isinstance(error, TypeError) and any(
        part in text
        for part in (
            "array of NumPy",
            "have no order",
            "Cannot cast array data",
            "Cannot cast output",
        )
    ):
        return True
    # What is broadcast; and what is not broadcast to `out=`.
    return isinstance(error, ValueError) and any(
        part in text for part in ("read-only", "the output has the shape", "broadcastable output")
    )


def kind_of(error: Exception) -> str:
    """A refusal without the numbers in it."""
    return f"{type(error).__name__}: {re.sub(r'[0-9()]+', '#', str(error))[:70]}"


def step(statement: str, mine: dict[str, Any], theirs: dict[str, Any], outcome: Outcome) -> bool:
    """Run a statement in both libraries; False if the program ends here."""
    outcome.narrow = max(outcome.narrow, _narrowness(statement, theirs))
    of_numpy, bound = _may_be_numpys(statement, mine), dict(mine)
    error = execute(statement, mine)
    whole = ";" not in statement and ":" not in statement.partition("[")[0]
    if error is not None and (
        is_refusal(error) or (of_numpy and isinstance(error, (TypeError, IndexError)))
    ):
        outcome.refused[kind_of(error)] += 1
        if whole:
            outcome.difference = differences(mine, theirs, narrow=outcome.narrow)
            if outcome.difference is not None:
                outcome.difference += f"\nafter a refusal: {error!r}"
        return whole and outcome.difference is None
    before = {name: np.copy(x) for name, x in variables(theirs).items() if _is_array(x)}
    raised = execute(statement, theirs)
    if raised is None and error is None:
        outcome.difference = differences(mine, theirs, narrow=outcome.narrow)
        if not of_numpy and outcome.difference is None:
            fresh = [x for name, x in variables(mine).items() if x is not bound.get(name)]
            if any(isinstance(x, np.ndarray) and x.dtype.char in DTYPES for x in fresh):
                outcome.difference = "an array of NumPy"
        outcome.kept.append(statement)
        # An array of NumPy is copied while recording is on, where NumPy has a view.
        own = any(isinstance(x, np.ndarray) for x in variables(mine).values())
        return outcome.difference is None and not own
    if raised is None:
        outcome.difference = f"raised {error!r}, NumPy does not"
        return False
    if error is None:
        if any(part in str(raised) for part in _REFUSED_BY_NUMPY):
            outcome.refused[f"NumPy's {kind_of(raised)}"] += 1
            return False
        outcome.difference = f"raised nothing, NumPy {raised!r}"
        return False
    expected = next(base for base in type(raised).__mro__ if base.__module__ == "builtins")
    if not isinstance(error, expected):
        if not isinstance(error, (TypeError, ValueError, IndexError)):
            outcome.difference = f"raised {error!r}, NumPy {raised!r}"
            return False
        # Of two mistakes in one statement NumPy may name the other one.
        outcome.refused[f"another error: {kind_of(error)}"] += 1
    # NumPy may have written a part of what it was to write.
    if not whole or any(
        not np.array_equal(x, theirs[name], equal_nan=True) for name, x in before.items()
    ):
        return False
    outcome.difference = differences(mine, theirs, narrow=outcome.narrow)
    return outcome.difference is None


def run(program: Program) -> Outcome:
    """Run the statements of a program in both libraries."""
    outcome = Outcome()
    with quiet():
        mine, theirs = mine_of(program), start([x.copy() for x in program.inputs], np)
        for statement in program.statements:
            if not step(statement, mine, theirs, outcome):
                break
    return outcome


def generate(seed: int) -> tuple[Program, Outcome]:
    """A random program, each statement of which is drawn from what those before have given."""
    draw = random.Random(seed)
    inputs, recorded = inputs_of(draw), draw.random() < 0.65
    program, outcome = Program(inputs, recorded), Outcome()
    statements: list[str] = []
    with quiet():
        mine, theirs = mine_of(program), start([x.copy() for x in inputs], np)
        writer = Writer(draw, theirs)
        while len(statements) < STEPS:
            statement = _meaningful(writer, variables(theirs))
            statements.append(statement)
            if not step(statement, mine, theirs, outcome):
                break
    return Program(inputs, recorded, tuple(statements)), outcome


def _meaningful(writer: Writer, names: dict[str, Any]) -> str:
    """A statement that NumPy runs without large numbers, or now and then any one."""
    writer.names = names
    while True:
        statement = writer.statement()
        chance = writer.draw.random()
        trial = {"np": np, **{n: np.copy(x) if _is_array(x) else x for n, x in names.items()}}
        error = execute(statement, trial)
        if error is not None:
            if chance < 0.08 and not isinstance(error, (AttributeError, NameError)):
                return statement
            continue
        if not any(map(_is_array, variables(trial).values())):
            continue
        if all(_is_moderate(x, chance < 0.08) for x in variables(trial).values()):
            return statement


def _is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray)


def _is_moderate(x: Any, any_number: bool) -> bool:
    """Whether a program may go on with a value."""
    if isinstance(x, (list, bool, int, float, complex)):
        x = np.array(x)
    if not isinstance(x, (np.ndarray, np.generic)) or x.size > MOST_ELEMENTS or x.ndim > 5:
        return False
    if x.dtype.kind not in "fc":
        return x.dtype.kind in "biu" and bool((np.abs(x.astype(float)) <= LARGEST).all())
    return any_number or bool((np.abs(x) <= LARGEST).all())


def shortened(program: Program, fails: Callable[[Program], object]) -> Program:
    """The program with all statements left out that are not needed for `fails` to be true."""
    statements = list(program.statements)
    for nr in reversed(range(len(statements))):
        fewer = [*statements[:nr], *statements[nr + 1 :]]
        if fails(Program(program.inputs, program.recorded, tuple(fewer))):
            statements = fewer
    return Program(program.inputs, program.recorded, tuple(statements))


def report(program: Program, outcome: Outcome) -> str:
    """A short program that differs, and how."""

    def fails(fewer: Program) -> bool:
        return run(fewer).difference is not None

    short = shortened(program, fails) if fails(program) else program
    return f"{short}\n--> {run(short).difference or outcome.difference}"


__all__ = ["Outcome", "Program", "generate", "plain", "report", "run", "shortened"]
