"""A line search for the strong Wolfe conditions.

Note [The line search of LBFGS]

Along a direction the function is f(t), with the slope s(t). A step t is taken if ``f(t) <= f(0) +
c1 t s(0)`` and ``|s(t)| <= c2 |s(0)|``, with c1 = 1e-4 and c2 = 0.9. First the step grows, until
two steps are found between which one must lie; then that interval shrinks. Both take the minimum of
the cubic polynomial through two values and slopes as the next step. See Nocedal and Wright,
"Numerical Optimization" (2006), algorithms 3.5 and 3.6 and equation 3.59. Which step is tried next,
and the margins that keep it from the ends of an interval, are as in PyTorch, and so are the steps
of LBFGS.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from vtgrad.tensor.tensor import Tensor

__all__ = ["Trial", "strong_wolfe"]

_DECREASE: Final = 1e-4
_CURVATURE: Final = 0.9
_TOLERANCE: Final = 1e-9


class Trial(NamedTuple):
    """A step, with the value, the gradient and the slope there."""

    step: float
    value: float
    gradient: Tensor
    slope: float


def strong_wolfe(
    at: Callable[[float], Trial], start: Trial, first: float, longest: float, most: int
) -> tuple[Trial, int]:
    """A step that meets the strong Wolfe conditions, or the best that was found.

    Parameters
    ----------
    at : callable
        Evaluates a step.
    start : Trial
        That of length zero.
    first : float
        The length that is tried first.
    longest : float
        The largest absolute element of the direction.
    most : int
        How many steps are tried behind the first.

    Returns
    -------
    Trial, int
        The step, and how many were evaluated.
    """
    before, new = start, at(first)
    evaluations, rounds = 1, 0
    while rounds < most:
        if _too_high(new, start) or (rounds > 1 and new.value >= before.value):
            break
        if _is_flat(new, start):
            return new, evaluations
        if new.slope >= 0:
            break
        shortest = new.step + 0.01 * (new.step - before.step)
        following = _cubic_minimum(before, new, shortest, new.step * 10)
        before, new = new, at(following)
        evaluations += 1
        rounds += 1
    else:
        before = start
    low, high = (before, new) if before.value <= new.value else (new, before)
    return _shrink(at, start, low, high, longest, most, rounds, evaluations)


def _shrink(
    at: Callable[[float], Trial],
    start: Trial,
    low: Trial,
    high: Trial,
    longest: float,
    most: int,
    rounds: int,
    evaluations: int,
) -> tuple[Trial, int]:
    """Make the interval of two steps smaller; `low` is always the better one."""
    stays = False
    while rounds < most and abs(high.step - low.step) * longest >= _TOLERANCE:
        left, right = sorted((low.step, high.step))
        step = _cubic_minimum(low, high, left, right)
        margin = 0.1 * (right - left)
        if min(right - step, step - left) >= margin:
            stays = False
        elif stays or step >= right or step <= left:
            # It was near an end before, or is at one.
            step = right - margin if abs(step - right) < abs(step - left) else left + margin
            stays = False
        else:
            stays = True
        new = at(step)
        evaluations += 1
        rounds += 1
        if _too_high(new, start) or new.value >= low.value:
            low, high = (low, new) if low.value <= new.value else (new, low)
            continue
        if _is_flat(new, start):
            return new, evaluations
        if new.slope * (high.step - low.step) >= 0:
            high = low
        low = new
    return low, evaluations


def _too_high(new: Trial, start: Trial) -> bool:
    return new.value > start.value + _DECREASE * new.step * start.slope


def _is_flat(new: Trial, start: Trial) -> bool:
    return abs(new.slope) <= -_CURVATURE * start.slope


def _cubic_minimum(one: Trial, other: Trial, left: float, right: float) -> float:
    """Where the cubic polynomial through two trials is smallest, between two bounds."""
    if one.step > other.step:
        one, other = other, one
    width = one.step - other.step
    if not width:
        return 0.5 * (left + right)
    sum_of_slopes = one.slope + other.slope - 3 * (one.value - other.value) / width
    square = sum_of_slopes * sum_of_slopes - one.slope * other.slope
    if not square >= 0:
        return 0.5 * (left + right)
    root = math.sqrt(square)
    divisor = other.slope - one.slope + 2 * root
    if not divisor:
        return 0.5 * (left + right)
    share = (other.slope + root - sum_of_slopes) / divisor
    return min(max(other.step + width * share, left), right)
