"""The gamma and the beta function, with SciPy's names."""

from __future__ import annotations

import math
from typing import Final

from vtgrad.errors import NotSupportedError
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.densities import BETA_DENSITY, DIGAMMA_DIFFERENCE, GAMMA_DENSITY
from vtgrad.special.scipy_function import ScipyFunction
from vtgrad.storage.arrays import Number
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "beta",
    "betainc",
    "betaincc",
    "betainccinv",
    "betaincinv",
    "betaln",
    "binom",
    "gamma",
    "gammainccinv",
    "gammaincinv",
    "loggamma",
    "poch",
    "rgamma",
]


@explained
def gamma(z: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the gamma function.

    The values are those of `scipy.special.gamma`. Of complex values there is no second derivative.

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
    >>> vt.special.gamma(vt.tensor([0.5, 4.0]))
    tensor([1.7725, 6.0000])
    """
    return _GAMMA(z, out=out)


@explained
def rgamma(z: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the reciprocal of the gamma function, which is 0 at its poles.

    The values are those of `scipy.special.rgamma`. Of complex values there is no second derivative.

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
    >>> vt.special.rgamma(vt.tensor([-1.0, 4.0]))
    tensor([0.0000, 0.1667])
    """
    return _RGAMMA(z, out=out)


@explained
def loggamma(z: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the principal branch of the logarithm of the gamma function.

    The values are those of `scipy.special.loggamma`. Of complex values there is no second
    derivative.

    Parameters
    ----------
    z : Tensor
        The argument. Negative real values give nan.
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
    >>> vt.special.loggamma(vt.tensor([0.5, 4.0]))
    tensor([0.5724, 1.7918])
    """
    return _LOGGAMMA(z, out=out)


@explained
def beta(a: Tensor | Number, b: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the beta function.

    The values are those of `scipy.special.beta`. There are derivatives by all arguments.

    Parameters
    ----------
    a, b : Tensor or number
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
    >>> vt.special.beta(2, vt.tensor([1.0, 2.0]))
    tensor([0.5000, 0.1667])
    """
    return _BETA(a, b, out=out)


@explained
def betaln(a: Tensor | Number, b: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the logarithm of the magnitude of the beta function.

    The values are those of `scipy.special.betaln`. There are derivatives by all arguments.

    Parameters
    ----------
    a, b : Tensor or number
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
    >>> vt.special.betaln(2, vt.tensor([1.0, 2.0]))
    tensor([-0.6931, -1.7918])
    """
    return _BETALN(a, b, out=out)


@explained
def betainc(
    a: Tensor | Number, b: Tensor | Number, x: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the regularised incomplete beta function.

    The values are those of `scipy.special.betainc`. There are derivatives by `x` only.

    Parameters
    ----------
    a, b : Tensor or number
        The parameters, which are positive.
    x : Tensor or number
        The end of the integral, from 0 to 1.
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
        If `a` or `b` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.betainc(2, 3, vt.tensor([0.25, 0.5]))
    tensor([0.2617, 0.6875])
    """
    return _BETAINC(a, b, x, out=out)


@explained
def betaincc(
    a: Tensor | Number, b: Tensor | Number, x: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the complement of the regularised incomplete beta function.

    The values are those of `scipy.special.betaincc`. There are derivatives by `x` only.

    Parameters
    ----------
    a, b : Tensor or number
        The parameters, which are positive.
    x : Tensor or number
        The start of the integral, from 0 to 1.
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
        If `a` or `b` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.betaincc(2, 3, vt.tensor([0.25, 0.5]))
    tensor([0.7383, 0.3125])
    """
    return _BETAINCC(a, b, x, out=out)


@explained
def betaincinv(
    a: Tensor | Number, b: Tensor | Number, y: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the inverse of `betainc` by its last argument.

    The values are those of `scipy.special.betaincinv`. There are derivatives by `y` only.

    Parameters
    ----------
    a, b : Tensor or number
        The parameters, which are positive.
    y : Tensor or number
        The value of `betainc`, from 0 to 1.
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
        If `a` or `b` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.betaincinv(2, 3, vt.tensor([0.25, 0.5]))
    tensor([0.2430, 0.3857])
    """
    return _BETAINCINV(a, b, y, out=out)


@explained
def betainccinv(
    a: Tensor | Number, b: Tensor | Number, y: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the inverse of `betaincc` by its last argument.

    The values are those of `scipy.special.betainccinv`. There are derivatives by `y` only.

    Parameters
    ----------
    a, b : Tensor or number
        The parameters, which are positive.
    y : Tensor or number
        The value of `betaincc`, from 0 to 1.
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
        If `a` or `b` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.betainccinv(2, 3, vt.tensor([0.25, 0.5]))
    tensor([0.5437, 0.3857])
    """
    return _BETAINCCINV(a, b, y, out=out)


@explained
def gammaincinv(a: Tensor | Number, y: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the inverse of `gammainc` by its last argument.

    The values are those of `scipy.special.gammaincinv`. There are derivatives by `y` only.

    Parameters
    ----------
    a : Tensor or number
        The order, which is positive.
    y : Tensor or number
        The value of `gammainc`, from 0 to 1.
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
        If `a` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.gammaincinv(2, vt.tensor([0.25, 0.5]))
    tensor([0.9613, 1.6783])
    """
    return _GAMMAINCINV(a, y, out=out)


@explained
def gammainccinv(a: Tensor | Number, y: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the inverse of `gammaincc` by its last argument.

    The values are those of `scipy.special.gammainccinv`. There are derivatives by `y` only.

    Parameters
    ----------
    a : Tensor or number
        The order, which is positive.
    y : Tensor or number
        The value of `gammaincc`, from 0 to 1.
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
        If `a` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.gammainccinv(2, vt.tensor([0.25, 0.5]))
    tensor([2.6926, 1.6783])
    """
    return _GAMMAINCCINV(a, y, out=out)


@explained
def poch(z: Tensor | Number, m: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return Pochhammer's symbol ``gamma(z + m) / gamma(z)``.

    The values are those of `scipy.special.poch`. There are derivatives by all arguments. Where `z`
    or ``z + m`` is 0 or a negative integer, derivatives are nan.

    Parameters
    ----------
    z, m : Tensor or number
        The start and the number of factors.
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
    >>> vt.special.poch(2, vt.tensor([1.0, 2.0]))
    tensor([2., 6.])
    """
    return _POCH(z, m, out=out)


@explained
def binom(n: Tensor | Number, k: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the binomial coefficient of real numbers.

    The values are those of `scipy.special.binom`. There are derivatives by all arguments. Where it
    is 0 at integers, derivatives are nan.

    Parameters
    ----------
    n, k : Tensor or number
        The number of things, and how many of them are chosen.
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
    >>> vt.special.binom(4, vt.tensor([1.0, 2.0]))
    tensor([4., 6.])
    """
    return _BINOM(n, k, out=out)


# -- values and derivatives ----------------------------------------------------------------


def _digamma(z: Tensor) -> Tensor:
    return _PSI(z) if F.is_complex(z) else F.digamma(z)


def _no_second(z: Tensor) -> Tensor:
    raise NotSupportedError(
        "gamma(), rgamma() and loggamma() have no second derivative with respect to complex values"
    )


def _rgamma_slope(z: Tensor) -> Tensor:
    """The derivative of ``1 / gamma(z)``.

    The digamma function has poles where it is 0. There it is ``gamma(1 - z) sin(pi z) / pi`` (DLMF
    5.5.3), all factors of which are smooth.
    """
    if F.is_complex(z):
        return -_PSI(z) * _RGAMMA(z)
    low = F.lt(z, 0.5)
    high = F.masked_fill(z, low, 1)
    right = -F.digamma(high) * _RGAMMA(high)
    left = F.masked_fill(z, F.logical_not(low), 0)
    sine, cosine = _of_half_turns(left)
    reflected = _GAMMA(1 - left) * (cosine - F.digamma(1 - left) * sine / math.pi)
    return F.where(low, reflected, right)


def _of_half_turns(x: Tensor) -> tuple[Tensor, Tensor]:
    """``sin(pi x)`` and ``cos(pi x)``: the sine of an integer is 0."""
    turns = F.round(F.detach(x))
    sign = 1 - 2 * F.remainder(turns, 2)
    angle = (x - turns) * math.pi
    return sign * F.sin(angle), sign * F.cos(angle)


def _at_zeros(x: Tensor, factor: Tensor) -> tuple[Tensor, Tensor]:
    """Where x is below 1/2, and `factor` is not; and ``cos(pi x)`` there, but 0 elsewhere.

    ``1 / gamma(x)`` has its zeros there. Its product with the digamma function of x is taken by the
    reflection of both (DLMF 5.5.3 and 5.5.4).
    """
    low = F.logical_and(F.lt(x, 0.5), F.ge(factor, 0.5))
    _, cosine = _of_half_turns(F.where(low, x, 0.0))
    return low, F.where(low, cosine, 0.0)


def _poch_by_first(z: Tensor, m: Tensor, result: Tensor) -> Tensor:
    """``poch(z, m) * (digamma(z + m) - digamma(z))``."""
    low, cosine = _at_zeros(z, z + m)
    total, other = F.where(low, z + m, 1.0), F.where(low, 1 - z, 1.0)
    reflected = F.digamma(total) - F.digamma(other)
    regular = DIGAMMA_DIFFERENCE(F.where(low, 1.0, z), F.where(low, 0.5, m))
    return result * F.where(low, reflected, regular) + cosine * _GAMMA(total) * _GAMMA(other)


def _binom_by_first(n: Tensor, k: Tensor, result: Tensor) -> Tensor:
    """``binom(n, k) * (digamma(n + 1) - digamma(n - k + 1))``."""
    low, cosine = _at_zeros(n - k + 1, n + 1)
    total, other = F.where(low, n + 1, 1.0), F.where(low, k - n, 1.0)
    reflected = F.digamma(total) - F.digamma(other)
    regular = DIGAMMA_DIFFERENCE(F.where(low, 1.0, n - k + 1), F.where(low, 0.5, k))
    return result * F.where(low, reflected, regular) + cosine * _BETA(total, other)


def _binom_by_second(n: Tensor, k: Tensor, result: Tensor) -> Tensor:
    """``binom(n, k) * (digamma(n - k + 1) - digamma(k + 1))``."""
    above, cosine_above = _at_zeros(n - k + 1, n + 1)
    below, cosine_below = _at_zeros(k + 1, n + 1)
    of_rest = F.digamma(F.where(above, k - n, n - k + 1))
    of_second = F.digamma(F.where(below, -k, k + 1))
    finite_above = cosine_above * _BETA(F.where(above, n + 1, 1.0), F.where(above, k - n, 1.0))
    finite_below = cosine_below * _BETA(F.where(below, n + 1, 1.0), F.where(below, -k, 1.0))
    return result * (of_rest - of_second) - finite_above + finite_below


_PSI: Final[ScipyFunction] = ScipyFunction("psi", takes_complex=True, z=_no_second)


_GAMMA: Final[ScipyFunction] = ScipyFunction(
    "gamma", takes_complex=True, reads_result=True, z=lambda z, result: result * _digamma(z)
)
_RGAMMA: Final[ScipyFunction] = ScipyFunction("rgamma", takes_complex=True, z=_rgamma_slope)
_LOGGAMMA: Final[ScipyFunction] = ScipyFunction(
    "loggamma", takes_complex=True, z=lambda z: _digamma(z)
)
_BETA: Final[ScipyFunction] = ScipyFunction(
    "beta",
    reads_result=True,
    a=lambda a, b, result: -result * DIGAMMA_DIFFERENCE(a, b),
    b=lambda a, b, result: -result * DIGAMMA_DIFFERENCE(b, a),
)
_BETALN: Final[ScipyFunction] = ScipyFunction(
    "betaln", a=lambda a, b: -DIGAMMA_DIFFERENCE(a, b), b=lambda a, b: -DIGAMMA_DIFFERENCE(b, a)
)
_BETAINC: Final[ScipyFunction] = ScipyFunction(
    "betainc", a=None, b=None, x=lambda a, b, x: BETA_DENSITY(a, b, x)
)
_BETAINCC: Final[ScipyFunction] = ScipyFunction(
    "betaincc", a=None, b=None, x=lambda a, b, x: -BETA_DENSITY(a, b, x)
)
_BETAINCINV: Final[ScipyFunction] = ScipyFunction(
    "betaincinv",
    reads_result=True,
    a=None,
    b=None,
    y=lambda a, b, y, result: 1 / BETA_DENSITY(a, b, result),
)
_BETAINCCINV: Final[ScipyFunction] = ScipyFunction(
    "betainccinv",
    reads_result=True,
    a=None,
    b=None,
    y=lambda a, b, y, result: -1 / BETA_DENSITY(a, b, result),
)
_GAMMAINCINV: Final[ScipyFunction] = ScipyFunction(
    "gammaincinv", reads_result=True, a=None, y=lambda a, y, result: 1 / GAMMA_DENSITY(a, result)
)
_GAMMAINCCINV: Final[ScipyFunction] = ScipyFunction(
    "gammainccinv", reads_result=True, a=None, y=lambda a, y, result: -1 / GAMMA_DENSITY(a, result)
)
_POCH: Final[ScipyFunction] = ScipyFunction(
    "poch",
    reads_result=True,
    z=_poch_by_first,
    m=lambda z, m, result: result * F.digamma(z + m),
)
_BINOM: Final[ScipyFunction] = ScipyFunction(
    "binom",
    reads_result=True,
    n=_binom_by_first,
    k=_binom_by_second,
)
