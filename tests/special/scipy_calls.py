"""Calls of the functions of `vtgrad.special` that need SciPy, as samples for tests of all.

Each is a function of tensors, beside the values of these: vectors of one length.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import vtgrad as vt
from vtgrad import special

__all__ = ["COMPLEX_CALLS", "SCIPY_CALLS", "Call", "operands_of", "results_of"]

Values: TypeAlias = Sequence[tuple[float, ...]]
Call: TypeAlias = tuple[Callable[..., object], Values]

_ABOVE: Final = (0.3, 1.1, 2.7)
_BETWEEN: Final = (0.2, 0.55, 0.9)
_AROUND: Final = (-1.4, 0.3, 2.2)
_ORDERS: Final = (0, 1, 3)
# Of the elliptic integrals: below, at and above what the two kinds of turns have in common.
_ANGLES: Final = (-4.0, 0.5, 1.4)
_PARAMETERS: Final = (-2.0, 0.0, 0.8)


def _with(name: str, *front: object, **options: object) -> Callable[..., object]:
    """A function of the last arguments; before them numbers, and tuples for constant tensors."""

    def call(*tensors: vt.Tensor) -> object:
        # A recording has to see how they are made.
        constants = [vt.tensor(x) if isinstance(x, tuple) else x for x in front]
        found: object = getattr(special, name)(*constants, *tensors, **options)
        return found

    return call


SCIPY_CALLS: Final[Mapping[str, Call]] = {
    "airy": (special.airy, [_AROUND]),
    "bdtr": (_with("bdtr", 1.4, 4), [_BETWEEN]),
    "bdtrc": (_with("bdtrc", 1, 4), [_BETWEEN]),
    "bdtri": (_with("bdtri", 1, 4), [_BETWEEN]),
    "beta": (special.beta, [_ABOVE, _BETWEEN]),
    "betainc": (_with("betainc", 1.5, (0.7, 20.0, 1.0)), [_BETWEEN]),
    "betainc of the arcsine distribution": (_with("betainc", 0.5, 0.5), [_BETWEEN]),
    "betainc with one large parameter": (_with("betainc", 15, 2.5), [_BETWEEN]),
    "betaincc": (_with("betaincc", 15.0, (0.7, 20.0, 1.0)), [_BETWEEN]),
    "betainccinv": (_with("betainccinv", 1.5, 2.5), [_BETWEEN]),
    "betaincinv": (_with("betaincinv", 1.5, 2.5), [_BETWEEN]),
    "betaln": (special.betaln, [_ABOVE, _BETWEEN]),
    "binom": (special.binom, [(3.3, 5.1, 7.7), _ABOVE]),
    "boxcox": (special.boxcox, [_ABOVE, _AROUND]),
    "boxcox near its logarithm": (special.boxcox, [_ABOVE, (0.0, 1e-9, 0.1)]),
    "boxcox1p": (special.boxcox1p, [_ABOVE, _AROUND]),
    "cbrt": (special.cbrt, [_AROUND]),
    "chdtr": (_with("chdtr", 3), [_ABOVE]),
    "chdtrc": (_with("chdtrc", 3), [_ABOVE]),
    "chdtri": (_with("chdtri", 3), [_BETWEEN]),
    "cosm1": (special.cosm1, [_AROUND]),
    "dawsn": (special.dawsn, [(-8.0, 0.3, 2.2)]),
    "ellipe": (special.ellipe, [_PARAMETERS]),
    "ellipeinc": (special.ellipeinc, [_ANGLES, _PARAMETERS]),
    "ellipj": (lambda u: special.ellipj(u, 0.4), [_AROUND]),
    "ellipk": (special.ellipk, [_PARAMETERS]),
    "ellipkinc": (special.ellipkinc, [_ANGLES, _PARAMETERS]),
    "ellipkm1": (special.ellipkm1, [(0.1, 1.0, 3.0)]),
    "erfcinv": (special.erfcinv, [(0.1, 0.9, 1.7)]),
    "erfi": (special.erfi, [_AROUND]),
    "exp1": (special.exp1, [_ABOVE]),
    "exp10": (special.exp10, [_AROUND]),
    "expi": (special.expi, [_AROUND]),
    "expn": (_with("expn", (0, 1, 4)), [_ABOVE]),
    "exprel": (special.exprel, [(-3.0, 0.0, 0.5)]),
    "fdtr": (_with("fdtr", 2.5, 30.0), [_ABOVE]),
    "fdtrc": (_with("fdtrc", 2.5, 3), [_ABOVE]),
    "fdtri": (_with("fdtri", 2.5, 3.0), [_BETWEEN]),
    "fresnel": (special.fresnel, [_AROUND]),
    "gamma": (special.gamma, [(-1.5, 0.4, 3.2)]),
    "gammainccinv": (_with("gammainccinv", 15), [_BETWEEN]),
    "gammaincinv": (_with("gammaincinv", 1.5), [_BETWEEN]),
    "gdtr": (lambda a, x: special.gdtr(a, 2.5, x), [_BETWEEN, _ABOVE]),
    "gdtrc": (lambda a, x: special.gdtrc(a, 2.5, x), [_BETWEEN, _ABOVE]),
    "huber": (special.huber, [(1.0, 1.0, 1.5), _AROUND]),
    "hyp0f1": (_with("hyp0f1", 1.5), [_AROUND]),
    "hyp1f1": (_with("hyp1f1", 1.5, 2.5), [_AROUND]),
    "hyp2f1": (_with("hyp2f1", 0.5, 1.5, 2.2), [(-2.0, 0.3, 0.8)]),
    "hyperu": (_with("hyperu", 0.5, 1.5), [_ABOVE]),
    "inv_boxcox": (special.inv_boxcox, [_BETWEEN, _ABOVE]),
    "inv_boxcox near its exponential": (special.inv_boxcox, [_ABOVE, (0.0, 1e-5, 0.1)]),
    "inv_boxcox1p": (special.inv_boxcox1p, [_BETWEEN, _ABOVE]),
    "iv": (_with("iv", 0.5), [_ABOVE]),
    "ive": (_with("ive", 0.5), [(0.3, 2.0, 30.0)]),
    "ive of order 0": (_with("ive", 0), [_AROUND]),
    "jn": (_with("jn", _ORDERS), [_ABOVE]),
    "jv": (_with("jv", 1.5), [_ABOVE]),
    "kl_div": (special.kl_div, [_ABOVE, _BETWEEN]),
    "kn": (_with("kn", _ORDERS), [_ABOVE]),
    "kv": (_with("kv", 2.5), [_ABOVE]),
    "kve": (_with("kve", 0.5), [(0.3, 2.0, 30.0)]),
    "lambertw": (special.lambertw, [(-0.3, 0.1, 4.0)]),
    "lambertw on another branch": (lambda z: special.lambertw(z, -1), [(-0.3, -0.1, 4.0)]),
    "log_expit": (special.log_expit, [_AROUND]),
    "loggamma": (special.loggamma, [_ABOVE]),
    "nbdtr": (_with("nbdtr", 1, 4), [_BETWEEN]),
    "nbdtrc": (_with("nbdtrc", 1, 4), [_BETWEEN]),
    "owens_t": (special.owens_t, [_AROUND, _ABOVE]),
    "pdtr": (_with("pdtr", 2.4), [_ABOVE]),
    "pdtrc": (_with("pdtrc", 2), [_ABOVE]),
    "pdtri": (_with("pdtri", 2), [_BETWEEN]),
    "poch": (special.poch, [_ABOVE, _BETWEEN]),
    "pseudo_huber": (special.pseudo_huber, [(1.0, 1.0, 1.5), _AROUND]),
    "rel_entr": (special.rel_entr, [_ABOVE, _BETWEEN]),
    "rgamma": (special.rgamma, [(-1.5, 0.4, 3.2)]),
    "rgamma at a pole of the gamma function": (special.rgamma, [(-2.0, 0.0, -5.0)]),
    "shichi": (special.shichi, [_ABOVE]),
    "sici": (special.sici, [_ABOVE]),
    "softplus": (special.softplus, [_AROUND]),
    "spherical_in": (_with("spherical_in", _ORDERS), [_ABOVE]),
    "spherical_in derived": (_with("spherical_in", _ORDERS, derivative=True), [_ABOVE]),
    "spherical_jn": (_with("spherical_jn", _ORDERS), [_ABOVE]),
    "spherical_jn derived": (_with("spherical_jn", _ORDERS, derivative=True), [_ABOVE]),
    "spherical_kn": (_with("spherical_kn", _ORDERS), [_ABOVE]),
    "spherical_kn derived": (_with("spherical_kn", _ORDERS, derivative=True), [_ABOVE]),
    "spherical_yn": (_with("spherical_yn", _ORDERS), [_ABOVE]),
    "spherical_yn derived": (_with("spherical_yn", _ORDERS, derivative=True), [_ABOVE]),
    "stdtr": (_with("stdtr", 2.5), [_AROUND]),
    "stdtrit": (_with("stdtrit", 2.5), [_BETWEEN]),
    "voigt_profile": (
        special.voigt_profile,
        [(-8.0, 0.3, 2.2), (0.5, 1.0, 0.9), (0.3, 0.1, 0.7)],
    ),
    "wofz": (special.wofz, [(-8.0, 0.3, 2.2)]),
    "wrightomega": (special.wrightomega, [_AROUND]),
    "yn": (_with("yn", _ORDERS), [_ABOVE]),
    "yv": (_with("yv", 0.5), [_ABOVE]),
}

_PLANE: Final = (0.3 + 0.2j, 1 - 1j, 2 + 1j)

# Analytic functions, at complex places.
COMPLEX_CALLS: Final[Mapping[str, tuple[Callable[..., object], tuple[complex, ...]]]] = {
    **{
        name: (getattr(special, name), _PLANE)
        for name in ("airy", "dawsn", "erfi", "exp1", "expi", "fresnel", "shichi", "sici")
    },
    **{name: (_with(name, 1.5), _PLANE) for name in ("hyp0f1", "iv", "jv", "kv", "kve", "yv")},
    "hyp1f1": (_with("hyp1f1", 0.5, 1.5), _PLANE),
    "hyp2f1": (_with("hyp2f1", 0.5, 1.5, 2.2), (0.3 + 0.2j, 0.1 - 0.7j)),
    "lambertw": (lambda z: special.lambertw(z, 1), (0.3 + 0.2j, -1 - 1j, 7 + 1j)),
    "spherical_in": (_with("spherical_in", _ORDERS), _PLANE),
    "spherical_jn": (_with("spherical_jn", _ORDERS), _PLANE),
    "spherical_kn": (_with("spherical_kn", _ORDERS), _PLANE),
    "spherical_yn": (_with("spherical_yn", _ORDERS), _PLANE),
    # In each of the zones of Note [Derivatives of the Faddeeva function].
    "wofz": (special.wofz, (0.3 + 0.2j, -1 - 1j, 7 + 1j, 3 + 0.1j, 2.1 - 1.5j, 10.4 - 0.001j)),
    "wrightomega": (special.wrightomega, (0.3 + 0.2j, -1 - 1j, 7 + 1j)),
}


def operands_of(name: str) -> list[vt.Tensor]:
    """The tensors of a call, of double precision."""
    return [vt.tensor(values, dtype=vt.float64) for values in SCIPY_CALLS[name][1]]


def results_of(name: str, *tensors: vt.Tensor) -> tuple[vt.Tensor, ...]:
    """The results of a call."""
    found = SCIPY_CALLS[name][0](*tensors)
    return _as_tuple(found)


def _as_tuple(found: object) -> tuple[vt.Tensor, ...]:
    results = found if isinstance(found, tuple) else (found,)
    return tuple([x for x in results if isinstance(x, vt.Tensor)])
