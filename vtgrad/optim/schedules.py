"""Schedules: functions of the step that say by which factor a rate is multiplied.

A schedule is a plain function without state. A loop assigns its value, which a recorded step reads:
``group["lr"] = rate * schedule(step)``.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from vtgrad.errors import ArgumentValueError

__all__ = [
    "Schedule",
    "cosine_schedule",
    "exponential_schedule",
    "linear_warmup",
    "one_cycle_schedule",
    "piecewise_schedule",
    "polynomial_schedule",
    "step_schedule",
    "warm_restarts_schedule",
]

#: The factor in a step, which is a number from 0 on.
Schedule: TypeAlias = Callable[[float], float]


def step_schedule(period: int, factor: float = 0.1) -> Schedule:
    """Multiply by a factor every so many steps.

    Parameters
    ----------
    period : int
        The number of steps.
    factor : float, default 0.1
        The factor.

    Returns
    -------
    callable
        The schedule.

    Examples
    --------
    >>> schedule = vt.optim.step_schedule(10, 0.5)
    >>> [schedule(step) for step in (0, 9, 10, 25)]
    [1.0, 1.0, 0.5, 0.25]
    """
    _check_positive(period=period)
    return lambda step: float(factor ** (step // period))


def exponential_schedule(factor: float) -> Schedule:
    """Multiply by a factor in each step.

    Parameters
    ----------
    factor : float
        The factor.

    Returns
    -------
    callable
        The schedule.

    Examples
    --------
    >>> schedule = vt.optim.exponential_schedule(0.5)
    >>> [schedule(step) for step in (0, 1, 3)]
    [1.0, 0.5, 0.125]
    """
    return lambda step: float(factor**step)


def cosine_schedule(steps: int, final: float = 0.0) -> Schedule:
    """Half a cosine, from 1 to the final factor, which stays.

    Parameters
    ----------
    steps : int
        The number of steps.
    final : float, default 0.0
        The factor from then on.

    Returns
    -------
    callable
        The schedule.

    Notes
    -----
    Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts" (2017), eq. 5.

    Examples
    --------
    >>> schedule = vt.optim.cosine_schedule(100)
    >>> [round(schedule(step), 3) for step in (0, 50, 100, 200)]
    [1.0, 0.5, 0.0, 0.0]
    """
    _check_positive(steps=steps)
    return lambda step: _cosine(1.0, final, min(step / steps, 1.0))


def warm_restarts_schedule(period: int, growth: float = 1.0, final: float = 0.0) -> Schedule:
    """Halves of a cosine, one after another.

    Parameters
    ----------
    period : int
        The number of steps of the first.
    growth : float, default 1.0
        How many times as long each is as the one before; at least 1.
    final : float, default 0.0
        The factor that each of them falls to.

    Returns
    -------
    callable
        The schedule.

    Notes
    -----
    Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts" (2017), eq. 5.

    Examples
    --------
    >>> schedule = vt.optim.warm_restarts_schedule(10, growth=2.0)
    >>> [round(schedule(step), 3) for step in (0, 5, 10, 20, 30)]
    [1.0, 0.5, 1.0, 0.5, 1.0]
    """
    _check_positive(period=period)
    if growth < 1:
        raise ArgumentValueError("growth must be at least 1", argument="growth")

    def schedule(step: float) -> float:
        begun, length = 0.0, float(period)
        if growth == 1:
            begun = step // length * length
        else:
            done = math.floor(math.log(step / length * (growth - 1) + 1, growth) + 1e-12)
            begun = length * (growth**done - 1) / (growth - 1)
            length *= growth**done
        return _cosine(1.0, final, (step - begun) / length)

    return schedule


def one_cycle_schedule(
    steps: int, warmup: float = 0.3, first: float = 1 / 25, last: float = 1 / 250_000
) -> Schedule:
    """Up by half a cosine, and down by another.

    Parameters
    ----------
    steps : int
        The number of all steps.
    warmup : float, default 0.3
        The share of them in which the factor grows to 1.
    first : float, default 1/25
        The first factor.
    last : float, default 1/250000
        The last factor, which stays.

    Returns
    -------
    callable
        The schedule. With the largest rate as the rate it is PyTorch's ``OneCycleLR``.

    Notes
    -----
    Smith and Topin, "Super-convergence: very fast training of neural networks using large learning
    rates" (2018).

    Examples
    --------
    >>> schedule = vt.optim.one_cycle_schedule(101, warmup=0.5, first=0.0, last=0.0)
    >>> [round(schedule(step), 2) for step in (0, 25, 49.5, 100)]
    [0.0, 0.51, 1.0, 0.0]
    """
    _check_positive(steps=steps)
    if not 0 <= warmup <= 1:
        raise ArgumentValueError("warmup is a share, from 0 to 1", argument="warmup")
    top = max(warmup * steps - 1, 0.0)
    end = max(steps - 1, 1)

    def schedule(step: float) -> float:
        if step <= top and top > 0:
            return _cosine(first, 1.0, step / top)
        return _cosine(1.0, last, min((step - top) / max(end - top, 1e-12), 1.0))

    return schedule


def linear_warmup(steps: int, first: float = 0.0, then: Schedule | None = None) -> Schedule:
    """Grow evenly to 1, and then follow another schedule.

    Parameters
    ----------
    steps : int
        The number of steps in which the factor grows.
    first : float, default 0.0
        The first factor.
    then : callable, optional
        The schedule of the steps behind these, which counts from 0; the factor stays 1 without.

    Returns
    -------
    callable
        The schedule.

    Examples
    --------
    >>> schedule = vt.optim.linear_warmup(4, then=vt.optim.exponential_schedule(0.5))
    >>> [schedule(step) for step in (0, 1, 4, 5)]
    [0.0, 0.25, 1.0, 0.5]
    """
    _check_positive(steps=steps)

    def schedule(step: float) -> float:
        if step < steps:
            return first + (1.0 - first) * step / steps
        return 1.0 if then is None else then(step - steps)

    return schedule


def polynomial_schedule(steps: int, power: float = 1.0, final: float = 0.0) -> Schedule:
    """Fall from 1 to the final factor by a power of the steps that are left.

    Parameters
    ----------
    steps : int
        The number of steps.
    power : float, default 1.0
        The power; 1 for a line.
    final : float, default 0.0
        The factor from then on.

    Returns
    -------
    callable
        The schedule.

    Examples
    --------
    >>> schedule = vt.optim.polynomial_schedule(4, power=2.0)
    >>> [schedule(step) for step in (0, 2, 4, 9)]
    [1.0, 0.25, 0.0, 0.0]
    """
    _check_positive(steps=steps)
    return lambda step: final + (1.0 - final) * (1.0 - min(step / steps, 1.0)) ** power


def piecewise_schedule(milestones: Sequence[float], factors: Sequence[float]) -> Schedule:
    """One factor up to a step, another from there on.

    Parameters
    ----------
    milestones : sequence of float
        The steps at which the factor changes, in ascending order.
    factors : sequence of float
        The factors, one more.

    Returns
    -------
    callable
        The schedule.

    Raises
    ------
    ArgumentValueError
        If the numbers do not fit, or the milestones do not ascend.

    Examples
    --------
    >>> schedule = vt.optim.piecewise_schedule([10, 20], [1.0, 0.5, 0.1])
    >>> [schedule(step) for step in (0, 10, 19, 20)]
    [1.0, 0.5, 0.5, 0.1]
    """
    places, values = list(milestones), [float(x) for x in factors]
    if len(values) != len(places) + 1:
        raise ArgumentValueError(
            f"{len(places)} milestones have {len(places) + 1} factors, not {len(values)}",
            argument="factors",
        )
    if places != sorted(set(places)):
        raise ArgumentValueError("milestones must ascend", argument="milestones")
    return lambda step: values[bisect.bisect_right(places, step)]


def _cosine(begin: float, end: float, share: float) -> float:
    return end + (begin - end) * (1.0 + math.cos(math.pi * share)) / 2.0


def _check_positive(**numbers: float) -> None:
    for name, value in numbers.items():
        if not value > 0:
            raise ArgumentValueError(f"{name} must be positive, not {value}", argument=name)
