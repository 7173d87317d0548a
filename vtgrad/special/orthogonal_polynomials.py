"""Orthogonal polynomials: those of Chebyshev, Hermite, Laguerre and Legendre."""

from __future__ import annotations

from functools import partial
from typing import Final

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.elementwise import Elementwise
from vtgrad.special.kernels.polynomials import FAMILIES, polynomial_of
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
]


def _derivatives(name: str) -> Elementwise:
    """The derivative of an order, of which the slope is that of the next order."""

    def slope(input: Tensor, n: Tensor, order: Tensor) -> Tensor:
        return found(input, n, F.add(order, 1))

    kernel = partial(polynomial_of, FAMILIES[name])
    found = Elementwise(
        f"derivative_of_{name}",
        kernel,
        takes_half=False,
        refuses_late=True,
        input=slope,
        n=None,
        order=None,
    )
    return found


def _polynomial(name: str) -> Elementwise:
    derivatives = _derivatives(name)

    def kernel(x: Array, n: Array) -> Array:
        return polynomial_of(FAMILIES[name], x, n, making.zeros_like(x))

    def slope(input: Tensor, n: Tensor) -> Tensor:
        return derivatives(input, n, 1)

    return Elementwise(name, kernel, takes_half=False, refuses_late=True, input=slope, n=None)


_OF: Final = {name: _polynomial(name) for name in FAMILIES}


