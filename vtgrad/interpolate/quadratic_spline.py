"""Quadratic splines through points, with breaks between them.

Note [The equations of a quadratic spline]

The breaks are the midpoints of neighbouring points, without the first and the last midpoint: so a
spline through n points has n - 2 pieces, each around one of the inner points. With the knots t,
which are the breaks with both ends three times, piece l lies between ``t[l]`` and ``t[l + 1]``, and
its polynomial depends on three coefficients c of B-splines, ::

    s(x) = p c[l - 2] + (1 - p - q) c[l - 1] + q c[l]
    p = (t[l + 1] - x)^2 / ((t[l + 1] - t[l - 1]) (t[l + 1] - t[l]))
    q = (x - t[l])^2 / ((t[l + 2] - t[l]) (t[l + 1] - t[l]))

At the inner points these are equations of three diagonals. The first and the last coefficient are
the first and the last value. See C. de Boor, "A Practical Guide to Splines", chapters X and XIII.
"""

from __future__ import annotations

from vtgrad.interpolate.pieces import Pieces
from vtgrad.interpolate.tridiagonal import solve_tridiagonal
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.tensor import Tensor

__all__ = ["quadratic_spline"]


def quadratic_spline(x: Tensor, y: Tensor) -> Pieces:
    """The quadratic spline through at least three points, with the values in columns.

    See Note [The equations of a quadratic spline].
    """
    count = x.shape[0]
    middles = F.mul(F.add(x[1:], x[:-1]), 0.5)
    first, last = x[:1], x[-1:]
    knots = F.cat([first, first, first, middles[1:-1], last, last, last])
    before, left = knots[1 : count - 1], knots[2:count]
    right, behind = knots[3 : count + 1], knots[4 : count + 2]
    width = F.sub(right, left)
    of_first = F.reciprocal(F.mul(F.sub(right, before), width))
    of_last = F.reciprocal(F.mul(F.sub(behind, left), width))
    inner = x[1:-1]
    p = F.mul(F.square(F.sub(right, inner)), of_first)
    q = F.mul(F.square(F.sub(inner, left)), of_last)
    zero = F.mul(first, 0)
    one = F.add(zero, 1)
    lower = F.cat([zero, p, zero])
    middle = F.cat([one, F.neg(F.sub(F.add(p, q), 1)), one])
    upper = F.cat([zero, q, zero])
    dtype = y._impl.array.dtype
    if dtype.kind == "c":
        lower, middle, upper = (F.to_dtype(band, dtype) for band in (lower, middle, upper))
    found = solve_tridiagonal(lower, middle, upper, y)
    low, mean, high = found[:-2], found[1:-1], found[2:]
    # The values at both breaks of a piece, and the point of Bezier between them.
    step = F.unsqueeze(width, 1)
    start = F.add(mean, F.mul(F.sub(low, mean), F.unsqueeze(F.mul(F.square(width), of_first), 1)))
    end = F.add(mean, F.mul(F.sub(high, mean), F.unsqueeze(F.mul(F.square(width), of_last), 1)))
    slope = F.div(F.mul(F.sub(mean, start), 2), step)
    bend = F.div(F.add(F.sub(start, F.mul(mean, 2)), end), F.square(step))
    breaks = F.cat([left, last])
    return Pieces(breaks, F.stack([bend, slope, start]))
