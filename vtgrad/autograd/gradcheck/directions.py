"""Random directions and gradients; the same ones each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape

if TYPE_CHECKING:
    from vtgrad.autograd.gradcheck.analytical import Recorded

__all__ = ["cotangents_of", "direction_like"]

_SEED: Final = 20


def cotangents_of(recorded: Recorded) -> dict[int, Array]:
    """Random gradients of all outputs that require grad."""
    return {
        nr: direction_like(
            tuple(recorded.outputs[nr].shape), nr, is_complex=recorded.outputs[nr].is_complex()
        )
        for nr in recorded.numbers
    }


def direction_like(shape: Shape, nr: int, *, is_complex: bool) -> Array:
    """Normal numbers in double precision.

    They come from a generator of their own: random numbers of the program stay as they are, and
    a check says the same each time.

    Parameters
    ----------
    shape : tuple of int
        Of the result.
    nr : int
        Results of different numbers are independent.
    is_complex : bool
        Whether there are imaginary parts.
    """
    generator = np.random.default_rng((_SEED, nr))
    values: Array = making.asarray(generator.standard_normal(shape))
    if is_complex:
        values = values + 1j * generator.standard_normal(shape)
    return making.asarray(values)
