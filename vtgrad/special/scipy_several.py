"""Functions of SciPy with several results, each a function of elements of its own."""

from __future__ import annotations

from math import pi
from typing import Final

import numpy as np

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.elementwise import Elementwise, Kernel
from vtgrad.special.scipy_function import ScipyFunction, scipy_special
from vtgrad.special.scipy_spherical import SPHERICAL_IN, SPHERICAL_JN
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number
from vtgrad.tensor.tensor import Tensor

__all__ = ["airy", "ellipj", "fresnel", "shichi", "sici"]


@explained
def airy(z: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return Airy functions and their derivatives.

    The values are those of `scipy.special.airy`.

    Parameters
    ----------
    z : Tensor
        The argument, real or complex.

    Returns
    -------
    Ai, Aip : Tensor
        The Airy function Ai and its derivative.
    Bi, Bip : Tensor
        The Airy function Bi and its derivative.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> vt.special.airy(vt.tensor(1.0))
    (tensor(0.1353), tensor(-0.1591), tensor(1.2074), tensor(0.9324))
    """
    return _AI(z), _AI_SLOPE(z), _BI(z), _BI_SLOPE(z)


@explained
def ellipj(u: Tensor | Number, m: Tensor | Number) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return Jacobi's elliptic functions and their amplitude.

    The values are those of `scipy.special.ellipj`. There are derivatives by `u` only.

    Parameters
    ----------
    u : Tensor or number
        The argument.
    m : Tensor or number
        The parameter, from 0 to 1. One of the two is a tensor.

    Returns
    -------
    sn, cn, dn : Tensor
        The elliptic functions.
    ph : Tensor
        The amplitude.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    NotSupportedError
        If `m` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.ellipj(vt.tensor(1.0), 0.5)
    (tensor(0.8030), tensor(0.5960), tensor(0.8232), tensor(0.9323))
    """
    return _SN(u, m), _CN(u, m), _DN(u, m), _PH(u, m)


@explained
def fresnel(z: Tensor) -> tuple[Tensor, Tensor]:
    """Return Fresnel's integrals of the sine and the cosine of ``pi t**2 / 2``.

    The values are those of `scipy.special.fresnel`.

    Parameters
    ----------
    z : Tensor
        The argument, real or complex.

    Returns
    -------
    S : Tensor
        The integral of the sine from 0 to `z`.
    C : Tensor
        The integral of the cosine from 0 to `z`.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> vt.special.fresnel(vt.tensor(1.0))
    (tensor(0.4383), tensor(0.7799))
    """
    return _FRESNEL_S(z), _FRESNEL_C(z)


@explained
def shichi(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the hyperbolic sine and cosine integrals.

    The values are those of `scipy.special.shichi`.

    Parameters
    ----------
    x : Tensor
        The argument, real or complex.

    Returns
    -------
    shi : Tensor
        The hyperbolic sine integral.
    chi : Tensor
        The hyperbolic cosine integral.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> vt.special.shichi(vt.tensor(1.0))
    (tensor(1.0573), tensor(0.8379))
    """
    return _SHI(x), _CHI(x)


@explained
def sici(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sine and cosine integrals.

    The values are those of `scipy.special.sici`.

    Parameters
    ----------
    x : Tensor
        The argument, real or complex.

    Returns
    -------
    si : Tensor
        The sine integral.
    ci : Tensor
        The cosine integral.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> vt.special.sici(vt.tensor(1.0))
    (tensor(0.9461), tensor(0.3374))
    """
    return _SI(x), _CI(x)


# -- values and derivatives ----------------------------------------------------------------


def _part(name: str, nr: int) -> Kernel:
    """One result of a ufunc."""

    def kernel(*arrays: Array) -> Array:
        found: Array = making.asarray(getattr(scipy_special(name), name)(*arrays)[nr])
        return found

    return kernel


def _quarter_turns(z: Array) -> Array:
    """``pi / 2 * z**2``, for large values without whole turns, so that its sine is exact.

    The square is taken with twice as many digits (T. Dekker, "A floating-point technique for
    extending the available precision", 1971).
    """
    if z.dtype.kind == "c":
        result: Array = pi / 2 * z * z
        return result
    high = z * 134217729.0
    high = high - (high - z)
    low = z - high
    square = z * z
    rest = ((high * high - square) + 2 * high * low) + low * low
    turned: Array = pi / 2 * (np.fmod(square, 4) + rest)
    # Beyond 2**52 squares are multiples of 4, and larger values overflow.
    return np.where(np.abs(z) < 1e8, turned, pi / 2 * np.fmod(square, 4))


_AI: Final[ScipyFunction] = ScipyFunction(
    "ai", _part("airy", 0), takes_complex=True, z=lambda z: _AI_SLOPE(z)
)
_AI_SLOPE: Final[ScipyFunction] = ScipyFunction(
    "ai_slope", _part("airy", 1), takes_complex=True, z=lambda z: z * _AI(z)
)
_BI: Final[ScipyFunction] = ScipyFunction(
    "bi", _part("airy", 2), takes_complex=True, z=lambda z: _BI_SLOPE(z)
)
_BI_SLOPE: Final[ScipyFunction] = ScipyFunction(
    "bi_slope", _part("airy", 3), takes_complex=True, z=lambda z: z * _BI(z)
)

_SN: Final[ScipyFunction] = ScipyFunction(
    "ellipj_sn", _part("ellipj", 0), u=lambda u, m: _CN(u, m) * _DN(u, m), m=None
)
_CN: Final[ScipyFunction] = ScipyFunction(
    "ellipj_cn", _part("ellipj", 1), u=lambda u, m: -_SN(u, m) * _DN(u, m), m=None
)
_DN: Final[ScipyFunction] = ScipyFunction(
    "ellipj_dn", _part("ellipj", 2), u=lambda u, m: -m * _SN(u, m) * _CN(u, m), m=None
)
_PH: Final[ScipyFunction] = ScipyFunction(
    "ellipj_ph", _part("ellipj", 3), u=lambda u, m: _DN(u, m), m=None
)

_SINE: Final[Elementwise] = Elementwise(
    "sine_of_square",
    lambda z: np.sin(_quarter_turns(z)),
    takes_complex=True,
    z=lambda z: pi * z * _COSINE(z),
)
_COSINE: Final[Elementwise] = Elementwise(
    "cosine_of_square",
    lambda z: np.cos(_quarter_turns(z)),
    takes_complex=True,
    z=lambda z: -pi * z * _SINE(z),
)
_FRESNEL_S: Final[ScipyFunction] = ScipyFunction(
    "fresnel_s", _part("fresnel", 0), takes_complex=True, z=lambda z: _SINE(z)
)
_FRESNEL_C: Final[ScipyFunction] = ScipyFunction(
    "fresnel_c", _part("fresnel", 1), takes_complex=True, z=lambda z: _COSINE(z)
)

# The quotients of the sines by the argument are spherical Bessel functions (DLMF 10.49.3).
_SI: Final[ScipyFunction] = ScipyFunction(
    "si", _part("sici", 0), takes_complex=True, x=lambda x: SPHERICAL_JN(0, x)
)
_CI: Final[ScipyFunction] = ScipyFunction(
    "ci", _part("sici", 1), takes_complex=True, x=lambda x: F.cos(x) / x
)
_SHI: Final[ScipyFunction] = ScipyFunction(
    "shi", _part("shichi", 0), takes_complex=True, x=lambda x: SPHERICAL_IN(0, x)
)
_CHI: Final[ScipyFunction] = ScipyFunction(
    "chi", _part("shichi", 1), takes_complex=True, x=lambda x: F.cosh(x) / x
)
