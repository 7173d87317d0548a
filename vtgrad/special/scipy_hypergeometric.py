"""Hypergeometric functions, with SciPy's names.

The derivative by the last argument is the function whose parameters are greater by 1 (DLMF 15.5.1
and 13.3.15).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.scipy_function import ScipyFunction, scipy_special
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number
from vtgrad.tensor.tensor import Tensor

__all__ = ["hyp0f1", "hyp1f1", "hyp2f1", "hyperu"]


@explained
def hyp0f1(v: Tensor | Number, z: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the confluent hypergeometric limit function 0F1.

    The values are those of `scipy.special.hyp0f1`. There are derivatives by `z` only.

    Parameters
    ----------
    v : Tensor or number
        The parameter: real.
    z : Tensor or number
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
    NotSupportedError
        If `v` requires grad while recording, or has a tangent.

    Examples
    --------
    >>> vt.special.hyp0f1(2, vt.tensor([1.0, 2.0]))
    tensor([1.5906, 2.3948])
    """
    return _HYP0F1(v, z, out=out)


@explained
def hyp1f1(
    a: Tensor | Number, b: Tensor | Number, z: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the confluent hypergeometric function 1F1.

    The values are those of `scipy.special.hyp1f1`. There are derivatives by `z` only.

    Parameters
    ----------
    a, b : Tensor or number
        The parameters: real.
    z : Tensor or number
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
    NotSupportedError
        If `a` or `b` requires grad while recording, or has a tangent.

    Examples
    --------
    >>> vt.special.hyp1f1(1, 2, vt.tensor([1.0, 2.0]))
    tensor([1.7183, 3.1945])
    """
    return _HYP1F1(a, b, z, out=out)


@explained
def hyp2f1(
    a: Tensor | Number,
    b: Tensor | Number,
    c: Tensor | Number,
    z: Tensor | Number,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return Gauss's hypergeometric function 2F1.

    The values are those of `scipy.special.hyp2f1`. There are derivatives by `z` only.

    Parameters
    ----------
    a, b, c : Tensor or number
        The parameters: real.
    z : Tensor or number
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
    NotSupportedError
        If `a` or `b` or `c` requires grad while recording, or has a tangent.

    Examples
    --------
    >>> vt.special.hyp2f1(1, 1, 2, vt.tensor([-1.0, 0.5]))
    tensor([0.6931, 1.3863])
    """
    return _HYP2F1(a, b, c, z, out=out)


@explained
def hyperu(
    a: Tensor | Number, b: Tensor | Number, x: Tensor | Number, *, out: Tensor | None = None
) -> Tensor:
    """Return the confluent hypergeometric function U.

    The values are those of `scipy.special.hyperu`. There are derivatives by `x` only.

    Parameters
    ----------
    a, b : Tensor or number
        The parameters: real.
    x : Tensor or number
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
        If `a` or `b` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.hyperu(1, 2, vt.tensor([1.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    return _HYPERU(a, b, x, out=out)


# -- values and derivatives ----------------------------------------------------------------

_OVERFLOWS: Final = 1e8


def _hyp1f1(a: Array, b: Array, z: Array) -> Array:
    """The ufunc, which does not end for huge arguments; it is infinite long before."""
    if z.dtype.kind == "f":
        is_polynomial = (a <= 0) & (a == np.round(a))
        z = np.where((z > _OVERFLOWS) & ~is_polynomial, _OVERFLOWS, z)
    found: Array = making.asarray(scipy_special("hyp1f1").hyp1f1(a, b, z))
    return found


def _place(factor: Tensor, z: Tensor) -> Tensor:
    """Where a function is taken that has a factor: where that is 0, a place where it is finite."""
    return F.where(F.eq(factor, 0), 0.5, z)


_HYP0F1: Final[ScipyFunction] = ScipyFunction(
    "hyp0f1", real=("v",), takes_complex=True, v=None, z=lambda v, z: _HYP0F1(v + 1, z) / v
)
_HYP1F1: Final[ScipyFunction] = ScipyFunction(
    "hyp1f1",
    _hyp1f1,
    real=("a", "b"),
    takes_complex=True,
    a=None,
    b=None,
    z=lambda a, b, z: a / b * _HYP1F1(a + 1, b + 1, _place(a, z)),
)
_HYP2F1: Final[ScipyFunction] = ScipyFunction(
    "hyp2f1",
    real=("a", "b", "c"),
    takes_complex=True,
    a=None,
    b=None,
    c=None,
    z=lambda a, b, c, z: a * b / c * _HYP2F1(a + 1, b + 1, c + 1, _place(a * b, z)),
)
_HYPERU: Final[ScipyFunction] = ScipyFunction(
    "hyperu", a=None, b=None, x=lambda a, b, x: -a * _HYPERU(a + 1, b + 1, _place(a, x))
)