@explained
def chebyshev_polynomial_t(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Return the Chebyshev polynomial of the first kind of degree n of each element.

    ``cos(n * acos(x))`` from -1 to 1. The result is rounded once. It is 0 below degree 0, and nan
    where n is. PyTorch has no derivative of it.

    Parameters
    ----------
    input : Tensor or number
        Where the polynomial is evaluated.
    n : Tensor or number
        The degree, of which the whole part counts. It has no derivative. The time is linear in the
        highest degree.
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
        If an operand is complex, or float16. In backward or forward mode, if the derivative by a
        parameter is asked that has none.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 18.5 and 18.9.

    Examples
    --------
    >>> vt.special.chebyshev_polynomial_t(vt.tensor([0.25, 0.5, 1.0]), 3)
    tensor([-0.6875, -1.0000,  1.0000])
    """
    return _OF["chebyshev_polynomial_t"](input, n, out=out)


@explained
def chebyshev_polynomial_u(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Return the Chebyshev polynomial of the second kind of degree n of each element.

    ``sin((n + 1) * acos(x)) / sin(acos(x))`` from -1 to 1. The result is rounded once. It is 0
    below degree 0, and nan where n is. PyTorch has no derivative of it.

    Parameters
    ----------
    input : Tensor or number
        Where the polynomial is evaluated.
    n : Tensor or number
        The degree, of which the whole part counts. It has no derivative. The time is linear in the
        highest degree.
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
        If an operand is complex, or float16. In backward or forward mode, if the derivative by a
        parameter is asked that has none.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 18.5 and 18.9.

    Examples
    --------
    >>> vt.special.chebyshev_polynomial_u(vt.tensor([0.25, 0.5, 1.0]), 3)
    tensor([-0.8750, -1.0000,  4.0000])
    """
    return _OF["chebyshev_polynomial_u"](input, n, out=out)


@explained
def chebyshev_polynomial_v(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Return the Chebyshev polynomial of the third kind of degree n of each element.

    ``cos((n + 1 / 2) * acos(x)) / cos(acos(x) / 2)`` from -1 to 1. The result is rounded once. It
    is 0 below degree 0, and nan where n is. PyTorch has no derivative of it.

    Parameters
    ----------
    input : Tensor or number
        Where the polynomial is evaluated.
    n : Tensor or number
        The degree, of which the whole part counts. It has no derivative. The time is linear in the
        highest degree.
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
        If an operand is complex, or float16. In backward or forward mode, if the derivative by a
        parameter is asked that has none.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 18.5 and 18.9.

    Examples
    --------
    >>> vt.special.chebyshev_polynomial_v(vt.tensor([0.25, 0.5, 1.0]), 3)
    tensor([-0.1250, -1.0000,  1.0000])
    """
    return _OF["chebyshev_polynomial_v"](input, n, out=out)


@explained
def chebyshev_polynomial_w(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Return the Chebyshev polynomial of the fourth kind of degree n of each element.

    ``sin((n + 1 / 2) * acos(x)) / sin(acos(x) / 2)`` from -1 to 1. The result is rounded once. It
    is 0 below degree 0, and nan where n is. PyTorch has no derivative of it.

    Parameters
    ----------
    input : Tensor or number
        Where the polynomial is evaluated.
    n : Tensor or number
        The degree, of which the whole part counts. It has no derivative. The time is linear in the
        highest degree.
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
        If an operand is complex, or float16. In backward or forward mode, if the derivative by a
        parameter is asked that has none.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 18.5 and 18.9.

    Examples
    --------
    >>> vt.special.chebyshev_polynomial_w(vt.tensor([0.25, 0.5, 1.0]), 3)
    tensor([-1.6250, -1.0000,  7.0000])
    """
    return _OF["chebyshev_polynomial_w"](input, n, out=out)


@explained
def hermite_polynomial_h(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Return the physicist's Hermite polynomial of degree n of each element.

    The polynomials that are orthogonal with the weight ``exp(-x * x)``. The result is rounded once.
    It is 0 below degree 0, and nan where n is. PyTorch has no derivative of it.

    Parameters
    ----------
    input : Tensor or number
        Where the polynomial is evaluated.
    n : Tensor or number
        The degree, of which the whole part counts. It has no derivative. The time is linear in the
        highest degree.
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
        If an operand is complex, or float16. In backward or forward mode, if the derivative by a
        parameter is asked that has none.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 18.3 and 18.9.

    Examples
    --------
    >>> vt.special.hermite_polynomial_h(vt.tensor([0.25, 0.5, 1.0]), 3)
    tensor([-2.8750, -5.0000, -4.0000])
    """
    return _OF["hermite_polynomial_h"](input, n, out=out)


@explained
def hermite_polynomial_he(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Return the probabilist's Hermite polynomial of degree n of each element.

    The polynomials that are orthogonal with the weight ``exp(-x * x / 2)``. The result is rounded
    once. It is 0 below degree 0, and nan where n is. PyTorch has no derivative of it.

    Parameters
    ----------
    input : Tensor or number
        Where the polynomial is evaluated.
    n : Tensor or number
        The degree, of which the whole part counts. It has no derivative. The time is linear in the
        highest degree.
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
        If an operand is complex, or float16. In backward or forward mode, if the derivative by a
        parameter is asked that has none.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 18.3 and 18.9.

    Examples
    --------
    >>> vt.special.hermite_polynomial_he(vt.tensor([0.25, 0.5, 1.0]), 3)
    tensor([-0.7344, -1.3750, -2.0000])
    """
    return _OF["hermite_polynomial_he"](input, n, out=out)


@explained
def laguerre_polynomial_l(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Return the Laguerre polynomial of degree n of each element.

    The polynomials that are orthogonal from 0 on with the weight ``exp(-x)``. The result is rounded
    once. It is 0 below degree 0, and nan where n is. PyTorch has no derivative of it.

    Parameters
    ----------
    input : Tensor or number
        Where the polynomial is evaluated.
    n : Tensor or number
        The degree, of which the whole part counts. It has no derivative. The time is linear in the
        highest degree.
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
        If an operand is complex, or float16. In backward or forward mode, if the derivative by a
        parameter is asked that has none.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 18.3 and 18.9.

    Examples
    --------
    >>> vt.special.laguerre_polynomial_l(vt.tensor([0.25, 0.5, 1.0]), 3)
    tensor([ 0.3411, -0.1458, -0.6667])
    """
    return _OF["laguerre_polynomial_l"](input, n, out=out)


@explained
def legendre_polynomial_p(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Return the Legendre polynomial of degree n of each element.

    The polynomials that are orthogonal from -1 to 1. The result is rounded once. It is 0 below
    degree 0, and nan where n is. PyTorch has no derivative of it.

    Parameters
    ----------
    input : Tensor or number
        Where the polynomial is evaluated.
    n : Tensor or number
        The degree, of which the whole part counts. It has no derivative. The time is linear in the
        highest degree.
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
        If an operand is complex, or float16. In backward or forward mode, if the derivative by a
        parameter is asked that has none.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 18.3 and 18.9.

    Examples
    --------
    >>> vt.special.legendre_polynomial_p(vt.tensor([0.25, 0.5, 1.0]), 3)
    tensor([-0.3359, -0.4375,  1.0000])
    """
    return _OF["legendre_polynomial_p"](input, n, out=out)


@explained
def shifted_chebyshev_polynomial_t(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Return the shifted Chebyshev polynomial of the first kind of degree n of each element.

    That of the first kind at ``2 * x - 1``, which no rounding spoils. The result is rounded once.
    It is 0 below degree 0, and nan where n is. PyTorch has no derivative of it.

    Parameters
    ----------
    input : Tensor or number
        Where the polynomial is evaluated.
    n : Tensor or number
        The degree, of which the whole part counts. It has no derivative. The time is linear in the
        highest degree.
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
        If an operand is complex, or float16. In backward or forward mode, if the derivative by a
        parameter is asked that has none.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 18.5 and 18.9.

    Examples
    --------
    >>> vt.special.shifted_chebyshev_polynomial_t(vt.tensor([0.25, 0.5, 1.0]), 3)
    tensor([1., 0., 1.])
    """
    return _OF["shifted_chebyshev_polynomial_t"](input, n, out=out)


@explained
def shifted_chebyshev_polynomial_u(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Return the shifted Chebyshev polynomial of the second kind of degree n of each element.

    That of the second kind at ``2 * x - 1``, which no rounding spoils. The result is rounded once.
    It is 0 below degree 0, and nan where n is. PyTorch has no derivative of it.

    Parameters
    ----------
    input : Tensor or number
        Where the polynomial is evaluated.
    n : Tensor or number
        The degree, of which the whole part counts. It has no derivative. The time is linear in the
        highest degree.
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
        If an operand is complex, or float16. In backward or forward mode, if the derivative by a
        parameter is asked that has none.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 18.5 and 18.9.

    Examples
    --------
    >>> vt.special.shifted_chebyshev_polynomial_u(vt.tensor([0.25, 0.5, 1.0]), 3)
    tensor([1., 0., 4.])
    """
    return _OF["shifted_chebyshev_polynomial_u"](input, n, out=out)


@explained
def shifted_chebyshev_polynomial_v(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Return the shifted Chebyshev polynomial of the third kind of degree n of each element.

    That of the third kind at ``2 * x - 1``, which no rounding spoils. The result is rounded once.
    It is 0 below degree 0, and nan where n is. PyTorch has no derivative of it.

    Parameters
    ----------
    input : Tensor or number
        Where the polynomial is evaluated.
    n : Tensor or number
        The degree, of which the whole part counts. It has no derivative. The time is linear in the
        highest degree.
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
        If an operand is complex, or float16. In backward or forward mode, if the derivative by a
        parameter is asked that has none.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 18.5 and 18.9.

    Examples
    --------
    >>> vt.special.shifted_chebyshev_polynomial_v(vt.tensor([0.25, 0.5, 1.0]), 3)
    tensor([1., 1., 1.])
    """
    return _OF["shifted_chebyshev_polynomial_v"](input, n, out=out)


@explained
def shifted_chebyshev_polynomial_w(
    input: Tensor | float, n: Tensor | float, *, out: Tensor | None = None
) -> Tensor:
    """Return the shifted Chebyshev polynomial of the fourth kind of degree n of each element.

    That of the fourth kind at ``2 * x - 1``, which no rounding spoils. The result is rounded once.
    It is 0 below degree 0, and nan where n is. PyTorch has no derivative of it.

    Parameters
    ----------
    input : Tensor or number
        Where the polynomial is evaluated.
    n : Tensor or number
        The degree, of which the whole part counts. It has no derivative. The time is linear in the
        highest degree.
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
        If an operand is complex, or float16. In backward or forward mode, if the derivative by a
        parameter is asked that has none.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 18.5 and 18.9.

    Examples
    --------
    >>> vt.special.shifted_chebyshev_polynomial_w(vt.tensor([0.25, 0.5, 1.0]), 3)
    tensor([ 1., -1.,  7.])
    """
    return _OF["shifted_chebyshev_polynomial_w"](input, n, out=out)
