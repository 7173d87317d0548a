"""Entropies, and products with a logarithm."""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.elementwise import Elementwise
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["entr", "xlog1py"]


def _entr(x: Array) -> Array:
    value = np.negative(x) * np.log(x)
    value[x == 0] = 0
    value[x < 0] = -np.inf
    return value


def _entr_slope(input: Tensor) -> Tensor:
    return F.sub(F.neg(F.log(input)), 1.0)


def _xlog1py(x: Array, y: Array) -> Array:
    value = x * np.log1p(y)
    value[(x == 0) & ~np.isnan(y)] = 0
    return value


def _by_factor(input: Tensor, other: Tensor) -> Tensor:
    """The logarithm, but nothing goes through 0 times a pole or nan."""
    flat = F.logical_and(F.eq(input, 0), F.le(other, -1))
    return F.where(flat, 0.0, F.log1p(other))


def _by_argument(input: Tensor, other: Tensor) -> Tensor:
    return F.true_divide(input, F.add(other, 1))


_ENTR: Final[Elementwise] = Elementwise("entr", _entr, input=_entr_slope)
_XLOG1PY: Final[Elementwise] = Elementwise(
    "xlog1py", _xlog1py, input=_by_factor, other=_by_argument
)


@explained
def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the entropy of each element.

    ``-x * log(x)``; 0 at 0, and minus infinity below. The derivative at 0 is infinite.

    Parameters
    ----------
    input : Tensor
        Real values, such as probabilities. Integers and bools are computed in the default floating
        dtype.
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
    S. Boyd and L. Vandenberghe, "Convex Optimization", 2004, section 3.1.5.

    Examples
    --------
    >>> vt.special.entr(vt.tensor([0.0, 0.5, 1.0]))
    tensor([0.0000, 0.3466, -0.0000])
    """
    return _ENTR(input, out=out)


@explained
def xlog1py(input: Tensor | float, other: Tensor | float, *, out: Tensor | None = None) -> Tensor:
    """Return a factor times the logarithm of one more than each element.

    ``input * log1p(other)``, which is 0 where `input` is 0 and `other` is not nan.

    Parameters
    ----------
    input : Tensor or number
        The factor.
    other : Tensor or number
        What is less by one than the argument of the logarithm. One of the two is a tensor; they
        broadcast.
    out : Tensor, optional
        Where the result is stored, cast to the dtype of `out`.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, of a floating dtype.

    Raises
    ------
    ArgumentTypeError
        If both operands are numbers.
    NotSupportedError
        If an operand is complex.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 4.2.

    Examples
    --------
    >>> vt.special.xlog1py(vt.tensor([0.0, 2.0]), vt.tensor([-1.0, 1.0]))
    tensor([0.0000, 1.3863])
    """
    return _XLOG1PY(input, other, out=out)
