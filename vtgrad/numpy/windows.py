"""Windows for spectra: numbers, which have no derivative by how many they are."""

from __future__ import annotations

from typing import SupportsIndex

from vtgrad.numpy.function import function
from vtgrad.numpy.on_values import on_values
from vtgrad.numpy.operands import ArrayLike
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.refused import check_not_differentiated
from vtgrad.storage import making

__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser"]


@function
def bartlett(M: SupportsIndex) -> ndarray:
    """The triangular window, with zeros at its ends.

    Parameters
    ----------
    M : int
        The number of points.

    Returns
    -------
    ndarray
        A new array, with the largest value in the middle.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.bartlett(3)
    array([0., 1., 0.])
    """
    return on_values(making.bartlett, M)


@function
def blackman(M: SupportsIndex) -> ndarray:
    """The Blackman window, of three cosines.

    Parameters
    ----------
    M : int
        The number of points.

    Returns
    -------
    ndarray
        A new array, with the largest value in the middle.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.blackman(3).round()
    array([-0.,  1., -0.])
    """
    return on_values(making.blackman, M)


@function
def hamming(M: SupportsIndex) -> ndarray:
    """The Hamming window, a cosine that does not begin at zero.

    Parameters
    ----------
    M : int
        The number of points.

    Returns
    -------
    ndarray
        A new array, with the largest value in the middle.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.hamming(3)
    array([0.08, 1.  , 0.08])
    """
    return on_values(making.hamming, M)


@function
def hanning(M: SupportsIndex) -> ndarray:
    """The Hann window, a cosine that begins at zero.

    Parameters
    ----------
    M : int
        The number of points.

    Returns
    -------
    ndarray
        A new array, with the largest value in the middle.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.hanning(3)
    array([0., 1., 0.])
    """
    return on_values(making.hanning, M)


@function
def kaiser(M: SupportsIndex, beta: ArrayLike) -> ndarray:
    """The Kaiser window.

    Parameters
    ----------
    M : int
        The number of points.
    beta : float
        Its shape, which must not carry a derivative.

    Returns
    -------
    ndarray
        A new array, with the largest value in the middle.

    Raises
    ------
    NotSupportedError
        If `beta` carries a derivative.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.kaiser(3, 0.0)
    array([1., 1., 1.])
    """
    check_not_differentiated("kaiser", beta)
    return on_values(making.kaiser, M, beta)
