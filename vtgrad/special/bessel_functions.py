"""Bessel functions of order 0 and 1."""

from __future__ import annotations

from typing import Final

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.elementwise import Elementwise, Kernel
from vtgrad.special.kernels import bessel as kernels
from vtgrad.special.kernels.spherical_bessel import spherical_jn
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "spherical_bessel_j0"]


def _of_order(kernel: Kernel, order: int) -> Kernel:
    """A kernel of one order."""

    def function(x: Array) -> Array:
        return kernel(x, making.full_like(x, order))

    return function


def _half_difference(function: Elementwise, input: Tensor, n: Tensor | int) -> Tensor:
    """The derivative of order n from 1 on, from the orders beside it (DLMF 10.6.1)."""
    lower, higher = (n - 1, n + 1) if isinstance(n, int) else (F.sub(n, 1), F.add(n, 1))
    return F.mul(F.sub(function(input, lower), function(input, higher)), 0.5)


def _spherical_slope(input: Tensor, n: Tensor) -> Tensor:
    """From both neighbours (DLMF 10.51.2), without a quotient that has no value at 0."""
    lower = F.mul(_SPHERICAL_JN(input, F.sub(n, 1)), n)
    higher = F.mul(_SPHERICAL_JN(input, F.add(n, 1)), F.add(n, 1))
    return F.true_divide(F.sub(lower, higher), F.add(F.mul(n, 2), 1))


# Of any whole order, as derivatives need them.
_JN: Final[Elementwise] = Elementwise(
    "bessel_jn",
    kernels.jn,
    takes_half=False,
    input=lambda input, n: _half_difference(_JN, input, n),
    n=None,
)
_YN: Final[Elementwise] = Elementwise(
    "bessel_yn",
    kernels.yn,
    takes_half=False,
    input=lambda input, n: _half_difference(_YN, input, n),
    n=None,
)
_SPHERICAL_JN: Final[Elementwise] = Elementwise(
    "spherical_bessel_jn", spherical_jn, takes_half=False, input=_spherical_slope, n=None
)
_J0: Final[Elementwise] = Elementwise(
    "bessel_j0", _of_order(kernels.jn, 0), takes_half=False, input=lambda input: F.neg(_J1(input))
)
_J1: Final[Elementwise] = Elementwise(
    "bessel_j1",
    _of_order(kernels.jn, 1),
    takes_half=False,
    input=lambda input: _half_difference(_JN, input, 1),
)
_Y0: Final[Elementwise] = Elementwise(
    "bessel_y0", _of_order(kernels.yn, 0), takes_half=False, input=lambda input: F.neg(_Y1(input))
)
_Y1: Final[Elementwise] = Elementwise(
    "bessel_y1",
    _of_order(kernels.yn, 1),
    takes_half=False,
    input=lambda input: _half_difference(_YN, input, 1),
)
_SPHERICAL_J0: Final[Elementwise] = Elementwise(
    "spherical_bessel_j0",
    _of_order(spherical_jn, 0),
    takes_half=False,
    input=lambda input: F.neg(_SPHERICAL_JN(input, 1)),
)


@explained
def bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the Bessel function of the first kind of order 0 of each element.

    It is 0 at both infinities. The derivative is the negative function of order 1. PyTorch has no
    derivative of it.

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
    NIST Digital Library of Mathematical Functions, 10.2 and 10.6.

    Examples
    --------
    >>> vt.special.bessel_j0(vt.tensor([0.0, 1.0, 10.0]))
    tensor([ 1.0000,  0.7652, -0.2459])
    """
    return _J0(input, out=out)


@explained
def bessel_j1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the Bessel function of the first kind of order 1 of each element.

    It is 0 at both infinities. The derivative is half of the difference of the functions of order 0
    and 2. PyTorch has no derivative of it.

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
    NIST Digital Library of Mathematical Functions, 10.2 and 10.6.

    Examples
    --------
    >>> vt.special.bessel_j1(vt.tensor([0.0, 1.0, 10.0]))
    tensor([0.0000, 0.4401, 0.0435])
    """
    return _J1(input, out=out)


@explained
def bessel_y0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the Bessel function of the second kind of order 0 of each element.

    It is nan below 0, minus infinity there, and 0 at infinity. The derivative is the negative
    function of order 1. PyTorch has no derivative of it.

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
    NIST Digital Library of Mathematical Functions, 10.2 and 10.6.

    Examples
    --------
    >>> vt.special.bessel_y0(vt.tensor([0.0, 1.0, 10.0]))
    tensor([  -inf, 0.0883, 0.0557])
    """
    return _Y0(input, out=out)


@explained
def bessel_y1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the Bessel function of the second kind of order 1 of each element.

    It is nan below 0, minus infinity there, and 0 at infinity. The derivative is half of the
    difference of the functions of order 0 and 2. PyTorch has no derivative of it.

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
    NIST Digital Library of Mathematical Functions, 10.2 and 10.6.

    Examples
    --------
    >>> vt.special.bessel_y1(vt.tensor([0.0, 1.0, 10.0]))
    tensor([   -inf, -0.7812,  0.2490])
    """
    return _Y1(input, out=out)


@explained
def spherical_bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the spherical Bessel function of the first kind of order 0 of each element.

    ``sin(x) / x``, and 1 at 0. PyTorch has no derivative of it.

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
    NIST Digital Library of Mathematical Functions, 10.47 and 10.51.

    Examples
    --------
    >>> vt.special.spherical_bessel_j0(vt.tensor([0.0, 1.0, 10.0]))
    tensor([ 1.0000,  0.8415, -0.0544])
    """
    return _SPHERICAL_J0(input, out=out)
