"""Elliptic integrals, with SciPy's names.

See Note [Derivatives of elliptic integrals].
"""

from __future__ import annotations

from typing import Final

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.elliptic_slopes import COMPLETE_FIRST, COMPLETE_SECOND, FIRST_KIND, SECOND_KIND
from vtgrad.special.scipy_function import ScipyFunction, first_order
from vtgrad.storage.arrays import Number
from vtgrad.tensor.tensor import Tensor

__all__ = ["ellipe", "ellipeinc", "ellipk", "ellipkinc", "ellipkm1"]


@explained
def ellipk(m: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the complete elliptic integral of the first kind.

    The values are those of `scipy.special.ellipk`.

    Parameters
    ----------
    m : Tensor
        The parameter, at most 1.
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
    >>> vt.special.ellipk(vt.tensor([0.0, 0.5]))
    tensor([1.5708, 1.8541])
    """
    return _ELLIPK(m, out=out)


@explained
def ellipkm1(p: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the complete elliptic integral of the first kind by ``p = 1 - m``.

    The values are those of `scipy.special.ellipkm1`.

    Parameters
    ----------
    p : Tensor
        1 minus the parameter, at least 0. Here small values are exact.
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
    >>> vt.special.ellipkm1(vt.tensor([1.0, 0.5]))
    tensor([1.5708, 1.8541])
    """
    return _ELLIPKM1(p, out=out)


@explained
def ellipe(m: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the complete elliptic integral of the second kind.

    The values are those of `scipy.special.ellipe`.

    Parameters
    ----------
    m : Tensor
        The parameter, at most 1.
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
    >>> vt.special.ellipe(vt.tensor([0.0, 0.5]))
    tensor([1.5708, 1.3506])
    """
    return _ELLIPE(m, out=out)


@explained
def ellipkinc(phi: Tensor | Number, m: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the incomplete elliptic integral of the first kind.

    The values are those of `scipy.special.ellipkinc`. There are derivatives by all arguments.

    Parameters
    ----------
    phi : Tensor or number
        The angle.
    m : Tensor or number
        The parameter, at most 1.
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
    >>> vt.special.ellipkinc(vt.tensor([0.5, 1.0]), 0.5)
    tensor([0.5105, 1.0832])
    """
    return _ELLIPKINC(phi, m, out=out)


@explained
def ellipeinc(phi: Tensor | Number, m: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return the incomplete elliptic integral of the second kind.

    The values are those of `scipy.special.ellipeinc`. There are derivatives by all arguments.

    Parameters
    ----------
    phi : Tensor or number
        The angle.
    m : Tensor or number
        The parameter, at most 1.
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
    >>> vt.special.ellipeinc(vt.tensor([0.5, 1.0]), 0.5)
    tensor([0.4899, 0.9273])
    """
    return _ELLIPEINC(phi, m, out=out)


# -- values and derivatives ----------------------------------------------------------------


def _rest(phi: Tensor, m: Tensor) -> Tensor:
    """``1 - m sin(phi)**2``, without loss where m is close to 1."""
    return (1 - m) + m * F.square(F.cos(phi))


_ELLIPK: Final[ScipyFunction] = ScipyFunction(
    "ellipk", m=lambda m: COMPLETE_FIRST(first_order(m), 1 - m)
)
_ELLIPKM1: Final[ScipyFunction] = ScipyFunction(
    "ellipkm1", p=lambda p: -COMPLETE_FIRST(first_order(p), p)
)
_ELLIPE: Final[ScipyFunction] = ScipyFunction(
    "ellipe", m=lambda m: COMPLETE_SECOND(first_order(m), 1 - m)
)
_ELLIPKINC: Final[ScipyFunction] = ScipyFunction(
    "ellipkinc",
    phi=lambda phi, m: F.rsqrt(_rest(phi, m)),
    m=lambda phi, m: FIRST_KIND(first_order(m), phi, m),
)
_ELLIPEINC: Final[ScipyFunction] = ScipyFunction(
    "ellipeinc",
    phi=lambda phi, m: F.sqrt(_rest(phi, m)),
    m=lambda phi, m: SECOND_KIND(first_order(m), phi, m),
)
