"""The distribution function of the normal distribution, its logarithm and its inverse."""

from __future__ import annotations

from math import pi, sqrt
from typing import Final

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.elementwise import Elementwise
from vtgrad.special.error_functions import LOG_ERFC_SLOPE
from vtgrad.special.kernels import error_functions as kernels
from vtgrad.tensor.tensor import Tensor

__all__ = ["log_ndtr", "ndtr", "ndtri"]

# One over the root of 2 * pi is the density at 0.
_DENSITY: Final = 1 / sqrt(2 * pi)


def _density(input: Tensor) -> Tensor:
    return F.mul(F.exp(F.mul(F.mul(input, input), -0.5)), _DENSITY)


def _log_slope(input: Tensor) -> Tensor:
    """The density over the distribution function, by `log_erfc` at ``-x / sqrt(2)``."""
    return F.mul(LOG_ERFC_SLOPE(F.mul(input, -sqrt(0.5))), -sqrt(0.5))


def _inverse_slope(input: Tensor, result: Tensor) -> Tensor:
    return F.mul(F.exp(F.mul(F.mul(result, result), 0.5)), sqrt(2 * pi))


_NDTR: Final[Elementwise] = Elementwise("ndtr", kernels.ndtr, input=_density)
_LOG_NDTR: Final[Elementwise] = Elementwise(
    "log_ndtr", kernels.log_ndtr, takes_half=False, input=_log_slope
)
_NDTRI: Final[Elementwise] = Elementwise(
    "ndtri", kernels.ndtri, takes_half=False, reads_result=True, input=_inverse_slope
)


@explained
def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the distribution function of the normal distribution of each element.

    The probability of a value below x: ``erfc(-x / sqrt(2)) / 2``.

    Parameters
    ----------
    input : Tensor
        Real values. Integers and bools are computed in the default floating dtype.
    out : Tensor, optional
        Where the result is stored, cast to the dtype of `out`.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`: of its dtype if that is floating, else of the default
        floating dtype.

    Raises
    ------
    NotSupportedError
        If `input` is complex.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 26.2.2.

    Examples
    --------
    >>> vt.special.ndtr(vt.tensor([-2.0, 0.0, 2.0]))
    tensor([0.0228, 0.5000, 0.9772])
    """
    return _NDTR(input, out=out)


@explained
def log_ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the logarithm of the distribution function of the normal distribution.

    It is exact where the distribution function itself underflows, or rounds to 1.

    Parameters
    ----------
    input : Tensor
        Real values. Integers and bools are computed in the default floating dtype.
    out : Tensor, optional
        Where the result is stored, cast to the dtype of `out`.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`: of its dtype if that is floating, else of the default
        floating dtype.

    Raises
    ------
    NotSupportedError
        If `input` is complex, or float16.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 26.2.2.

    Examples
    --------
    >>> vt.special.log_ndtr(vt.tensor([-40.0, 0.0, 2.0]))
    tensor([-8.0461e+02, -6.9315e-01, -2.3013e-02])
    """
    return _LOG_NDTR(input, out=out)


@explained
def ndtri(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the inverse of the distribution function of the normal distribution.

    The quantiles: minus infinity at 0, infinity at 1, and nan outside of them.

    Parameters
    ----------
    input : Tensor
        Probabilities. Integers and bools are computed in the default floating dtype.
    out : Tensor, optional
        Where the result is stored, cast to the dtype of `out`.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`: of its dtype if that is floating, else of the default
        floating dtype.

    Raises
    ------
    NotSupportedError
        If `input` is complex, or float16.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 26.2.22.

    Examples
    --------
    >>> vt.special.ndtri(vt.tensor([1e-20, 0.5, 0.975]))
    tensor([-9.2623,  0.0000,  1.9600])
    """
    return _NDTRI(input, out=out)
