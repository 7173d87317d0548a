"""Comparing derivatives along one random direction for each input.

Note [Fast mode]

For each output a random gradient `u` is chosen, and for each input a random direction `v`. The
product ``u' J v`` with the Jacobian `J` is found twice: by one backward, and by two calls of the
function, whatever the number of elements. If every entry of `J` may differ by `atol`, with any
sign, the products differ by about ``atol |u| |v|``. A tenth of the tolerances is allowed: one
number stands for all entries, and what is wrong with one of them is diluted by the others. Where
the two numbers disagree, the entries are compared one by one; these have the last word, so a check
that is too narrow costs time only, and they tell which of them is wrong.
"""

from __future__ import annotations

from typing import Final, cast

import numpy as np

from vtgrad.autograd.gradcheck.analytical import Recorded
from vtgrad.autograd.gradcheck.consistency import check_linear, check_same_twice
from vtgrad.autograd.gradcheck.directions import cotangents_of, direction_like
from vtgrad.autograd.gradcheck.numerical import along_direction
from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["agrees_along_directions"]

# The part of the tolerances in which a right gradient stays, by far: numeric derivatives in double
# precision are right to some 1e-8.
_SHARE: Final = 0.1


def agrees_along_directions(recorded: Recorded) -> bool:
    """Whether the derivatives agree along random directions, see Note [Fast mode].

    Raises
    ------
    GradcheckError
        If backward is not linear, or not the same twice.
    """
    cotangents = cotangents_of(recorded)
    gradients = {nr: recorded.gradients({nr: w}) for nr, w in cotangents.items()}
    if not _derivatives_agree(recorded, cotangents, gradients):
        return False
    # Twice and backwards: an answer that is not linear in what arrives shows.
    others = {nr: -2 * w for nr, w in cotangents.items()}
    found = recorded.gradients(others)
    columns = list(zip(*gradients.values(), strict=True))
    expected = [making.asarray(-2 * sum(g for g in column if g is not None)) for column in columns]
    scales = [
        making.asarray(2 * sum(np.abs(g) for g in column if g is not None)) for column in columns
    ]
    check_linear(recorded, found, expected, scales)
    check_same_twice(recorded, others, found)
    return True


def _derivatives_agree(
    recorded: Recorded, cotangents: dict[int, Array], gradients: dict[int, list[Array | None]]
) -> bool:
    """Compare the products, for each input and output."""
    subject, settings = recorded.subject, recorded.settings
    shapes = [tuple(y.shape) for y in recorded.outputs]
    for number, x in enumerate(subject.inputs):
        direction = direction_like(tuple(x.shape), 1000 + number, is_complex=x.is_complex())
        direction = direction / max(1.0, float(np.linalg.norm(direction)))
        changes, taken = along_direction(subject, number, direction, shapes, settings.eps)
        for nr, weights in cotangents.items():
            gradient = gradients[nr][number]
            with np.errstate(all="ignore"):
                numeric = _inner(weights, changes[nr])
                analytic = 0.0 if gradient is None else _inner(gradient, taken)
                spread = float(np.linalg.norm(weights) * np.linalg.norm(taken))
                allowed = _SHARE * (settings.atol * spread + settings.rtol * abs(numeric))
            if not abs(analytic - numeric) <= allowed:
                return False
    return True


def _inner(a: Array, b: Array) -> float:
    """The inner product of pairs of real numbers."""
    return cast("float", np.vdot(a, b).real.item())
