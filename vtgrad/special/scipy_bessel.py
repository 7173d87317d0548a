"""Bessel functions of any order, with SciPy's names.

The derivative by the argument is a sum of the functions of the orders beside (DLMF 10.6.1 and
10.29.1).
"""

from __future__ import annotations

from typing import Final

from vtgrad.ops.calling.explain import explained
from vtgrad.special.scaled_bessel import IVE_SLOPE, KVE_SLOPE
from vtgrad.special.scipy_function import ScipyFunction
from vtgrad.storage.arrays import Number
from vtgrad.tensor.tensor import Tensor

__all__ = ["iv", "ive", "jn", "jv", "kn", "kv", "kve", "yn", "yv"]


@explained
def jv(v: Tensor | Number, z: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return Bessel functions of the first kind of real order.

    The values are those of `scipy.special.jv`. There are derivatives by `z` only.

    Parameters
    ----------
    v : Tensor or number
        The order: real.
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
    >>> vt.special.jv(0.5, vt.tensor([1.0, 2.0]))
    tensor([0.6714, 0.5130])
    """
    return _JV(v, z, out=out)


@explained
def yv(v: Tensor | Number, z: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return Bessel functions of the second kind of real order.

    The values are those of `scipy.special.yv`. There are derivatives by `z` only.

    Parameters
    ----------
    v : Tensor or number
        The order: real.
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
    >>> vt.special.yv(0.5, vt.tensor([1.0, 2.0]))
    tensor([-0.4311,  0.2348])
    """
    return _YV(v, z, out=out)


@explained
def yn(n: Tensor | Number, x: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return Bessel functions of the second kind of integer order.

    The values are those of `scipy.special.yn`. There are derivatives by `x` only.

    Parameters
    ----------
    n : Tensor or number
        The order: an integer.
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
        If `n` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.yn(1, vt.tensor([1.0, 2.0]))
    tensor([-0.7812, -0.1070])
    """
    return _YN(n, x, out=out)


@explained
def iv(v: Tensor | Number, z: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return modified Bessel functions of the first kind of real order.

    The values are those of `scipy.special.iv`. There are derivatives by `z` only.

    Parameters
    ----------
    v : Tensor or number
        The order: real.
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
    >>> vt.special.iv(0.5, vt.tensor([1.0, 2.0]))
    tensor([0.9377, 2.0462])
    """
    return _IV(v, z, out=out)


@explained
def ive(v: Tensor | Number, z: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return ``exp(-abs(z)) * iv(v, z)``.

    The values are those of `scipy.special.ive`. There are derivatives by `z` only. It is not
    analytic, so complex arguments are refused.

    Parameters
    ----------
    v : Tensor or number
        The order: real.
    z : Tensor or number
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
        If `v` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.ive(0.5, vt.tensor([1.0, 2.0]))
    tensor([0.3450, 0.2769])
    """
    return _IVE(v, z, out=out)


@explained
def kv(v: Tensor | Number, z: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return modified Bessel functions of the second kind of real order.

    The values are those of `scipy.special.kv`. There are derivatives by `z` only.

    Parameters
    ----------
    v : Tensor or number
        The order: real.
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
    >>> vt.special.kv(0.5, vt.tensor([1.0, 2.0]))
    tensor([0.4611, 0.1199])
    """
    return _KV(v, z, out=out)


@explained
def kve(v: Tensor | Number, z: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return ``exp(z) * kv(v, z)``.

    The values are those of `scipy.special.kve`. There are derivatives by `z` only.

    Parameters
    ----------
    v : Tensor or number
        The order: real.
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
    >>> vt.special.kve(0.5, vt.tensor([1.0, 2.0]))
    tensor([1.2533, 0.8862])
    """
    return _KVE(v, z, out=out)


@explained
def kn(n: Tensor | Number, x: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """Return modified Bessel functions of the second kind of integer order.

    The values are those of `scipy.special.kn`. There are derivatives by `x` only.

    Parameters
    ----------
    n : Tensor or number
        The order: an integer.
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
        If `n` requires grad while recording, or has a tangent. If an operand is complex.

    Examples
    --------
    >>> vt.special.kn(1, vt.tensor([1.0, 2.0]))
    tensor([0.6019, 0.1399])
    """
    return _KN(n, x, out=out)


# -- values and derivatives ----------------------------------------------------------------

_JV: Final[ScipyFunction] = ScipyFunction(
    "jv",
    real=("v",),
    takes_complex=True,
    v=None,
    z=lambda v, z: (_JV(v - 1, z) - _JV(v + 1, z)) / 2,
)
_YV: Final[ScipyFunction] = ScipyFunction(
    "yv",
    real=("v",),
    takes_complex=True,
    v=None,
    z=lambda v, z: (_YV(v - 1, z) - _YV(v + 1, z)) / 2,
)
_YN: Final[ScipyFunction] = ScipyFunction(
    "yn", n=None, x=lambda n, x: (_YV(n - 1, x) - _YV(n + 1, x)) / 2
)
_IV: Final[ScipyFunction] = ScipyFunction(
    "iv",
    real=("v",),
    takes_complex=True,
    v=None,
    z=lambda v, z: (_IV(v - 1, z) + _IV(v + 1, z)) / 2,
)
_IVE: Final[ScipyFunction] = ScipyFunction("ive", v=None, z=lambda v, z: IVE_SLOPE(v, z))
_KV: Final[ScipyFunction] = ScipyFunction(
    "kv",
    real=("v",),
    takes_complex=True,
    v=None,
    z=lambda v, z: (_KV(v - 1, z) + _KV(v + 1, z)) / -2,
)
_KVE: Final[ScipyFunction] = ScipyFunction(
    "kve", real=("v",), takes_complex=True, v=None, z=lambda v, z: KVE_SLOPE(v, z)
)
_KN: Final[ScipyFunction] = ScipyFunction(
    "kn", n=None, x=lambda n, x: (_KN(abs(n - 1), x) + _KN(n + 1, x)) / -2
)
jn = jv
