"""What the examples have in common: run a program, differentiate it, compare the gradient."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

import vtgrad as vt
from vtgrad.errors import StaleSavedError

__all__ = ["FloatArray", "Way", "check"]

FloatArray: TypeAlias = NDArray[np.float64]
Program: TypeAlias = Callable[..., vt.Tensor]

# "exact" by default; "rewind" inside of `allow_mutation_on_saved_tensors`.
Way: TypeAlias = Literal["exact", "rewind"]

_STEP = 1e-5
_DIFFERENCES = 1e-6
_CLOSED_FORM = 1e-10


def check(
    program: Program,
    *inputs: ArrayLike,
    way: Way,
    expected: Sequence[ArrayLike] | None = None,
) -> None:
    """Compare a program's gradient with central differences, and print how close it is.

    Parameters
    ----------
    program : callable
        Takes tensors, returns a tensor with one element.
    *inputs : array_like
        What it is differentiated with respect to, in float64.
    way : {"exact", "rewind"}
        Whether the program runs by default, or overwrites values that its own backward needs. A
        program of the second kind is first run by default and has to be refused.
    expected : sequence of array_like, optional
        The gradients by a formula, one for each input, to compare with as well.

    Raises
    ------
    AssertionError
        If a gradient is wrong, or the program does not run in the way that was said.
    """
    points = [np.array(value, dtype=np.float64) for value in inputs]
    if way == "rewind" and not _is_refused(program, points):
        raise AssertionError("overwrites nothing that backward needs: it runs by default")
    found = _gradients(program, points, way)
    error = _distance(found, _central_differences(program, points))
    told = f"{_name()}: {way}, differs from central differences by {error:.0e}"
    if not error <= _DIFFERENCES:
        raise AssertionError(told)
    if expected is not None:
        error = _distance(found, [np.asarray(value, dtype=np.float64) for value in expected])
        told += f", from the formula by {error:.0e}"
        if not error <= _CLOSED_FORM:
            raise AssertionError(told)
    print(told)


def _leaves(points: Sequence[FloatArray]) -> list[vt.Tensor]:
    return [vt.tensor(point, dtype=vt.float64, requires_grad=True) for point in points]


def _is_refused(program: Program, points: Sequence[FloatArray]) -> bool:
    leaves = _leaves(points)
    try:
        program(*leaves).backward()
    except StaleSavedError:
        # Refused before anything ran.
        return all(leaf.grad is None for leaf in leaves)
    return False


def _gradients(program: Program, points: Sequence[FloatArray], way: Way) -> list[FloatArray]:
    leaves = _leaves(points)
    keeping = vt.autograd.graph.allow_mutation_on_saved_tensors
    with keeping() if way == "rewind" else nullcontext():
        program(*leaves).backward()
    found = []
    for leaf in leaves:
        if leaf.grad is None:
            raise AssertionError("the result does not depend on every input")
        found.append(np.array(leaf.grad.numpy(), dtype=np.float64))
    return found


def _central_differences(program: Program, points: Sequence[FloatArray]) -> list[FloatArray]:
    estimates = []
    for at, point in enumerate(points):
        slopes = np.empty_like(point)
        for index in np.ndindex(point.shape):
            ends = []
            for step in (_STEP, -_STEP):
                moved = [p.copy() for p in points]
                moved[at][index] += step
                with vt.no_grad():
                    ends.append(program(*(vt.tensor(p, dtype=vt.float64) for p in moved)).item())
            slopes[index] = (ends[0] - ends[1]) / (2 * _STEP)
        estimates.append(slopes)
    return estimates


def _distance(found: Sequence[FloatArray], expected: Sequence[FloatArray]) -> float:
    """The largest relative error of an input's gradient, in the Euclidean norm."""
    pairs = zip(found, expected, strict=True)
    return max(float(np.linalg.norm(a - b) / np.linalg.norm(b)) for a, b in pairs)


def _name() -> str:
    return Path(sys.argv[0]).stem
