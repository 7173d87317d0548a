"""Gradients of random NumPy programs, beside central differences and forward mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.program_runs import (
    NARROW,
    Program,
    execute,
    is_refusal,
    kind_of,
    quiet,
    start,
    variables,
)
from tests.numpy.support import array
from vtgrad.errors import VtgradError

STEP: Final = 1e-4
#: A gradient of other programs is not compared: differences of their values say too little.
LARGEST_TOTAL: Final = 1e7


class Skipped(Exception):
    """Why a gradient is not compared."""


def in_double(statement: str) -> str:
    """The statement without narrow dtypes, whose values have too few digits for differences."""
    for narrow, wide in (
        ('"float16"', '"float64"'),
        ('"float32"', '"float64"'),
        ("np.float16", "np.float64"),
        ("np.float32", "np.float64"),
        ("complex64", "complex128"),
    ):
        statement = statement.replace(narrow, wide)
    return statement


def total(program: Sequence[str], namespace: Any, inputs: Sequence[Any]) -> Any:
    """The weighted sum of the squares of all that a program has computed."""
    names = start(inputs, namespace)
    for statement in program:
        error = execute(statement, names)
        if error is not None:
            raise error
    found: Any = 0.0
    value: Any
    for nr, (_, value) in enumerate(sorted(variables(names).items())):
        if isinstance(value, (int, float, complex)):
            value = np.asarray(value)
        if not hasattr(value, "dtype"):
            continue
        if value.dtype in NARROW:
            raise Skipped("narrow numbers")
        # What differentiable statements do not reach stays constant, and adds no difference.
        if np.dtype(value.dtype).kind not in "fc":
            continue
        weight = np.cos(np.arange(value.size)).reshape(value.shape) + 1.5 + nr / 7
        square = value * value
        if np.dtype(value.dtype).kind == "c":
            square = value.real * value.real + value.imag * value.imag
        found = found + namespace.sum(square * weight)
    return found


def _differences(f: Any) -> tuple[float, float]:
    """The derivative at zero of a function of a number, and how exact it is."""
    middle = float(f(0.0))
    slopes, bends = [], []
    for step in (STEP, STEP / 2):
        above, below = float(f(step)), float(f(-step))
        slopes.append((above - below) / (2 * step))
        bends.append((above - 2 * middle + below) / step)
    if not np.isfinite([middle, *slopes]).all() or abs(middle) > LARGEST_TOTAL:
        raise Skipped("not finite or large")
    exact = 1e-3 + 1e-3 * abs(middle) + abs(slopes[1])
    if abs(slopes[0] - slopes[1]) > 1e-5 * exact:
        raise Skipped("differences of two steps disagree")
    # At a kink the second difference falls with the step as the first one does.
    if abs(bends[1]) > 1e-4 * exact and abs(bends[1]) > 0.7 * abs(bends[0]):
        raise Skipped("a kink")
    return slopes[1], 1e-4 * exact


def check(program: Program, seed: int, skips: Counter[str]) -> str | None:
    """How the gradient of a program differs, or None; what is not compared is counted."""
    draw = np.random.default_rng(seed)
    if any("tolist" in statement for statement in program.statements):
        skips["skipped: through numbers of Python"] += 1
        return None
    count = sum(x.dtype.kind == "f" and x.dtype.itemsize == 8 for x in program.inputs[:2])
    points = [x + draw.uniform(-0.05, 0.05, x.shape) for x in program.inputs[:count]]
    rest = [x.astype("float64") if x.dtype.kind == "f" else x for x in program.inputs[count:]]
    along = [draw.uniform(-1, 1, x.shape) for x in points]
    statements = [in_double(statement) for statement in program.statements]

    def of_numpy(step: float) -> Any:
        moved = [np.asarray(x + step * d) for x, d in zip(points, along, strict=True)]
        return total(statements, np, [*moved, *[x.copy() for x in rest]])

    def of_namespace(*leaves: Any) -> Any:
        inputs = [x.copy() for x in leaves]
        return total(statements, vnp, [*inputs, *map(array, rest)])

    with quiet():
        try:
            slope, tolerance = _differences(of_numpy)
        except Skipped as skipped:
            skips[f"skipped: {skipped}"] += 1
            return None
        except Exception as error:  # at this point NumPy refuses a statement
            skips[f"skipped: {type(error).__name__} of NumPy"] += 1
            return None
        right = float(of_numpy(0.0))
        try:
            parts = _reverse(of_namespace, points, right, skips)
            if isinstance(parts, str):
                return parts
            found = sum(float(np.sum(g * d)) for g, d in zip(parts, along, strict=True))
            if not np.isfinite(found):
                skips["skipped: the gradient is not finite"] += 1
                return None
            if abs(found - slope) > tolerance:
                return f"the derivative is {found}, by differences {slope}"
            tangent = _forward(of_namespace, points, along)
            if abs(tangent - found) > 1e-8 * (1 + abs(found) + abs(right)):
                return f"the derivative is {found}, in forward mode {tangent}"
        except (VtgradError, TypeError, ValueError) as error:
            skips[f"refused: {kind_of(error)}"] += 1
            if not is_refusal(error) and not isinstance(error, VtgradError):
                return f"raised {error!r}"
            return None
    skips["compared"] += 1
    return None


def _reverse(f: Any, points: Sequence[Any], right: float, skips: Counter[str]) -> Any:
    """The gradients at points, or how the value differs from NumPy's."""

    def gradients() -> Any:
        leaves = [array(x, grad=True) for x in points]
        value = f(*leaves)
        number = float(value.detach()) if isinstance(value, vt.Tensor) else float(value)
        if abs(number - right) > 1e-9 * (1 + abs(right)):
            return f"the total is {number}, NumPy's {right}"
        if not isinstance(value, vt.Tensor):
            return [np.zeros(x.shape) for x in points]
        found = vt.autograd.grad(value, leaves, allow_unused=True)
        return [
            np.zeros(x.shape) if g is None else g.numpy()
            for g, x in zip(found, points, strict=True)
        ]

    try:
        return gradients()
    except vt.errors.StaleSavedError as error:
        skips[f"refused: {type(error).__name__}"] += 1
    with vt.autograd.graph.allow_mutation_on_saved_tensors():
        return gradients()


def _forward(f: Any, points: Sequence[Any], along: Sequence[Any]) -> float:
    """The derivative along a direction by forward mode."""
    primals, tangents = tuple(map(array, points)), tuple(map(array, along))

    def tensor(*leaves: Any) -> Any:
        value = f(*leaves)
        return value if isinstance(value, vt.Tensor) else array(value)

    _, tangent = vt.func.jvp(tensor, primals, tangents)
    return float(tangent)
