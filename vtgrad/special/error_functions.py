"""The scaled complementary error function, and the logarithm of the unscaled one."""

from __future__ import annotations

from math import pi, sqrt
from typing import Final

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.elementwise import Elementwise
from vtgrad.special.kernels import error_functions as kernels
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["LOG_ERFC_SLOPE", "erfcx", "log_erfc"]

_SLOPE: Final = 2 / sqrt(pi)


def _curvature(input: Tensor) -> Tensor:
    """The second derivative of `erfcx`, from its differential equation."""
    return F.mul(F.add(_ERFCX(input), F.mul(input, _ERFCX_SLOPE(input))), 2.0)


def _log_slope(x: Array) -> Array:
    found: Array = -_SLOPE / kernels.erfcx(x)
    return found


def _log_curvature(input: Tensor, result: Tensor) -> Tensor:
    """The derivative of the slope s: on the left ``-s * (2 * x + s)``, where `erfcx` overflows.

    On the right this would be a difference.
    """
    is_left = F.lt(input, 0)
    right = F.masked_fill(input, is_left, 0)
    left = F.where(is_left, input, 0.0)
    of_right = F.true_divide(_ERFCX_SLOPE(right), _ERFCX(right))
    of_left = F.add(F.mul(left, 2), result)
    return F.neg(F.mul(result, F.where(is_left, of_left, of_right)))


_ERFCX_SLOPE: Final[Elementwise] = Elementwise(
    "erfcx_slope", kernels.erfcx_slope, takes_half=False, input=_curvature
)
_ERFCX: Final[Elementwise] = Elementwise(
    "erfcx", kernels.erfcx, takes_half=False, input=_ERFCX_SLOPE
)
LOG_ERFC_SLOPE: Final[Elementwise] = Elementwise(
    "log_erfc_slope", _log_slope, reads_result=True, input=_log_curvature
)
_LOG_ERFC: Final[Elementwise] = Elementwise("log_erfc", kernels.log_erfc, input=LOG_ERFC_SLOPE)


@explained
def erfcx(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the scaled complementary error function of each element.

    ``exp(x * x) * erfc(x)``. It falls like ``1 / x`` where `erfc` itself underflows, and is
    infinite below about -26.6.

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
    NIST Digital Library of Mathematical Functions, 7.2.2 and 7.18.

    Examples
    --------
    >>> vt.special.erfcx(vt.tensor([-1.0, 0.0, 30.0]))
    tensor([5.0090, 1.0000, 0.0188])
    """
    return _ERFCX(input, out=out)


@explained
def log_erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the logarithm of the complementary error function of each element.

    It is exact where `erfc` underflows, and close to 0 where `erfc` is close to 1. PyTorch does not
    have it.

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
    NIST Digital Library of Mathematical Functions, 7.2.2.

    Examples
    --------
    >>> vt.special.log_erfc(vt.tensor([-1.0, 0.0, 30.0]))
    tensor([ 6.1123e-01, -0.0000e+00, -9.0397e+02])
    """
    return _LOG_ERFC(input, out=out)
