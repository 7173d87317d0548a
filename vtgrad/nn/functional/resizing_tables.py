"""Which elements each element of a resized dimension is made of, and how much of each.

The formulas are those of image resizing: positions between pixels that are squares of side 1
(``align_corners=False``) or points (``align_corners=True``), straight lines between neighbours, and
the cubic convolution of R. Keys, "Cubic convolution interpolation for digital image processing",
IEEE Trans. ASSP 29 (1981), equation 15, with a = -0.75, or -0.5 with antialiasing. Antialiasing
widens the kernel by the factor of shrinking.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.nn.functional.resampling import Resampling
from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["antialiased", "cubic", "linear_between", "nearest"]

_CUBIC: Final = -0.75
_CUBIC_ANTIALIASED: Final = -0.5


def nearest(size: int, out: int, scale: float | None, exact: bool, is_double: bool) -> Array:
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
    numpy.ndarray
        For each place, the element.
    """
    step = size / out if scale is None else 1 / scale
    # PyTorch rounds to single precision, which decides ties: positions if the elements are in
    # double precision, the distance of two places otherwise.
    at = making.arange(out) + (0.5 if exact else 0.0)
    if is_double:
        at = (at * step).astype(np.float32)
    else:
        at = at.astype(np.float32) * np.float32(step)
    found: Array = np.minimum(np.floor(at).astype(np.int64), size - 1)
    return found


def linear_between(size: int, out: int, scale: float | None, align_corners: bool) -> Resampling:
    """The two neighbours of each place, by their distances."""
    at = np.maximum(_positions(size, out, scale, align_corners), 0)
    left = np.minimum(at.astype(np.int64), size - 1)
    part = np.clip(at - left, 0, 1)
    right = np.minimum(left + 1, size - 1)
    return _table(size, np.stack([left, right]), np.stack([1 - part, part]))


def cubic(size: int, out: int, scale: float | None, align_corners: bool) -> Resampling:
    """The four neighbours of each place, by the cubic kernel; outside is the last element."""
    at = _positions(size, out, scale, align_corners)
    left = np.floor(at).astype(np.int64)
    shifts = making.arange(-1, 3).reshape(-1, 1)
    places = np.clip(left + shifts, 0, size - 1)
    return _table(size, places, _keys(at - left - shifts, _CUBIC))


def antialiased(
    size: int, out: int, scale: float | None, align_corners: bool, is_cubic: bool
) -> Resampling:
    """The neighbours of each place under a kernel that is wider if there are fewer places."""
    step = _step(size, out, scale, align_corners)
    wide = max(step, 1.0)
    reach = (2.0 if is_cubic else 1.0) * wide
    middle = (making.arange(out) + 0.5) * step
    first = np.maximum((middle - reach + 0.5).astype(np.int64), 0)
    end = np.minimum((middle + reach + 0.5).astype(np.int64), size)
    places = first + making.arange(int(2 * reach) + 2).reshape(-1, 1)
    away = (places - middle + 0.5) / wide
    weights = _keys(away, _CUBIC_ANTIALIASED) if is_cubic else np.maximum(0, 1 - np.abs(away))
    weights = np.where(places < end, weights, 0.0)
    total = weights.sum(0)
    return _table(size, places, weights / np.where(total == 0, 1.0, total))


def _step(size: int, out: int, scale: float | None, align_corners: bool) -> float:
    """How far two places are from each other."""
    if align_corners:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return size / out if scale is None else 1.0 / scale


def _positions(size: int, out: int, scale: float | None, align_corners: bool) -> Array:
    """Where each place is among the elements."""
    step = _step(size, out, scale, align_corners)
    places = making.arange(out)
    return places * step if align_corners else (places + 0.5) * step - 0.5


def _table(size: int, places: Array, weights: Array) -> Resampling:
    """The entries, given by neighbour and place, without those of weight 0."""
    out = places.shape[1]
    targets = making.broadcast_to(making.arange(out), places.shape)
    kept = weights != 0
    return Resampling(out, size, targets[kept], places[kept], weights[kept])


def _keys(x: Array, a: float) -> Array:
    """The cubic kernel at distances."""
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    found: Array = np.where(x <= 1, near, np.where(x < 2, far, 0.0))
    return found
