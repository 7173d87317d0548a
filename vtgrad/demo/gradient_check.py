"""Compare a gradient with central differences of its function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["GradientCheck", "central_differences", "check_gradient"]

FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GradientCheck:
    """A gradient, its estimate by differences, and the allowed difference.

    Attributes
    ----------
    exact, estimated : ndarray
        The gradient by backward, and by central differences.
    tolerance : float
        Allowed difference, relative to the larger of 1 and the estimate's largest entry.
    """

    exact: FloatArray
    estimated: FloatArray
    tolerance: float

    @property
    def error(self) -> float:
        """The largest difference, on the scale of ``tolerance``."""
        scale = max(1.0, float(np.max(np.abs(self.estimated))))
        return float(np.max(np.abs(self.exact - self.estimated))) / scale

    @property
    def passed(self) -> bool:
        """Whether the error is within the tolerance; never with a NaN on either side."""
        return self.error <= self.tolerance


def central_differences(
    function: Callable[[FloatArray], float], point: FloatArray, step: float
) -> FloatArray:
    """Return the gradient of ``function`` at ``point``, estimated with steps of ``+-step``."""
    estimate = np.empty_like(point)
    for index in range(point.size):
        offset = np.zeros_like(point)
        offset[index] = step
        estimate[index] = (function(point + offset) - function(point - offset)) / (2.0 * step)
    return estimate


def check_gradient(
    function: Callable[[FloatArray], float],
    gradient: FloatArray,
    point: FloatArray,
    *,
    step: float = 1e-4,
    tolerance: float = 1e-6,
) -> GradientCheck:
    """Check that ``gradient`` is that of ``function`` at ``point``.

    The step suits a function of size 1e3 and curvature about one, like a log-likelihood in
    log-variances: rounding contributes about 1e3 * 1e-16 / step, truncation about step**2,
    both near 1e-9.
    """
    return GradientCheck(gradient, central_differences(function, point, step), tolerance)
