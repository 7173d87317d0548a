"""Distribution functions and their inverses, with SciPy's names."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.densities import BETA_DENSITY, GAMMA_DENSITY, GAMMA_QUOTIENT
from vtgrad.special.elementwise import Kernel
from vtgrad.special.scipy_function import ScipyFunction, scipy_special
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "bdtr",
    "bdtrc",
    "bdtri",
    "chdtr",
    "chdtrc",
    "chdtri",
    "fdtr",
    "fdtrc",
    "fdtri",
    "gdtr",
    "gdtrc",
    "nbdtr",
    "nbdtrc",
    "pdtr",
    "pdtrc",
    "pdtri",
    "stdtr",
    "stdtrit",
]


@explained
def bdtr(
    k: Tensor | Number, n: Tensor | Number, p: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the probability of at most `k` successes in `n` trials.

    The values are those of `scipy.special.bdtr`. There are derivatives by `p` only.

    Parameters
    ----------
    k : Tensor or number
        The number of successes, of which the integer part is taken.
    n : Tensor or number
        The number of trials: an integer.
    p : Tensor or number
        The probability of a success.
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
        If `k` or `n` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.bdtr(1, 3, vt.tensor([0.25, 0.5]))
    tensor([0.8438, 0.5000])
    """
    return _BDTR(k, n, p, out=out)


