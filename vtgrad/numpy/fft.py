"""NumPy's ``numpy.fft`` on arrays of the namespace."""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vtgrad.numpy.deliver import Axis
from vtgrad.numpy.function import function
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import ArrayLike, as_array, cast, of
from vtgrad.numpy.promotion import inexact, result_type
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.refused import function_of_numpy
from vtgrad.numpy.transforms import (
    of_two,
    transform,
    transforms,
    transforms_of_halves,
    transforms_of_reals,
    turned_half,
    turned_real,
)
from vtgrad.numpy.turning import roll
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making

if TYPE_CHECKING:
    from vtgrad.numpy import signatures

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def _frequencies(numpys: Any, n: int, d: ArrayLike, device: str | None) -> ndarray:
    if not any_differentiated(d):
        return on_values(numpys, n, d, device=device)
    # The multiples of the lowest frequency, as whole numbers.
    multiples = making.of_numbers(numpys(n, np.float64(1), device=device))
    counts = of(on_values(np.rint, multiples * n))
    spacing = inexact(of(d))
    lowest = F.reciprocal(F.mul(spacing, n))
    return as_array(F.mul(counts, cast(as_array(lowest), result_type(counts, spacing))))


@function(of=np.fft.fftfreq)
def fftfreq(n: int, d: ArrayLike = 1.0, device: str | None = None) -> ndarray:
    """The frequencies of a transform of `n` samples.

    Parameters
    ----------
    n : int
        The number of samples.
    d : float
        The spacing of the samples, which may carry a derivative.
    device : str, optional
        ``"cpu"``.

    Returns
    -------
    ndarray
        A new array of `n` frequencies, the negative ones after the others.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.fft.fftfreq(4, 0.5)
    array([ 0. ,  0.5, -1. , -0.5])
    """
    return _frequencies(np.fft.fftfreq, n, d, device)


@function(of=np.fft.rfftfreq)
def rfftfreq(n: int, d: ArrayLike = 1.0, device: str | None = None) -> ndarray:
    """The frequencies of a transform of `n` real samples.

    Parameters
    ----------
    n : int
        The number of samples.
    d : float
        The spacing of the samples, which may carry a derivative.
    device : str, optional
        ``"cpu"``.

    Returns
    -------
    ndarray
        A new array of the frequencies that are not negative.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.fft.rfftfreq(4, 0.5)
    array([0. , 0.5, 1. ])
    """
    return _frequencies(np.fft.rfftfreq, n, d, device)


def _shifted(numpys: Any, x: ArrayLike, axes: Axis, sign: int) -> ndarray:
    if not any_differentiated(x):
        return on_values(numpys, x, axes)
    array = of(x)
    shape = array.shape
    if axes is None:
        dims = list(range(len(shape)))
    else:
        dims = [operator.index(axis) for axis in (axes if isinstance(axes, tuple) else (axes,))]
    steps = [shape[dim] // 2 if sign > 0 else -(shape[dim] // 2) for dim in dims]
    return roll(array, steps, tuple(dims))


@function(of=np.fft.fftshift)
def fftshift(x: ArrayLike, axes: Axis = None) -> ndarray:
    """The elements with that of frequency zero moved to the middle.

    Parameters
    ----------
    x : array_like
        The elements.
    axes : int or tuple of int, optional
        The axes, all by default.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.fft.fftshift(np.array([0.0, 1.0, -2.0, -1.0]))
    array([-2., -1.,  0.,  1.])
    """
    return _shifted(np.fft.fftshift, x, axes, 1)


@function(of=np.fft.ifftshift)
def ifftshift(x: ArrayLike, axes: Axis = None) -> ndarray:
    """What `fftshift` has moved, moved back.

    Parameters
    ----------
    x : array_like
        The elements.
    axes : int or tuple of int, optional
        The axes, all by default.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.fft.ifftshift(np.array([-1.0, 0.0, 1.0]))
    array([ 0.,  1., -1.])
    """
    return _shifted(np.fft.ifftshift, x, axes, -1)


# -- transforms --------------------------------------------------------------------------------

fft: Final[signatures.Transform] = function_of_numpy(
    np.fft.fft, "fft.fft", "The Fourier transform along an axis.", transform
)
ifft: Final[signatures.Transform] = function_of_numpy(
    np.fft.ifft, "fft.ifft", "The inverse Fourier transform.", partial(transform, inverse=True)
)
rfft: Final[signatures.Transform] = function_of_numpy(
    np.fft.rfft, "fft.rfft", "The Fourier transform of real elements.", turned_real
)
irfft: Final[signatures.Transform] = function_of_numpy(
    np.fft.irfft, "fft.irfft", "The inverse of `rfft`.", turned_half
)
hfft: Final[signatures.Transform] = function_of_numpy(
    np.fft.hfft,
    "fft.hfft",
    "The transform of elements whose transform is real.",
    partial(turned_half, turned=True),
)
ihfft: Final[signatures.Transform] = function_of_numpy(
    np.fft.ihfft, "fft.ihfft", "The inverse of `hfft`.", partial(turned_real, turned=True)
)
fft2: Final[signatures.TransformOfTwo] = function_of_numpy(
    np.fft.fft2, "fft.fft2", "The Fourier transform along two axes.", of_two(transforms)
)
ifft2: Final[signatures.TransformOfTwo] = function_of_numpy(
    np.fft.ifft2, "fft.ifft2", "The inverse of `fft2`.", of_two(partial(transforms, inverse=True))
)
rfft2: Final[signatures.TransformOfTwo] = function_of_numpy(
    np.fft.rfft2,
    "fft.rfft2",
    "The Fourier transform of real elements along two axes.",
    of_two(transforms_of_reals),
)
irfft2: Final[signatures.TransformOfTwo] = function_of_numpy(
    np.fft.irfft2, "fft.irfft2", "The inverse of `rfft2`.", of_two(transforms_of_halves)
)
fftn: Final[signatures.TransformOfSeveral] = function_of_numpy(
    np.fft.fftn, "fft.fftn", "The Fourier transform along several axes.", transforms
)
ifftn: Final[signatures.TransformOfSeveral] = function_of_numpy(
    np.fft.ifftn, "fft.ifftn", "The inverse of `fftn`.", partial(transforms, inverse=True)
)
rfftn: Final[signatures.TransformOfSeveral] = function_of_numpy(
    np.fft.rfftn,
    "fft.rfftn",
    "The Fourier transform of real elements along several axes.",
    transforms_of_reals,
)
irfftn: Final[signatures.TransformOfSeveral] = function_of_numpy(
    np.fft.irfftn, "fft.irfftn", "The inverse of `rfftn`.", transforms_of_halves
)
