"""Elementary functions of SciPy: Box and Cox's transformation, losses, Lambert's function."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.elementwise import Elementwise
from vtgrad.special.scipy_function import ScipyFunction
from vtgrad.special.scipy_hypergeometric import hyp1f1, hyp2f1
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "boxcox",
    "boxcox1p",
    "cbrt",
    "cosm1",
    "exp10",
    "exprel",
    "huber",
    "inv_boxcox",
    "inv_boxcox1p",
    "kl_div",
    "log_expit",
    "pseudo_huber",
    "rel_entr",
    "softplus",
    "wrightomega",
]


@explained
def boxcox(x: Tensor | Number, lmbda: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return Box and Cox's transformation ``(x**lmbda - 1) / lmbda``.

    The values are those of `scipy.special.boxcox`. There are derivatives by all arguments.

    Parameters
    ----------
    x : Tensor or number
        The argument.
    lmbda : Tensor or number
        The exponent.
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
    >>> vt.special.boxcox(vt.tensor([1.0, 2.0]), 0.5)
    tensor([0.0000, 0.8284])
    """
    return _BOXCOX(x, lmbda, out=out)


@explained
def boxcox1p(x: Tensor | Number, lmbda: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return Box and Cox's transformation of ``1 + x``.

    The values are those of `scipy.special.boxcox1p`. There are derivatives by all arguments.

    Parameters
    ----------
    x : Tensor or number
        The argument.
    lmbda : Tensor or number
        The exponent.
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
    >>> vt.special.boxcox1p(vt.tensor([1.0, 2.0]), 0.5)
    tensor([0.8284, 1.4641])
    """
    return _BOXCOX1P(x, lmbda, out=out)


@explained
def inv_boxcox(y: Tensor | Number, lmbda: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the inverse of `boxcox` by its first argument.

    The values are those of `scipy.special.inv_boxcox`. There are derivatives by all arguments.

    Parameters
    ----------
    y : Tensor or number
        The value of the transformation.
    lmbda : Tensor or number
        The exponent.
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
    >>> vt.special.inv_boxcox(vt.tensor([0.0, 1.0]), 0.5)
    tensor([1.0000, 2.2500])
    """
    return _INV_BOXCOX(y, lmbda, out=out)


@explained
def inv_boxcox1p(
    y: Tensor | Number, lmbda: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the inverse of `boxcox1p` by its first argument.

    The values are those of `scipy.special.inv_boxcox1p`. There are derivatives by all arguments.

    Parameters
    ----------
    y : Tensor or number
        The value of the transformation.
    lmbda : Tensor or number
        The exponent.
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
    >>> vt.special.inv_boxcox1p(vt.tensor([0.0, 1.0]), 0.5)
    tensor([0.0000, 1.2500])
    """
    return _INV_BOXCOX1P(y, lmbda, out=out)


@explained
def cbrt(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the real cube root.

    The values are those of `scipy.special.cbrt`.

    Parameters
    ----------
    x : Tensor
        The argument.
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
    >>> vt.special.cbrt(vt.tensor([-8.0, 27.0]))
    tensor([-2.,  3.])
    """
    return _CBRT(x, out=out)


@explained
def cosm1(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return ``cos(x) - 1``, exact for small `x`.

    The values are those of `scipy.special.cosm1`.

    Parameters
    ----------
    x : Tensor
        The argument.
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
    >>> vt.special.cosm1(vt.tensor([0.0, 1.0]))
    tensor([ 0.0000, -0.4597])
    """
    return _COSM1(x, out=out)


@explained
def exp10(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return 10 to the power of `x`.

    The values are those of `scipy.special.exp10`.

    Parameters
    ----------
    x : Tensor
        The argument.
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
    >>> vt.special.exp10(vt.tensor([-1.0, 2.0]))
    tensor([  0.1000, 100.0000])
    """
    return _EXP10(x, out=out)


@explained
def exprel(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return ``(exp(x) - 1) / x``, exact for small `x`.

    The values are those of `scipy.special.exprel`.

    Parameters
    ----------
    x : Tensor
        The argument.
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
    >>> vt.special.exprel(vt.tensor([0.0, 1.0]))
    tensor([1.0000, 1.7183])
    """
    return _EXPREL(x, out=out)


@explained
def log_expit(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the logarithm of the logistic function.

    The values are those of `scipy.special.log_expit`.

    Parameters
    ----------
    x : Tensor
        The argument.
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
    >>> vt.special.log_expit(vt.tensor([0.0, -1000.0]))
    tensor([-6.9315e-01, -1.0000e+03])
    """
    return _LOG_EXPIT(x, out=out)


@explained
def softplus(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return ``log(1 + exp(x))``.

    The values are those of `scipy.special.softplus`, but SciPy is not needed.

    Parameters
    ----------
    x : Tensor
        The argument.
    out : Tensor, optional
        Where to store the result.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, of a floating dtype.

    Raises
    ------
    NotSupportedError
        If an operand is complex.

    Examples
    --------
    >>> vt.special.softplus(vt.tensor([0.0, 1000.0]))
    tensor([6.9315e-01, 1.0000e+03])
    """
    return _SOFTPLUS(x, out=out)


@explained
def huber(delta: Tensor | Number, r: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return Huber's loss.

    The values are those of `scipy.special.huber`. There are derivatives by all arguments.

    Parameters
    ----------
    delta : Tensor or number
        From here on the loss is linear; at least 0.
    r : Tensor or number
        The residual.
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
    >>> vt.special.huber(1, vt.tensor([0.5, 2.0]))
    tensor([0.1250, 1.5000])
    """
    return _HUBER(delta, r, out=out)


@explained
def pseudo_huber(
    delta: Tensor | Number, r: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the smooth loss ``delta**2 * (sqrt(1 + (r / delta)**2) - 1)``.

    The values are those of `scipy.special.pseudo_huber`. There are derivatives by all arguments.

    Parameters
    ----------
    delta : Tensor or number
        About from here on the loss is linear; at least 0.
    r : Tensor or number
        The residual.
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
    >>> vt.special.pseudo_huber(1, vt.tensor([0.5, 2.0]))
    tensor([0.1180, 1.2361])
    """
    return _PSEUDO_HUBER(delta, r, out=out)


@explained
def kl_div(x: Tensor | Number, y: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return ``x * log(x / y) - x + y``.

    The values are those of `scipy.special.kl_div`. There are derivatives by all arguments.

    Parameters
    ----------
    x, y : Tensor or number
        The arguments, at least 0.
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
    >>> vt.special.kl_div(vt.tensor([1.0, 2.0]), 1)
    tensor([0.0000, 0.3863])
    """
    return _KL_DIV(x, y, out=out)


@explained
def rel_entr(x: Tensor | Number, y: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return ``x * log(x / y)``.

    The values are those of `scipy.special.rel_entr`. There are derivatives by all arguments.

    Parameters
    ----------
    x, y : Tensor or number
        The arguments, at least 0.
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
    >>> vt.special.rel_entr(vt.tensor([1.0, 2.0]), 1)
    tensor([0.0000, 1.3863])
    """
    return _REL_ENTR(x, y, out=out)


@explained
def wrightomega(z: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the solution w of ``w + log(w) == z``, Wright's omega function.

    The values are those of `scipy.special.wrightomega`.

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
    >>> vt.special.wrightomega(vt.tensor([0.0, 1.0]))
    tensor([0.5671, 1.0000])
    """
    return _WRIGHTOMEGA(z, out=out)


# -- values and derivatives ----------------------------------------------------------------


def _softplus(x: Array) -> Array:
    return np.logaddexp(0, x)


def _root(delta: Tensor, r: Tensor) -> Tensor:
    """``sqrt(delta**2 + r**2)``, but 1 where both are 0."""
    nothing = F.logical_and(F.eq(delta, 0), F.eq(r, 0))
    return F.hypot(F.where(nothing, 1.0, delta), r)


def _pseudo_huber_by_delta(delta: Tensor, r: Tensor) -> Tensor:
    """``2 root - 2 delta - r**2 / root``, without a difference and without overflow."""
    root = _root(delta, r)
    return r * (r / root) * F.square(r / (delta + root))


def _log_power(log: Tensor, lmbda: Tensor) -> Tensor:
    """The derivative of ``(exp(lmbda * log) - 1) / lmbda`` by `lmbda`."""
    is_zero = F.eq(log, -math.inf)
    finite = F.masked_fill(log, is_zero, 0)
    regular = F.square(finite) * _EXPREL_SLOPE(lmbda * finite)
    # Of the power of 0 there is nothing left but ``-1 / lmbda``.
    positive = F.gt(lmbda, 0)
    limit = F.where(positive, F.reciprocal(F.square(F.where(positive, lmbda, 1.0))), math.inf)
    return F.where(is_zero, limit, regular)


def _inverse_power(power: Tensor, lmbda: Tensor, rest: Tensor) -> Tensor:
    """``power / rest``, of which `power` is ``rest ** (1 / lmbda)``."""
    is_zero = F.eq(rest, 0)
    regular = power / F.masked_fill(rest, is_zero, 1)
    return F.where(is_zero, F.where(is_zero, power, 1.0) ** (1 - lmbda), regular)


def _divisor(x: Tensor, y: Tensor) -> Tensor:
    """The y of ``x / y``, but 1 where both are 0: for x of 0 nothing depends on it."""
    return F.where(F.logical_and(F.eq(x, 0), F.eq(y, 0)), 1.0, y)


def _log_quotient(x: Array, y: Array) -> Array:
    """The logarithm of ``x / y``, without loss where the two are close."""
    ratio = x / y
    result: Array = np.where(np.abs(ratio - 1) < 0.5, np.log1p((x - y) / y), np.log(ratio))
    return result


def _exprel_slope(x: Array) -> Array:
    """The derivative of ``(exp(x) - 1) / x``: a Taylor polynomial for small x."""
    total = making.zeros(x.shape)
    for k in reversed(range(20)):
        total = total * x + 1 / (math.factorial(k) * (k + 2))
    quotient = (np.exp(x) * (x - 1) + 1) / (x * x)
    # Farther out it is infinite, but not a quotient of infinities.
    far = np.minimum(x, 1e3)
    half = np.exp(far / 2)
    large = half / far * half * (1 - 1 / far)
    quotient = np.where(x < -100, 1 / (x * x), quotient)
    found: Array = np.where(np.abs(x) < 1, total, np.where(x > 30, large, quotient))
    return found


_LOG_QUOTIENT: Final[Elementwise] = Elementwise(
    "log_quotient", _log_quotient, x=lambda x, y: F.reciprocal(x), y=lambda x, y: -F.reciprocal(y)
)
_EXPREL_SLOPE: Final[Elementwise] = Elementwise(
    "exprel_slope", _exprel_slope, x=lambda x: hyp1f1(3, 4, x) / 3
)


_BOXCOX: Final[ScipyFunction] = ScipyFunction(
    "boxcox",
    x=lambda x, lmbda: x ** (lmbda - 1),
    lmbda=lambda x, lmbda: _log_power(F.log(x), lmbda),
)
_BOXCOX1P: Final[ScipyFunction] = ScipyFunction(
    "boxcox1p",
    x=lambda x, lmbda: (1 + x) ** (lmbda - 1),
    lmbda=lambda x, lmbda: _log_power(F.log1p(x), lmbda),
)
_INV_BOXCOX: Final[ScipyFunction] = ScipyFunction(
    "inv_boxcox",
    reads_result=True,
    y=lambda y, lmbda, result: _inverse_power(result, lmbda, 1 + lmbda * y),
    lmbda=lambda y, lmbda, result: -result * F.square(y) * hyp2f1(2, 2, 3, -lmbda * y) / 2,
)
_INV_BOXCOX1P: Final[ScipyFunction] = ScipyFunction(
    "inv_boxcox1p",
    reads_result=True,
    y=lambda y, lmbda, result: _inverse_power(result + 1, lmbda, 1 + lmbda * y),
    lmbda=lambda y, lmbda, result: -(result + 1) * F.square(y) * hyp2f1(2, 2, 3, -lmbda * y) / 2,
)
_CBRT: Final[ScipyFunction] = ScipyFunction(
    "cbrt", reads_result=True, x=lambda x, result: 1 / (3 * F.square(result))
)
_COSM1: Final[ScipyFunction] = ScipyFunction("cosm1", x=lambda x: -F.sin(x))
_EXP10: Final[ScipyFunction] = ScipyFunction(
    "exp10", reads_result=True, x=lambda x, result: math.log(10) * result
)
_EXPREL: Final[ScipyFunction] = ScipyFunction("exprel", x=lambda x: _EXPREL_SLOPE(x))
_LOG_EXPIT: Final[ScipyFunction] = ScipyFunction("log_expit", x=lambda x: F.sigmoid(-x))
_SOFTPLUS: Final[ScipyFunction] = ScipyFunction("softplus", _softplus, x=lambda x: F.sigmoid(x))
_HUBER: Final[ScipyFunction] = ScipyFunction(
    "huber",
    delta=lambda delta, r: F.clamp(F.abs(r) - delta, 0),
    r=lambda delta, r: F.where(F.le(F.abs(r), delta), r, delta * F.sign(r)),
)
_PSEUDO_HUBER: Final[ScipyFunction] = ScipyFunction(
    "pseudo_huber",
    delta=_pseudo_huber_by_delta,
    r=lambda delta, r: delta * (r / _root(delta, r)),
)
_KL_DIV: Final[ScipyFunction] = ScipyFunction(
    "kl_div", x=lambda x, y: _LOG_QUOTIENT(x, y), y=lambda x, y: 1 - x / _divisor(x, y)
)
_REL_ENTR: Final[ScipyFunction] = ScipyFunction(
    "rel_entr", x=lambda x, y: _LOG_QUOTIENT(x, y) + 1, y=lambda x, y: -x / _divisor(x, y)
)
_WRIGHTOMEGA: Final[ScipyFunction] = ScipyFunction(
    "wrightomega", takes_complex=True, reads_result=True, z=lambda z, result: result / (1 + result)
)
