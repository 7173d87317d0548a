"""Calls of the functions that `vtgrad.special` adds, as samples for tests of all.

Each is a function of tensors, beside the values that these have: such that the derivative by each
of them exists, on all sides of the places where a kernel changes its method.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import vtgrad as vt
from vtgrad import special

__all__ = ["ALIASES", "CALLS", "Call", "operands_of"]

Call = tuple[Callable[..., vt.Tensor], Sequence[Sequence[float]]]

_EVERYWHERE: Final = (-21.3, -2.4, -0.4, 0.0, 0.7, 3.1, 19.5, 24.0)
_ABOVE: Final = (0.3, 0.99, 1.4, 5.0, 24.0)
_BETWEEN: Final = (0.15, 0.4, 0.9)
_POLYNOMIALS: Final = [name for name in special.__all__ if "polynomial" in name]

# What is an operator of the tables under another name.
ALIASES: Final = {
    "expit": vt.sigmoid,
    "gammainc": vt.igamma,
    "gammaincc": vt.igammac,
    "gammaln": vt.lgamma,
    "modified_bessel_i0": vt.i0,
    "multigammaln": vt.mvlgamma,
    "psi": vt.digamma,
    **{
        name: getattr(vt, name)
        for name in (
            "digamma erf erfc erfinv exp2 expm1 i0 log1p log_softmax logit logsumexp polygamma "
            "round sinc softmax xlogy"
        ).split()
    },
}

CALLS: Final[Mapping[str, Call]] = {
    "airy_ai": (special.airy_ai, [(-12.5, -9.8, -1.0, 0.0, 2.0, 9.9, 10.4)]),
    "bessel_j0": (special.bessel_j0, [_EVERYWHERE]),
    "bessel_j1": (special.bessel_j1, [_EVERYWHERE]),
    "bessel_y0": (special.bessel_y0, [_ABOVE]),
    "bessel_y1": (special.bessel_y1, [_ABOVE]),
    "entr": (special.entr, [_BETWEEN]),
    "erfcx": (special.erfcx, [(-2.0, -0.3, 0.0, 0.5, 7.9, 8.3, 40.0)]),
    "i0e": (special.i0e, [(-23.0, -2.4, -0.4, 0.7, 21.0)]),
    "i1": (special.i1, [(-2.4, -0.4, 0.0, 0.7, 3.0)]),
    "i1e": (special.i1e, [(-23.0, -2.4, -0.4, 0.7, 21.0)]),
    "log_erfc": (special.log_erfc, [(-2.0, 0.0, 0.4, 0.6, 9.0)]),
    "log_ndtr": (special.log_ndtr, [(-9.0, -1.1, -0.5, 0.0, 2.0)]),
    "modified_bessel_i1": (special.modified_bessel_i1, [(-0.4, 2.5)]),
    "modified_bessel_k0": (special.modified_bessel_k0, [_ABOVE]),
    "modified_bessel_k1": (special.modified_bessel_k1, [_ABOVE]),
    "ndtr": (special.ndtr, [(-2.0, 0.0, 0.6)]),
    "ndtri": (special.ndtri, [_BETWEEN]),
    "scaled_modified_bessel_k0": (special.scaled_modified_bessel_k0, [_ABOVE]),
    "scaled_modified_bessel_k1": (special.scaled_modified_bessel_k1, [_ABOVE]),
    "spherical_bessel_j0": (special.spherical_bessel_j0, [_EVERYWHERE]),
    "xlog1py": (special.xlog1py, [(0.3, -2.0), (1.5, -0.4)]),
    "xlog1py with a number": (lambda x: special.xlog1py(-2, x), [(1.5, -0.4)]),
    "zeta": (lambda q: special.zeta(vt.tensor([2.0, 3.5]), q), [(0.3, 4.0)]),
    "zeta between poles": (lambda q: special.zeta(3, q), [(-2.6, -0.3)]),
    **{
        f"{name} of degree {n}": (
            lambda x, name=name, n=n: getattr(special, name)(x, n),
            [(-0.7, 0.2, 1.0, 1.7)],
        )
        for name in _POLYNOMIALS
        for n in (0, 4)
    },
}


def operands_of(name: str) -> list[vt.Tensor]:
    """The tensors of a call, of double precision."""
    return [vt.tensor(values, dtype=vt.float64) for values in CALLS[name][1]]
