"""Which elements each element of a resized dimension is made of, and how much of each.

The formulas are those of image resizing: positions between pixels that are squares of side 1
(``align_corners=False``) or points (``align_corners=True``), straight lines between neighbours, and
the cubic convolution of R. Keys, "Cubic convolution interpolation for digital image processing",
IEEE Trans. ASSP 29 (1981), equation 15, with a = -0.75, or -0.5 with antialiasing. Antialiasing
widens the kernel by the factor of shrinking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from vtgrad.nn.functional.resampling import Resampling

__all__ = ["antialiased", "cubic", "cubic_weights", "linear_between", "nearest"]

_CUBIC: Final = -0.75
_CUBIC_ANTIALIASED: Final = -0.5


def nearest(
    size: int, out: int, scale: float | None, exact: bool, is_double: bool
) -> tuple[int, ...]:
    """Which element is nearest to the beginning of each place, or to its middle if `exact`.

    Parameters
    ----------
    size, out : int
        How many elements there are, and how many there will be.
    scale : float or None
        The factor that the caller has given, which may differ from ``out / size``.
    is_double : bool
        Whether the elements are in double precision.

    Returns
    -------
    tuple of int
        For each place, the element.
    """
    step = size / out if scale is None else 1 / scale
    # PyTorch rounds to single precision, which decides ties: positions if the elements are in
    # double precision, the distance of two places otherwise.
    shift = 0.5 if exact else 0.0
    if is_double:
        at = [np.float32((o + shift) * step) for o in range(out)]
    else:
        at = [(np.float32(o) + np.float32(shift)) * np.float32(step) for o in range(out)]
    return tuple([min(math.floor(x), size - 1) for x in at])


def linear_between(size: int, out: int, scale: float | None, align_corners: bool) -> Resampling:
    """The two neighbours of each place, by their distances."""
    entries = []
    for o, at in enumerate(_positions(size, out, scale, align_corners)):
        at = max(at, 0.0)
        left = min(int(at), size - 1)
        part = min(max(at - left, 0.0), 1.0)
        entries.append((o, left, 1 - part))
        entries.append((o, min(left + 1, size - 1), part))
    return _table(size, out, entries)


def cubic(size: int, out: int, scale: float | None, align_corners: bool) -> Resampling:
    """The four neighbours of each place, by the cubic kernel; outside is the last element."""
    entries = []
    for o, at in enumerate(_positions(size, out, scale, align_corners)):
        left = math.floor(at)
        for k, weight in enumerate(cubic_weights(at - left)):
            entries.append((o, min(max(left - 1 + k, 0), size - 1), weight))
    return _table(size, out, entries)


def cubic_weights(part: float) -> tuple[float, float, float, float]:
    """The weights of four neighbours, for a place at this distance from the second one."""
    return (
        _keys(1 + part, _CUBIC),
        _keys(part, _CUBIC),
        _keys(1 - part, _CUBIC),
        _keys(2 - part, _CUBIC),
    )


def antialiased(
    size: int, out: int, scale: float | None, align_corners: bool, is_cubic: bool
) -> Resampling:
    """The neighbours of each place under a kernel that is wider if there are fewer places."""
    kernel: Callable[[float], float] = _keys_antialiased if is_cubic else _tent
    step = _step(size, out, scale, align_corners)
    wide = max(step, 1.0)
    reach = (2.0 if is_cubic else 1.0) * wide
    entries = []
    for o in range(out):
        middle = step * (o + 0.5)
        first = max(int(middle - reach + 0.5), 0)
        end = min(int(middle + reach + 0.5), size)
        weights = [kernel((place - middle + 0.5) / wide) for place in range(first, end)]
        total = math.fsum(weights)
        for place, weight in zip(range(first, end), weights, strict=True):
            entries.append((o, place, weight / total if total else weight))
    return _table(size, out, entries)


def _step(size: int, out: int, scale: float | None, align_corners: bool) -> float:
    """How far two places are from each other."""
    if align_corners:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return size / out if scale is None else 1.0 / scale


def _positions(size: int, out: int, scale: float | None, align_corners: bool) -> Iterator[float]:
    """Where each place is among the elements."""
    step = _step(size, out, scale, align_corners)
    for o in range(out):
        yield step * o if align_corners else step * (o + 0.5) - 0.5


def _table(size: int, out: int, entries: list[tuple[int, int, float]]) -> Resampling:
    """The entries without those of weight 0."""
    kept = [entry for entry in entries if entry[2]]
    targets, sources = tuple([e[0] for e in kept]), tuple([e[1] for e in kept])
    return Resampling(out, size, targets, sources, tuple([e[2] for e in kept]))


def _keys(x: float, a: float) -> float:
    """The cubic kernel at a distance."""
    x = abs(x)
    if x <= 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a if x < 2 else 0.0


def _keys_antialiased(x: float) -> float:
    return _keys(x, _CUBIC_ANTIALIASED)


def _tent(x: float) -> float:
    return max(0.0, 1.0 - abs(x))
