"""Spherical Bessel functions, with SciPy's names.

The derivative by the argument is a sum of the functions of the orders beside. Their derivatives are
related in the same way (DLMF 10.51.2 and 10.51.5).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.elementwise import Slope
from vtgrad.special.scipy_function import ScipyFunction, scipy_special
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "SPHERICAL_IN",
    "SPHERICAL_JN",
    "spherical_in",
    "spherical_jn",
    "spherical_kn",
    "spherical_yn",
]


@explained
def spherical_jn(n: Tensor | Number, z: Tensor | Number, derivative: bool = False) -> Tensor:
    """Return spherical Bessel functions of the first kind, or their derivatives.

    The values are those of `scipy.special.spherical_jn`. There are derivatives by `z` only.

    Parameters
    ----------
    n : Tensor or number
        The order: an integer, at least 0.
    z : Tensor or number
        The argument. One of the two is a tensor.
    derivative : bool, default False
        Whether the result is the derivative by `z`.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, complex if `z` is.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    NotSupportedError
        If `n` requires grad while recording, or has a tangent.

    Examples
    --------
    >>> vt.special.spherical_jn(1, vt.tensor([1.0, 2.0]))
    tensor([0.3012, 0.4354])
    """
    return (_JN_SLOPE if derivative else SPHERICAL_JN)(n, z)


@explained
def spherical_yn(n: Tensor | Number, z: Tensor | Number, derivative: bool = False) -> Tensor:
    """Return spherical Bessel functions of the second kind, or their derivatives.

    The values are those of `scipy.special.spherical_yn`. There are derivatives by `z` only.

    Parameters
    ----------
    n : Tensor or number
        The order: an integer, at least 0.
    z : Tensor or number
        The argument. One of the two is a tensor.
    derivative : bool, default False
        Whether the result is the derivative by `z`.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, complex if `z` is.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    NotSupportedError
        If `n` requires grad while recording, or has a tangent.

    Examples
    --------
    >>> vt.special.spherical_yn(1, vt.tensor([1.0, 2.0]))
    tensor([-1.3818, -0.3506])
    """
    return (_YN_SLOPE if derivative else SPHERICAL_YN)(n, z)


@explained
def spherical_in(n: Tensor | Number, z: Tensor | Number, derivative: bool = False) -> Tensor:
    """Return modified spherical Bessel functions of the first kind, or their derivatives.

    The values are those of `scipy.special.spherical_in`. There are derivatives by `z` only.

    Parameters
    ----------
    n : Tensor or number
        The order: an integer, at least 0.
    z : Tensor or number
        The argument. One of the two is a tensor.
    derivative : bool, default False
        Whether the result is the derivative by `z`.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, complex if `z` is.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    NotSupportedError
        If `n` requires grad while recording, or has a tangent.

    Examples
    --------
    >>> vt.special.spherical_in(1, vt.tensor([1.0, 2.0]))
    tensor([0.3679, 0.9744])
    """
    return (_IN_SLOPE if derivative else SPHERICAL_IN)(n, z)


@explained
def spherical_kn(n: Tensor | Number, z: Tensor | Number, derivative: bool = False) -> Tensor:
    """Return modified spherical Bessel functions of the second kind, or their derivatives.

    The values are those of `scipy.special.spherical_kn`. There are derivatives by `z` only.

    Parameters
    ----------
    n : Tensor or number
        The order: an integer, at least 0.
    z : Tensor or number
        The argument. One of the two is a tensor.
    derivative : bool, default False
        Whether the result is the derivative by `z`.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, complex if `z` is.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    NotSupportedError
        If `n` requires grad while recording, or has a tangent.

    Examples
    --------
    >>> vt.special.spherical_kn(1, vt.tensor([1.0, 2.0]))
    tensor([1.1557, 0.1594])
    """
    return (_KN_SLOPE if derivative else SPHERICAL_KN)(n, z)


# -- values and derivatives ----------------------------------------------------------------


def _kernel(name: str, derivative: bool) -> Callable[[Array, Array], Array]:
    def kernel(n: Array, z: Array) -> Array:
        call = getattr(scipy_special(name), name)
        found: Array = making.asarray(call(n.astype(np.int64), z, derivative))
        return found

    return kernel


def _slope_of(lower: int, upper: int, function: Callable[[], ScipyFunction]) -> Slope:
    """``(lower n f_below + upper (n + 1) f_above) / (2 n + 1)``, where both factors are signs."""

    def slope(n: Tensor, z: Tensor) -> Tensor:
        f = function()
        # There is no order below 0, and its factor is 0.
        below = F.where(F.eq(n, 0), 0.0, n * f(abs(n - 1), z))
        return (lower * below + upper * (n + 1) * f(n + 1, z)) / (2 * n + 1)

    return slope


def _function(name: str, lower: int, upper: int) -> tuple[ScipyFunction, ScipyFunction]:
    """A function and its derivative."""
    value = ScipyFunction(
        name,
        _kernel(name, False),
        real=("n",),
        takes_complex=True,
        n=None,
        z=_slope_of(lower, upper, lambda: value),
    )
    slope = ScipyFunction(
        f"{name}_slope",
        _kernel(name, True),
        real=("n",),
        takes_complex=True,
        n=None,
        z=_slope_of(lower, upper, lambda: slope),
    )
    return value, slope


SPHERICAL_JN, _JN_SLOPE = _function("spherical_jn", 1, -1)
SPHERICAL_YN, _YN_SLOPE = _function("spherical_yn", 1, -1)
SPHERICAL_IN, _IN_SLOPE = _function("spherical_in", 1, 1)
SPHERICAL_KN, _KN_SLOPE = _function("spherical_kn", -1, -1)
