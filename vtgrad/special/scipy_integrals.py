"""Integrals of elementary functions, with SciPy's names."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.faddeeva import FADDEEVA_SLOPE, VOIGT_SLOPE
from vtgrad.special.scipy_function import ScipyFunction, as_complex, first_order, scipy_special
from vtgrad.storage import making
from vtgrad.storage.arrays import Number
from vtgrad.tensor.tensor import Tensor

__all__ = ["dawsn", "erfcinv", "erfi", "exp1", "expi", "expn", "owens_t", "voigt_profile", "wofz"]


@explained
def expi(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the exponential integral Ei.

    The values are those of `scipy.special.expi`.

    Parameters
    ----------
    x : Tensor
        The argument.
    out : Tensor, optional
        Where to store the result.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, complex if an operand is.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> vt.special.expi(vt.tensor([1.0, 2.0]))
    tensor([1.8951, 4.9542])
    """
    return _EXPI(x, out=out)


@explained
def exp1(z: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the exponential integral E1.

    The values are those of `scipy.special.exp1`.

    Parameters
    ----------
    z : Tensor
        The argument.
    out : Tensor, optional
        Where to store the result.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, complex if an operand is.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> vt.special.exp1(vt.tensor([1.0, 2.0]))
    tensor([0.2194, 0.0489])
    """
    return _EXP1(z, out=out)


@explained
def expn(n: Tensor | Number, x: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the generalised exponential integral.

    The values are those of `scipy.special.expn`. There are derivatives by `x` only.

    Parameters
    ----------
    n : Tensor or number
        The order: an integer.
    x : Tensor or number
        The argument, at least 0.
    out : Tensor, optional
        Where to store the result.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, of a floating dtype.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    NotSupportedError
        If `n` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.expn(2, vt.tensor([1.0, 2.0]))
    tensor([0.1485, 0.0375])
    """
    return _EXPN(n, x, out=out)


@explained
def dawsn(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return Dawson's integral.

    The values are those of `scipy.special.dawsn`.

    Parameters
    ----------
    x : Tensor
        The argument.
    out : Tensor, optional
        Where to store the result.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, complex if an operand is.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> vt.special.dawsn(vt.tensor([1.0, 2.0]))
    tensor([0.5381, 0.3013])
    """
    return _DAWSN(x, out=out)


@explained
def wofz(z: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the Faddeeva function ``exp(-z**2) * erfc(-i z)``.

    The values are those of `scipy.special.wofz`.

    Parameters
    ----------
    z : Tensor
        The argument. Real values are taken as complex ones.
    out : Tensor, optional
        Where to store the result.

    Returns
    -------
    Tensor
        A new complex tensor of the shape of `z`.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> vt.special.wofz(vt.tensor([0.0 + 1.0j]))
    tensor([0.4276+0.j])
    """
    return _WOFZ(as_complex(z), out=out)


@explained
def erfi(z: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the imaginary error function.

    The values are those of `scipy.special.erfi`.

    Parameters
    ----------
    z : Tensor
        The argument.
    out : Tensor, optional
        Where to store the result.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, complex if an operand is.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> vt.special.erfi(vt.tensor([0.5, 1.0]))
    tensor([0.6150, 1.6504])
    """
    return _ERFI(z, out=out)


@explained
def erfcinv(y: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the inverse of the complementary error function.

    The values are those of `scipy.special.erfcinv`.

    Parameters
    ----------
    y : Tensor
        The value of `erfc`, from 0 to 2.
    out : Tensor, optional
        Where to store the result.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, of a floating dtype.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    NotSupportedError
        If an operand is complex.

    Examples
    --------
    >>> vt.special.erfcinv(vt.tensor([0.5, 1.5]))
    tensor([ 0.4769, -0.4769])
    """
    return _ERFCINV(y, out=out)


@explained
def voigt_profile(
    x: Tensor | Number, sigma: Tensor | Number, gamma: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return Voigt's profile.

    The values are those of `scipy.special.voigt_profile`. There are derivatives by all arguments.

    Parameters
    ----------
    x : Tensor or number
        The place.
    sigma : Tensor or number
        The standard deviation of the normal part, at least 0.
    gamma : Tensor or number
        The half-width of the part of Cauchy's distribution, at least 0.
    out : Tensor, optional
        Where to store the result.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, of a floating dtype.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    NotSupportedError
        If an operand is complex.

    Examples
    --------
    >>> vt.special.voigt_profile(vt.tensor([0.0, 1.0]), 1, 0.5)
    tensor([0.2790, 0.2002])
    """
    return _VOIGT_PROFILE(x, sigma, gamma, out=out)


@explained
def owens_t(h: Tensor | Number, a: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return Owen's T function.

    The values are those of `scipy.special.owens_t`. There are derivatives by all arguments.

    Parameters
    ----------
    h, a : Tensor or number
        The arguments.
    out : Tensor, optional
        Where to store the result.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, of a floating dtype.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    NotSupportedError
        If an operand is complex.

    Examples
    --------
    >>> vt.special.owens_t(vt.tensor([0.5, 1.0]), 1)
    tensor([0.1067, 0.0667])
    """
    return _OWENS_T(h, a, out=out)


# -- values and derivatives ----------------------------------------------------------------


def _point(real: Tensor, imag: Tensor) -> Tensor:
    """The complex number of two real ones, which may be of different precisions, or half ones."""
    dtype = np.result_type(real._impl.array.dtype, imag._impl.array.dtype, np.float32)
    return F.complex(F.to_dtype(real, dtype), F.to_dtype(imag, dtype))


def _voigt_slope(order: int, x: Tensor, sigma: Tensor, gamma: Tensor) -> Tensor:
    """See Note [Derivatives of the Faddeeva function]."""
    return VOIGT_SLOPE(order * first_order(x), _point(x, gamma), as_complex(sigma))


def _dawson_slope(x: Tensor, result: Tensor) -> Tensor:
    """``1 - 2 x * result``; of real values by the Faddeeva function, without loss."""
    if F.is_complex(x):
        return 1 - 2 * x * result
    return F.imag(FADDEEVA_SLOPE(first_order(x), _point(x, F.zeros_like(x)))) * (
        math.sqrt(math.pi) / 2
    )


def _erfcinv_slope(y: Tensor, result: Tensor) -> Tensor:
    """``-sqrt(pi) / 2 exp(result**2)``, for small y by the quotient ``erfcx(result) / y``."""
    small = F.lt(y, 1)
    upper = F.where(small, result, 0.0)
    scaled = _ERFCX(upper) / F.where(small, y, 1.0)
    power = F.exp(F.square(F.where(small, 0.0, result)))
    return F.where(small, scaled, power) * (-math.sqrt(math.pi) / 2)


def _expn_below(n: Tensor, x: Tensor) -> Tensor:
    """The integral of the order below, also of negative ones (DLMF 8.19.12)."""
    is_low = F.lt(n, 1)
    regular = _EXPN(F.masked_fill(n, is_low, 1) - 1, x)
    # At 0 the quotient of the other orders would have no derivative.
    place = F.where(is_low, x, 1.0)
    below = (F.exp(-place) - (n - 1) * _EXPN(n, place)) / place
    return F.where(is_low, below, regular)


_ERFCX: Final[ScipyFunction] = ScipyFunction(
    "scaled_erfc",
    lambda x: making.asarray(scipy_special("erfcinv").erfcx(x)),
    reads_result=True,
    x=lambda x, result: 2 * x * result - 2 / math.sqrt(math.pi),
)
_EXPI: Final[ScipyFunction] = ScipyFunction("expi", takes_complex=True, x=lambda x: F.exp(x) / x)
_EXP1: Final[ScipyFunction] = ScipyFunction("exp1", takes_complex=True, z=lambda z: F.exp(-z) / -z)
_EXPN: Final[ScipyFunction] = ScipyFunction("expn", n=None, x=lambda n, x: -_expn_below(n, x))
_DAWSN: Final[ScipyFunction] = ScipyFunction(
    "dawsn", takes_complex=True, reads_result=True, x=lambda x, result: _dawson_slope(x, result)
)
_WOFZ: Final[ScipyFunction] = ScipyFunction(
    "wofz", takes_complex=True, z=lambda z: FADDEEVA_SLOPE(first_order(z), z)
)
_ERFI: Final[ScipyFunction] = ScipyFunction(
    "erfi", takes_complex=True, z=lambda z: 2 / math.sqrt(math.pi) * F.exp(z * z)
)
_ERFCINV: Final[ScipyFunction] = ScipyFunction(
    "erfcinv",
    reads_result=True,
    y=lambda y, result: _erfcinv_slope(y, result),
)
_VOIGT_PROFILE: Final[ScipyFunction] = ScipyFunction(
    "voigt_profile",
    x=lambda x, sigma, gamma: F.real(_voigt_slope(1, x, sigma, gamma)),
    sigma=lambda x, sigma, gamma: sigma * F.real(_voigt_slope(2, x, sigma, gamma)),
    gamma=lambda x, sigma, gamma: -F.imag(_voigt_slope(1, x, sigma, gamma)),
)
_OWENS_T: Final[ScipyFunction] = ScipyFunction(
    "owens_t",
    h=lambda h, a: (
        F.exp(F.square(h) / -2) * F.erf(a * h / math.sqrt(2)) / (-2 * math.sqrt(2 * math.pi))
    ),
    a=lambda h, a: F.exp(F.square(h) * (1 + F.square(a)) / -2) / (2 * math.pi * (1 + F.square(a))),
)
