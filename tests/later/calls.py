"""Calls of functions that are imported when a program first names them, as samples for tests.

Each is a function of tensors. Their values differ, so that no derivative is taken at a kink.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

import vtgrad as vt

__all__ = ["CALLS", "Call", "values"]

Call = tuple[Callable[..., object], Sequence[tuple[int, ...]]]


def values(shape: tuple[int, ...], nr: int = 0, *, complex: bool = False) -> vt.Tensor:
    """Values between -2 and 2, no two of which are near each other."""
    generator = np.random.default_rng(nr)
    size = int(np.prod(shape))
    found = generator.permutation(np.linspace(-2, 2, size) + 0.01 * nr).reshape(shape)
    if complex:
        found = found + 1j * generator.permutation(found.reshape(-1)).reshape(shape)
    return vt.tensor(found)


# By name: a call, and the shapes of the tensors that it takes.
CALLS: Final[Mapping[str, Call]] = {
    "corrcoef": (vt.corrcoef, [(3, 5)]),
    "cov": (vt.cov, [(3, 5)]),
    "cov of one variable": (lambda x: x.cov(correction=0), [(5,)]),
    "bincount": (lambda w: vt.bincount(vt.tensor([0, 2, 2, 1]), w), [(4,)]),
    "cdist": (vt.cdist, [(2, 3), (4, 3)]),
    "cdist that counts": (
        lambda x, y: vt.cdist(x, y, 0) + vt.pdist(x, 0).sum() + x.sum(),
        [(2, 3), (4, 3)],
    ),
    "cdist of many sets": (lambda x, y: vt.cdist(x, y, p=3), [(2, 3, 2), (1, 2, 2)]),
    "cdist with the largest difference": (lambda x, y: vt.cdist(x, y, vt.inf), [(2, 3), (4, 3)]),
    "constant_pad_nd": (lambda x: vt.constant_pad_nd(x, (1, -1, 2, 0), 3.0), [(3, 3)]),
    "convolve": (vt.convolve, [(5,), (3,)]),
    "convolve in the length of the longer": (lambda a, v: vt.convolve(a, v, "same"), [(2,), (5,)]),
    "correlate": (lambda a, v: vt.correlate(a, v, "full"), [(5,), (3,)]),
    "correlate the longer with the shorter": (vt.correlate, [(2,), (5,)]),
    "cosine_similarity": (lambda x, y: vt.cosine_similarity(x, y, 0), [(3, 2), (3, 2)]),
    "cumulative_trapezoid": (lambda y, x: vt.cumulative_trapezoid(y, x, dim=0), [(4, 2), (4,)]),
    "cumulative_trapezoid of distances": (lambda y: vt.cumulative_trapezoid(y, dx=2.0), [(2, 4)]),
    "gradient": (lambda x: vt.gradient(x, spacing=0.5), [(4, 3)]),
    "gradient by places": (
        lambda x, p: vt.gradient(x, spacing=(p,), dim=1, edge_order=2),
        [(2, 5), (5,)],
    ),
    "gradient of second order": (lambda x: vt.gradient(x, dim=0, edge_order=2), [(4, 3)]),
    "histogram": (
        lambda w: vt.histogram(values((5,)), 3, weight=w * w + 1, density=True).hist,
        [(5,)],
    ),
    "histogramdd": (lambda w: vt.histogramdd(values((5, 2)), [2, 3], weight=w).hist, [(5,)]),
    "interp": (
        lambda x, fp: vt.interp(x, vt.tensor([-1.5, -0.3, 0.7, 1.9], dtype=vt.float64), fp),
        [(3, 2), (4,)],
    ),
    "interp between points": (
        lambda x, xp, fp: vt.interp(x, vt.cumsum(xp * xp + 0.3, 0) - 2, fp, left=0.0),
        [(5,), (4,), (4,)],
    ),
    "interp with a period": (
        lambda x, fp: vt.interp(x, vt.tensor([0.1, 2.5, 1.7], dtype=vt.float64), fp, period=3.0),
        [(4,), (3,)],
    ),
    "kthvalue": (lambda x: vt.kthvalue(x, 2, 0), [(3, 4)]),
    "mode": (lambda x: vt.mode(x), [(3, 4)]),
    "msort": (vt.msort, [(4, 3)]),
    "nanmedian": (lambda x: vt.nanmedian(x, 1), [(3, 4)]),
    "pad": (lambda x: vt.pad(x, (2, 1, 1, 2), "reflect"), [(3, 4)]),
    "pad in a circle": (lambda x: vt.pad(x, (2, -1), "circular"), [(3, 4)]),
    "pad with the edge": (lambda x: vt.pad(x, (2, 1, -1, 2), "replicate"), [(3, 4)]),
    "pad with a number": (lambda x: vt.pad(x, (2, -1), value=5), [(3, 4)]),
    "pairwise_distance": (lambda x, y: vt.pairwise_distance(x, y, 3, keepdim=True), [(2, 3), (3,)]),
    "pdist": (vt.pdist, [(4, 3)]),
    "pdist by one": (lambda x: vt.pdist(x, 1), [(4, 3)]),
    "trapezoid": (lambda y, x: vt.trapezoid(y, x), [(3, 4), (3, 4)]),
    "trapezoid of places": (lambda y, x: vt.trapezoid(y, x, dim=0), [(4, 3), (4,)]),
    "trapezoid of distances": (lambda y: vt.trapz(y, dx=0.5), [(3, 4)]),
    "quantile of all": (lambda x: vt.quantile(x, 0.3), [(3, 5)]),
    "quantile of rows": (lambda x, q: x.quantile(q * 0 + 0.4, 1, keepdim=True), [(3, 5), ()]),
    "quantile by many parts": (lambda x, q: vt.quantile(x, q / 8 + 0.41, 0), [(3, 5), (3,)]),
    "quantile below": (lambda x: vt.quantile(x, 0.3, 0, interpolation="lower"), [(3, 5)]),
    "quantile between": (lambda x: vt.quantile(x, 0.3, 0, interpolation="midpoint"), [(3, 5)]),
    "nanquantile": (
        lambda x: vt.nanquantile(x.masked_fill(vt.tensor([1, 0, 0, 0]) == 1, vt.nan), 0.3, 1),
        [(3, 4)],
    ),
    "cov with weights": (
        lambda x, w: vt.cov(x, fweights=vt.tensor([1, 2, 1, 3]), aweights=w * w + 1),
        [(2, 4), (4,)],
    ),
}
