"""Modified Bessel functions of order 0 and 1, and these without their exponential."""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.ops.kernels.special.bessel import special_i1
from vtgrad.special.elementwise import Elementwise
from vtgrad.special.kernels import modified_bessel as kernels
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "i0e",
    "i1",
    "i1e",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
]


def _i(x: Array, n: Array) -> Array:
    size = np.exp(np.abs(x) / 2)
    found: Array = kernels.scaled_in(x, n) * size * size
    return found


def _i0e(x: Array) -> Array:
    return kernels.scaled_in(x, making.zeros_like(x))


def _i1e(x: Array) -> Array:
    return kernels.scaled_in(x, making.ones_like(x))


def _k0(x: Array) -> Array:
    found: Array = kernels.scaled_k0(x) * np.exp(-x)
    return found


def _k1(x: Array) -> Array:
    found: Array = kernels.scaled_k1(x) * np.exp(-x)
    return found


def _half_sum(function: Elementwise, input: Tensor, n: Tensor | int) -> Tensor:
    """The derivative of order n from 1 on, from the orders beside it (DLMF 10.29.1)."""
    lower, higher = (n - 1, n + 1) if isinstance(n, int) else (F.sub(n, 1), F.add(n, 1))
    return F.mul(F.add(function(input, lower), function(input, higher)), 0.5)


def _scaled(slope: Tensor, input: Tensor, result: Tensor) -> Tensor:
    """The derivative of a function that is scaled, from the scaled derivative of the function."""
    return F.sub(slope, F.mul(F.sgn(input), result))


def _k1_slope(input: Tensor, result: Tensor) -> Tensor:
    return F.neg(F.add(_K0(input), F.true_divide(result, input)))


def _k1e_slope(input: Tensor, result: Tensor) -> Tensor:
    return F.neg(F.add(_K0E_SLOPE(input), F.true_divide(result, input)))


def _k0e_curvature(input: Tensor, result: Tensor) -> Tensor:
    return F.add(F.mul(result, 2), F.true_divide(_K1E(input), input))


def _i0e_curvature(input: Tensor, result: Tensor) -> Tensor:
    """Of the two derivatives whose difference the first one is."""
    return _scaled(_scaled(_half_sum(_INE, input, 1), input, _I1E(input)), input, result)


def _i1e_curvature(input: Tensor, result: Tensor) -> Tensor:
    second = F.mul(F.add(_I1E(input), _half_sum(_INE, input, 2)), 0.5)
    return _scaled(_scaled(second, input, _half_sum(_INE, input, 1)), input, result)


# Of any whole order, as derivatives need them.
_IN: Final[Elementwise] = Elementwise(
    "modified_bessel_in", _i, input=lambda input, n: _half_sum(_IN, input, n), n=None
)
_INE: Final[Elementwise] = Elementwise(
    "scaled_modified_bessel_in",
    kernels.scaled_in,
    reads_result=True,
    input=lambda input, n, result: _scaled(_half_sum(_INE, input, n), input, result),
    n=None,
)
_I1: Final[Elementwise] = Elementwise(
    "i1", special_i1, input=lambda input: _half_sum(_IN, input, 1)
)
_I0E_SLOPE: Final[Elementwise] = Elementwise(
    "i0e_slope", kernels.scaled_i0_slope, reads_result=True, input=_i0e_curvature
)
_I0E: Final[Elementwise] = Elementwise("i0e", _i0e, input=_I0E_SLOPE)
_I1E_SLOPE: Final[Elementwise] = Elementwise(
    "i1e_slope", kernels.scaled_i1_slope, reads_result=True, input=_i1e_curvature
)
_I1E: Final[Elementwise] = Elementwise("i1e", _i1e, input=_I1E_SLOPE)
_K0: Final[Elementwise] = Elementwise(
    "modified_bessel_k0", _k0, takes_half=False, input=lambda input: F.neg(_K1(input))
)
_K1: Final[Elementwise] = Elementwise(
    "modified_bessel_k1", _k1, takes_half=False, reads_result=True, input=_k1_slope
)
_K0E_SLOPE: Final[Elementwise] = Elementwise(
    "scaled_modified_bessel_k0_slope",
    kernels.scaled_k0_slope,
    takes_half=False,
    reads_result=True,
    input=_k0e_curvature,
)
_K0E: Final[Elementwise] = Elementwise(
    "scaled_modified_bessel_k0", kernels.scaled_k0, takes_half=False, input=_K0E_SLOPE
)
_K1E: Final[Elementwise] = Elementwise(
    "scaled_modified_bessel_k1",
    kernels.scaled_k1,
    takes_half=False,
    reads_result=True,
    input=_k1e_slope,
)