@explained
def bdtrc(
    k: Tensor | Number, n: Tensor | Number, p: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the probability of more than `k` successes in `n` trials.

    The values are those of `scipy.special.bdtrc`. There are derivatives by `p` only.

    Parameters
    ----------
    k : Tensor or number
        The number of successes, of which the integer part is taken.
    n : Tensor or number
        The number of trials: an integer.
    p : Tensor or number
        The probability of a success.
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
        If `k` or `n` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.bdtrc(1, 3, vt.tensor([0.25, 0.5]))
    tensor([0.1562, 0.5000])
    """
    return _BDTRC(k, n, p, out=out)


@explained
def bdtri(
    k: Tensor | Number, n: Tensor | Number, y: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the inverse of `bdtr` by the probability of a success.

    The values are those of `scipy.special.bdtri`. There are derivatives by `y` only.

    Parameters
    ----------
    k : Tensor or number
        The number of successes, of which the integer part is taken.
    n : Tensor or number
        The number of trials: an integer.
    y : Tensor or number
        The value of `bdtr`.
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
        If `k` or `n` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.bdtri(1, 3, vt.tensor([0.25, 0.5]))
    tensor([0.6736, 0.5000])
    """
    return _BDTRI(k, n, y, out=out)


@explained
def nbdtr(
    k: Tensor | Number, n: Tensor | Number, p: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the probability of at most `k` failures before `n` successes.

    The values are those of `scipy.special.nbdtr`. There are derivatives by `p` only.

    Parameters
    ----------
    k : Tensor or number
        The number of failures: an integer.
    n : Tensor or number
        The number of successes: an integer.
    p : Tensor or number
        The probability of a success.
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
        If `k` or `n` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.nbdtr(1, 3, vt.tensor([0.25, 0.5]))
    tensor([0.0508, 0.3125])
    """
    return _NBDTR(k, n, p, out=out)


@explained
def nbdtrc(
    k: Tensor | Number, n: Tensor | Number, p: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the probability of more than `k` failures before `n` successes.

    The values are those of `scipy.special.nbdtrc`. There are derivatives by `p` only.

    Parameters
    ----------
    k : Tensor or number
        The number of failures: an integer.
    n : Tensor or number
        The number of successes: an integer.
    p : Tensor or number
        The probability of a success.
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
        If `k` or `n` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.nbdtrc(1, 3, vt.tensor([0.25, 0.5]))
    tensor([0.9492, 0.6875])
    """
    return _NBDTRC(k, n, p, out=out)


@explained
def pdtr(k: Tensor | Number, m: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the probability of at most `k` events by Poisson's distribution.

    The values are those of `scipy.special.pdtr`. There are derivatives by `m` only.

    Parameters
    ----------
    k : Tensor or number
        The number of events, of which the integer part is taken.
    m : Tensor or number
        The mean of Poisson's distribution.
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
        If `k` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.pdtr(2, vt.tensor([1.0, 2.0]))
    tensor([0.9197, 0.6767])
    """
    return _PDTR(k, m, out=out)


@explained
def pdtrc(k: Tensor | Number, m: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the probability of more than `k` events by Poisson's distribution.

    The values are those of `scipy.special.pdtrc`. There are derivatives by `m` only.

    Parameters
    ----------
    k : Tensor or number
        The number of events, of which the integer part is taken.
    m : Tensor or number
        The mean of Poisson's distribution.
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
        If `k` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.pdtrc(2, vt.tensor([1.0, 2.0]))
    tensor([0.0803, 0.3233])
    """
    return _PDTRC(k, m, out=out)


@explained
def pdtri(k: Tensor | Number, y: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the inverse of `pdtr` by the mean.

    The values are those of `scipy.special.pdtri`. There are derivatives by `y` only.

    Parameters
    ----------
    k : Tensor or number
        The number of events, of which the integer part is taken.
    y : Tensor or number
        The value of `pdtr`.
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
        If `k` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.pdtri(2, vt.tensor([0.25, 0.5]))
    tensor([3.9204, 2.6741])
    """
    return _PDTRI(k, y, out=out)


@explained
def chdtr(v: Tensor | Number, x: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the distribution function of the chi-squared distribution.

    The values are those of `scipy.special.chdtr`. There are derivatives by `x` only.

    Parameters
    ----------
    v : Tensor or number
        The degrees of freedom.
    x : Tensor or number
        The place.
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
        If `v` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.chdtr(2, vt.tensor([1.0, 2.0]))
    tensor([0.3935, 0.6321])
    """
    return _CHDTR(v, x, out=out)


@explained
def chdtrc(v: Tensor | Number, x: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the complement of the distribution function of the chi-squared distribution.

    The values are those of `scipy.special.chdtrc`. There are derivatives by `x` only.

    Parameters
    ----------
    v : Tensor or number
        The degrees of freedom.
    x : Tensor or number
        The place.
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
        If `v` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.chdtrc(2, vt.tensor([1.0, 2.0]))
    tensor([0.6065, 0.3679])
    """
    return _CHDTRC(v, x, out=out)


@explained
def chdtri(v: Tensor | Number, p: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the inverse of `chdtrc` by the place.

    The values are those of `scipy.special.chdtri`. There are derivatives by `p` only.

    Parameters
    ----------
    v : Tensor or number
        The degrees of freedom.
    p : Tensor or number
        The value of `chdtrc`.
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
        If `v` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.chdtri(2, vt.tensor([0.25, 0.5]))
    tensor([2.7726, 1.3863])
    """
    return _CHDTRI(v, p, out=out)


@explained
def gdtr(
    a: Tensor | Number, b: Tensor | Number, x: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the distribution function of the gamma distribution.

    The values are those of `scipy.special.gdtr`. There are derivatives by `a` and `x` only.

    Parameters
    ----------
    a : Tensor or number
        The rate of the gamma distribution.
    b : Tensor or number
        Its shape.
    x : Tensor or number
        The place.
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
        If `b` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.gdtr(1, 2, vt.tensor([1.0, 2.0]))
    tensor([0.2642, 0.5940])
    """
    return _GDTR(a, b, x, out=out)


@explained
def gdtrc(
    a: Tensor | Number, b: Tensor | Number, x: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the complement of the distribution function of the gamma distribution.

    The values are those of `scipy.special.gdtrc`. There are derivatives by `a` and `x` only.

    Parameters
    ----------
    a : Tensor or number
        The rate of the gamma distribution.
    b : Tensor or number
        Its shape.
    x : Tensor or number
        The place.
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
        If `b` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.gdtrc(1, 2, vt.tensor([1.0, 2.0]))
    tensor([0.7358, 0.4060])
    """
    return _GDTRC(a, b, x, out=out)


@explained
def fdtr(
    dfn: Tensor | Number, dfd: Tensor | Number, x: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the distribution function of the F distribution.

    The values are those of `scipy.special.fdtr`. There are derivatives by `x` only.

    Parameters
    ----------
    dfn, dfd : Tensor or number
        The degrees of freedom of the numerator and of the denominator.
    x : Tensor or number
        The place.
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
        If `dfn` or `dfd` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.fdtr(2, 3, vt.tensor([1.0, 2.0]))
    tensor([0.5352, 0.7194])
    """
    return _FDTR(dfn, dfd, x, out=out)


@explained
def fdtrc(
    dfn: Tensor | Number, dfd: Tensor | Number, x: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the complement of the distribution function of the F distribution.

    The values are those of `scipy.special.fdtrc`. There are derivatives by `x` only.

    Parameters
    ----------
    dfn, dfd : Tensor or number
        The degrees of freedom of the numerator and of the denominator.
    x : Tensor or number
        The place.
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
        If `dfn` or `dfd` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.fdtrc(2, 3, vt.tensor([1.0, 2.0]))
    tensor([0.4648, 0.2806])
    """
    return _FDTRC(dfn, dfd, x, out=out)


@explained
def fdtri(
    dfn: Tensor | Number, dfd: Tensor | Number, p: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the inverse of `fdtr` by the place.

    The values are those of `scipy.special.fdtri`. There are derivatives by `p` only.

    Parameters
    ----------
    dfn, dfd : Tensor or number
        The degrees of freedom of the numerator and of the denominator.
    p : Tensor or number
        The value of `fdtr`.
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
        If `dfn` or `dfd` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.fdtri(2, 3, vt.tensor([0.25, 0.5]))
    tensor([0.3171, 0.8811])
    """
    return _FDTRI(dfn, dfd, p, out=out)


@explained
def stdtr(df: Tensor | Number, t: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the distribution function of Student's distribution.

    The values are those of `scipy.special.stdtr`. There are derivatives by `t` only.

    Parameters
    ----------
    df : Tensor or number
        The degrees of freedom.
    t : Tensor or number
        The place.
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
        If `df` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.stdtr(2, vt.tensor([1.0, 2.0]))
    tensor([0.7887, 0.9082])
    """
    return _STDTR(df, t, out=out)


@explained
def stdtrit(df: Tensor | Number, p: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the inverse of `stdtr` by the place.

    The values are those of `scipy.special.stdtrit`. There are derivatives by `p` only.

    Parameters
    ----------
    df : Tensor or number
        The degrees of freedom.
    p : Tensor or number
        The value of `stdtr`.
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
        If `df` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.stdtrit(2, vt.tensor([0.25, 0.75]))
    tensor([-0.8165,  0.8165])
    """
    return _STDTRIT(df, p, out=out)


# -- values and derivatives ----------------------------------------------------------------


def _of_integers(name: str) -> Kernel:
    """A ufunc whose second argument has to be of an integer dtype."""

    def kernel(k: Array, n: Array, p: Array) -> Array:
        found: Array = making.asarray(getattr(scipy_special(name), name)(k, n.astype(np.int_), p))
        return found

    return kernel


def _f_density(dfn: Tensor, dfd: Tensor, x: Tensor) -> Tensor:
    """The density of the F distribution, by that of the beta distribution (DLMF 8.17.2)."""
    total = dfd + dfn * x
    return BETA_DENSITY(dfn / 2, dfd / 2, dfn * x / total) * (dfn * dfd / F.square(total))


def _student_density(df: Tensor, t: Tensor) -> Tensor:
    """The density of Student's distribution, without loss for many degrees of freedom."""
    power = F.exp(F.log1p(F.square(t) / df) * ((df + 1) / -2))
    return power * GAMMA_QUOTIENT(0.5, df / 2) / F.sqrt(df * math.pi)


_BDTR: Final[ScipyFunction] = ScipyFunction(
    "bdtr",
    _of_integers("bdtr"),
    k=None,
    n=None,
    p=lambda k, n, p: -BETA_DENSITY(F.floor(k) + 1, n - F.floor(k), p),
)
_BDTRC: Final[ScipyFunction] = ScipyFunction(
    "bdtrc",
    _of_integers("bdtrc"),
    k=None,
    n=None,
    p=lambda k, n, p: BETA_DENSITY(F.floor(k) + 1, n - F.floor(k), p),
)
_BDTRI: Final[ScipyFunction] = ScipyFunction(
    "bdtri",
    _of_integers("bdtri"),
    reads_result=True,
    k=None,
    n=None,
    y=lambda k, n, y, result: -1 / BETA_DENSITY(F.floor(k) + 1, n - F.floor(k), result),
)
_NBDTR: Final[ScipyFunction] = ScipyFunction(
    "nbdtr", k=None, n=None, p=lambda k, n, p: BETA_DENSITY(n, F.floor(k) + 1, p)
)
_NBDTRC: Final[ScipyFunction] = ScipyFunction(
    "nbdtrc", k=None, n=None, p=lambda k, n, p: -BETA_DENSITY(n, F.floor(k) + 1, p)
)
_PDTR: Final[ScipyFunction] = ScipyFunction(
    "pdtr", k=None, m=lambda k, m: -GAMMA_DENSITY(F.floor(k) + 1, m)
)
_PDTRC: Final[ScipyFunction] = ScipyFunction(
    "pdtrc", k=None, m=lambda k, m: GAMMA_DENSITY(F.floor(k) + 1, m)
)
_PDTRI: Final[ScipyFunction] = ScipyFunction(
    "pdtri",
    reads_result=True,
    k=None,
    y=lambda k, y, result: -1 / GAMMA_DENSITY(F.floor(k) + 1, result),
)
_CHDTR: Final[ScipyFunction] = ScipyFunction(
    "chdtr", v=None, x=lambda v, x: GAMMA_DENSITY(v / 2, x / 2) / 2
)
_CHDTRC: Final[ScipyFunction] = ScipyFunction(
    "chdtrc", v=None, x=lambda v, x: GAMMA_DENSITY(v / 2, x / 2) / -2
)
_CHDTRI: Final[ScipyFunction] = ScipyFunction(
    "chdtri",
    reads_result=True,
    v=None,
    p=lambda v, p, result: -2 / GAMMA_DENSITY(v / 2, result / 2),
)
_GDTR: Final[ScipyFunction] = ScipyFunction(
    "gdtr",
    a=lambda a, b, x: x * GAMMA_DENSITY(b, a * x),
    b=None,
    x=lambda a, b, x: a * GAMMA_DENSITY(b, a * x),
)
_GDTRC: Final[ScipyFunction] = ScipyFunction(
    "gdtrc",
    a=lambda a, b, x: -x * GAMMA_DENSITY(b, a * x),
    b=None,
    x=lambda a, b, x: -a * GAMMA_DENSITY(b, a * x),
)
_FDTR: Final[ScipyFunction] = ScipyFunction(
    "fdtr", dfn=None, dfd=None, x=lambda dfn, dfd, x: _f_density(dfn, dfd, x)
)
_FDTRC: Final[ScipyFunction] = ScipyFunction(
    "fdtrc", dfn=None, dfd=None, x=lambda dfn, dfd, x: -_f_density(dfn, dfd, x)
)
_FDTRI: Final[ScipyFunction] = ScipyFunction(
    "fdtri",
    reads_result=True,
    dfn=None,
    dfd=None,
    p=lambda dfn, dfd, p, result: 1 / _f_density(dfn, dfd, result),
)
_STDTR: Final[ScipyFunction] = ScipyFunction(
    "stdtr", df=None, t=lambda df, t: _student_density(df, t)
)
_STDTRIT: Final[ScipyFunction] = ScipyFunction(
    "stdtrit", reads_result=True, df=None, p=lambda df, p, result: 1 / _student_density(df, result)
)
