"""Functions that are a polynomial between each two neighbouring points."""

from __future__ import annotations

from typing import NamedTuple

from vtgrad.later.searching import searchsorted
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.tensor import Tensor

__all__ = ["Pieces"]


class Pieces(NamedTuple):
    """Polynomials, each on the right of its break; the outer ones go on outside.

    Attributes
    ----------
    breaks : Tensor
        The places where pieces meet, and both ends: one more than there are pieces. A single one
        has one piece, too.
    coefficients : Tensor
        Of the powers of the distance from the break on the left, the highest first, for each piece,
        in columns.
    """

    breaks: Tensor
    coefficients: Tensor

    def at(self, places: Tensor, order: int = 0) -> Tensor:
        """The values, or those of a derivative: a row for each place of a vector."""
        last = self.coefficients.shape[1] - 1
        piece = searchsorted(F.detach(self.breaks), F.detach(places), right=True)
        piece = F.clamp(F.sub(piece, 1), 0, last)
        distance = F.unsqueeze(F.sub(places, F.index_select(self.breaks, 0, piece)), 1)
        return _polynomial(F.index_select(self.coefficients, 1, piece), distance, order)


def _polynomial(coefficients: Tensor, distance: Tensor, order: int) -> Tensor:
    """The derivative of polynomials, by Horner's rule."""
    found: Tensor | None = None
    degree = coefficients.shape[0] - 1
    for place in range(degree + 1 - order):
        power, factor = degree - place, 1
        for step in range(order):
            factor *= power - step
        term = F.select(coefficients, 0, place)
        term = F.mul(term, factor) if factor != 1 else term
        found = term if found is None else F.add(F.mul(found, distance), term)
    if found is None:
        return F.mul(F.select(coefficients, 0, 0), F.mul(distance, 0))
    # A constant, too, is nan where the place is.
    return F.add(found, F.mul(distance, 0)) if order == degree else found