@explained
def i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the modified Bessel function of the first kind of order 1 of each element.

    The derivative of `vtgrad.i0`. It is nan at infinity, as in PyTorch.

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
    NIST Digital Library of Mathematical Functions, 10.25 and 10.29.

    Examples
    --------
    >>> vt.special.i1(vt.tensor([0.0, 1.0, 10.0]))
    tensor([0.0000e+00, 5.6516e-01, 2.6710e+03])
    """
    return _I1(input, out=out)


@explained
def i0e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the scaled modified Bessel function of the first kind of order 0.

    ``exp(-abs(x)) * I(x)``: it falls like ``1 / sqrt(x)`` where the function itself overflows.

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
    NIST Digital Library of Mathematical Functions, 10.25 and 10.29.

    Examples
    --------
    >>> vt.special.i0e(vt.tensor([0.0, 1.0, 1000.0]))
    tensor([1.0000, 0.4658, 0.0126])
    """
    return _I0E(input, out=out)


@explained
def i1e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the scaled modified Bessel function of the first kind of order 1.

    ``exp(-abs(x)) * I(x)``: it falls like ``1 / sqrt(x)`` where the function itself overflows.

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
    NIST Digital Library of Mathematical Functions, 10.25 and 10.29.

    Examples
    --------
    >>> vt.special.i1e(vt.tensor([0.0, 1.0, 1000.0]))
    tensor([0.0000, 0.2079, 0.0126])
    """
    return _I1E(input, out=out)


@explained
def modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the modified Bessel function of the second kind of order 0 of each element.

    It falls from infinity at 0, and is nan below. PyTorch has no derivative of it.

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
    NIST Digital Library of Mathematical Functions, 10.25 and 10.29.

    Examples
    --------
    >>> vt.special.modified_bessel_k0(vt.tensor([0.0, 1.0, 10.0]))
    tensor([       inf, 4.2102e-01, 1.7780e-05])
    """
    return _K0(input, out=out)


@explained
def scaled_modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the scaled modified Bessel function of the second kind of order 0.

    ``exp(x) * K(x)``: it falls like ``1 / sqrt(x)`` where the function itself underflows. PyTorch
    has no derivative of it.

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
    NIST Digital Library of Mathematical Functions, 10.25 and 10.29.

    Examples
    --------
    >>> vt.special.scaled_modified_bessel_k0(vt.tensor([0.0, 1.0, 1000.0]))
    tensor([   inf, 1.1445, 0.0396])
    """
    return _K0E(input, out=out)


@explained
def modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the modified Bessel function of the second kind of order 1 of each element.

    It falls from infinity at 0, and is nan below. PyTorch has no derivative of it.

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
    NIST Digital Library of Mathematical Functions, 10.25 and 10.29.

    Examples
    --------
    >>> vt.special.modified_bessel_k1(vt.tensor([0.0, 1.0, 10.0]))
    tensor([       inf, 6.0191e-01, 1.8649e-05])
    """
    return _K1(input, out=out)


@explained
def scaled_modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the scaled modified Bessel function of the second kind of order 1.

    ``exp(x) * K(x)``: it falls like ``1 / sqrt(x)`` where the function itself underflows. PyTorch
    has no derivative of it.

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
    NIST Digital Library of Mathematical Functions, 10.25 and 10.29.

    Examples
    --------
    >>> vt.special.scaled_modified_bessel_k1(vt.tensor([0.0, 1.0, 1000.0]))
    tensor([   inf, 1.6362, 0.0396])
    """
    return _K1E(input, out=out)
