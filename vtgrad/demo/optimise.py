"""Minimise a smooth function of a few variables: BFGS with a weak Wolfe line search.

Plain NumPy without tensors: the caller passes a function that returns a value and a gradient.  With
this small module the demo needs no SciPy.

Two guards.  A step is taken only if it meets both Wolfe conditions, so the curvature along it
is positive and the inverse Hessian stays positive definite.  And a trial point at which the
function is not finite counts as too far, so a long first step into overflow is shortened.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vtgrad.errors import VtgradError

__all__ = ["GRADIENT_TOLERANCE", "Iterate", "Minimum", "NotFiniteError", "Outcome", "minimise"]

FloatArray: TypeAlias = NDArray[np.float64]
Function: TypeAlias = Callable[[FloatArray], tuple[float, FloatArray]]

GRADIENT_TOLERANCE: Final = 1e-5
"""Largest entry of the gradient at which a search counts as converged, by default."""

_SUFFICIENT_DECREASE: Final = 1e-4
_CURVATURE: Final = 0.9
_MAX_TRIALS: Final = 60


class NotFiniteError(VtgradError, ValueError):
    """The function has no finite value or gradient at the start of the search."""

    kind = "not-finite"


class Outcome(enum.Enum):
    """The reason for the end of the search."""

    CONVERGED = "the gradient is within the tolerance"
    ITERATION_LIMIT = "the iteration limit was reached"
    NO_LOWER_POINT = "the line search found no lower point"


@dataclass(frozen=True, slots=True)
class Iterate:
    """A point of the search, with the function's value and gradient at it."""

    point: FloatArray
    value: float
    gradient: FloatArray

    @property
    def gradient_norm(self) -> float:
        """The largest absolute entry of the gradient."""
        return float(np.max(np.abs(self.gradient)))


@dataclass(frozen=True, slots=True)
class Minimum:
    """The end of a search: the last iterate, the cost, and the reason."""

    iterate: Iterate
    iterations: int
    evaluations: int
    outcome: Outcome


def minimise(
    function: Function,
    start: FloatArray,
    *,
    gradient_tolerance: float = GRADIENT_TOLERANCE,
    max_iterations: int = 100,
    on_iterate: Callable[[Iterate], None] = lambda iterate: None,
) -> Minimum:
    """Search for a local minimum of ``function`` from ``start``.

    Parameters
    ----------
    function : callable
        Maps a point to its value and gradient.
    start : ndarray
        One dimension, float64; not written.
    gradient_tolerance : float
        The search ends once no entry of the gradient is larger in absolute value.
    max_iterations : int
        Accepted steps, at most.
    on_iterate : callable
        Called with the start and with each accepted point.

    Returns
    -------
    Minimum
        Its ``outcome`` states whether the search converged; no convergence is not an error.

    Raises
    ------
    NotFiniteError
        If the value or the gradient at ``start`` is not finite.

    Notes
    -----
    The update is equation 6.17 of Nocedal and Wright, *Numerical Optimization* (2nd edition),
    the first scaling 6.20; the line search is the bracketing one that Lewis and Overton
    describe in *Nonsmooth optimization via quasi-Newton methods* (2013).
    """
    counted = _Counted(function)
    current = counted(np.array(start, dtype=np.float64))
    if not _is_finite(current):
        raise NotFiniteError(f"the function is not finite at {current.point}")
    on_iterate(current)
    inverse_hessian = np.eye(current.point.size) / max(1.0, current.gradient_norm)
    iterations = 0
    while current.gradient_norm > gradient_tolerance:
        if iterations == max_iterations:
            return Minimum(current, iterations, counted.calls, Outcome.ITERATION_LIMIT)
        following = _line_search(counted, current, -inverse_hessian @ current.gradient)
        if following is None:
            return Minimum(current, iterations, counted.calls, Outcome.NO_LOWER_POINT)
        step = following.point - current.point
        change = following.gradient - current.gradient
        if iterations == 0:
            inverse_hessian = np.eye(step.size) * (step @ change) / (change @ change)
        inverse_hessian = _update(inverse_hessian, step, change)
        current = following
        iterations += 1
        on_iterate(current)
    return Minimum(current, iterations, counted.calls, Outcome.CONVERGED)


class _Counted:
    """A function that returns iterates and counts its calls."""

    calls: int
    _function: Function

    def __init__(self, function: Function) -> None:
        self.calls = 0
        self._function = function

    def __call__(self, point: FloatArray) -> Iterate:
        self.calls += 1
        value, gradient = self._function(point)
        return Iterate(point, value, gradient)


def _line_search(function: _Counted, start: Iterate, direction: FloatArray) -> Iterate | None:
    """Return a point along ``direction`` that meets both Wolfe conditions, if one is found.

    ``low`` always meets the decrease condition but is still too steep, ``high`` fails it; so
    an acceptable step lies between, and halving the gap finds it.
    """
    slope = float(direction @ start.gradient)
    low, high, length = 0.0, math.inf, 1.0
    for _ in range(_MAX_TRIALS):
        trial = function(start.point + length * direction)
        too_high = trial.value > start.value + _SUFFICIENT_DECREASE * length * slope
        if too_high or not _is_finite(trial):
            high = length
        elif float(direction @ trial.gradient) < _CURVATURE * slope:
            low = length
        else:
            return trial
        length = 0.5 * (low + high) if high < math.inf else 2.0 * low
    return None


def _update(inverse_hessian: FloatArray, step: FloatArray, change: FloatArray) -> FloatArray:
    curvature = float(step @ change)
    projector = np.eye(step.size) - np.outer(step, change) / curvature
    updated: FloatArray = projector @ inverse_hessian @ projector.T
    updated += np.outer(step, step) / curvature
    return updated


def _is_finite(iterate: Iterate) -> bool:
    return math.isfinite(iterate.value) and bool(np.all(np.isfinite(iterate.gradient)))
